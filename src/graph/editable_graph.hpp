#pragma once

#include "goblin/graph/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace goblin {

/// A graph whose edges change: an immutable one, and a row of its own for every node where something is different or
/// that came later. It is read like a Graph. An edit is O(neighbours of the two ends), whatever the size of the graph;
/// the first one takes 4 bytes a node to note who has a row of its own.
class EditableGraph {
 public:
  explicit EditableGraph(Graph base) : base_(std::move(base)) {}
  EditableGraph(const EditableGraph& other);
  EditableGraph& operator=(const EditableGraph& other);
  EditableGraph(EditableGraph&&) noexcept = default;
  EditableGraph& operator=(EditableGraph&&) noexcept = default;
  ~EditableGraph() = default;

  [[nodiscard]] std::size_t node_count() const { return edits_ ? edits_->row_of.size() : base_.node_count(); }
  [[nodiscard]] std::size_t edge_count() const { return edits_ ? edits_->edge_count : base_.edge_count(); }
  /// In ascending order.
  [[nodiscard]] std::span<const NodeId> neighbours(std::size_t node) const {
    if (const Row* row = own_row(node)) return row->neighbours;
    return base_.neighbours(node);
  }
  /// The weights of the edges to neighbours(node), in the same order.
  [[nodiscard]] std::span<const double> weights(std::size_t node) const {
    if (const Row* row = own_row(node)) return row->weights;
    return base_.weights(node);
  }
  [[nodiscard]] double degree(std::size_t node) const;
  /// 0 if there is no edge.
  [[nodiscard]] double weight(std::size_t a, std::size_t b) const;
  /// Every edge once, a < b, in ascending order.
  [[nodiscard]] std::vector<Edge> edges() const;

  /// Nodes without edges, after those there are.
  void add_nodes(std::size_t count);
  /// 0 removes the edge.
  void set_weight(NodeId a, NodeId b, double weight);
  /// Takes away nodes (ascending) that no edge joins to the others. Their numbers go to the last nodes, as in
  /// remove_places. O(edges of the nodes, and of the neighbours of those that are renumbered). If memory runs out,
  /// nothing has changed.
  void remove_nodes(std::span<const NodeId> nodes);
  /// Takes away the nodes that were added after so many, which no edge joins to the others. Takes no memory.
  void keep_first(std::size_t count);

  /// As it is now; only one that never changed has its names.
  [[nodiscard]] Graph snapshot() const;
  /// The given nodes (ascending) and the edges among them, renumbered 0, 1, ...; without names. The cost is
  /// that of these nodes, however large the graph is.
  [[nodiscard]] Graph induced(std::span<const NodeId> nodes) const;

  [[nodiscard]] const Graph& base() const { return base_; }
  [[nodiscard]] bool is_edited() const { return edits_ != nullptr; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Row {
    std::vector<NodeId> neighbours;
    std::vector<double> weights;
  };
  struct Edits {
    std::size_t edge_count = 0;
    std::vector<std::uint32_t> row_of;  // of each node in `rows`, or none for that of the base
    std::vector<Row> rows;
    std::vector<std::uint32_t> unused_rows;
  };
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] const Row* own_row(std::size_t node) const {
    if (!edits_ || edits_->row_of[node] == none) return nullptr;
    return &edits_->rows[edits_->row_of[node]];
  }
  Edits& edits();
  Row& row(NodeId node);
  std::uint32_t unused_row();
  void set_end(NodeId from, NodeId to, double weight);

  Graph base_;
  std::unique_ptr<Edits> edits_;  // none before the first edit: most components are small and never change
};

}  // namespace goblin
