#include "goblin/data/sparse_rows.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace goblin::data {

SparseRows::SparseRows(std::size_t row_count, std::size_t column_count, std::span<const Entry> entries)
    : column_count_(column_count), begins_(row_count + 1, 0) {
  for (const Entry& entry : entries) {
    if (entry.row >= row_count || entry.column >= column_count) {
      throw std::invalid_argument(fmt::format("entries: one at row {}, column {} (must be inside of {} x {})",
                                              entry.row, entry.column, row_count, column_count));
    }
    ++begins_[entry.row + 1];
  }
  for (std::size_t row = 0; row < row_count; ++row) begins_[row + 1] += begins_[row];
  std::vector<Entry> sorted(entries.size());
  std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
  for (const Entry& entry : entries) sorted[next[entry.row]++] = entry;

  columns_.reserve(sorted.size());
  values_.reserve(sorted.size());
  for (std::size_t row = 0; row < row_count; ++row) {
    const auto in_row = std::span(sorted).subspan(begins_[row], begins_[row + 1] - begins_[row]);
    std::stable_sort(in_row.begin(), in_row.end(), [](const Entry& a, const Entry& b) { return a.column < b.column; });
    begins_[row] = columns_.size();
    for (const Entry& entry : in_row) {
      if (columns_.size() > begins_[row] && columns_.back() == entry.column) {
        values_.back() += entry.value;
      } else {
        columns_.push_back(entry.column);
        values_.push_back(entry.value);
      }
    }
  }
  begins_[row_count] = columns_.size();
}

double SparseRows::at(std::size_t row, NodeId column) const {
  const auto in_row = columns(row);
  const auto found = std::lower_bound(in_row.begin(), in_row.end(), column);
  if (found == in_row.end() || *found != column) return 0.0;
  return values(row)[static_cast<std::size_t>(found - in_row.begin())];
}

std::vector<std::size_t> SparseRows::column_sizes() const {
  std::vector<std::size_t> sizes(column_count_, 0);
  for (const NodeId column : columns_) ++sizes[column];
  return sizes;
}

std::vector<Entry> SparseRows::entries() const {
  std::vector<Entry> all;
  all.reserve(size());
  for (std::size_t row = 0; row < row_count(); ++row) {
    for (std::size_t at = begins_[row]; at < begins_[row + 1]; ++at) {
      all.push_back({static_cast<NodeId>(row), columns_[at], values_[at]});
    }
  }
  return all;
}

}  // namespace goblin::data
