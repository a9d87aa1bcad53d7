#pragma once

#include "goblin/graph/graph.hpp"

#include <cstddef>
#include <vector>

namespace goblin::cluster {

/// A graph whose nodes stand for groups of nodes of the graph to be clustered. On the finest level a node is itself.
struct Level {
  Graph graph;
  std::vector<double> volume;  // the sum of the weighted degrees of the nodes in the group
  std::vector<double> inner;   // the weight within the group, each edge counted at both ends: volume - inner leaves it
  std::vector<NodeId> size;    // nodes in the group

  [[nodiscard]] std::size_t node_count() const { return size.size(); }
};

/// Bounds on the number of nodes in a cluster. A minimum of at least 1 says that no cluster is empty.
struct SizeBounds {
  std::size_t smallest = 1;
  std::size_t largest = static_cast<std::size_t>(-1);
};

[[nodiscard]] Level finest_level(const Graph& graph);

}  // namespace goblin::cluster
