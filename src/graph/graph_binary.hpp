#pragma once

#include "binary.hpp"
#include "goblin/graph/graph.hpp"

namespace goblin {

/// A graph in a model file: for each node the number of its edges to later nodes, then the other ends and the weights
/// of these edges, node after node, then the names, if there are any.
void save_graph(BinaryWriter& out, const Graph& graph);
[[nodiscard]] Graph load_graph(BinaryReader& in);

}  // namespace goblin
