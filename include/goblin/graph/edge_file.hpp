#pragma once

#include "goblin/graph/graph.hpp"

#include <filesystem>
#include <istream>
#include <string>

namespace goblin {

struct EdgeFileOptions {
  /// Leave out the lines that join a user to themselves; else they are errors. The user is in the graph all the same.
  bool drop_self_loops = false;
};

/// Reads `user <tab> user [<tab> weight]` lines into a graph whose nodes carry the users' names, in order of
/// appearance. Lines that start with '#' and empty lines are passed over (TabReader has how a name may start so); a
/// missing weight is 1; parallel edges add up. Throws DataError with file and line on a line of another form, an empty
/// name, a self loop or a weight that is not finite and positive. Peak memory: the graph, the names and 8 bytes a
/// line, 16 with weights.
[[nodiscard]] Graph read_edge_file(const std::filesystem::path& path, const EdgeFileOptions& options = {});
[[nodiscard]] Graph read_edges(std::istream& in, const std::string& name, const EdgeFileOptions& options = {});

}  // namespace goblin
