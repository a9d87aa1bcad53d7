#pragma once

#include "goblin/data/contexts.hpp"
#include "goblin/data/sparse_rows.hpp"
#include "goblin/graph/graph.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace goblin::data {

/// What was read, what was passed over, and what the preparation made of it.
struct Summary {
  std::size_t users = 0;
  std::size_t edges = 0;
  std::size_t items = 0;
  std::size_t payoffs = 0;  ///< nonzero ones
  std::size_t tags = 0;     ///< listed in the tags' file

  std::size_t components = 0;
  std::size_t largest_component = 0;
  std::size_t users_without_friends = 0;
  std::size_t users_without_payoffs = 0;

  std::size_t assignments = 0;          ///< of tags to items, those below not counted
  std::size_t skipped_assignments = 0;  ///< to items that are not listed
  std::size_t skipped_items = 0;        ///< that such assignments name
  std::size_t items_without_tags = 0;
  std::size_t payoffs_without_tags = 0;  ///< nonzero payoffs for such items
  std::size_t left_out_items = 0;        ///< because no word is left of their tags (ContextOptions::keep_untagged)
  std::size_t left_out_payoffs = 0;      ///< nonzero payoffs for such items
  std::size_t unused_tags = 0;           ///< that no assignment uses, not even a skipped one
  std::size_t repeated_tags = 0;         ///< listed again under another id

  std::size_t words_in_all = 0;  ///< distinct words after compound tags were split
  std::size_t words = 0;         ///< those that remain after the rare ones were left out
};

/// Users and their friends, items and their contexts, and which items a user likes: all that a world needs.
struct Dataset {
  std::string name;
  Graph graph;  ///< the users, by name
  Names items;
  ItemContexts contexts;
  SparseRows payoffs;  ///< users x items
  Summary summary;
  bool from_cache = false;

  [[nodiscard]] std::span<const double> context(std::size_t item) const {
    return std::span(contexts.numbers).subspan(item * contexts.dimension, contexts.dimension);
  }
};

}  // namespace goblin::data
