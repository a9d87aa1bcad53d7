#include "goblin/data/reading.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include <fmt/format.h>

namespace goblin::data {
namespace {

constexpr std::array<Reading, 6> all_readings = {{
    {"unit-contexts",
     "unit rows, not centred, each context of length 1, items with tags only",
     {.keep_untagged = false, .unit_rows = true, .centre = false, .unit_contexts = true}},
    {"unit-contexts-all",
     "the same with all items; those without tags have the zero context",
     {.unit_rows = true, .centre = false, .unit_contexts = true}},
    {"centred-unit-contexts",
     "unit rows, centred, each context of length 1, items with tags only",
     {.keep_untagged = false, .unit_rows = true, .unit_contexts = true}},
    {"literal", "what the paper names and nothing else: counts, centred, no lengths changed", {}},
    {"unit-rows", "as literal, but rows of unit length before the projection", {.unit_rows = true}},
    {"carleton",
     "binary tf, smooth idf, unit rows, not centred: another published pipeline for these files",
     {.term_frequency = TermFrequency::binary, .smooth_idf = true, .unit_rows = true, .centre = false}},
}};

std::string word_of(bool value) { return value ? "true" : "false"; }
std::string word_of(std::size_t value) { return std::to_string(value); }
std::string word_of(double value) { return fmt::format("{}", value); }
std::string word_of(TermFrequency value) { return std::string(name_of(value)); }
std::string word_of(const std::optional<std::size_t>& value) { return value ? std::to_string(*value) : "default"; }

/// An option by the name of its field.
struct Field {
  std::string_view name;
  bool belongs_to_readings;  ///< a reading says what it is
  std::function<std::string(const ContextOptions&)> word;
  std::function<void(const ContextOptions& from, ContextOptions& to)> copy;
};

template <typename Value>
Field field(std::string_view name, Value ContextOptions::*member, bool belongs_to_readings) {
  return {.name = name,
          .belongs_to_readings = belongs_to_readings,
          .word = [member](const ContextOptions& options) { return word_of(options.*member); },
          .copy = [member](const ContextOptions& from, ContextOptions& to) { to.*member = from.*member; }};
}

/// The one list of options.
const std::vector<Field>& fields() {
  using Options = ContextOptions;
  static const std::vector<Field> all = {
      field("split_tags", &Options::split_tags, false),
      field("lower_case", &Options::lower_case, false),
      field("minimum_count", &Options::minimum_count, false),
      field("keep_untagged", &Options::keep_untagged, true),
      field("term_frequency", &Options::term_frequency, true),
      field("inverse_document_frequency", &Options::inverse_document_frequency, true),
      field("smooth_idf", &Options::smooth_idf, true),
      field("unit_rows", &Options::unit_rows, true),
      field("centre", &Options::centre, true),
      field("count_untagged", &Options::count_untagged, false),
      field("zero_untagged", &Options::zero_untagged, false),
      field("dimension", &Options::dimension, false),
      field("unit_contexts", &Options::unit_contexts, true),
      field("mean_length", &Options::mean_length, false),
  };
  return all;
}

}  // namespace

std::span<const Reading> readings() { return all_readings; }

std::string reading_names() {
  std::string names;
  for (std::size_t k = 0; k < all_readings.size(); ++k) {
    names += k == 0 ? "" : k + 1 < all_readings.size() ? ", " : " or ";
    names += all_readings[k].name;
  }
  return names;
}

const Reading& reading_named(std::string_view name) {
  for (const Reading& each : all_readings) {
    if (each.name == name) return each;
  }
  throw std::invalid_argument(fmt::format("reading: '{}' (must be {})", name, reading_names()));
}

ContextOptions choose_contexts(std::string_view reading, const ContextOptions& given,
                               std::span<const std::string> listed,
                               const std::function<std::string(std::string_view field)>& spelling) {
  const auto spelled = [&](std::string_view field) { return spelling ? spelling(field) : std::string(field); };
  const ContextOptions base = reading.empty() ? ContextOptions{} : reading_named(reading).contexts;
  ContextOptions options = base;
  const auto is_listed = [&](std::string_view name) { return std::ranges::find(listed, name) != listed.end(); };
  for (const Field& each : fields()) {
    if (!is_listed(each.name)) continue;
    if (!reading.empty() && each.belongs_to_readings && each.word(given) != each.word(base)) {
      throw std::invalid_argument(fmt::format("{}: {} (contradicts the reading {}, in which it is {})",
                                              spelled(each.name), each.word(given), reading, each.word(base)));
    }
    each.copy(given, options);
  }
  if (options.unit_contexts && is_listed("mean_length")) {
    throw std::invalid_argument(fmt::format(
        "{}: {} (contradicts {}, which gives every context the length 1)", spelled("mean_length"), given.mean_length,
        is_listed("unit_contexts") ? spelled("unit_contexts") : fmt::format("the reading {}", reading)));
  }
  if (options.smooth_idf && !options.inverse_document_frequency) {
    throw std::invalid_argument(fmt::format("{}: true (contradicts {}, which is false)", spelled("smooth_idf"),
                                            spelled("inverse_document_frequency")));
  }
  return options;
}

bool belongs_to_readings(std::string_view field) {
  return std::ranges::any_of(fields(),
                             [&](const Field& each) { return each.name == field && each.belongs_to_readings; });
}

std::vector<std::string> changed_by_readings(const ContextOptions& options) {
  std::vector<std::string> changed;
  for (const Field& each : fields()) {
    if (!each.belongs_to_readings || each.word(options) == each.word({})) continue;
    changed.push_back(fmt::format("{}: {}", each.name, each.word(options)));
  }
  return changed;
}

std::vector<std::pair<std::string_view, std::string>> words_of(const ContextOptions& options) {
  std::vector<std::pair<std::string_view, std::string>> words;
  for (const Field& each : fields()) words.emplace_back(each.name, each.word(options));
  return words;
}

}  // namespace goblin::data
