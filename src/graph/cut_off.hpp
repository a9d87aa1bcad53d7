#pragma once

#include "graph/editable_graph.hpp"

#include <span>
#include <vector>

namespace goblin {

/// The parts that these nodes, all different, are in, if no path joins all of them: all parts but one, each ascending,
/// in the order of their lowest nodes. None if they are still together.
///
/// Searches from all of them, an edge at a time. Searches that meet go on as one; the part whose search is still going
/// on when all others have ended is the one that is left out. So the cost is that of the smaller parts, times the
/// number of nodes, however large the graph is.
[[nodiscard]] std::vector<std::vector<NodeId>> cut_off(const EditableGraph& graph, std::span<const NodeId> from);

}  // namespace goblin
