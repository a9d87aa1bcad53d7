#pragma once

#include "belief/prior_matrix.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace goblin {

/// The nodes around one or two others, and how little the rest of the graph can matter to these.
///
/// With b = 1 at the seeds and 0 elsewhere, it looks for a small set S of nodes around the seeds such that the solution
/// with everything outside S held at zero is good enough, and proves how good: for g = A_SS^{-1} b
///
///     gap  >=  b^T A^{-1} b - b^T g,     leak  >=  sum of b - sum of ridge_j g_j,     values  <=  g.
///
/// A g = b everywhere but at the nodes just outside S, where it is minus the weight that leads to them; gap and leak
/// measure that, one by its energy and one by its sum. Both are 0 if no edge leaves S.
///
/// Everything here is about the prior, one number a node: evidence only makes the rest matter less (docs/engines.md).
/// O(edges walked), whatever n is; n numbers are kept to find a node's place.
class Neighbourhood {
 public:
  explicit Neighbourhood(std::size_t node_count) : place_(node_count, 0) {}
  /// The graph has so many nodes from now on.
  void resize(std::size_t node_count) { place_.resize(node_count, 0); }

  /// Grows S until sqrt(b^T A^{-1} b) is known to `tolerance`, S has `most_nodes` or the walk is long enough.
  /// `diagonal` is prior.diagonals().
  void grow(const PriorMatrix& prior, std::span<const double> diagonal, std::span<const NodeId> seeds, double tolerance,
            std::size_t most_nodes);

  /// S, the seeds first.
  [[nodiscard]] std::span<const NodeId> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const double> values() const { return values_; }
  [[nodiscard]] double gap() const { return gap_; }
  [[nodiscard]] double leak() const { return leak_; }
  /// An upper bound of b^T A^{-1} b.
  [[nodiscard]] double upper() const { return upper_; }

  /// The edges inside S, from the k-th of its nodes to others, by their number in S.
  struct Link {
    NodeId to;
    double weight;
  };
  [[nodiscard]] std::span<const Link> links(std::size_t k) const {
    return std::span(links_).subspan(link_begins_[k], link_begins_[k + 1] - link_begins_[k]);
  }

 private:
  struct Entry {
    NodeId node;
    double value;     // of an approximate A^{-1} b, never above it
    double residual;  // of it, never below 0
  };

  Entry& entry(NodeId node);
  void push(const PriorMatrix& prior, double diagonal, std::size_t at);
  void walk(const PriorMatrix& prior, std::span<const double> diagonal, double tolerance, std::size_t longest_walk);
  void put_in_order(std::size_t count);
  void choose(const EditableGraph& graph, std::size_t count);
  void solve(const PriorMatrix& prior, std::span<const double> diagonal);

  std::vector<NodeId> place_;  // of a node in entries_; means something if the entry there is the node's
  std::vector<Entry> entries_;
  std::size_t seed_count_ = 0;
  std::size_t edges_walked_ = 0;
  double upper_ = 0.0;

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
