#pragma once

#include "goblin/graph/graph.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace goblin {
class Random;
}

namespace goblin::cluster {

/// Recursive bisection into `clusters` <= nodes non-empty parts of about the same total node weight, with a small
/// weight of the edges between parts. Every bisection is one of METIS; the recursion is ours, because METIS writes to
/// standard output when a side of its own has fewer nodes than parts, and leaves parts empty then. METIS counts in
/// 32-bit integers: weights are scaled to sums of 2^29, none below 1. Throws std::invalid_argument on a graph that
/// METIS cannot number. O((n + m) log clusters).
[[nodiscard]] std::vector<NodeId> bisect_recursively(const Graph& graph, std::span<const double> node_weights,
                                                     std::size_t clusters, Random& random);

}  // namespace goblin::cluster
