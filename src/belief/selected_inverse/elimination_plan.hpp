#pragma once

#include "goblin/graph/graph.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace goblin {

/// How to eliminate all nodes of a graph, exactly: the order, and which blocks of the factor are not zero.
///
/// Each node is the one with the fewest neighbours left when it is its turn; eliminating it joins all of these to each
/// other. So the rim of a social graph goes for little, and a core remains in which everybody is joined to everybody.
/// Nodes in a row whose neighbours are about the same go together, as one panel: its columns are these nodes, its rows
/// the same nodes and all that are joined to them then. Panels are what makes the factor run at the speed of matrix
/// products.
class EliminationPlan {
 public:
  struct Panel {
    std::size_t first;         // the position of its first node
    std::size_t count;         // how many nodes
    std::vector<NodeId> rows;  // the positions of the later nodes that are joined to them, ascending
  };

  /// Nothing if computing with the plan (numbers of d x d) would take more multiplications or bytes than these.
  /// Planning itself takes about d^3 times fewer.
  static std::optional<EliminationPlan> make(const Graph& graph, std::size_t dimension, double most_multiplications,
                                             double most_bytes);

  [[nodiscard]] std::size_t dimension() const { return dimension_; }
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
  [[nodiscard]] std::size_t position(std::size_t node) const { return positions_[node]; }
  [[nodiscard]] std::size_t node(std::size_t position) const { return nodes_[position]; }
  [[nodiscard]] std::span<const Panel> panels() const { return panels_; }
  /// The panel that has the node at this position among its columns.
  [[nodiscard]] std::size_t panel_of(std::size_t position) const { return panel_of_[position]; }

  /// Of the factor and of the inverse's blocks after it.
  [[nodiscard]] double factor_multiplications() const { return factor_multiplications_; }
  [[nodiscard]] double inverse_multiplications() const { return inverse_multiplications_; }
  [[nodiscard]] double bytes() const { return bytes_; }

 private:
  using Lists = std::vector<std::vector<NodeId>>;

  /// The later neighbours of each position; false if the limits do not suffice.
  bool choose_order(const Graph& graph, Lists& later, double most_multiplications, double most_bytes);
  void put_children_before_parents(Lists& later);
  void choose_panels(Lists& later);

  std::size_t dimension_ = 1;
  std::vector<NodeId> positions_;
  std::vector<NodeId> nodes_;
  std::vector<Panel> panels_;
  std::vector<NodeId> panel_of_;
  double factor_multiplications_ = 0.0;
  double inverse_multiplications_ = 0.0;
  double bytes_ = 0.0;
};

}  // namespace goblin
