#pragma once

#include "binary.hpp"
#include "goblin/graph/graph.hpp"

namespace goblin {

/// A graph's nodes, edges and names in a model file.
void save_graph(BinaryWriter& out, const Graph& graph);
[[nodiscard]] Graph load_graph(BinaryReader& in);

}  // namespace goblin
