#pragma once

#include "goblin/graph/names.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace goblin::data {

struct Entry {
  NodeId row = 0;
  NodeId column = 0;
  double value = 1.0;
};

/// A sparse matrix, row after row, the columns of a row ascending: the payoffs of users for items, the counts of words
/// in items. 12 bytes an entry and 8 a row.
class SparseRows {
 public:
  SparseRows() = default;
  /// Entries at the same place add up. Throws std::invalid_argument on an entry outside. O(entries log(longest row)).
  SparseRows(std::size_t row_count, std::size_t column_count, std::span<const Entry> entries);

  [[nodiscard]] std::size_t row_count() const { return begins_.size() - 1; }
  [[nodiscard]] std::size_t column_count() const { return column_count_; }
  /// The number of entries.
  [[nodiscard]] std::size_t size() const { return columns_.size(); }

  [[nodiscard]] std::span<const NodeId> columns(std::size_t row) const {
    return std::span(columns_).subspan(begins_[row], begins_[row + 1] - begins_[row]);
  }
  /// The values at columns(row), in the same order.
  [[nodiscard]] std::span<const double> values(std::size_t row) const {
    return std::span(values_).subspan(begins_[row], begins_[row + 1] - begins_[row]);
  }
  /// 0 where there is no entry. O(log(entries of the row)).
  [[nodiscard]] double at(std::size_t row, NodeId column) const;

  /// The number of entries in each column.
  [[nodiscard]] std::vector<std::size_t> column_sizes() const;
  /// All entries, row after row.
  [[nodiscard]] std::vector<Entry> entries() const;

 private:
  std::size_t column_count_ = 0;
  std::vector<std::size_t> begins_{0};
  std::vector<NodeId> columns_;
  std::vector<double> values_;
};

}  // namespace goblin::data
