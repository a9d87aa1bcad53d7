#pragma once

#include "goblin/data/sparse_rows.hpp"
#include "goblin/graph/names.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goblin::data {

/// Text in Latin-1 as UTF-8.
[[nodiscard]] std::string utf8_of_latin1(std::string_view text);

/// UTF-8 with the letters of ASCII and Latin-1 in lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

/// The words of a compound tag: what stands between underscores, hyphens, apostrophes (also as `&#039;`, with or
/// without the semicolon) and spaces. "webdesign_tutorial_css" has three.
[[nodiscard]] std::vector<std::string> split_tag(std::string_view tag);

struct WordOptions {
  /// Take compound tags apart.
  bool split = true;
  bool lower_case = true;
  /// Words that occur fewer times, over all items, are left out.
  std::size_t minimum_count = 1;
};

/// How often each word describes each item.
struct WordCounts {
  SparseRows counts;  ///< items x words
  Names words;
  /// Distinct words before the rare ones were left out.
  std::size_t words_in_all = 0;
};

/// Counts words: row = item, column = tag of an assignment, value = how many times it was made. A tag gives its count
/// to each of its words, twice to a word that it holds twice. Words that no assignment uses do not occur in the result.
[[nodiscard]] WordCounts count_words(std::size_t item_count, std::span<const std::string> tags,
                                     std::span<const Entry> assignments, const WordOptions& options = {});

}  // namespace goblin::data
