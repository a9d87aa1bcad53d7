#pragma once

#include "goblin/data/contexts.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goblin::data {

/// A way to read what the paper says, and does not say, about its preprocessing: a name for a set of options.
/// docs/reproduction.md has what speaks for each.
struct Reading {
  std::string_view name;
  std::string_view text;  ///< what it does, in a few words
  ContextOptions contexts;
};

/// All readings; the first is that which the paper's text supports best.
[[nodiscard]] std::span<const Reading> readings();

/// "unit-contexts, literal and ..."
[[nodiscard]] std::string reading_names();

/// The reading of that name; throws std::invalid_argument with the names there are.
///
///     const auto& reading = goblin::data::reading_named("unit-contexts");
///     const auto data = goblin::data::read_lastfm(folder, {.contexts = reading.contexts});
[[nodiscard]] const Reading& reading_named(std::string_view name);

/// The options of a reading, with those of `given` in the place of its own whose names are listed ("minimum_count": the
/// names of the fields of ContextOptions). Without a reading, the defaults and what is listed. Throws
/// std::invalid_argument if one of them contradicts the reading, or another that is listed; a reading says nothing of
/// words (split_tags, lower_case, minimum_count), of the dimension, of count_untagged and zero_untagged and, unless it
/// fixes the length of contexts, of mean_length. Messages call an option by the name of its field, or by what
/// `spelling` makes of that.
[[nodiscard]] ContextOptions choose_contexts(std::string_view reading, const ContextOptions& given,
                                             std::span<const std::string> listed,
                                             const std::function<std::string(std::string_view field)>& spelling = {});

/// Whether readings say what this option is, by the name of its field.
[[nodiscard]] bool belongs_to_readings(std::string_view field);

/// Those of such options that are not the defaults: "unit_contexts: true".
[[nodiscard]] std::vector<std::string> changed_by_readings(const ContextOptions& options);

/// Every option by the name of its field, with its value in words.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string>> words_of(const ContextOptions& options);

}  // namespace goblin::data
