#include "graph/graph_binary.hpp"

#include <stdexcept>

namespace goblin {

void save_graph(BinaryWriter& out, const Graph& graph) {
  const auto edges = graph.edges();
  std::vector<NodeId> ends;
  std::vector<double> weights;
  ends.reserve(2 * edges.size());
  weights.reserve(edges.size());
  for (const Edge& edge : edges) {
    ends.push_back(edge.a);
    ends.push_back(edge.b);
    weights.push_back(edge.weight);
  }
  out.size(graph.node_count());
  out.array(ends);
  out.array(weights);
  out.size(graph.names().size());
  for (std::size_t node = 0; node < graph.names().size(); ++node) out.text(graph.names()[node]);
}

Graph load_graph(BinaryReader& in) {
  const std::size_t node_count = in.size(std::size_t{1} << 32, "the number of nodes");
  const auto ends = in.array<std::uint32_t>();
  const auto weights = in.array<double>(ends.size() / 2, "the number of weights");
  const std::size_t name_count = in.size();
  in.expect(name_count == 0 || name_count == node_count, "the number of names");
  std::vector<Edge> edges;
  edges.reserve(weights.size());
  for (std::size_t k = 0; k < weights.size(); ++k) edges.push_back({ends[2 * k], ends[2 * k + 1], weights[k]});
  Names names;
  for (std::size_t node = 0; node < name_count; ++node) {
    in.expect(names.insert(in.text()) == node, "a name that stands twice");
  }
  try {
    return name_count > 0 ? Graph(std::move(names), edges) : Graph(node_count, edges);
  } catch (const std::invalid_argument& error) {
    in.fail(std::string("its content is inconsistent: ") + error.what());
  }
}

}  // namespace goblin
