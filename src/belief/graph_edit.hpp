#pragma once

#include "goblin/graph/graph.hpp"

#include <vector>

namespace goblin {

/// The graph with `change` added to the weight of one edge; an edge without weight is gone. O(m).
Graph with_edge_changed(const Graph& graph, NodeId a, NodeId b, double change);

/// Both graphs in one, the nodes of the first before those of the second.
Graph side_by_side(const Graph& first, const Graph& second);

/// The entries of A = ridge I + coupling L on its diagonal.
std::vector<double> prior_diagonal(const Graph& graph, double ridge, double coupling);

}  // namespace goblin
