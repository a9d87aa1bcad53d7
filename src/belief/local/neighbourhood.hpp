#pragma once

#include "belief/local/barrier.hpp"
#include "belief/packs.hpp"
#include "belief/prior_matrix.hpp"
#include "graph/places.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace goblin {

/// The nodes around one or two others, and how little the rest of the graph can matter to these.
///
/// With b = 1 at the seeds and 0 elsewhere, `walk` finds b^T A^{-1} b between two ends, and an approximate A^{-1} b.
/// `gather` then looks for a small set S of nodes around the seeds such that the solution with everything outside S
/// held at zero is good enough, and proves how good: for g = A_SS^{-1} b
///
///     gap  >=  b^T A^{-1} b - b^T g,     leak  >=  sum of heights at the seeds - sum of slope_j g_j,     values  <= g.
///
/// A g = b everywhere but at the nodes just outside S, where it is minus the weight that leads to them; gap and leak
/// measure that, one by its energy and one by its sum, each node times its height in the barrier. Both are 0 if no edge
/// leaves S.
///
/// Everything here is about the prior, one number a node: evidence only makes the rest matter less (docs/engines.md).
/// O(edges walked), in time and memory, whatever n is.
class Neighbourhood {
 public:
  /// What the walks are about. `diagonal` is prior.diagonals().
  struct Prior {
    const PriorMatrix& matrix;
    std::span<const double> diagonal;
    const Barrier& barrier;
  };

  /// A node that the walk has seen.
  struct Entry {
    NodeId node;
    double value;     // of an approximate A^{-1} b, never above it
    double residual;  // of it, never below 0
  };

  /// Walks until sqrt(b^T A^{-1} b) is known to `tolerance`, after `enough_edges` to 4.7 times that, or over
  /// `most_edges`.
  void walk(const Prior& prior, std::span<const NodeId> seeds, double tolerance, std::size_t enough_edges,
            std::size_t most_edges);
  /// The seeds first.
  [[nodiscard]] std::size_t entry_count() const { return seen_.size(); }
  [[nodiscard]] Entry entry(std::size_t at) const { return {seen_[at], walk_values_[at], walk_residuals_[at]}; }
  /// An upper bound of b^T A^{-1} b.
  [[nodiscard]] double upper() const { return upper_; }
  /// One that is known from elsewhere.
  void know_upper(double upper) { upper_ = std::min(upper_, upper); }
  /// v^T A v for the approximate solution v: (b.v)^2 / (v^T A v) is a lower bound of b^T A^{-1} b.
  [[nodiscard]] double energy() const { return energy_; }
  /// After a walk: grows S until sqrt(b^T A^{-1} b) is known to `tolerance` from inside S, with `enough_nodes` to so
  /// many times that, or S has `most_nodes`.
  void gather(const Prior& prior, double tolerance, std::size_t enough_nodes, std::size_t most_nodes,
              double times = 2.0);
  /// Walks until half the tolerance is reached or for long enough, and gathers.
  void grow(const Prior& prior, std::span<const NodeId> seeds, double tolerance, std::size_t enough_nodes,
            std::size_t most_nodes) {
    walk(prior, seeds, 0.5 * tolerance, 64 * enough_nodes, 64 * most_nodes);
    gather(prior, tolerance, enough_nodes, most_nodes);
  }
  void grow(const Prior& prior, std::span<const NodeId> seeds, double tolerance, std::size_t most_nodes) {
    grow(prior, seeds, tolerance, most_nodes, most_nodes);
  }

  /// S, the seeds first.
  [[nodiscard]] std::span<const NodeId> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const double> values() const { return values_; }
  [[nodiscard]] double gap() const { return gap_; }
  [[nodiscard]] double leak() const { return leak_; }

  /// The edges inside S, from the k-th of its nodes to others, by their number in S.
  struct Link {
    NodeId to;
    double weight;
  };
  [[nodiscard]] std::span<const Link> links(std::size_t k) const {
    return std::span(links_).subspan(link_begins_[k], link_begins_[k + 1] - link_begins_[k]);
  }

 private:
  std::size_t place_of(const Barrier& barrier, NodeId node) {
    const NodeId at = places_.find_or_add(node, static_cast<NodeId>(seen_.size()));
    if (at == seen_.size()) {
      if (at == walk_values_.size()) make_room();
      seen_.push_back(node);
      walk_weights_[at] = barrier.weight(node);
    }
    return at;
  }
  void forget_entries();
  void make_room();
  /// The edges of an entry.
  struct Row {
    std::size_t at;
    std::span<const NodeId> neighbours;
    std::span<const double> weights;
  };
  void push(const Prior& prior, const Row& row);
  void push_above(const Prior& prior, double threshold, std::size_t most_edges);
  void put_in_order(std::size_t count);
  void choose(const PriorMatrix& matrix, std::size_t count);
  void solve(const Prior& prior);

  // The entries. Numbers of a kind lie side by side, so that eight can be looked at at once; what is not used is 0.
  std::vector<NodeId> seen_;
  CacheLineVector<double> walk_values_;
  CacheLineVector<double> walk_residuals_;
  CacheLineVector<double> walk_weights_;  // the barrier's, in its scale
  Places places_;                         // of nodes in seen_
  std::vector<Row> rows_;                 // to be pushed
  std::size_t seed_count_ = 0;
  std::size_t edges_walked_ = 0;
  double upper_ = 0.0;
  double energy_ = 0.0;

  std::vector<NodeId> order_;  // entries in the order in which S takes them
  std::vector<NodeId> rank_;   // of an entry in that order
  std::vector<NodeId> nodes_;
  std::vector<double> values_;
  std::vector<double> residuals_;
  std::vector<std::size_t> link_begins_;
  std::vector<Link> links_;
  bool closed_ = false;  // no edge leaves S
  double lower_ = 0.0;
  double gap_ = 0.0;
  double leak_ = 0.0;
};

}  // namespace goblin
