#pragma once

#include <cstddef>
#include <span>

#include <Eigen/Core>

namespace goblin {

/// The symmetric matrix whose packed lower triangle Evidence::contexts gives; zero if that is empty.
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

}  // namespace goblin
