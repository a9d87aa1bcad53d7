#pragma once

#include "goblin/graph/graph.hpp"

#include <filesystem>
#include <functional>
#include <istream>
#include <ostream>
#include <string>

namespace goblin {

struct EdgeFileOptions {
  /// Leave out the lines that join a user to themselves; else they are errors. The user is in the graph all the same.
  bool drop_self_loops = false;
  /// Called once, with a sentence to show, if pairs of users are listed in both directions.
  std::function<void(const std::string& sentence)> warn = {};
};

/// Reads `user <tab> user [<tab> weight]` lines into a graph whose nodes carry the users' names, in order of
/// appearance. Lines that start with '#' and empty lines are passed over (TabReader has how a name may start so); a
/// missing weight is 1. Edges have no direction: a pair of users that is listed again in the same direction adds to the
/// weight, and where a pair is listed in both directions, the two are one edge with the larger weight. Throws DataError
/// with file and line on a line of another form, an empty name, a self loop or a weight that is not finite and
/// positive. Peak memory: the graph, the names and 8 bytes a line, 16 with weights; where a pair is listed again, the
/// graph twice and 40 bytes a line more.
[[nodiscard]] Graph read_edge_file(const std::filesystem::path& path, const EdgeFileOptions& options = {});
[[nodiscard]] Graph read_edges(std::istream& in, const std::string& name, const EdgeFileOptions& options = {});

/// Writes what read_edges reads: a line with its weight for every edge, users as numbers where they have no names.
/// Whoever has no edge is not in it. Throws std::invalid_argument, before it writes anything, if the name of somebody
/// else cannot stand in such a file (it is empty, or has a tab or a line end in it).
void write_edges(std::ostream& out, const Graph& graph);

}  // namespace goblin
