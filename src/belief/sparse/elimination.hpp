#pragma once

#include "belief/prior_matrix.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace goblin {

/// An order of the nodes and an incomplete Cholesky factor of the prior matrix A in it.
///
/// With L the part of A below its diagonal, the factor is (P + L) P^{-1} (P + L)^T: the pivots P are all that is
/// computed. They are A's diagonal less what eliminating the earlier nodes would take from it, where entries that the
/// factor has no room for count at the diagonal, 80 % of them (a modified factorisation: better for smooth vectors, on
/// which plain preconditioners are slow; the constant one has ConstantMode). So pivot_j >= ridge_j + coupling * the
/// weights to later nodes.
///
/// Each node is the one with the fewest neighbours left when it is its turn: those at the rim come first and lose
/// nothing. O(m log n).
class Elimination {
 public:
  /// The entries of some neighbours, first to last, in positions() and weights().
  struct Range {
    std::size_t first;
    std::size_t last;
  };

  explicit Elimination(const PriorMatrix& prior);

  [[nodiscard]] std::size_t position(std::size_t node) const { return positions_[node]; }
  [[nodiscard]] std::size_t node(std::size_t position) const { return nodes_[position]; }
  /// All by position.
  [[nodiscard]] double diagonal(std::size_t position) const { return diagonal_[position]; }
  [[nodiscard]] double pivot(std::size_t position) const { return pivots_[position]; }
  [[nodiscard]] double ridge(std::size_t position) const { return ridges_[position]; }
  /// The neighbours of the node at this position that come before it, and those after it; ascending.
  [[nodiscard]] Range earlier(std::size_t position) const { return {begins_[position], middles_[position]}; }
  [[nodiscard]] Range later(std::size_t position) const { return {middles_[position], begins_[position + 1]}; }
  /// Of each entry, the neighbour's position, and the weight of the edge times the coupling.
  [[nodiscard]] std::span<const NodeId> positions() const { return entry_positions_; }
  [[nodiscard]] std::span<const double> weights() const { return entry_weights_; }
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  void choose_order(const Graph& graph);
  void factorize();

  std::vector<NodeId> positions_;
  std::vector<NodeId> nodes_;
  std::vector<double> diagonal_;
  std::vector<double> pivots_;
  std::vector<double> ridges_;
  std::vector<std::size_t> begins_;
  std::vector<std::size_t> middles_;
  std::vector<NodeId> entry_positions_;
  std::vector<double> entry_weights_;
};

}  // namespace goblin
