#pragma once

#include "goblin/data/sparse_rows.hpp"
#include "goblin/data/tags.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace goblin::data {

/// How the tags of an item become its context: split into words, count them, weigh them, project them, scale them.
/// Every step is the paper's where it says one; docs/reproduction.md has the others with what they change.
struct ContextOptions {
  /// Take compound tags apart.
  bool split_tags = true;
  bool lower_case = true;
  /// Words that occur fewer times are left out. Not set: 10 on Delicious, 1 elsewhere.
  std::optional<std::size_t> minimum_count = {};
  /// Weigh words by the logarithm of (items / items with the word).
  bool inverse_document_frequency = true;
  /// Give the items' vectors unit length before they are projected.
  bool unit_rows = false;
  /// Principal components of the centred vectors; else of the vectors as they are.
  bool centre = true;
  /// Items without tags count for the mean and for the document frequency.
  bool count_untagged = true;
  /// Items without tags have a zero context; else they are projected like the others, all to the same vector.
  bool zero_untagged = true;
  /// How many principal components.
  std::size_t dimension = 25;
  /// One factor for all contexts makes this the mean of their lengths over all items; 0 leaves them as they are.
  double mean_length = 1.0;
};

/// The contexts of items.
struct ItemContexts {
  std::size_t dimension = 0;
  std::vector<double> numbers;  ///< dimension numbers for each item, item after item
  double scale = 1.0;           ///< the factor that was applied to all of them
  double explained = 1.0;       ///< the share of the vectors' variance that the projection kept
};

/// counts * ln(items / items with the word); an entry that becomes 0 stays as one.
[[nodiscard]] SparseRows tf_idf(const SparseRows& counts, bool count_empty_rows = true);

/// All steps from the counts on.
[[nodiscard]] ItemContexts make_contexts(const SparseRows& counts, const ContextOptions& options);

/// Multiplies by one factor so that the mean length is as asked for; contexts that are all zero stay so.
void scale_to_mean_length(ItemContexts& contexts, double mean_length);

}  // namespace goblin::data
