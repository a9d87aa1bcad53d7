#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

#include <Eigen/Core>
#include <Eigen/Eigenvalues>

namespace goblin {

/// The symmetric matrix S whose packed lower triangle UserEvidence::contexts gives; zero if that is empty.
inline Eigen::MatrixXd unpacked(std::span<const double> packed, std::size_t dimension) {
  const auto d = static_cast<Eigen::Index>(dimension);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(d, d);
  if (packed.empty()) return matrix;
  const double* from = packed.data();
  for (Eigen::Index c = 0; c < d; ++c) {
    for (Eigen::Index r = c; r < d; ++r) matrix(r, c) = matrix(c, r) = *from++;
  }
  return matrix;
}

/// to -= S from, without unpacking S. O(d^2).
inline void subtract_product(std::span<const double> packed, const double* from, double* to, std::size_t dimension) {
  const double* column = packed.data();
  for (std::size_t c = 0; c < dimension; ++c) {
    double total = column[0] * from[c];
    for (std::size_t r = c + 1; r < dimension; ++r) {
      to[r] -= column[r - c] * from[c];
      total += column[r - c] * from[r];
    }
    to[c] -= total;
    column += dimension - c;
  }
}

/// The trace of such an S: the sum of the squared lengths of the contexts.
inline double trace(std::span<const double> packed, std::size_t dimension) {
  double total = 0.0;
  std::size_t at = 0;
  for (std::size_t c = 0; !packed.empty() && c < dimension; ++c) {
    total += packed[at];
    at += dimension - c;
  }
  return total;
}

/// X with X X^T = S, a column for each eigenvalue of S that is not zero, the largest first. O(d^3).
inline Eigen::MatrixXd root_of(std::span<const double> packed, std::size_t dimension) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(unpacked(packed, dimension));
  const double smallest = 1e-15 * eigen.eigenvalues().cwiseAbs().maxCoeff();
  const Eigen::Index rank = (eigen.eigenvalues().array() > smallest).count();
  Eigen::MatrixXd root(eigen.eigenvectors().rows(), rank);
  for (Eigen::Index k = 0; k < rank; ++k) {
    const Eigen::Index column = eigen.eigenvalues().size() - 1 - k;  // they ascend
    root.col(k) = std::sqrt(eigen.eigenvalues()[column]) * eigen.eigenvectors().col(column);
  }
  return root;
}

/// X with X X^T = S, if `most` columns are enough but for rounding. Cholesky's method, the largest diagonal entry
/// first. O(columns d^2).
inline std::optional<Eigen::MatrixXd> few_columns_of(std::span<const double> packed, std::size_t dimension,
                                                     std::size_t most) {
  constexpr double rounding = 2e-15;
  Eigen::MatrixXd rest = unpacked(packed, dimension);
  const double negligible = rounding * rest.trace();
  Eigen::MatrixXd columns(rest.rows(), static_cast<Eigen::Index>(std::min(most, dimension)));
  Eigen::Index count = 0;
  for (; rest.diagonal().cwiseAbs().sum() > negligible; ++count) {
    Eigen::Index pivot = 0;
    if (count == columns.cols() || !(rest.diagonal().maxCoeff(&pivot) > 0.0)) return std::nullopt;
    columns.col(count) = rest.col(pivot) / std::sqrt(rest(pivot, pivot));
    rest.noalias() -= columns.col(count) * columns.col(count).transpose();
  }
  columns.conservativeResize(Eigen::NoChange, count);
  return columns;
}

}  // namespace goblin
