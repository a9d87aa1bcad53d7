#include "goblin/graph/edge_file.hpp"

#include "goblin/error.hpp"
#include "goblin/graph/tab_file.hpp"

#include <cmath>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

namespace goblin {

Graph read_edge_file(const std::filesystem::path& path, const EdgeFileOptions& options) {
  std::ifstream in = open_file(path);
  return read_edges(in, path.string(), options);
}

Graph read_edges(std::istream& in, const std::string& name, const EdgeFileOptions& options) {
  TabReader reader(in, name);
  Names names;
  EdgeList edges;
  while (reader.next()) {
    const auto& fields = reader.fields();
    if (fields.size() < 2 || fields.size() > 3) {
      reader.fail(fmt::format("{} field{} (expected: user <tab> user [<tab> weight])", fields.size(),
                              fields.size() == 1 ? "" : "s"));
    }
    if (fields[0].empty() || fields[1].empty()) reader.fail("an empty user name");
    const bool self_loop = fields[0] == fields[1];
    if (self_loop && !options.drop_self_loops) {
      reader.fail(
          fmt::format("'{}' is joined to itself (a self loop; drop-self-loops leaves such lines out)", fields[0]));
    }
    const double weight = fields.size() == 3 ? reader.number(2) : 1.0;
    if (!(std::isfinite(weight) && weight > 0.0)) {
      reader.fail(fmt::format("weight {} (must be finite and positive)", fields[2]));
    }
    const NodeId a = names.insert(fields[0]);
    if (!self_loop) edges.add({a, names.insert(fields[1]), weight});
  }
  try {
    return {std::move(names), edges};
  } catch (const std::invalid_argument& error) {
    throw DataError(name, 0, error.what());
  }
}

}  // namespace goblin
