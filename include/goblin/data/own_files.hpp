#pragma once

#include "goblin/data/dataset.hpp"
#include "goblin/graph/edge_file.hpp"

#include <filesystem>
#include <string_view>

namespace goblin::data {

/// What stands after an item's name: its context, or its tags.
enum class ItemFields {
  automatic,  ///< numbers if all fields of the first line are numbers, else tags
  numbers,
  tags,
};

/// What to do where payoffs.tsv has a pair of user and item again.
enum class RepeatedPayoffs {
  refuse,  ///< bad data
  first,   ///< the first line counts
  last,    ///< the last line counts
  sum,     ///< they add up
};

/// The choice of that name; throws std::invalid_argument with the names there are.
[[nodiscard]] RepeatedPayoffs repeated_payoffs_named(std::string_view name);

struct OwnFilesOptions {
  ItemFields items = ItemFields::automatic;
  /// For items with tags; numbers are taken as they are.
  ContextOptions contexts = {};
  EdgeFileOptions edges = {};
  RepeatedPayoffs repeated_payoffs = RepeatedPayoffs::refuse;
};

/// A user's own data: a folder with three tab-separated files, in which empty lines and lines that start with '#' are
/// passed over. docs/your-data.md walks through an example.
///
///     edges.tsv     user <tab> user [<tab> weight]
///     items.tsv     item <tab> number <tab> number ...     the same number of numbers for every item, or
///                   item <tab> tag <tab> tag ...           tags, to be made into contexts as the paper does; an item
///                                                          may have none, or stand on several lines
///     payoffs.tsv   user <tab> item <tab> payoff           what is not listed pays 0
///
/// A user who is only in payoffs.tsv has no friends. Throws DataError with file and line on a line of another form, an
/// item that is not in items.tsv, or a pair of user and item that stands twice where the options do not say what
/// counts.
[[nodiscard]] Dataset read_own_files(const std::filesystem::path& folder, const OwnFilesOptions& options = {});

}  // namespace goblin::data
