#pragma once

#include "goblin/graph/graph.hpp"
#include "graph/editable_graph.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace goblin {

/// The users and their friends: a graph whose nodes may have names, and whose nodes and edges come and go. An edit is
/// O(neighbours of the two ends).
class LiveGraph {
 public:
  explicit LiveGraph(Graph base) : graph_(std::move(base)), node_count_(graph_.node_count()) {}

  /// May be asked while an edge changes.
  [[nodiscard]] std::size_t node_count() const { return node_count_; }
  [[nodiscard]] std::size_t edge_count() const { return graph_.edge_count(); }
  [[nodiscard]] bool has_names() const { return base().has_names() || !added_names_.empty(); }
  [[nodiscard]] std::optional<NodeId> find(std::string_view name) const;
  /// Empty where nodes have no names, or this one has lost it.
  [[nodiscard]] std::string_view name(NodeId node) const;

  /// The new node's index; the name is new where nodes have names, and empty where they have none.
  NodeId add_node(std::string_view name);
  /// Takes the names of some nodes (ascending), which others may get then; nothing where nodes have none. O(n + m).
  void remove_names(std::span<const NodeId> nodes);
  /// Takes away the nodes that were added after so many, which no edge joins to the others, also one that memory ran
  /// out for. Takes no memory.
  void keep_first(std::size_t count);

  [[nodiscard]] double weight(NodeId a, NodeId b) const { return graph_.weight(a, b); }
  [[nodiscard]] double degree(NodeId node) const { return graph_.degree(node); }
  /// 0 removes the edge.
  void set_weight(NodeId a, NodeId b, double weight) { graph_.set_weight(a, b, weight); }

  /// visit(neighbour, weight) for every edge of a node, the neighbours in ascending order.
  template <typename Visit>
  void for_each_neighbour(NodeId node, Visit visit) const {
    const auto neighbours = graph_.neighbours(node);
    const auto weights = graph_.weights(node);
    for (std::size_t k = 0; k < neighbours.size(); ++k) visit(neighbours[k], weights[k]);
  }

  /// The graph as it is now, with its names.
  [[nodiscard]] Graph snapshot() const;
  [[nodiscard]] std::size_t bytes() const { return graph_.bytes() + added_names_.bytes(); }

 private:
  [[nodiscard]] const Graph& base() const { return graph_.base(); }

  EditableGraph graph_;
  std::size_t node_count_;
  Names added_names_;
};

}  // namespace goblin
