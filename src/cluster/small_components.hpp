#pragma once

#include "cluster/level.hpp"
#include "goblin/graph/graph.hpp"

#include <cstddef>
#include <vector>

namespace goblin::cluster {

/// The label of a node that has no cluster yet.
constexpr NodeId unplaced = static_cast<NodeId>(-1);

/// Places the components without a cluster, whole and the largest first. One with edges goes to the cluster with room
/// whose normalized cut it lowers most: volume v takes cut(c) / S_c down to cut(c) / (S_c + v). One that lowers none
/// (an isolated node), and any while some cluster is below its least size, goes to the smallest cluster. Where none has
/// room for the whole, its nodes go to the smallest clusters one by one. O((n + m) + pieces log clusters).
void place_small_components(const Graph& graph, const Components& components, std::size_t clusters,
                            const SizeBounds& bounds, std::vector<NodeId>& labels);

}  // namespace goblin::cluster
