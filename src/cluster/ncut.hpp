#pragma once

#include "cluster/level.hpp"
#include "goblin/cluster/partition.hpp"
#include "goblin/graph/graph.hpp"

#include <vector>

namespace goblin::cluster {

/// Exactly `clusters` clusters within the bounds, with a small normalized cut.
[[nodiscard]] std::vector<NodeId> normalized_cut(const Graph& graph, std::size_t clusters, const SizeBounds& bounds,
                                                 const Options& options);

}  // namespace goblin::cluster
