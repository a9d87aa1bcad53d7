#include "evaluate.hpp"

#include "bandit_options.hpp"
#include "commands.hpp"
#include "data_options.hpp"
#include "events.hpp"
#include "goblin/error.hpp"
#include "goblin/report/evaluate.hpp"
#include "jobs.hpp"
#include "json.hpp"
#include "new_users.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "saving.hpp"
#include "shell_word.hpp"
#include "signals.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace goblin::app {
namespace {

/// How probable it was that the log would show what it showed.
double probability_of(const Event& event, std::size_t candidates, bool uniform) {
  const double equal = 1.0 / static_cast<double>(candidates);
  if (!event.probability && uniform) return equal;
  if (!event.probability) {
    throw std::invalid_argument(
        "has no 'probability': that with which the log chose what was shown. Log it with every decision (goblin's own "
        "say it: Decision::probability, goblin replay); if every candidate was as probable as the others, --uniform "
        "says so");
  }
  constexpr double rounding = 1e-6;
  if (uniform && std::abs(*event.probability - equal) > rounding * equal) {
    throw std::invalid_argument(fmt::format("'probability' is {} (must be 1 / {} with --uniform, or leave that out)",
                                            *event.probability, candidates));
  }
  return *event.probability;
}

/// A line of the log, until all bandits have judged it.
struct Waiting {
  std::size_t line = 0;
  std::string user;
  NodeId number = 0;             // of the user in the log
  std::vector<double> contexts;  // none where the candidates are all items
  std::size_t action = 0;
  double reward = 0.0;
  std::optional<double> probability;  // none where it is a reward, and nobody knows what else could have been shown
};

/// What the line says; its number and that of the user are left out.
Waiting waiting_of(const Event& event, const EvaluateOptions& options, std::size_t dimension) {
  if (event.kind == Event::Kind::decide_and_learn) {
    throw std::invalid_argument(
        "has 'rewards' of all candidates (must have the 'action' that was shown, its 'reward' and its 'probability'; "
        "where all rewards are known, goblin replay says what a policy earns)");
  }
  Waiting waiting{
      .user = event.user, .contexts = {}, .action = event.action, .reward = event.rewards.front(), .probability = {}};
  if (event.kind == Event::Kind::learn && options.all_items) {
    if (event.items.empty()) throw std::invalid_argument("has a 'context' (must be an 'item', with --candidates all)");
    waiting.action = *options.items->names.find(event.items.front());
    waiting.probability = probability_of(event, options.items->names.size(), options.uniform);
    return waiting;
  }
  waiting.contexts = event.contexts;
  if (event.kind == Event::Kind::logged) {
    waiting.probability = probability_of(event, event.contexts.size() / dimension, options.uniform);
  }
  return waiting;
}

/// Has all bandits judge lines of a log, side by side.
class Judges {
 public:
  Judges(std::vector<offline::Evaluation>& evaluations, const LogLines& lines, const EvaluateOptions& options)
      : evaluations_(evaluations), lines_(lines), options_(options), new_users_(evaluations.size(), 0) {
    for (auto& evaluation : evaluations_) joining_.emplace_back(evaluation.bandit());
  }

  void add(Waiting waiting) {
    numbers_ += waiting.contexts.size();
    waiting_.push_back(std::move(waiting));
  }
  /// Whether so much waits that it should be judged: enough that threads are worth it, and not much memory.
  [[nodiscard]] bool are_full() const {
    constexpr std::size_t most_waiting = 1000;
    constexpr std::size_t most_numbers = 1'000'000;
    return waiting_.size() >= most_waiting || numbers_ >= most_numbers;
  }

  /// Judges what waits. Throws DataError with the first line that cannot be.
  void judge(EvaluateSummary& summary) {
    struct Failure {
      std::size_t line = std::numeric_limits<std::size_t>::max();
      std::string reason;
    };
    std::vector<Failure> failures(evaluations_.size());
    run_jobs(evaluations_.size(), options_.threads, [&](std::size_t k) {
      for (const Waiting& each : waiting_) {
        try {
          judge(each, k);
        } catch (const std::invalid_argument& error) {
          failures[k] = {each.line, error.what()};
          break;
        }
      }
      return true;
    });
    const auto first = std::min_element(failures.begin(), failures.end(),
                                        [](const Failure& a, const Failure& b) { return a.line < b.line; });
    if (!first->reason.empty()) throw DataError(lines_.name(), first->line, first->reason);
    for (const Waiting& each : waiting_) ++(each.probability ? summary.decisions : summary.rewards);
    summary.new_users = *std::max_element(new_users_.begin(), new_users_.end());
    waiting_.clear();
    numbers_ = 0;
  }

 private:
  void judge(const Waiting& each, std::size_t k) {
    if (joining_[k].is_new(each.user)) {
      joining_[k].add(each.user);
      ++new_users_[k];
    }
    if (!each.probability) {
      evaluations_[k].add_reward(each.number, each.user, each.contexts, each.reward);
      return;
    }
    const auto contexts = each.contexts.empty() ? std::span(options_.items->numbers) : std::span(each.contexts);
    evaluations_[k].add(
        each.number, each.user,
        {.contexts = contexts, .action = each.action, .reward = each.reward, .probability = *each.probability});
  }

  std::vector<offline::Evaluation>& evaluations_;
  const LogLines& lines_;
  const EvaluateOptions& options_;
  std::vector<NewUsers> joining_;
  std::vector<std::size_t> new_users_;
  std::vector<Waiting> waiting_;
  std::size_t numbers_ = 0;  // in their contexts
};

}  // namespace

bool LogLines::next(std::string& line) {
  if (kept_) {
    line = *std::exchange(kept_, std::nullopt);
    return true;
  }
  while (std::getline(in_, line)) {
    ++number_;
    bytes_ += line.size() + 1;
    if (line.find_first_not_of(" \t\r") != std::string::npos) return true;
  }
  if (in_.bad()) throw DataError(name_, number_ + 1, "cannot be read");
  return false;
}

std::optional<std::string> LogLines::peek() {
  std::string line;
  if (next(line)) kept_ = std::move(line);
  return kept_;
}

void evaluate(std::vector<offline::Evaluation>& evaluations, LogLines& lines, const EvaluateOptions& options,
              EvaluateSummary& summary) {
  const std::size_t d = evaluations.front().bandit().options().dimension;
  EventReader reader(d, options.items);
  Names users;  // of the log: bandits may have them in different orders
  Judges judges(evaluations, lines, options);
  const auto goes_on = [&options] { return !options.keep_going || options.keep_going(); };
  // Asked after the line was read as well: one that was cut off by a stop is no event.
  for (std::string line; goes_on() && lines.next(line) && goes_on();) {
    try {
      const Event& event = reader.read(line);
      if (event.kind == Event::Kind::decide) {
        ++summary.passed_over;
      } else {
        Waiting waiting = waiting_of(event, options, d);
        waiting.line = lines.number();
        waiting.number = users.insert(event.user);
        judges.add(std::move(waiting));
      }
    } catch (const std::invalid_argument& error) {
      judges.judge(summary);  // one before it may be bad as well
      throw DataError(lines.name(), lines.number(), error.what());
    }
    summary.lines = lines.number();
    if (!judges.are_full()) continue;
    judges.judge(summary);
    if (options.progress) options.progress(lines.bytes());
  }
  judges.judge(summary);
}

namespace {

struct EvaluateRequest {
  BanditRequest bandit;
  BanditLists bandits;
  std::string events;
  std::string learn;
  bool uniform = false;
  std::string candidates;
  double clip = offline::EstimateOptions().clip;
  std::size_t resamples = offline::EstimateOptions().resamples;
  std::uint64_t seed = 0;
  std::string out;
  bool json = false;
};

/// What was typed, without what does not change what it says.
std::string typed(const CLI::App& command) {
  std::string text = "goblin " + command.get_name();
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || name == "--out" || name == "--json" || name == "--threads") continue;
    text += " " + name;
    if (option->get_expected_max() == 0) continue;
    for (const std::string& value : option->results()) text += " " + shell_word(value);
  }
  return text;
}

Json interval_json(const offline::Interval& interval) { return {{"low", interval.low}, {"high", interval.high}}; }

Json value_json(const offline::Value& value) {
  return {{"value", value.value}, {"low", value.interval.low}, {"high", value.interval.high}};
}

Json json_of(const report::EvaluationReport& report) {
  const offline::Summary& log = report.log();
  Json json = {{"log", log.log.value},
               {"log_low", log.log.interval.low},
               {"log_high", log.log.interval.high},
               {"estimates", Json::array()}};
  Json policies = Json::array();
  for (const offline::Evaluated& result : report.results) {
    for (const offline::Estimate& each : result.summary.estimates) {
      Json estimate = {{"policy", result.policy},          {"estimator", name_of(each.estimator)},
                       {"value", each.value.value},        {"low", each.value.interval.low},
                       {"high", each.value.interval.high}, {"exploration", result.exploration},
                       {"gain", value_json(each.gain)}};
      if (each.bernstein) estimate["bernstein"] = interval_json(*each.bernstein);
      if (each.clopper_pearson) estimate["clopper_pearson"] = interval_json(*each.clopper_pearson);
      json["estimates"].push_back(std::move(estimate));
    }
    const offline::Diagnostics& found = result.summary.diagnostics;
    const offline::Prediction& prediction = result.summary.prediction;
    Json policy = {{"policy", result.policy}, {"exploration", result.exploration}, {"learn", name_of(result.learning)}};
    if (report.has_decisions()) {
      policy["earns"] = report::verdict_of(result);
      policy["matched"] = found.matched;
      policy["effective_sample_size"] = found.effective_sample_size;
      policy["largest_weight"] = found.largest_weight;
      policy["mean_weight"] = found.mean_weight;
      policy["mean_weight_error"] = json_number(found.mean_weight_error);
      policy["clipped_share"] = found.clipped_share;
    }
    policy["squared_error"] = prediction.squared_error;
    policy["squared_error_of_mean"] = prediction.mean_error;
    policy["skill"] = value_json(prediction.skill);
    policy["warnings"] = result.warnings;
    policies.push_back(std::move(policy));
  }
  json["policies"] = std::move(policies);
  json["decisions"] = log.diagnostics.decisions;
  json["rewards"] = log.prediction.rewards;
  json["users"] = log.diagnostics.users;
  json["new_users"] = report.new_users;
  json["lines"] = report.lines;
  json["passed_over"] = report.passed_over;
  json["whole"] = report.unfinished.empty();
  return json;
}

void write_report(const report::EvaluationReport& report, const std::filesystem::path& out) {
  std::filesystem::create_directories(out);
  if (report.has_decisions()) {
    write_file(out / "evaluation.svg", [&](std::ostream& file) { file << report::evaluation_svg(report) << '\n'; });
  }
  write_file(out / "evaluation.csv", [&](std::ostream& file) { report::write_evaluation_csv(file, report); });
  write_file(out / "evaluation.html", [&](std::ostream& file) { file << report::evaluation_page(report); });
}

/// Throws DataError if that is no log that anything can be said of.
void check_enough(const std::string& name, const EvaluateSummary& summary) {
  const std::size_t count = summary.decisions > 0 ? summary.decisions : summary.rewards;
  if (count >= 2) return;
  throw DataError(
      name, 0,
      fmt::format("has {} {}{} (must be at least 2: {{\"user\": .., \"contexts\": [[..], ..], \"action\": k, "
                  "\"reward\": r, \"probability\": p}}, a line each)",
                  count, summary.rewards > 0 && summary.decisions == 0 ? "reward" : "decision", count == 1 ? "" : "s"));
}

std::uint64_t size_of(const std::string& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  return failed ? 0 : size;
}

/// How many numbers the contexts of a log have, by its first line.
std::size_t dimension_in(LogLines& lines) {
  const auto first = lines.peek();
  exit_after_signal();
  if (!first) check_enough(lines.name(), {});
  try {
    return dimension_of(*first);
  } catch (const std::invalid_argument& error) {
    throw DataError(lines.name(), lines.number(), error.what());
  }
}

void run(const EvaluateRequest& request, const std::string& command) {
  const StopOnSignal stop;
  InterruptibleInput input;
  std::ifstream file;
  std::istream standard_input(&input);
  const bool from_file = request.events != "-";
  if (from_file) file.open(request.events, std::ios::binary);
  if (from_file && (!file || std::filesystem::is_directory(request.events))) {
    throw DataError(request.events, 0, "the file cannot be opened");
  }
  LogLines lines(from_file ? file : standard_input, from_file ? request.events : "standard input");
  const auto items = read_items(request.bandit.items);

  BanditRequest shared = request.bandit;
  if (request.bandits.loads.empty() && shared.bandit.dimension == 0 && items == nullptr) {
    shared.bandit.dimension = dimension_in(lines);
  }
  const bool learns = request.bandits.loads.empty();
  const offline::Learning learning = request.learn.empty()
                                         ? (learns ? offline::Learning::matched : offline::Learning::none)
                                         : offline::learning_named(request.learn);
  if (learns && learning == offline::Learning::none) {
    throw std::invalid_argument("--learn: none (must not be, without --load: a new bandit knows nothing)");
  }
  std::vector<offline::Evaluation> evaluations;
  for (const BanditRequest& each : requests_of(shared, request.bandits)) {
    evaluations.emplace_back(
        make_bandit(each, items.get()),
        offline::EvaluationOptions{
            .learning = learning,
            .seed = request.seed,
            .estimates = {.clip = request.clip, .resamples = request.resamples, .seed = request.seed}});
    const std::size_t dimension = evaluations.back().bandit().options().dimension;
    if (dimension != evaluations.front().bandit().options().dimension) {
      throw std::invalid_argument(fmt::format("--load: {} is of dimension {} (must be that of the others, {})",
                                              each.load, dimension, evaluations.front().bandit().options().dimension));
    }
  }

  const std::size_t threads = request.bandit.bandit.engine.threads;
  EvaluateSummary summary;
  {
    Progress progress("bytes", from_file ? size_of(request.events) : 0);
    evaluate(evaluations, lines,
             {.items = items,
              .uniform = request.uniform,
              .all_items = request.candidates == "all",
              .threads = threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency()),
              .keep_going = [] { return !interrupted(); },
              .progress = [&progress](std::size_t bytes) { progress.show(bytes); }},
             summary);
  }
  report::EvaluationReport report{.results = {},
                                  .events = lines.name(),
                                  .lines = summary.lines,
                                  .passed_over = summary.passed_over,
                                  .new_users = summary.new_users,
                                  .unfinished = {},
                                  .command = command,
                                  .version = GOBLIN_VERSION};
  if (interrupted()) {
    report.unfinished = fmt::format("{} came after line {} of {}: this is not the whole log.",
                                    name_of_signal(noted_signal()), summary.lines, lines.name());
    app::report(fmt::format("goblin: {}\n", report.unfinished));
    if (summary.decisions + summary.rewards < 2) exit_after_signal();
  }
  check_enough(lines.name(), summary);
  for (const auto& evaluation : evaluations) report.results.push_back(evaluation.result());
  if (!request.out.empty()) write_report(report, request.out);
  if (request.json) {
    fmt::print("{}\n", json_text(json_of(report)));
  } else {
    fmt::print("{}", report::evaluation_table(report));
    if (!request.out.empty()) {
      fmt::print("\nthe page is {}\n", (std::filesystem::path(request.out) / "evaluation.html").string());
    }
  }
  exit_after_signal();
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto options = std::make_shared<EvaluateRequest>();
  auto* command = app.add_subcommand("evaluate", "Say what policies would have earned, from a log of other decisions");
  command->footer(
      "The log has a JSON object a line: what could have been shown, which of it was, what that earned, and how\n"
      "probable it was that it would be shown:\n"
      "  {\"user\": \"u1\", \"contexts\": [[..], ..], \"action\": k, \"reward\": r, \"probability\": p}\n"
      "With --items, \"items\": [\"a\", ..] stands for contexts. A user who is not in the graph joins without "
      "friends.\n"
      "Of a log of one item a line, {\"user\": \"u1\", \"item\": \"a\", \"reward\": r}, it says how well rewards are\n"
      "foretold; with --candidates all, any of the items could have been shown.\n\n"
      "Examples:\n"
      "  goblin evaluate --graph edges.tsv --events log.jsonl --policy gob.lin linucb-ind --alpha 0.1 --out report\n"
      "  goblin evaluate --load model.goblin --events log.jsonl --json");
  add_bandit_options(*command, options->bandit, &options->bandits);
  add_items_option(*command, options->bandit.items);
  command->add_option("--events", options->events, "The log; - is standard input")->required();
  command
      ->add_option(
          "--learn", options->learn,
          "What is learned on the way: matched (the rewards of decisions that are the policy's own, as it would "
          "live), all, or none (default: matched, and none with --load)")
      ->check(CLI::IsMember({"matched", "all", "none"}));
  command->add_flag("--uniform", options->uniform,
                    "The log chose every candidate with the same probability, where it does not say which");
  command
      ->add_option("--candidates", options->candidates,
                   "all: where a line names one item, any item of --items could have been shown")
      ->check(CLI::IsMember({"all"}));
  command->add_option("--clip", options->clip, "Weights above it are cut off by clipped_ips and not used by switch_dr")
      ->capture_default_str();
  command->add_option("--resamples", options->resamples, "Of the bootstrap")
      ->capture_default_str()
      ->check(positive_whole_number());
  command->add_option("--seed", options->seed, "Of the chance in decisions and in the bootstrap")
      ->capture_default_str()
      ->check(whole_number());
  command->add_option("--out", options->out, "Folder for a page with the figure and the table")->type_name("DIR");
  command->add_flag("--json", options->json, "Print the estimates as JSON");
  command->callback([options, command] {
    if (!options->candidates.empty() && options->bandit.items.empty()) throw CLI::RequiredError("--items");
    for (const BanditRequest& each : requests_of(options->bandit, options->bandits)) {
      check_bandit_options(each, false);
    }
    run(*options, typed(*command));
  });
}

}  // namespace goblin::app
