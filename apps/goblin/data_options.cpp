#include "data_options.hpp"

#include "report.hpp"

#include <fmt/format.h>

namespace goblin::app {
namespace {

constexpr const char* context_group = "From tags to contexts";

}  // namespace

std::string DataRequest::required_folder() const {
  if (folder.empty()) throw CLI::RequiredError("--data (or the environment variable GOBLIN_DATA)");
  return folder;
}

data::ReadOptions DataRequest::read_options() const {
  data::ReadOptions options{.contexts = contexts, .cache = {}};
  if (!no_cache) options.cache = cache.empty() ? data::default_cache_folder() : std::filesystem::path(cache);
  return options;
}

void add_data_folder(CLI::App& command, DataRequest& request) {
  command.add_option("--data", request.folder, "A dataset's folder, or one that holds datasets")
      ->envname("GOBLIN_DATA")
      ->type_name("DIR");
}

void add_cache_options(CLI::App& command, DataRequest& request) {
  auto* cache = command
                    .add_option("--cache", request.cache,
                                "Where prepared data is kept (default: $XDG_CACHE_HOME/goblin or ~/.cache/goblin)")
                    ->type_name("DIR");
  command.add_flag("--no-cache", request.no_cache, "Prepare the data anew and keep nothing")->excludes(cache);
}

void add_context_options(CLI::App& command, DataRequest& request) {
  data::ContextOptions& contexts = request.contexts;
  command.add_option("--dimension", contexts.dimension, "Numbers in a context: how many principal components")
      ->capture_default_str()
      ->check(whole_number());
  command
      .add_option("--mean-length", contexts.mean_length,
                  "One factor for all contexts makes this their mean length; 0: none")
      ->capture_default_str()
      ->group(context_group);
  command
      .add_option("--minimum-count", contexts.minimum_count,
                  "Leave out words that occur fewer times (default: 10 on Delicious, else 1)")
      ->check(whole_number())
      ->group(context_group);
  command.add_flag("--split-tags,!--no-split-tags", contexts.split_tags, "Take compound tags apart (default)")
      ->group(context_group);
  command.add_flag("--lower-case,!--no-lower-case", contexts.lower_case, "Words in lower case (default)")
      ->group(context_group);
  command
      .add_flag("--idf,!--no-idf", contexts.inverse_document_frequency,
                "Weigh words by their inverse document frequency (default)")
      ->group(context_group);
  command.add_flag("--unit-rows,!--no-unit-rows", contexts.unit_rows, "Vectors of unit length before the projection")
      ->group(context_group);
  command.add_flag("--centre,!--no-centre", contexts.centre, "Subtract the mean before the projection (default)")
      ->group(context_group);
  command
      .add_flag("--count-untagged,!--no-count-untagged", contexts.count_untagged,
                "Items without tags count for means and frequencies (default)")
      ->group(context_group);
  command
      .add_flag("--zero-untagged,!--no-zero-untagged", contexts.zero_untagged,
                "Items without tags have a zero context (default), else that of the projected zero")
      ->group(context_group);
}

CLI::Option* add_drop_self_loops(CLI::App& command, EdgeFileOptions& options) {
  options.warn = [](const std::string& sentence) { report(fmt::format("goblin: {}\n", sentence)); };
  return command.add_flag("--drop-self-loops", options.drop_self_loops,
                          "Leave out the lines that join a user to themselves (else: an error)");
}

namespace {

CLI::Validator whole_number_from(int least) {
  return {[least](const std::string& text) {
            const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
            const bool zero = text.find_first_not_of('0') == std::string::npos;
            if (digits && !(zero && least > 0)) return std::string();
            return fmt::format("{} (must be a whole number, at least {})", text, least);
          },
          ""};
}

}  // namespace

CLI::Validator whole_number() { return whole_number_from(0); }
CLI::Validator positive_whole_number() { return whole_number_from(1); }

CLI::Validator name_of_a(const std::string& kind) {
  return {[kind](const std::string& given) {
            return given.empty() ? fmt::format("'' (must be the name of a {})", kind) : std::string();
          },
          ""};
}

}  // namespace goblin::app
