#include "data_options.hpp"

#include "goblin/data/reading.hpp"
#include "report.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace goblin::app {
namespace {

constexpr const char* context_group = "From tags to contexts";

}  // namespace

std::string DataRequest::required_folder() const {
  if (folder.empty()) throw CLI::RequiredError("--data (or the environment variable GOBLIN_DATA)");
  return folder;
}

data::ContextOptions DataRequest::chosen_contexts(const std::string& name) const {
  std::vector<std::string> given;
  for (const ContextOption& each : context_options) {
    if (each.option->count() > 0) given.push_back(each.field);
  }
  const auto as_typed = [this](std::string_view field) {
    const auto option = std::ranges::find(context_options, field, &ContextOption::field);
    return option == context_options.end() ? std::string(field) : "--" + option->option->get_lnames().front();
  };
  return data::choose_contexts(name, contexts, given, as_typed);
}

data::ReadOptions DataRequest::read_options(const std::string& name) const {
  data::ReadOptions options{.contexts = chosen_contexts(name), .cache = {}};
  if (!no_cache) options.cache = cache.empty() ? data::default_cache_folder() : std::filesystem::path(cache);
  return options;
}

bool DataRequest::is_read_by_options() const {
  return std::ranges::any_of(context_options, [](const ContextOption& each) {
    const std::string_view field = each.field;
    return each.option->count() > 0 && (data::belongs_to_readings(field) || field == "mean_length");
  });
}

std::string DataRequest::context_words() const {
  std::string words;
  for (const ContextOption& each : context_options) {
    if (each.option->count() == 0) continue;
    const std::string value = each.option->results().back();
    const std::string name = each.option->get_lnames().front();
    const bool is_flag = each.option->get_items_expected_max() == 0;
    words +=
        is_flag ? fmt::format(" --{}{}", value == "false" ? "no-" : "", name) : fmt::format(" --{} {}", name, value);
  }
  return words;
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

void add_reading(CLI::App& command, DataRequest& request) {
  command
      .add_option("--reading", request.reading,
                  fmt::format("A named set of the options below, one reading of the paper: {}", data::reading_names()))
      ->type_name("NAME")
      ->check(name_of_a("reading"))
      ->group(context_group);
}

void add_context_options(CLI::App& command, DataRequest& request) {
  data::ContextOptions& contexts = request.contexts;
  const auto keep = [&request](const char* field, CLI::Option* option) {
    request.context_options.push_back({.field = field, .option = option});
    return option;
  };
  const auto flag = [&](const char* field, const char* names, bool& value, const char* help) {
    keep(field, command.add_flag(names, value, help))->group(context_group);
  };
  keep("dimension",
       command.add_option("--dimension", contexts.dimension, "Numbers in a context: how many principal components"))
      ->capture_default_str()
      ->check(whole_number());
  keep("mean_length", command.add_option("--mean-length", contexts.mean_length,
                                         "One factor for all contexts makes this their mean length; 0: none"))
      ->capture_default_str()
      ->group(context_group);
  flag("unit_contexts", "--unit-contexts,!--no-unit-contexts", contexts.unit_contexts,
       "Scale each context to length 1 after the projection");
  keep("minimum_count", command.add_option("--minimum-count", contexts.minimum_count,
                                           "Leave out words that occur fewer times (default: 10 on Delicious, else 1)"))
      ->check(whole_number())
      ->group(context_group);
  flag("split_tags", "--split-tags,!--no-split-tags", contexts.split_tags, "Take compound tags apart (default)");
  flag("lower_case", "--lower-case,!--no-lower-case", contexts.lower_case, "Words in lower case (default)");
  keep("term_frequency",
       command.add_option_function<std::string>(
           "--tf", [&contexts](const std::string& name) { contexts.term_frequency = data::term_frequency_named(name); },
           "What the count of a word becomes: counts (default: as it is), binary or sublinear"))
      ->type_name("NAME")
      ->group(context_group);
  flag("inverse_document_frequency", "--idf,!--no-idf", contexts.inverse_document_frequency,
       "Weigh words by their inverse document frequency (default)");
  flag("smooth_idf", "--smooth-idf,!--no-smooth-idf", contexts.smooth_idf,
       "Smooth that frequency: ln((1 + items) / (1 + items with the word)) + 1");
  flag("centre", "--centre,!--no-centre", contexts.centre, "Subtract the mean before the projection (default)");
  flag("keep_untagged", "--keep-untagged,!--no-keep-untagged", contexts.keep_untagged,
       "Keep items without tags (default), else leave them and their payoffs out");
  flag("count_untagged", "--count-untagged,!--no-count-untagged", contexts.count_untagged,
       "Items without tags count for means and frequencies (default)");
  flag("zero_untagged", "--zero-untagged,!--no-zero-untagged", contexts.zero_untagged,
       "Items without tags have a zero context (default), else that of the projected zero");
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
