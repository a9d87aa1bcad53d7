#pragma once

#include "goblin/graph/graph.hpp"

#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace goblin {

/// A graph that grows and changes: an immutable one and what is different from it. An edit is O(1), a question
/// O(log(neighbours)); snapshot() gives the graph as it is now. When the differences are as many as the edges, the
/// snapshot becomes the graph that they are told from.
class LiveGraph {
 public:
  explicit LiveGraph(Graph base) : base_(std::move(base)), node_count_(base_.node_count()) {}

  [[nodiscard]] std::size_t node_count() const { return node_count_; }
  [[nodiscard]] bool has_names() const { return base_.has_names() || !added_names_.empty(); }
  [[nodiscard]] std::optional<NodeId> find(std::string_view name) const;
  /// Empty where nodes have no names.
  [[nodiscard]] std::string_view name(NodeId node) const;

  /// The new node's index; the name is new where nodes have names, and empty where they have none.
  NodeId add_node(std::string_view name);

  [[nodiscard]] double weight(NodeId a, NodeId b) const;
  /// 0 removes the edge.
  void set_weight(NodeId a, NodeId b, double weight);

  /// visit(neighbour, weight) for every edge of a node, in an order that depends on the edits alone.
  template <typename Visit>
  void for_each_neighbour(NodeId node, Visit visit) const {
    const auto found = changed_.find(node);
    const Changes* const changes = found == changed_.end() ? nullptr : &found->second;
    if (node < base_.node_count()) {
      const auto neighbours = base_.neighbours(node);
      for (std::size_t k = 0; k < neighbours.size(); ++k) {
        if (changes == nullptr || !changes->contains(neighbours[k])) visit(neighbours[k], base_.weights(node)[k]);
      }
    }
    if (changes == nullptr) return;
    for (const auto& [other, weight] : *changes) {
      if (weight > 0.0) visit(other, weight);
    }
  }

  [[nodiscard]] Graph snapshot() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  using Changes = std::map<NodeId, double>;

  [[nodiscard]] double base_weight(NodeId a, NodeId b) const {
    return a < base_.node_count() && b < base_.node_count() ? base_.weight(a, b) : 0.0;
  }
  void record(NodeId from, NodeId to, double weight, bool differs);

  Graph base_;
  std::size_t node_count_;
  Names added_names_;
  std::unordered_map<NodeId, Changes> changed_;  // the edges that differ from the base, at both of their ends
  std::size_t changed_count_ = 0;                // entries in changed_
};

}  // namespace goblin
