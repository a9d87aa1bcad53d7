#include "graph/graph_binary.hpp"

#include <stdexcept>
#include <string_view>

namespace goblin {

void save_graph(BinaryWriter& out, const Graph& graph) {
  std::vector<std::uint32_t> counts(graph.node_count(), 0);
  std::vector<NodeId> ends;
  std::vector<double> weights;
  ends.reserve(graph.edge_count());
  weights.reserve(graph.edge_count());
  for (const Edge& edge : graph.edges()) {
    ++counts[edge.a];
    ends.push_back(edge.b);
    weights.push_back(edge.weight);
  }
  out.array(counts);
  out.array(ends);
  out.array(weights);
  out.size(graph.names().size());
  for (std::size_t node = 0; node < graph.names().size(); ++node) out.text(graph.names()[node]);
}

Graph load_graph(BinaryReader& in) {
  const auto counts = in.array<std::uint32_t>();
  const auto ends = in.array<std::uint32_t>();
  const auto weights = in.array<double>(ends.size(), "the number of weights");
  const std::size_t name_count = in.size();
  in.expect(name_count == 0 || name_count == counts.size(), "the number of names");
  std::vector<Edge> edges;
  edges.reserve(ends.size());
  for (std::size_t node = 0; node < counts.size(); ++node) {
    in.expect(counts[node] <= ends.size() - edges.size(), "the number of edges");
    for (std::uint32_t k = 0; k < counts[node]; ++k) {
      edges.push_back({static_cast<NodeId>(node), ends[edges.size()], weights[edges.size()]});
    }
  }
  in.expect(edges.size() == ends.size(), "the number of edges");
  Names names;
  for (std::size_t node = 0; node < name_count; ++node) {
    const std::string_view name = in.text();
    if (name.empty() && names.find(name)) {
      names.insert_nameless();  // of users who were removed
    } else {
      in.expect(names.insert(name) == node, "a name that stands twice");
    }
  }
  try {
    return name_count > 0 ? Graph(std::move(names), edges) : Graph(counts.size(), edges);
  } catch (const std::invalid_argument& error) {
    in.fail(std::string("its content is inconsistent: ") + error.what());
  }
}

}  // namespace goblin
