// Any bytes are an edge file, or a DataError; and what is read obeys the rules of a graph.

#include "goblin/error.hpp"
#include "goblin/graph/edge_file.hpp"

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  try {
    const goblin::Graph graph = goblin::read_edges(in, "fuzz");
    for (std::size_t node = 0; node < graph.node_count(); ++node) {
      if (graph.names().find(graph.names()[node]) != node) std::abort();
      for (const goblin::NodeId other : graph.neighbours(node)) {
        if (other == node || graph.weight(node, other) != graph.weight(other, node)) std::abort();
      }
    }
  } catch (const goblin::DataError&) {
  }
  return 0;
}
