#pragma once

#include "goblin/graph/graph.hpp"
#include "graph/editable_graph.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace goblin {

/// A = diag(ridge_1, ..., ridge_n) + coupling L, L the Laplacian of a graph: how precisely the nodes' vectors are known
/// before anything is observed, and how much neighbours are alike. The paper has all ridges and the coupling 1.
///
/// What engines rely on: A has positive diagonal, no positive entry beside it, and row sums A 1 = ridges > 0.
class PriorMatrix {
 public:
  /// One ridge for all nodes.
  PriorMatrix(Graph graph, double ridge, double coupling)
      : graph_(std::move(graph)), ridge_(ridge), smallest_ridge_(ridge), coupling_(coupling) {}
  /// A ridge for each node.
  PriorMatrix(Graph graph, std::vector<double> ridges, double coupling);

  [[nodiscard]] const EditableGraph& graph() const { return graph_; }
  [[nodiscard]] std::size_t node_count() const { return graph_.node_count(); }
  [[nodiscard]] double coupling() const { return coupling_; }
  [[nodiscard]] double ridge(std::size_t node) const { return ridges_.empty() ? ridge_ : ridges_[node]; }
  [[nodiscard]] double smallest_ridge() const { return smallest_ridge_; }
  [[nodiscard]] double total_ridge() const;
  /// How much the square of a residual at this node counts beside those at others: 1 where all ridges are equal. The
  /// smaller the ridge, the more a score there is moved by the same residual.
  [[nodiscard]] double residual_weight(std::size_t node) const {
    return ridges_.empty() ? 1.0 : smallest_ridge_ / ridges_[node];
  }
  /// The entry (node, node). O(neighbours).
  [[nodiscard]] double diagonal(std::size_t node) const { return ridge(node) + coupling_ * graph_.degree(node); }
  /// All of them. O(n + m).
  [[nodiscard]] std::vector<double> diagonals() const;

  /// Sets the weight of an edge; 0 removes it. O(neighbours of the two).
  void set_edge(NodeId a, NodeId b, double weight) { graph_.set_weight(a, b, weight); }
  /// The nodes of another one, after those there are; their coupling is the same. O(nodes and edges of the other).
  void append(const PriorMatrix& other);
  /// The way back, with the smallest ridge that there was. Takes no memory.
  void keep_first(std::size_t count, double smallest_ridge);
  /// Takes away nodes (ascending) that no edge joins to the others; the last ones get their numbers
  /// (EditableGraph::remove_nodes). O(n) where the smallest ridge goes, and else what that costs. If memory runs out,
  /// nothing has changed.
  void remove_nodes(std::span<const NodeId> nodes);

  /// Both beside each other, the nodes of the first before those of the second; their coupling is the same.
  [[nodiscard]] static PriorMatrix side_by_side(const PriorMatrix& first, const PriorMatrix& second);
  /// Of some of the nodes (ascending), which no edge joins to the others.
  [[nodiscard]] PriorMatrix part(std::span<const NodeId> nodes) const;

  [[nodiscard]] std::size_t bytes() const { return graph_.bytes() + ridges_.capacity() * sizeof(double); }

 private:
  EditableGraph graph_;
  double ridge_ = 1.0;
  std::vector<double> ridges_;  // empty where all are ridge_
  double smallest_ridge_ = 1.0;
  double coupling_ = 1.0;
};

}  // namespace goblin
