#include "bandit_options.hpp"
#include "checked_file.hpp"
#include "commands.hpp"
#include "data_options.hpp"
#include "goblin/error.hpp"
#include "report.hpp"
#include "saving.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace goblin::app {
namespace {

struct MergeRequest {
  std::vector<std::string> models;
  std::string save;
  std::size_t threads = 0;
};

/// Whoever gives a model twice, under one name or two, hears of it.
void warn_of_repeated(const std::vector<std::string>& models) {
  std::map<std::pair<std::size_t, std::uint32_t>, std::string> name_of;  // by length and checksum
  for (const std::string& model : models) {
    const MappedFile file(model);
    const auto [first, is_new] = name_of.try_emplace({file.bytes().size(), crc32_of(0, file.bytes())}, model);
    if (is_new) continue;
    report(fmt::format("goblin: warning: {}: is the same as {}: its rewards count twice\n", model, first->second));
  }
}

void run(const MergeRequest& request) {
  check_can_be_saved(request.save);
  Bandit bandit = Bandit::load(request.models.front());
  bandit.set_threads(request.threads);
  for (std::size_t k = 1; k < request.models.size(); ++k) {
    const Bandit other = Bandit::load(request.models[k]);
    try {
      bandit.merge(other);
    } catch (const CapacityError& error) {
      throw CapacityError(
          fmt::format("{}: merging it into {}: {}", request.models[k], request.models.front(), error.what()),
          error.bytes_needed(), error.bytes_available());
    } catch (const std::invalid_argument& error) {
      throw DataError(request.models[k], 0,
                      fmt::format("cannot be merged into {}: {}", request.models.front(), error.what()));
    }
  }
  warn_of_repeated(request.models);  // the first of which may be the one that is saved
  bandit.save(request.save);
  const BanditSummary summary = bandit.summary();
  report(fmt::format("{}: {} rewards\n", described_rules(summary), summary.rewards));
  report(described(summary, 0));
}

}  // namespace

void add_merge(CLI::App& app) {
  auto options = std::make_shared<MergeRequest>();
  auto* command = app.add_subcommand("merge", "Make one bandit of several that learned parts of a log");
  command->footer(
      "All must have the same policy, users, edges, clusters, dimension, ridges, coupling and options of the policy; "
      "exploration and engine "
      "are\n"
      "those of the first. A part that all of them began with counts as often as there are models.\n\n"
      "Example:\n"
      "  goblin merge monday.goblin tuesday.goblin --save both.goblin");
  command->add_option("models", options->models, "Saved bandits")->required()->expected(2, -1);
  add_save_option(*command, options->save, "Where the merged bandit goes")->required();
  command->add_option("--threads", options->threads, "Threads that learn; 0: as many as the machine has")
      ->capture_default_str()
      ->check(whole_number());
  command->callback([options] { run(*options); });
}

}  // namespace goblin::app
