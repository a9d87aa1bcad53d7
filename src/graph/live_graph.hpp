#pragma once

#include "goblin/graph/graph.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace goblin {

/// One number for the edge between two nodes, whichever comes first.
inline std::uint64_t edge_key(NodeId a, NodeId b) {
  return a < b ? (static_cast<std::uint64_t>(a) << 32) | b : (static_cast<std::uint64_t>(b) << 32) | a;
}

/// A graph that grows and changes: an immutable one and what is different from it. An edit is O(1), a question
/// O(log(neighbours)); snapshot() gives the graph as it is now.
class LiveGraph {
 public:
  explicit LiveGraph(Graph base) : base_(std::move(base)), node_count_(base_.node_count()) {}

  [[nodiscard]] std::size_t node_count() const { return node_count_; }
  [[nodiscard]] bool has_names() const { return base_.has_names() || !added_names_.empty(); }
  [[nodiscard]] std::optional<NodeId> find(std::string_view name) const;

  /// The new node's index; the name is new where nodes have names, and empty where they have none.
  NodeId add_node(std::string_view name);

  [[nodiscard]] double weight(NodeId a, NodeId b) const;
  /// 0 removes the edge.
  void set_weight(NodeId a, NodeId b, double weight) { changed_[edge_key(a, b)] = weight; }

  [[nodiscard]] Graph snapshot() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  Graph base_;
  std::size_t node_count_;
  Names added_names_;
  std::unordered_map<std::uint64_t, double> changed_;
};

}  // namespace goblin
