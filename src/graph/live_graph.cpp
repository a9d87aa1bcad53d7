#include "graph/live_graph.hpp"

namespace goblin {

std::optional<NodeId> LiveGraph::find(std::string_view name) const {
  if (const auto found = base_.names().find(name)) return found;
  if (const auto found = added_names_.find(name)) return static_cast<NodeId>(base_.node_count() + *found);
  return std::nullopt;
}

NodeId LiveGraph::add_node(std::string_view name) {
  if (!name.empty()) added_names_.insert(name);
  return static_cast<NodeId>(node_count_++);
}

double LiveGraph::weight(NodeId a, NodeId b) const {
  if (const auto found = changed_.find(edge_key(a, b)); found != changed_.end()) return found->second;
  return a < base_.node_count() && b < base_.node_count() ? base_.weight(a, b) : 0.0;
}

Graph LiveGraph::snapshot() const {
  if (changed_.empty() && node_count_ == base_.node_count()) return base_;
  auto edges = base_.edges();
  std::erase_if(edges, [this](const Edge& edge) { return changed_.contains(edge_key(edge.a, edge.b)); });
  for (const auto& [ends, weight] : changed_) {
    if (weight > 0.0) edges.push_back({static_cast<NodeId>(ends >> 32), static_cast<NodeId>(ends), weight});
  }
  if (!has_names()) return {node_count_, edges};
  Names names = base_.names();
  for (std::size_t k = 0; k < added_names_.size(); ++k) names.insert(added_names_[k]);
  return {std::move(names), edges};
}

std::size_t LiveGraph::bytes() const {
  constexpr std::size_t map_node = 40;
  return base_.bytes() + added_names_.bytes() + changed_.size() * map_node;
}

}  // namespace goblin
