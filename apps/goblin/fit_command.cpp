#include "bandit_options.hpp"
#include "commands.hpp"
#include "data_options.hpp"
#include "fit.hpp"
#include "json.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "saving.hpp"
#include "shard.hpp"
#include "signals.hpp"

#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace goblin::app {
namespace {

struct FitRequest {
  BanditRequest bandit;
  std::string events;
  std::string save;
  std::size_t batch = 0;
  Shard shard = {};
  bool json = false;
};

void print_summary(const Bandit& bandit, const FitSummary& fitted, const Shard& shard, bool json) {
  const BanditSummary summary = bandit.summary();
  if (json) {
    Json object = {{"policy", name_of(summary.policy)},
                   {fitted.unit + "s", fitted.count},
                   {"learned", fitted.learned},
                   {"passed_over", fitted.passed_over}};
    if (shard.count > 1) {
      object["shard"] = text_of(shard);
      object["others"] = fitted.others;
    }
    add_to(object, summary, fitted.new_users);
    report(json_line(object) + "\n");
    return;
  }
  const bool one = fitted.passed_over == 1;
  const std::string passed_over = fmt::format(", {} line{} passed over, which only ask{} for a decision",
                                              fitted.passed_over, one ? "" : "s", one ? "s" : "");
  const std::string others = fmt::format(", {} left to the other shards of {}", fitted.others, shard.count);
  report(fmt::format("{}: {} rewards learned{}{}\n", described_rules(summary), fitted.learned,
                     shard.count == 1 ? "" : others, fitted.passed_over == 0 ? "" : passed_over));
  report(described(summary, fitted.new_users));
}

std::uint64_t size_of(const std::string& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  return failed ? 0 : size;
}

/// Whatever ends it, what was learned up to there is saved, and only then reported.
void run(const FitRequest& request) {
  if (std::error_code missing;
      request.events != "-" && std::filesystem::equivalent(request.events, request.save, missing)) {
    throw std::invalid_argument(fmt::format("--save: {} is the log (must be another file)", request.save));
  }
  check_can_be_saved(request.save);
  auto source = open_bytes(request.events);
  const auto items = read_items(request.bandit.items);
  Bandit bandit = make_bandit(request.bandit, items.get());
  check_shard(bandit, request.shard);
  const StopOnSignal stop;
  const std::string name = request.events == "-" ? "standard input" : request.events;
  FitSummary summary;
  const auto learned = [&summary] {
    return Learned{.count = summary.count, .unit = summary.unit, .nothing = summary.learned == 0};
  };
  try {
    Progress progress("bytes", size_of(request.events));
    fit(bandit, format_of(std::move(source), bandit.options().dimension, name, items), name,
        {.batch = request.batch,
         .threads = request.bandit.bandit.engine.threads,
         .log_bytes = size_of(request.events),
         .shard = request.shard,
         .keep_going = [] { return !interrupted(); },
         .progress = [&progress](std::size_t bytes) { progress.show(bytes); }},
        summary);
  } catch (const std::exception&) {
    const std::exception_ptr failure = std::current_exception();
    report(save_after_failure(bandit, request.save, learned()));
    std::rethrow_exception(failure);
  }
  save_at_the_end(bandit, request.save, learned());
  print_summary(bandit, summary, request.shard, request.json);
  exit_after_signal();
}

}  // namespace

void add_fit(CLI::App& app) {
  auto options = std::make_shared<FitRequest>();
  auto* command = app.add_subcommand("fit", "Learn the rewards of a log, as fast as it goes, and save the bandit");
  command->footer(
      "The log has a JSON object a line:\n"
      "  {\"user\": \"u1\", \"context\": [..], \"reward\": r}                      learn\n"
      "  {\"user\": \"u1\", \"contexts\": [[..], ..], \"action\": k, \"reward\": r}  learn: candidate k was shown\n"
      "  {\"user\": \"u1\", \"contexts\": [[..], ..]}                            passed over\n"
      "With --items, \"item\": \"a\" stands for a context, and \"items\": [\"a\", ..] for contexts.\n"
      "Or it is a file that Python's goblin.write_events wrote. A user who is not in the graph joins without friends.\n"
      "Ctrl-C keeps what was learned.\n\n"
      "Example:\n"
      "  goblin fit --graph edges.tsv --dimension 25 --events log.jsonl --save model.goblin\n"
      "On two machines, then goblin merge one.goblin two.goblin --save model.goblin:\n"
      "  goblin fit --graph edges.tsv --dimension 25 --events log.jsonl --shard 1/2 --save one.goblin\n"
      "  goblin fit --graph edges.tsv --dimension 25 --events log.jsonl --shard 2/2 --save two.goblin");
  add_bandit_options(*command, options->bandit);
  add_items_option(*command, options->bandit.items);
  command->add_option("--events", options->events, "The log; - is standard input")->required();
  add_save_option(*command, options->save, "Save the bandit at the end, which may be a bad line or a signal")
      ->required();
  command->add_option("--batch", options->batch, "Rewards that are learned at once (default: a million, or a GB)")
      ->check(positive_whole_number());
  add_shard_option(*command, options->shard,
                   "Learn part I of N of the log, by clusters where the policy has some, else by users; goblin merge "
                   "makes one bandit of the parts");
  command->add_flag("--json", options->json, "The summary as one JSON object");
  command->callback([options] {
    check_bandit_options(options->bandit);
    run(*options);
  });
}

}  // namespace goblin::app
