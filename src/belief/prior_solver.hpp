#pragma once

#include "goblin/belief/engine.hpp"
#include "goblin/graph/graph.hpp"

#include <vector>

namespace goblin {

/// The diagonal of A^{-1}, A = ridge I + coupling L: the variances before anything is observed. Conjugate gradients,
/// eight columns at a time, to rounding: O(n m) times some dozens of iterations.
[[nodiscard]] std::vector<double> prior_variances(const Graph& graph, const Prior& prior);

/// (e_a - e_b)^T A^{-1} (e_a - e_b).
[[nodiscard]] double prior_resistance(const Graph& graph, const Prior& prior, std::size_t a, std::size_t b);

}  // namespace goblin
