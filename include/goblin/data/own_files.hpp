#pragma once

#include "goblin/data/dataset.hpp"
#include "goblin/graph/edge_file.hpp"
#include "goblin/graph/names.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
/// passed over. docs/own-catalogue.md walks through an example.
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

/// Items by name, with their contexts: what a log may name in the place of contexts.
struct Items {
  std::string file;  ///< where they were read, for messages
  Names names;
  std::size_t dimension = 0;
  std::vector<double> numbers;  ///< dimension numbers for each item, item after item

  /// The item's context; none if there is no such item.
  [[nodiscard]] std::optional<std::span<const double>> context(std::string_view name) const {
    const auto item = names.find(name);
    if (!item) return std::nullopt;
    return std::span(numbers).subspan(*item * dimension, dimension);
  }
};

/// Reads an items.tsv with numbers, wherever it lies. Throws DataError with file and line, as read_own_files does.
[[nodiscard]] Items read_items(const std::filesystem::path& path);
/// Writes what read_items reads, numbers with as many digits as it takes to get the same double back. Throws
/// std::invalid_argument if a name cannot stand in such a file (it is empty, or has a tab or a line end in it).
void write_items(std::ostream& out, const Names& names, const ItemContexts& contexts);

}  // namespace goblin::data
