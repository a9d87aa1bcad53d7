#pragma once

#include "belief/prior_matrix.hpp"
#include "graph/remove_places.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace goblin {

/// Heights y with 0 < y <= 1 and slopes s = A y > 0: what bounds rest on. As no entry of A^{-1} is negative,
///
///     sum over k of (A^{-1})_ik s_k = y_i,   so   |A^{-1} r|_i <= y_i max_k (|r_k| / s_k),
///
/// and A - diag(s / y) has no negative eigenvalue, so r^T A^{-1} r <= sum of r_k^2 y_k / s_k.
///
/// With y = 1 the slopes are the ridges. Here y_j = 1 - share ridge_j / p_j with p_j = A_jj rounded up to three binary
/// digits, so
///
///     s_j = ridge_j (1 - share A_jj / p_j) + share coupling sum over k of W_jk ridge_k / p_k:
///
/// a node's slope grows with its degree, and is never far below its ridge. So a hub may have a residual many times as
/// large as others before anything has to be done about it; and nearly all edges that used to be walked began at hubs.
///
/// Heights and slopes follow from the prior alone, however it came about. They are rounded because a height that
/// changes changes the slopes of all neighbours.
class Barrier {
 public:
  /// O(n + m).
  Barrier(const PriorMatrix& prior, std::span<const double> diagonal) { append(prior, diagonal); }

  [[nodiscard]] double height(std::size_t node) const { return nodes_[node].height; }
  [[nodiscard]] double slope(std::size_t node) const { return nodes_[node].slope; }
  /// height / slope * scale(), rounded up: four bytes a node, because a walk asks for those of a thousand nodes, and
  /// memory is what it waits for.
  [[nodiscard]] float weight(std::size_t node) const { return weights_[node]; }
  /// Asks the machine for what `weight` will look at.
  void prefetch_weight(std::size_t node) const { __builtin_prefetch(&weights_[node]); }
  /// The smallest ridge: it brings weights into the range that four bytes have.
  [[nodiscard]] double scale() const { return scale_; }

  /// The nodes that were added to the prior since, which no edge joins to the others. O(their edges), and O(n) where
  /// they have a ridge that is smaller than all others.
  void append(const PriorMatrix& prior, std::span<const double> diagonal) {
    const std::size_t first = nodes_.size();
    if (prior.smallest_ridge() < scale_) {
      scale_ = prior.smallest_ridge();
      for (std::size_t j = 0; j < first; ++j) compute_weight(j);
    }
    nodes_.resize(prior.node_count());
    weights_.resize(prior.node_count());
    for (std::size_t j = first; j < nodes_.size(); ++j) nodes_[j].height = height_for(prior.ridge(j), diagonal[j]);
    for (std::size_t j = first; j < nodes_.size(); ++j) compute_slope(prior, j);
  }

  /// After PriorMatrix::keep_first: the others keep what they have.
  void keep_first(std::size_t count) {
    nodes_.resize(count);
    weights_.resize(count);
  }

  /// After PriorMatrix::remove_nodes: the others keep what they have.
  void remove_nodes(std::span<const NodeId> nodes) {
    remove_places(nodes_, nodes);
    remove_places(weights_, nodes);
  }

  /// After the weight of an edge has changed. Calls changed(node) for every node whose slope did. O(neighbours of
  /// both), and of their neighbours where a height changes.
  template <typename Changed>
  void follow_edge(const PriorMatrix& prior, std::span<const double> diagonal, NodeId a, NodeId b, Changed changed) {
    const auto follow = [&](NodeId node) {
      compute_slope(prior, node);
      changed(node);
    };
    for (const NodeId node : {a, b}) {
      const double height = height_for(prior.ridge(node), diagonal[node]);
      if (height == nodes_[node].height) continue;
      nodes_[node].height = height;
      for (const NodeId neighbour : prior.graph().neighbours(node)) follow(neighbour);
    }
    for (const NodeId node : {a, b}) follow(node);
  }

  [[nodiscard]] std::size_t bytes() const { return nodes_.capacity() * (sizeof(Node) + sizeof(float)); }

 private:
  static constexpr double share = 0.75;

  struct Node {
    double height;
    double slope;
  };

  static double height_for(double ridge, double diagonal) {
    const int exponent = std::ilogb(diagonal) - 2;
    return 1.0 - share * ridge / std::ldexp(std::ceil(std::ldexp(diagonal, -exponent)), exponent);
  }

  void compute_slope(const PriorMatrix& prior, std::size_t node) {
    Node& own = nodes_[node];
    const auto neighbours = prior.graph().neighbours(node);
    const auto weights = prior.graph().weights(node);
    double rise = 0.0;
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      rise += weights[k] * (own.height - nodes_[neighbours[k]].height);
    }
    own.slope = prior.ridge(node) * own.height + prior.coupling() * rise;
    compute_weight(node);
  }

  void compute_weight(std::size_t node) {
    constexpr double least = std::numeric_limits<float>::min();
    const double weight = scale_ / nodes_[node].slope * nodes_[node].height * (1.0 + 1e-6);
    weights_[node] = static_cast<float>(std::max(weight, least));
  }

  std::vector<Node> nodes_;
  std::vector<float> weights_;
  double scale_ = std::numeric_limits<double>::infinity();
};

}  // namespace goblin
