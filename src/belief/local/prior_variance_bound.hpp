#pragma once

#include "belief/prior_matrix.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace goblin {

/// An upper bound of (A^{-1})_ii from the friends of i and their friends: a short push (docs/engines.md, (7)),
///
///     (A^{-1})_ii = v_i + v.q + q^T A^{-1} q,   q^T A^{-1} q <= sum of q_j^2 / ridge_j
///
/// for any v with residual q = e_i - A v. Within some per cent for the cost of some hundred edges; Neighbourhood knows
/// it better, and takes longer. Keeps two numbers a node of the graph.
class PriorVarianceBound {
 public:
  /// `diagonal` is prior.diagonals(). Both are looked at, not copied.
  PriorVarianceBound(const PriorMatrix& prior, std::span<const double> diagonal)
      : prior_(prior), diagonal_(diagonal), entries_(prior.node_count()) {}

  [[nodiscard]] double upper(NodeId node) {
    // The rest is left as it is, which makes the bound a little larger.
    constexpr std::size_t most_friends = 300;  // of a friend
    constexpr std::size_t most_nodes = 3000;
    entry(node).residual = 1.0;
    push(node);
    for (const NodeId other : prior_.graph().neighbours(node)) {
      if (prior_.graph().neighbours(other).size() <= most_friends && touched_.size() <= most_nodes) push(other);
    }
    push(node);
    double total = entries_[node].value;
    for (const NodeId other : touched_) {
      Entry& at = entries_[other];
      total += at.value * at.residual + at.residual * at.residual / prior_.ridge(other);
      at = {};
    }
    touched_.clear();
    return total;
  }

 private:
  struct Entry {
    double value = 0.0;
    double residual = 0.0;
    bool touched = false;
  };

  Entry& entry(NodeId node) {
    Entry& at = entries_[node];
    if (!at.touched) touched_.push_back(node);
    at.touched = true;
    return at;
  }
  void push(NodeId node) {
    Entry& at = entry(node);
    const double step = at.residual / diagonal_[node];
    at.residual = 0.0;
    at.value += step;
    const auto neighbours = prior_.graph().neighbours(node);
    const auto weights = prior_.graph().weights(node);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      entry(neighbours[k]).residual += prior_.coupling() * weights[k] * step;
    }
  }

  const PriorMatrix& prior_;
  std::span<const double> diagonal_;
  std::vector<Entry> entries_;   // of all nodes, zero between calls
  std::vector<NodeId> touched_;  // those that are not
};

}  // namespace goblin
