#include "goblin/offline/tune.hpp"

#include "bandit_options.hpp"
#include "commands.hpp"
#include "data_options.hpp"
#include "evaluate.hpp"
#include "events.hpp"
#include "gnuplot.hpp"
#include "goblin/error.hpp"
#include "goblin/graph/label_file.hpp"
#include "goblin/report/tune.hpp"
#include "json.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "reproduce.hpp"
#include "reward_log.hpp"
#include "saving.hpp"
#include "shell_word.hpp"
#include "signals.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace goblin::app {
namespace {

struct TuneRequest {
  std::string graph;
  EdgeFileOptions edges;
  std::string events;
  std::string items;
  std::string labels;
  std::vector<std::string> policies;
  std::size_t dimension = 0;
  bool intercept = false;
  std::string unknown = "error";
  bool replay = false;
  bool uniform = false;
  std::string out;
  bool json = false;
  offline::TuneOptions options;
};

/// The rewards of a log, and its users.
struct Log {
  std::string name;
  Graph graph;
  Labels labels;
  std::shared_ptr<const data::Items> items;
  std::size_t dimension = 0;
  std::vector<NodeId> users;
  std::vector<double> contexts;
  std::vector<double> rewards;
  std::size_t passed_over = 0;  // lines that only ask for a decision
  std::size_t skipped = 0;      // rewards of users who are not in the graph
  std::size_t added = 0;        // users
};

/// How the binary form of a log begins.
constexpr std::string_view binary_beginning = "\x89GOE\r";

/// The numbers in a context, from the beginning of a log that can be read again. 0 where it has no line.
std::size_t dimension_at_the_beginning(const std::string& path) {
  constexpr std::size_t dimension_at = 12;  // docs/events-file.md
  std::ifstream in(path, std::ios::binary);
  std::string line;
  std::size_t number = 0;
  bool found = false;
  while (!found && std::getline(in, line)) {
    ++number;
    found = line.find_first_not_of(" \t\r") != std::string::npos;
  }
  if (!found) return 0;
  if (line.starts_with(binary_beginning)) {
    in.seekg(dimension_at);
    std::size_t dimension = 0;
    for (unsigned shift = 0; shift < 64 && in; shift += 8) {
      dimension |= static_cast<std::size_t>(static_cast<unsigned char>(in.get())) << shift;
    }
    return in ? dimension : 0;
  }
  try {
    return dimension_of(line);
  } catch (const std::invalid_argument& error) {
    throw DataError(path, number, error.what());
  }
}

DataError too_few(const std::string& name, const Log& log) {
  return {name, 0,
          fmt::format("has {} reward{} (must be at least 2: lines with 'context' and 'reward', or with 'action' and "
                      "'reward'){}",
                      log.rewards.size(), log.rewards.size() == 1 ? "" : "s",
                      log.skipped > 0 ? ", without those of users who are not in the graph" : "")};
}

/// Takes the rewards of a log one after the other. Users go by name.
class LogReader {
 public:
  LogReader(const TuneRequest& request, std::string name, Log& log)
      : request_(request), name_(std::move(name)), log_(log), names_(log.graph.names()) {}

  void take(const RewardBlock& block, const RewardFormat& format) {
    const std::size_t d = log_.dimension;
    for (std::size_t row = 0; row < block.size(); ++row) {
      const std::string user =
          block.numbers.empty() ? std::string(block.name(row)) : format.user_name(block.numbers[row]);
      const auto found = user_named(user, start_ + block.places[row], format);
      if (!found) {
        ++log_.skipped;
        continue;
      }
      log_.users.push_back(*found);
      log_.rewards.push_back(block.rewards[row]);
      const auto context = std::span(block.contexts).subspan(row * d, d);
      log_.contexts.insert(log_.contexts.end(), context.begin(), context.end());
      if (request_.intercept) log_.contexts.push_back(1.0);
    }
    if (block.bad) fail(start_ + block.bad->at, block.bad->reason, format, block.bad->of_one);
    start_ += block.length;
    log_.passed_over += block.passed_over;
  }

  /// Users who joined, into the graph: each without friends, and with a cluster of their own where there are clusters.
  void finish() {
    if (log_.added == 0) return;
    if (!log_.labels.of.empty()) {
      auto next = static_cast<NodeId>(log_.labels.clusters.size());
      while (log_.labels.of.size() < names_.size()) log_.labels.of.push_back(next++);
    }
    log_.graph = Graph(std::move(names_), log_.graph.edges());
  }

 private:
  std::optional<NodeId> user_named(const std::string& name, std::size_t place, const RewardFormat& format) {
    if (const auto found = names_.find(name)) return found;
    if (request_.unknown == "skip") return std::nullopt;
    if (request_.unknown == "error") {
      fail(place,
           fmt::format("user '{}' is not in the graph (must be in {}; --unknown add takes such users without friends, "
                       "--unknown skip leaves their rewards out)",
                       name, request_.graph),
           format, true);
    }
    ++log_.added;
    return names_.insert(name);
  }

  [[noreturn]] void fail(std::size_t place, const std::string& reason, const RewardFormat& format, bool of_one) const {
    const std::string unit = format.unit();
    if (of_one && unit == "line") throw DataError(name_, place + 1, reason);
    throw DataError(name_, 0,
                    fmt::format("{} ({} {} {})", reason, of_one ? "at" : "after", unit, place + (of_one ? 1 : 0)));
  }

  const TuneRequest& request_;
  std::string name_;
  Log& log_;
  Names names_;
  std::size_t start_ = 0;  // where the block begins in the log
};

Log read_log(const TuneRequest& request) {
  Log log;
  log.graph = read_edge_file(request.graph, request.edges);
  if (!request.labels.empty()) std::tie(log.graph, log.labels) = read_label_file(request.labels, log.graph);
  log.items = read_items(request.items);
  log.name = request.events == "-" ? "standard input" : request.events;
  const std::string& name = log.name;
  auto source = open_bytes(request.events);
  log.dimension = dimension_with(log.items.get(), request.dimension);
  // Looking at the beginning of a pipe takes it away.
  const bool is_file = request.events != "-" && std::filesystem::is_regular_file(request.events);
  if (request.replay && !is_file) {
    throw std::invalid_argument(
        fmt::format("--replay: {} is no file (must be one: the log is read again for every policy)", name));
  }
  if (log.dimension == 0) {
    if (!is_file) {
      throw std::invalid_argument(
          "--dimension: is not known (must be given where the log is no file: how many numbers a context has)");
    }
    log.dimension = dimension_at_the_beginning(request.events);
    if (log.dimension == 0) throw too_few(name, log);
  }
  constexpr std::size_t most_waiting = 100'000;
  RewardLog reader(format_of(std::move(source), log.dimension, name, log.items), 1, most_waiting);
  LogReader rewards(request, name, log);
  for (bool more = true; more && !interrupted();) {
    const RewardLog::Next next = reader.next();
    if (next.block) rewards.take(*next.block, reader.format());
    more = !next.ended;
  }
  rewards.finish();
  if (log.rewards.size() < 2 && !interrupted()) throw too_few(name, log);
  if (request.intercept) ++log.dimension;
  return log;
}

/// How probable it was that a decision would show what it showed, as far as anybody knows.
std::optional<double> probability_of(const Event& event, std::size_t candidates, bool uniform) {
  if (!uniform) return event.probability;
  constexpr double rounding = 1e-6;
  const double equal = 1.0 / static_cast<double>(candidates);
  if (event.probability && std::abs(*event.probability - equal) > rounding * equal) {
    throw std::invalid_argument(fmt::format("'probability' is {} (must be 1 / {} with --uniform, or leave that out)",
                                            *event.probability, candidates));
  }
  return equal;
}

/// Reads a log again, line by line, with the candidates that read_log leaves out because they take much memory.
class RoundReader {
 public:
  RoundReader(const TuneRequest& request, const Log& log)
      : request_(request),
        log_(log),
        dimension_(log.dimension - (request.intercept ? 1 : 0)),
        reader_(dimension_, log.items) {}

  void read(const std::function<void(const offline::LoggedRound&)>& take) {
    std::ifstream file(request_.events, std::ios::binary);
    if (!file) throw DataError(log_.name, 0, "the file cannot be opened");
    LogLines lines(file, log_.name);
    if (const auto first = lines.peek(); first && first->starts_with(binary_beginning)) return;  // it has no candidates
    std::size_t rewards = 0;
    for (std::string line; lines.next(line);) {
      const auto round = round_of(line, lines.number());
      if (!round) continue;
      ++rewards;
      take(*round);
    }
    if (rewards != log_.rewards.size()) {
      throw DataError(log_.name, 0,
                      fmt::format("has {} rewards, and had {} before (must not change while it is read)", rewards,
                                  log_.rewards.size()));
    }
  }

 private:
  /// None of a line that holds no reward, or one of a user who is left out.
  std::optional<offline::LoggedRound> round_of(const std::string& line, std::size_t number) {
    try {
      const Event& event = reader_.read(line);
      if (event.kind != Event::Kind::logged && event.kind != Event::Kind::learn) return std::nullopt;
      const auto user = log_.graph.names().find(event.user);
      if (!user) return std::nullopt;
      const bool is_decision = event.kind == Event::Kind::logged;
      const std::size_t candidates = event.contexts.size() / dimension_;
      return offline::LoggedRound{
          .user = *user,
          .contexts = with_intercept(event),
          .action = event.action,
          .reward = event.rewards.front(),
          .is_decision = is_decision,
          .probability = is_decision ? probability_of(event, candidates, request_.uniform) : std::nullopt,
          .place = number};
    } catch (const std::invalid_argument& error) {
      throw DataError(log_.name, number, error.what());
    }
  }

  std::span<const double> with_intercept(const Event& event) {
    if (!request_.intercept) return event.contexts;
    contexts_.clear();
    for (std::size_t at = 0; at < event.contexts.size(); at += dimension_) {
      const auto context = std::span(event.contexts).subspan(at, dimension_);
      contexts_.insert(contexts_.end(), context.begin(), context.end());
      contexts_.push_back(1.0);
    }
    return contexts_;
  }

  const TuneRequest& request_;
  const Log& log_;
  std::size_t dimension_;
  EventReader reader_;
  std::vector<double> contexts_;
};

/// The files, as every command has them.
std::string files_of(const TuneRequest& request, bool with_labels) {
  std::string text = " --graph " + shell_word(request.graph);
  if (request.edges.drop_self_loops) text += " --drop-self-loops";
  if (with_labels && !request.labels.empty()) text += " --labels " + shell_word(request.labels);
  if (!request.items.empty()) text += " --items " + shell_word(request.items);
  if (request.intercept) text += " --intercept";
  return text;
}

std::string command_of(const TuneRequest& request) {
  std::string text = "goblin tune" + files_of(request, true) + " --events " + shell_word(request.events);
  for (const std::string& policy : request.policies) text += " --policy " + policy;
  if (request.unknown != "error") text += " --unknown " + request.unknown;
  if (request.replay) text += " --replay";
  if (request.uniform) text += " --uniform";
  if (request.options.rewirings != offline::TuneOptions().rewirings) {
    text += fmt::format(" --rewirings {}", request.options.rewirings);
  }
  if (request.options.seed != 0) text += fmt::format(" --seed {}", request.options.seed);
  return text;
}

/// The options of a bandit with the settings that were found.
std::string settings_of(const TuneRequest& request, const offline::TunedPolicy& tuned, std::size_t dimension) {
  std::string text = files_of(request, uses_clusters(tuned.policy));
  text += fmt::format(" --dimension {} --policy {} --ridge {:.4g}", dimension - (request.intercept ? 1 : 0),
                      name_of(tuned.policy), tuned.ridge);
  if (tuned.coupling) text += fmt::format(" --coupling {:.4g}", *tuned.coupling);
  if (tuned.hub_weight) text += fmt::format(" --hub {:.4g} --hub-ridge {:.4g}", *tuned.hub_weight, tuned.ridge);
  return text + fmt::format(" --alpha {:.4g}", tuned.alpha);
}

std::vector<std::string> ready_commands(const TuneRequest& request, const offline::TuneResult& result) {
  const std::string settings = settings_of(request, result.policies[result.best], result.dimension);
  const std::string events = request.events == "-" ? "log.jsonl" : shell_word(request.events);
  return {fmt::format("goblin fit{} --events {} --save model.goblin", settings, events),
          fmt::format("goblin replay{} < {} > decisions.jsonl", settings, events)};
}

Json json_of(const offline::Gain& interval) {
  return {{"mean", interval.mean}, {"low", interval.low}, {"high", interval.high}};
}

Json json_of(const std::optional<offline::AlphaReplay>& replay) {
  if (!replay) return nullptr;
  Json alphas = Json::array();
  for (std::size_t k = 0; k < replay->tried.size(); ++k) {
    const offline::TriedAlpha& tried = replay->tried[k];
    alphas.push_back({{"alpha", tried.alpha},
                      {"of_noise", tried.of_noise},
                      {"coupling", json_number(tried.coupling)},
                      {"of_coupling", tried.of_coupling},
                      {"value", tried.value.mean},
                      {"low", tried.value.low},
                      {"high", tried.value.high},
                      {"gain", json_of(tried.gain)},
                      {"matched", tried.matched},
                      {"effective_sample_size", tried.effective_sample_size},
                      {"trusted", tried.trusted},
                      {"chosen", replay->chosen == k}});
  }
  return {{"answer", offline::name_of(replay->answer)}, {"reason", replay->reason}, {"alphas", std::move(alphas)}};
}

Json json_of(const offline::TunedPolicy& tuned, const std::string& options) {
  Json object = {{"policy", name_of(tuned.policy)}, {"ridge", tuned.ridge}, {"coupling", json_number(tuned.coupling)}};
  if (tuned.hub_weight) object["hub_weight"] = *tuned.hub_weight;
  object["noise"] = tuned.noise;
  object["alpha"] = tuned.alpha;
  object["alpha_by"] = tuned.alpha_by_replay() ? "replay" : "noise";
  object["coupling_by_replay"] = tuned.coupling_by_replay();
  object["log_likelihood"] = tuned.log_likelihood;
  object["standard_error"] = tuned.standard_error;
  object["by_validation"] = tuned.by_validation;
  object["at_limit"] = tuned.at_limit;
  object["squared_error"] = tuned.squared_error;
  object["log_loss"] = tuned.log_loss;
  object["replay"] = json_of(tuned.replay);
  object["options"] = options;
  return object;
}

Json json_of(const std::vector<offline::GroupGain>& groups) {
  Json list = Json::array();
  for (const offline::GroupGain& group : groups) {
    list.push_back(
        {{"group", group.group}, {"users", group.users}, {"rewards", group.rewards}, {"gain", json_of(group.gain)}});
  }
  return list;
}

Json json_of(const TuneRequest& request, const offline::TuneResult& result, const Log& log,
             const std::vector<std::string>& ready) {
  Json policies = Json::array();
  for (const auto& tuned : result.policies) {
    policies.push_back(json_of(tuned, settings_of(request, tuned, result.dimension).substr(1)));
  }
  const Json settings = policies[result.best];
  Json comparisons = Json::array();
  for (const auto& each : result.comparisons) {
    comparisons.push_back({{"rival", each.rival}, {"squared_error", each.squared_error}, {"gain", json_of(each.gain)}});
  }
  Json rewirings = Json::array();
  for (const auto& each : result.rewirings) {
    rewirings.push_back({{"ridge", each.ridge},
                         {"coupling", each.coupling},
                         {"log_likelihood", each.log_likelihood},
                         {"squared_error", each.squared_error}});
  }
  return {{"graph_helps", offline::name_of(result.graph_helps)},
          {"reasons", result.reasons},
          {"warnings", result.warnings},
          {"rewards", result.rewards},
          {"users", result.users},
          {"users_with_rewards", result.users_with_rewards},
          {"edges", result.edges},
          {"passed_over", log.passed_over},
          {"skipped", log.skipped},
          {"new_users", log.added},
          {"settings", settings},
          {"commands", ready},
          {"policies", std::move(policies)},
          {"constant_squared_error", result.constant_error},
          {"comparisons", std::move(comparisons)},
          {"rewirings", std::move(rewirings)},
          {"by_cluster", json_of(result.by_cluster)},
          {"by_degree", json_of(result.by_degree)},
          {"by_rewards", json_of(result.by_rewards)}};
}

/// Ends a tuning when a signal comes.
struct Interrupted : std::exception {};

offline::TuneResult tune(const TuneRequest& request, const Log& log) {
  offline::TuneOptions options = request.options;
  options.dimension = log.dimension;
  options.clusters = log.labels.of;
  for (std::size_t label = 0; label < log.labels.clusters.size(); ++label) {
    options.cluster_names.emplace_back(log.labels.clusters[label]);
  }
  for (const std::string& policy : request.policies) options.policies.push_back(policy_named(policy));
  if (request.policies.empty() && !request.labels.empty()) {
    options.policies = {Policy::gob_lin_macro, Policy::gob_lin_block};
  }
  Progress progress("percent", 100);
  options.progress = [&progress](double share) {
    if (interrupted()) throw Interrupted();
    progress.show(static_cast<std::uint64_t>(100.0 * share));
  };
  RoundReader rounds(request, log);
  if (request.replay) options.replay = [&rounds](const auto& take) { rounds.read(take); };
  try {
    return offline::tune(log.graph, {log.users, log.contexts, log.rewards}, options);
  } catch (const offline::BadRound& error) {
    throw DataError(log.name, error.place, error.what());
  }
}

void write_report(const TuneRequest& request, const offline::TuneResult& result, const Json& json,
                  const std::vector<std::string>& ready) {
  const std::filesystem::path out = request.out;
  std::filesystem::create_directories(out / "figures");
  const report::TuneReport report{.result = result,
                                  .figures = draw(report::tune_figures(result), out / "figures"),
                                  .command = command_of(request),
                                  .ready = ready,
                                  .version = GOBLIN_VERSION};
  write_file(out / "tune.json", [&](std::ostream& file) { file << json_text(json) << '\n'; });
  write_file(out / "tune.html", [&](std::ostream& file) { file << report::tune_page(report); });
}

void run(const TuneRequest& request) {
  if (!request.out.empty()) check_gnuplot();
  const StopOnSignal stop;
  const auto stopped = [] {
    report("goblin: stopped; nothing was written\n");
    exit_after_signal();
  };
  const Log log = read_log(request);
  if (interrupted()) return stopped();
  try {
    const offline::TuneResult result = tune(request, log);
    const std::vector<std::string> ready = ready_commands(request, result);
    const Json json = json_of(request, result, log, ready);
    if (!request.out.empty()) write_report(request, result, json, ready);
    if (request.json) {
      fmt::print("{}\n", json_text(json));
      return;
    }
    fmt::print("{}\n", report::tune_table(result));
    for (const std::string& line : ready) fmt::print("{}\n", line);
    if (!request.out.empty())
      fmt::print("\nthe page is {}\n", (std::filesystem::path(request.out) / "tune.html").string());
  } catch (const Interrupted&) {
    stopped();
  }
}

}  // namespace

void add_tune(CLI::App& app) {
  auto options = std::make_shared<TuneRequest>();
  auto* command = app.add_subcommand("tune", "Find settings for a log, and whether its graph helps");
  command->footer(
      "The log is one of goblin fit: JSON lines, of which every reward is taken ('context' and 'reward', or a "
      "decision\n"
      "with 'action' and 'reward'), or a file that Python's goblin.write_events wrote. Nothing is written if a line "
      "is\n"
      "bad or Ctrl-C comes.\n\n"
      "Example:\n"
      "  goblin tune --graph edges.tsv --events log.jsonl --out tuned");
  command->add_option("--graph", options->graph, "Edges: user <tab> user [<tab> weight]")->required();
  add_drop_self_loops(*command, options->edges);
  command->add_option("--events", options->events, "The log; - is standard input")->required();
  command->add_option("--dimension", options->dimension, "Numbers in a context (default: as the log begins)")
      ->check(positive_whole_number());
  add_items_option(*command, options->items);
  command->add_option("--policy", options->policies,
                      "Beside linucb-sin, linucb-ind and gob.lin: gob.lin.macro, gob.lin.block, gob.lin.hub (default: "
                      "with --labels the first two)");
  command->add_option("--labels", options->labels,
                      fmt::format("Clusters: user <tab> cluster; for {}", clustered_policy_names()));
  command->add_flag("--intercept", options->intercept, "Contexts get a constant 1: rewards have a mean of their own");
  command->add_option("--unknown", options->unknown, "Users who are not in the graph: error, add or skip")
      ->check(CLI::IsMember({"error", "add", "skip"}))
      ->capture_default_str();
  auto* replay = command->add_flag("--replay", options->replay,
                                   "Look for alpha and coupling by what the policies would have earned in the log's "
                                   "decisions, where it allows that");
  command->add_flag("--uniform", options->uniform, "The log chose every candidate with the same probability")
      ->needs(replay);
  command->add_option("--rewirings", options->options.rewirings, "Graphs with other edges to compare with")
      ->check(whole_number())
      ->capture_default_str();
  command->add_option("--seed", options->options.seed, "Of the rewirings and of the bootstrap")
      ->check(whole_number())
      ->capture_default_str();
  command->add_option("--threads", options->options.threads, "0: as many as the machine has")
      ->check(whole_number())
      ->capture_default_str();
  command->add_option("--out", options->out, "Folder for the page tune.html, tune.json and the figures");
  command->add_flag("--json", options->json, "The result as one JSON object");
  command->callback([options] { run(*options); });
}

}  // namespace goblin::app
