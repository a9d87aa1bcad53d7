#include "bandit_options.hpp"
#include "commands.hpp"
#include "data_options.hpp"
#include "json.hpp"
#include "replay.hpp"
#include "report.hpp"
#include "saving.hpp"
#include "signals.hpp"

#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace goblin::app {
namespace {

struct ReplayRequest {
  BanditRequest bandit;
  std::string save;
  std::uint64_t seed = 0;
  std::uint64_t first_decision = 0;
  bool check = false;
  bool json = false;
};

void print_summary(const Bandit& bandit, const ReplaySummary& replayed, bool json) {
  const BanditSummary summary = bandit.summary();
  if (json) {
    Json object = {{"policy", name_of(summary.policy)},
                   {"lines", replayed.lines},
                   {"decisions", replayed.decisions},
                   {"learned", replayed.learned},
                   {"reward", replayed.reward}};
    add_to(object, summary, replayed.new_users);
    object["largest_difference"] = json_number(replayed.largest_difference);
    report(json_line(object) + "\n");
    return;
  }
  report(fmt::format("{}: {} decisions, {} rewards learned, reward {:g}\n", described_rules(summary),
                     replayed.decisions, replayed.learned, replayed.reward));
  report(described(summary, replayed.new_users));
  if (replayed.largest_difference) {
    report(fmt::format("check: every decision is the printed algorithm's, scores within {}{:.1e}\n",
                       has_local(summary) ? "their bounds and " : "", *replayed.largest_difference));
  }
}

/// Replays standard input. Whatever ends it (the end of the log, a bad line, a signal, a closed pipe), what was learned
/// up to there is saved, and only then reported: standard error may be closed as well.
void run(const ReplayRequest& request) {
  if (!request.save.empty()) check_can_be_saved(request.save);
  const auto items = read_items(request.bandit.items);
  Bandit bandit = make_bandit(request.bandit, items.get());
  const StopOnSignal stop;
  const SurviveClosedPipe survive;
  InterruptibleInput input;
  std::istream events(&input);
  ReplaySummary summary;
  const auto learned = [&summary] { return Learned{.count = summary.lines, .nothing = summary.events == 0}; };
  try {
    replay(bandit, events, std::cout,
           {.check = request.check,
            .seed = request.seed,
            .first_decision = request.first_decision,
            .items = items,
            .keep_going = [] { return !interrupted(); }},
           summary);
  } catch (const std::exception& error) {
    const std::exception_ptr failure = std::current_exception();
    const auto* system = dynamic_cast<const std::system_error*>(&error);
    const bool closed = system != nullptr && system->code() == std::errc::broken_pipe;
    const std::string saved = save_after_failure(bandit, request.save, learned());
    if (closed) report(fmt::format("goblin: {}\n", error.what()));
    report(saved);
    if (closed) throw CLI::RuntimeError(exit_code_of(SIGPIPE));
    std::rethrow_exception(failure);
  }
  save_at_the_end(bandit, request.save, learned());
  print_summary(bandit, summary, request.json);
  exit_after_signal();
}

}  // namespace

void add_replay(CLI::App& app) {
  auto options = std::make_shared<ReplayRequest>();
  auto* command = app.add_subcommand("replay", "Replay a recorded log, decision by decision");
  command->footer(
      "Events come on standard input and decisions go to standard output, one JSON object a line; a summary goes to\n"
      "standard error.\n"
      "  {\"user\": \"u1\", \"contexts\": [[..], ..], \"rewards\": [..]}  decide, learn the chosen candidate's reward\n"
      "  {\"user\": \"u1\", \"contexts\": [[..], ..]}                   only decide\n"
      "  {\"user\": \"u1\", \"contexts\": [[..], ..], \"action\": k, \"reward\": r}\n"
      "                                                           decide, learn what was shown: candidate k\n"
      "  {\"user\": \"u1\", \"context\": [..], \"reward\": r}             only learn\n"
      "With --items, \"items\": [\"a\", ..] stands for contexts, and \"item\": \"a\" for a context.\n"
      "  -> {\"arm\": k, \"scores\": [..], \"means\": [..], \"widths\": [..]}, local also \"bounds\": [..],\n"
      "     with items \"item\": \"a\", that of the arm,\n"
      "     and \"probability\": p of the arm where chance has a part (--explore), thompson its \"probability_error\"\n"
      "A user is a text or a whole number, which is the same as its digits. A user who is not in the graph joins "
      "without\n"
      "friends.\n\n"
      "Example:\n"
      "  goblin replay --graph edges.tsv --dimension 2 --policy gob.lin --alpha 0.1 < events.jsonl > decisions.jsonl");
  add_bandit_options(*command, options->bandit);
  add_items_option(*command, options->bandit.items);
  add_save_option(*command, options->save,
                  "Save the bandit at the end, which may be a bad line, a signal or a closed pipe");
  command
      ->add_option("--seed", options->seed,
                   "Of the chance in decisions; a decision's own follows from this and its number")
      ->capture_default_str()
      ->check(whole_number());
  command->add_option("--first-decision", options->first_decision, "The number of the first decision; others follow")
      ->capture_default_str()
      ->check(whole_number());
  command->add_flag("--check", options->check, "Compare every decision with the printed algorithm (dn <= 3000)");
  command->add_flag("--json", options->json, "The summary as one JSON object");
  command->callback([options] {
    check_bandit_options(options->bandit);
    std::ios::sync_with_stdio(false);
    run(*options);
  });
}

}  // namespace goblin::app
