#pragma once

#include "goblin/graph/names.hpp"

#include <cstddef>
#include <limits>
#include <vector>

namespace goblin {

/// The places of some nodes in a list: a hash table that fits into the nearest cache while the nodes are few.
class Places {
 public:
  static constexpr NodeId none = std::numeric_limits<NodeId>::max();

  void clear() {
    cells_.assign(least_cells, Cell{});
    count_ = 0;
  }
  [[nodiscard]] NodeId find(NodeId node) const {
    std::size_t at = begin(node);
    while (cells_[at].place != none && cells_[at].node != node) at = (at + 1) & (cells_.size() - 1);
    return cells_[at].place;
  }
  /// The place of a node; `next` for one that had none, and has that from now on.
  NodeId find_or_add(NodeId node, NodeId next) {
    std::size_t at = begin(node);
    while (cells_[at].place != none) {
      if (cells_[at].node == node) return cells_[at].place;
      at = (at + 1) & (cells_.size() - 1);
    }
    cells_[at] = {node, next};
    if (2 * ++count_ > cells_.size()) enlarge();
    return next;
  }

 private:
  static constexpr std::size_t least_cells = 4096;

  struct Cell {
    NodeId node = 0;
    NodeId place = none;
  };

  [[nodiscard]] std::size_t begin(NodeId node) const { return (node * 0x9E3779B1U >> 7U) & (cells_.size() - 1); }
  void enlarge() {
    std::vector<Cell> old(2 * cells_.size());
    old.swap(cells_);
    for (const Cell& cell : old) {
      if (cell.place == none) continue;
      std::size_t at = begin(cell.node);
      while (cells_[at].place != none) at = (at + 1) & (cells_.size() - 1);
      cells_[at] = cell;
    }
  }

  std::vector<Cell> cells_;
  std::size_t count_ = 0;
};

}  // namespace goblin
