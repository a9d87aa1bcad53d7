#include "goblin/data/contexts.hpp"

#include "goblin/data/principal_components.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

namespace goblin::data {
namespace {

/// The same matrix with other values: value = change(row, column, value).
template <typename Change>
SparseRows changed(const SparseRows& rows, Change change) {
  auto entries = rows.entries();
  for (Entry& entry : entries) entry.value = change(entry);
  return {rows.row_count(), rows.column_count(), entries};
}

SparseRows with_unit_rows(const SparseRows& rows) {
  std::vector<double> lengths(rows.row_count(), 0.0);
  for (std::size_t row = 0; row < rows.row_count(); ++row) {
    for (const double value : rows.values(row)) lengths[row] += value * value;
    lengths[row] = std::sqrt(lengths[row]);
  }
  return changed(rows,
                 [&](const Entry& entry) { return lengths[entry.row] > 0.0 ? entry.value / lengths[entry.row] : 0.0; });
}

double frequency_of(double count, TermFrequency frequency) {
  if (frequency == TermFrequency::binary) return 1.0;
  return frequency == TermFrequency::sublinear ? 1.0 + std::log(std::max(count, 1.0)) : count;
}

double length_of(std::span<const double> context) {
  double squares = 0.0;
  for (const double number : context) squares += number * number;
  return std::sqrt(squares);
}

}  // namespace

TermFrequency term_frequency_named(std::string_view name) {
  for (const auto frequency : {TermFrequency::counts, TermFrequency::binary, TermFrequency::sublinear}) {
    if (name == name_of(frequency)) return frequency;
  }
  throw std::invalid_argument(fmt::format("term_frequency: '{}' (must be counts, binary or sublinear)", name));
}

std::string_view name_of(TermFrequency frequency) {
  switch (frequency) {
    case TermFrequency::binary:
      return "binary";
    case TermFrequency::sublinear:
      return "sublinear";
    case TermFrequency::counts:
      break;
  }
  return "counts";
}

SparseRows tf_idf(const SparseRows& counts, const ContextOptions& options) {
  std::size_t items = counts.row_count();
  if (!options.count_untagged) {
    for (std::size_t row = 0; row < counts.row_count(); ++row) items -= counts.columns(row).empty() ? 1 : 0;
  }
  const auto items_with = counts.column_sizes();
  std::vector<double> weights(items_with.size(), 1.0);
  const double more = options.smooth_idf ? 1.0 : 0.0;
  for (std::size_t word = 0; word < weights.size() && options.inverse_document_frequency; ++word) {
    weights[word] =
        more + std::log((more + static_cast<double>(items)) / (more + static_cast<double>(items_with[word])));
  }
  return changed(counts, [&](const Entry& entry) {
    return weights[entry.column] * frequency_of(entry.value, options.term_frequency);
  });
}

void scale_to_mean_length(ItemContexts& contexts, double mean_length) {
  if (!(mean_length > 0.0 && std::isfinite(mean_length))) {
    throw std::invalid_argument(fmt::format("mean_length: {} (must be finite and positive)", mean_length));
  }
  const std::size_t d = contexts.dimension;
  double total = 0.0;
  const std::size_t items = d > 0 ? contexts.numbers.size() / d : 0;
  for (std::size_t item = 0; item < items; ++item) {
    total += length_of(std::span(contexts.numbers).subspan(item * d, d));
  }
  if (total == 0.0) return;
  const double factor = mean_length * static_cast<double>(items) / total;
  for (double& number : contexts.numbers) number *= factor;
  contexts.scale *= factor;
}

/// A context that is all but zero beside the longest is what rounding left of a zero, and becomes one.
void scale_to_unit_length(ItemContexts& contexts) {
  constexpr double rounding = 1e-8;
  const std::size_t d = contexts.dimension;
  const auto at = [&](std::size_t begin) { return std::span(contexts.numbers).subspan(begin, d); };
  double longest = 0.0;
  for (std::size_t begin = 0; begin < contexts.numbers.size(); begin += d) {
    longest = std::max(longest, length_of(at(begin)));
  }
  for (std::size_t begin = 0; begin < contexts.numbers.size(); begin += d) {
    const double length = length_of(at(begin));
    for (double& number : at(begin)) number = length <= rounding * longest ? 0.0 : number / length;
  }
  contexts.unit_length = true;
}

ItemContexts make_contexts(const SparseRows& counts, const ContextOptions& options) {
  SparseRows rows = tf_idf(counts, options);
  if (options.unit_rows) rows = with_unit_rows(rows);
  Projection projection = principal_components(
      rows, {.dimension = options.dimension, .centre = options.centre, .count_empty_rows = options.count_untagged});
  ItemContexts contexts{.dimension = options.dimension,
                        .numbers = std::move(projection.rows),
                        .scale = 1.0,
                        .explained = projection.explained};
  for (std::size_t item = 0; item < counts.row_count() && options.zero_untagged; ++item) {
    if (!counts.columns(item).empty()) continue;
    std::fill_n(contexts.numbers.data() + item * contexts.dimension, contexts.dimension, 0.0);
  }
  if (options.unit_contexts) {
    scale_to_unit_length(contexts);
  } else if (options.mean_length != 0.0) {
    scale_to_mean_length(contexts, options.mean_length);
  }
  return contexts;
}

}  // namespace goblin::data
