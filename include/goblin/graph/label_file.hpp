#pragma once

#include "goblin/graph/graph.hpp"

#include <filesystem>
#include <istream>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace goblin {

/// Which cluster each node is in: of[node] is an index into the clusters' names.
struct Labels {
  std::vector<NodeId> of;
  Names clusters;
};

/// Reads `user <tab> cluster` lines for the users of a graph. A user who is not in the graph yet joins it without
/// edges: the graph that comes back has every user of both files. The users of a graph without names are 0, 1, ...,
/// and nobody can join it. Throws DataError on a line of another form, a user with two different clusters, or a user of
/// the graph who has none.
[[nodiscard]] std::pair<Graph, Labels> read_label_file(const std::filesystem::path& path, const Graph& graph);
[[nodiscard]] std::pair<Graph, Labels> read_labels(std::istream& in, const std::string& name, const Graph& graph);

/// Writes what read_labels reads: for every node of a graph `user <tab> cluster`, clusters as numbers, and users as
/// numbers where they have no names. A name that would make the line a comment gets a backslash before it, which
/// read_labels drops (TabReader). Throws std::invalid_argument, before it writes anything, if a name cannot stand in
/// such a file (it is empty, or has a tab or a line end in it) or if there is not one label for each node.
void write_labels(std::ostream& out, const Graph& graph, std::span<const NodeId> labels);

}  // namespace goblin
