#pragma once

#include "goblin/data/sparse_rows.hpp"
#include "goblin/data/tags.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace goblin::data {

/// What the count of a word in an item's tags becomes.
enum class TermFrequency {
  counts,     ///< stays as it is
  binary,     ///< 1
  sublinear,  ///< 1 + ln(count); a weight below 1 counts as 1
};

/// The choice of that name ("counts", "binary", "sublinear") and back; throws std::invalid_argument with the names
/// there are.
[[nodiscard]] TermFrequency term_frequency_named(std::string_view name);
[[nodiscard]] std::string_view name_of(TermFrequency frequency);

/// How the tags of an item become its context: split into words, count them, weigh them, project them, scale them.
/// Every step is the paper's where it says one; docs/reproduction.md has the others with what they change.
struct ContextOptions {
  /// Take compound tags apart.
  bool split_tags = true;
  bool lower_case = true;
  /// Words that occur fewer times are left out. Not set: 10 on Delicious, 1 elsewhere.
  std::optional<std::size_t> minimum_count = {};
  /// Items without tags, and those whose words are all rare, stay; else they are left out, and their payoffs with them.
  bool keep_untagged = true;
  TermFrequency term_frequency = TermFrequency::counts;
  /// Weigh words by the logarithm of (items / items with the word).
  bool inverse_document_frequency = true;
  /// That logarithm as if one more item had every word, plus 1: ln((1 + items) / (1 + items with the word)) + 1.
  bool smooth_idf = false;
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
  /// Scale each context to length 1 after the projection; zero contexts stay so, and mean_length is not used.
  bool unit_contexts = false;
  /// One factor for all contexts makes this the mean of their lengths over all items; 0 leaves them as they are.
  double mean_length = 1.0;
};

/// The contexts of items.
struct ItemContexts {
  std::size_t dimension = 0;
  std::vector<double> numbers;  ///< dimension numbers for each item, item after item
  double scale = 1.0;           ///< the factor that was applied to all of them
  double explained = 1.0;       ///< the share of the vectors' variance that the projection kept
  bool unit_length = false;     ///< each was scaled to length 1: there is no scale left to choose
};

/// Counts weighed as the options say: the word's frequency in the item times its inverse document frequency. An entry
/// that becomes 0 stays as one.
[[nodiscard]] SparseRows tf_idf(const SparseRows& counts, const ContextOptions& options = {});

/// All steps from the counts on.
[[nodiscard]] ItemContexts make_contexts(const SparseRows& counts, const ContextOptions& options);

/// Multiplies by one factor so that the mean length is as asked for; contexts that are all zero stay so.
void scale_to_mean_length(ItemContexts& contexts, double mean_length);

/// Scales each context to length 1; those that are zero stay so.
void scale_to_unit_length(ItemContexts& contexts);

}  // namespace goblin::data
