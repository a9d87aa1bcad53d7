#pragma once

#include "goblin/graph/names.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace goblin {

struct Edge {
  NodeId a;
  NodeId b;
  double weight = 1.0;
};

/// Edges to build a graph from, collected one by one: growing copies nothing, and weights take memory only from the
/// first one on that is not 1.
class EdgeList {
 public:
  void add(const Edge& edge) {
    if (edge.weight != 1.0 && weights_.empty()) weights_.assign(ends_.size(), 1.0);
    ends_.push_back({edge.a, edge.b});
    if (edge.weight != 1.0 || !weights_.empty()) weights_.push_back(edge.weight);
  }
  [[nodiscard]] std::size_t size() const { return ends_.size(); }

  template <typename Visit>
  void for_each(Visit visit) const {
    auto weight = weights_.begin();
    for (const auto& [a, b] : ends_) visit(Edge{a, b, weights_.empty() ? 1.0 : *weight++});
  }

 private:
  struct Ends {
    NodeId a;
    NodeId b;
  };
  std::deque<Ends> ends_;
  std::deque<double> weights_;
};

/// The connected components of a graph, numbered in the order of their lowest node.
class Components {
 public:
  Components(std::vector<NodeId> component_of, std::size_t count);

  [[nodiscard]] std::size_t count() const { return begins_.size() - 1; }
  [[nodiscard]] NodeId of(NodeId node) const { return component_of_[node]; }
  /// The nodes of a component in ascending order.
  [[nodiscard]] std::span<const NodeId> nodes(std::size_t component) const {
    return std::span(nodes_).subspan(begins_[component], begins_[component + 1] - begins_[component]);
  }

 private:
  std::vector<NodeId> component_of_;
  std::vector<std::size_t> begins_;
  std::vector<NodeId> nodes_;
};

/// An undirected graph with positive edge weights, in compressed sparse rows; it never changes.
///
/// Every edge is stored at both of its ends, the neighbours of a node in ascending order: 12 bytes an entry and 8 a
/// node. Copies share the storage, so passing a graph by value is cheap, and reading it from many threads is safe.
///
///     goblin::Graph graph(3, std::vector<goblin::Edge>{{0, 1}, {1, 2, 0.5}});
///     graph.degree(1);        // 1.5
///     graph.neighbours(1);    // 0, 2
///
/// Nodes may have names; all of them do, or none.
class Graph {
 public:
  /// No nodes.
  Graph();

  /// Nodes without edges.
  explicit Graph(std::size_t node_count);

  /// Parallel edges add up. Throws std::invalid_argument on a self loop, an end that is not a node, or a weight that
  /// is not finite and positive. O(m log(largest degree)) time; the edges and the result are all it holds.
  Graph(std::size_t node_count, std::span<const Edge> edges);

  /// As above, with a node for each name.
  Graph(Names names, std::span<const Edge> edges);
  Graph(Names names, const EdgeList& edges);

  [[nodiscard]] std::size_t node_count() const { return rows_->begins.size() - 1; }
  [[nodiscard]] std::size_t edge_count() const { return rows_->neighbours.size() / 2; }

  [[nodiscard]] std::span<const NodeId> neighbours(std::size_t node) const {
    return std::span(rows_->neighbours).subspan(begin(node), begin(node + 1) - begin(node));
  }
  /// The weights of the edges to neighbours(node), in the same order.
  [[nodiscard]] std::span<const double> weights(std::size_t node) const {
    return std::span(rows_->weights).subspan(begin(node), begin(node + 1) - begin(node));
  }
  /// The sum of weights(node).
  [[nodiscard]] double degree(std::size_t node) const;
  /// The weight of the edge between two nodes, 0 if there is none. O(log(neighbours)).
  [[nodiscard]] double weight(std::size_t a, std::size_t b) const;
  /// Every edge once, a < b, in ascending order.
  [[nodiscard]] std::vector<Edge> edges() const;

  [[nodiscard]] const Names& names() const { return *names_; }
  [[nodiscard]] bool has_names() const { return !names_->empty(); }

  /// One node, no edges: what everybody shares in linucb-sin.
  [[nodiscard]] Graph single() const;
  /// The same nodes, no edges: linucb-ind.
  [[nodiscard]] Graph edgeless() const;
  /// One node per label 0 ... largest label; the weight between two labels is the total weight of the edges between
  /// their nodes: gob.lin.macro. Labels: one a node, each below node_count().
  [[nodiscard]] Graph quotient(std::span<const NodeId> labels) const;
  /// The same nodes, only the edges whose ends have the same label: gob.lin.block.
  [[nodiscard]] Graph within(std::span<const NodeId> labels) const;
  /// The given nodes (ascending) and the edges among them, renumbered 0, 1, ...; without names.
  [[nodiscard]] Graph induced(std::span<const NodeId> nodes) const;

  /// O(n + m).
  [[nodiscard]] Components components() const;

  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Rows {
    std::vector<std::size_t> begins{0};
    std::vector<NodeId> neighbours;
    std::vector<double> weights;
  };

  Graph(std::shared_ptr<const Rows> rows, std::shared_ptr<const Names> names)
      : rows_(std::move(rows)), names_(std::move(names)) {}

  [[nodiscard]] std::size_t begin(std::size_t node) const { return rows_->begins[node]; }
  template <typename Edges>
  [[nodiscard]] static std::shared_ptr<const Rows> build(std::size_t node_count, const Edges& edges,
                                                         const Names* names);
  template <typename Keep>
  [[nodiscard]] std::shared_ptr<const Rows> filtered(Keep keep) const;
  void check_labels(std::span<const NodeId> labels) const;

  std::shared_ptr<const Rows> rows_;
  std::shared_ptr<const Names> names_;
};

}  // namespace goblin
