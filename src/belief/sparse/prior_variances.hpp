#pragma once

#include "belief/prior_matrix.hpp"

#include <vector>

namespace goblin {

/// The diagonal of A^{-1}: the variances before anything is observed. n / 32 solves with 32 columns each, O(n m) times
/// some dozens of iterations.
[[nodiscard]] std::vector<double> prior_variances(const PriorMatrix& prior);

/// (e_a - e_b)^T A^{-1} (e_a - e_b): how little an edge between two nodes would tell. One solve.
[[nodiscard]] double prior_resistance(const PriorMatrix& prior, NodeId a, NodeId b);

}  // namespace goblin
