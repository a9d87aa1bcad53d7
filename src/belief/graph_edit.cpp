#include "belief/graph_edit.hpp"

#include <algorithm>

namespace goblin {

Graph with_edge_changed(const Graph& graph, NodeId a, NodeId b, double change) {
  const double weight = graph.weight(a, b) + change;
  auto edges = graph.edges();
  const NodeId low = std::min(a, b);
  const NodeId high = std::max(a, b);
  std::erase_if(edges, [low, high](const Edge& edge) { return edge.a == low && edge.b == high; });
  if (weight > 0.0) edges.push_back({low, high, weight});
  return {graph.node_count(), edges};
}

Graph side_by_side(const Graph& first, const Graph& second) {
  auto edges = first.edges();
  const auto shift = static_cast<NodeId>(first.node_count());
  for (const Edge& edge : second.edges()) edges.push_back({edge.a + shift, edge.b + shift, edge.weight});
  return {first.node_count() + second.node_count(), edges};
}

std::vector<double> prior_diagonal(const Graph& graph, double ridge, double coupling) {
  std::vector<double> diagonal(graph.node_count());
  for (std::size_t node = 0; node < diagonal.size(); ++node) diagonal[node] = ridge + coupling * graph.degree(node);
  return diagonal;
}

}  // namespace goblin
