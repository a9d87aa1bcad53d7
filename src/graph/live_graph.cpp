#include "graph/live_graph.hpp"

#include <utility>

namespace goblin {

std::optional<NodeId> LiveGraph::find(std::string_view name) const {
  if (const auto found = base().names().find(name)) return found;
  if (const auto found = added_names_.find(name)) return static_cast<NodeId>(base().node_count() + *found);
  return std::nullopt;
}

std::string_view LiveGraph::name(NodeId node) const {
  if (!has_names()) return {};
  return node < base().node_count() ? base().names()[node] : added_names_[node - base().node_count()];
}

NodeId LiveGraph::add_node(std::string_view name) {
  if (!name.empty()) added_names_.insert(name);
  graph_.add_nodes(1);
  return static_cast<NodeId>(node_count_++);
}

void LiveGraph::remove_names(std::span<const NodeId> nodes) {
  if (!has_names()) return;
  Names names = snapshot().names();
  names.remove(nodes);
  *this = LiveGraph(Graph(std::move(names), graph_.edges()));
}

void LiveGraph::keep_first(std::size_t count) {
  added_names_.keep_first(count - base().node_count());
  graph_.keep_first(count);
  node_count_ = count;
}

Graph LiveGraph::snapshot() const {
  if (!graph_.is_edited()) return base();
  if (!has_names()) return graph_.snapshot();
  Names names = base().names();
  for (std::size_t k = 0; k < added_names_.size(); ++k) names.insert(added_names_[k]);
  return {std::move(names), graph_.edges()};
}

}  // namespace goblin
