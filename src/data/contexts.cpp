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

}  // namespace

SparseRows tf_idf(const SparseRows& counts, bool count_empty_rows) {
  std::size_t items = counts.row_count();
  if (!count_empty_rows) {
    for (std::size_t row = 0; row < counts.row_count(); ++row) items -= counts.columns(row).empty() ? 1 : 0;
  }
  const auto items_with = counts.column_sizes();
  std::vector<double> weights(items_with.size());
  for (std::size_t word = 0; word < weights.size(); ++word) {
    weights[word] = std::log(static_cast<double>(items) / static_cast<double>(items_with[word]));
  }
  return changed(counts, [&](const Entry& entry) { return entry.value * weights[entry.column]; });
}

void scale_to_mean_length(ItemContexts& contexts, double mean_length) {
  if (!(mean_length > 0.0 && std::isfinite(mean_length))) {
    throw std::invalid_argument(fmt::format("mean_length: {} (must be finite and positive)", mean_length));
  }
  const std::size_t d = contexts.dimension;
  double total = 0.0;
  const std::size_t items = d > 0 ? contexts.numbers.size() / d : 0;
  for (std::size_t item = 0; item < items; ++item) {
    double squares = 0.0;
    for (const double number : std::span(contexts.numbers).subspan(item * d, d)) squares += number * number;
    total += std::sqrt(squares);
  }
  if (total == 0.0) return;
  const double factor = mean_length * static_cast<double>(items) / total;
  for (double& number : contexts.numbers) number *= factor;
  contexts.scale *= factor;
}

ItemContexts make_contexts(const SparseRows& counts, const ContextOptions& options) {
  SparseRows rows = options.inverse_document_frequency ? tf_idf(counts, options.count_untagged) : counts;
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
  if (options.mean_length != 0.0) scale_to_mean_length(contexts, options.mean_length);
  return contexts;
}

}  // namespace goblin::data
