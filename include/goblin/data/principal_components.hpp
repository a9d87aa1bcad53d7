#pragma once

#include "goblin/data/sparse_rows.hpp"

#include <cstddef>
#include <vector>

namespace goblin::data {

struct PrincipalComponentOptions {
  /// d: how many components.
  std::size_t dimension = 25;
  /// Subtract the mean row first.
  bool centre = true;
  /// Whether rows without entries count for the mean.
  bool count_empty_rows = true;
};

/// Rows in the coordinates of their principal components.
struct Projection {
  std::size_t dimension = 0;
  std::vector<double> rows;             ///< dimension numbers for each row, row after row
  std::vector<double> axes;             ///< one number for each column, axis after axis, of unit length
  std::vector<double> singular_values;  ///< descending
  double explained = 0.0;               ///< the share of the squares' sum that the projection keeps
};

/// The d leading right singular vectors v_1, ..., v_d of X - 1 m^T (X the sparse matrix, m its mean row, or 0), and
/// every row in their coordinates, (x - m).v_k.
///
/// They are the leading eigenvectors of X^T X - n m m^T, found by Lanczos (Spectra) from products with vectors alone,
/// each O(entries + columns); nothing dense of more than columns * 3 d numbers is made. The largest number of an axis
/// is positive, which settles the signs. Throws std::invalid_argument if the dimension is 0 or above the number of
/// columns.
///
///     const goblin::data::SparseRows rows(2, 2, std::vector<goblin::data::Entry>{{0, 0, 3.0}, {1, 1, 4.0}});
///     goblin::data::principal_components(rows, {.dimension = 1, .centre = false}).singular_values;  // 4
[[nodiscard]] Projection principal_components(const SparseRows& rows, const PrincipalComponentOptions& options = {});

}  // namespace goblin::data
