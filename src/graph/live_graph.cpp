#include "graph/live_graph.hpp"

#include <algorithm>

namespace goblin {

std::optional<NodeId> LiveGraph::find(std::string_view name) const {
  if (const auto found = base_.names().find(name)) return found;
  if (const auto found = added_names_.find(name)) return static_cast<NodeId>(base_.node_count() + *found);
  return std::nullopt;
}

std::string_view LiveGraph::name(NodeId node) const {
  if (!has_names()) return {};
  return node < base_.node_count() ? base_.names()[node] : added_names_[node - base_.node_count()];
}

NodeId LiveGraph::add_node(std::string_view name) {
  if (!name.empty()) added_names_.insert(name);
  return static_cast<NodeId>(node_count_++);
}

double LiveGraph::weight(NodeId a, NodeId b) const {
  if (const auto changes = changed_.find(a); changes != changed_.end()) {
    if (const auto found = changes->second.find(b); found != changes->second.end()) return found->second;
  }
  return base_weight(a, b);
}

void LiveGraph::record(NodeId from, NodeId to, double weight, bool differs) {
  if (differs) {
    changed_count_ += changed_[from].insert_or_assign(to, weight).second ? 1 : 0;
  } else if (const auto changes = changed_.find(from); changes != changed_.end()) {
    changed_count_ -= changes->second.erase(to);
    if (changes->second.empty()) changed_.erase(changes);
  }
}

void LiveGraph::set_weight(NodeId a, NodeId b, double weight) {
  constexpr std::size_t few = 1000;
  const bool differs = weight != base_weight(a, b);
  record(a, b, weight, differs);
  record(b, a, weight, differs);
  if (changed_count_ <= std::max(few, 2 * base_.edge_count())) return;
  *this = LiveGraph(snapshot());
}

Graph LiveGraph::snapshot() const {
  if (changed_.empty() && node_count_ == base_.node_count()) return base_;
  std::vector<Edge> edges;
  for (NodeId node = 0; node < node_count_; ++node) {
    for_each_neighbour(node, [&](NodeId other, double weight) {
      if (node < other) edges.push_back({node, other, weight});
    });
  }
  if (!has_names()) return {node_count_, edges};
  Names names = base_.names();
  for (std::size_t k = 0; k < added_names_.size(); ++k) names.insert(added_names_[k]);
  return {std::move(names), edges};
}

std::size_t LiveGraph::bytes() const {
  constexpr std::size_t tree_node = 56;
  constexpr std::size_t map_node = 80;
  return base_.bytes() + added_names_.bytes() + changed_.size() * map_node + changed_count_ * tree_node;
}

}  // namespace goblin
