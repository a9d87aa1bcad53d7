#pragma once

#include "cluster/assignment.hpp"
#include "goblin/random.hpp"

#include <cstddef>
#include <deque>
#include <vector>

namespace goblin::cluster {

/// Moves single nodes to neighbouring clusters as long as the exact gain is positive, looking only at queued nodes: at
/// first those the caller queues, then the neighbours of every node that moved. Clusters that are within the bounds
/// stay so. A look costs the node's neighbours. The association rises with every move, so the search ends; where
/// weights differ so much that rounding decides (by 1e16), it ends after 100 moves a node.
class LocalSearch {
 public:
  LocalSearch(Assignment& assignment, const SizeBounds& bounds)
      : assignment_(assignment),
        bounds_(bounds),
        links_(assignment.cluster_count()),
        queued_(assignment.labels().size()) {}

  void queue(NodeId node);
  void queue_all(Random& random);
  void run();

  /// Moves a node whatever it costs, and queues it with its neighbours.
  void force(NodeId node, NodeId to);
  /// Moves a node to the best of the neighbouring clusters other than its own, whatever it costs; false if there is
  /// none with room.
  bool evict(NodeId node);

  /// The member of a cluster, other than one, that is cheapest to send to another cluster; `except` if there is none.
  [[nodiscard]] NodeId cheapest(NodeId cluster, NodeId to, NodeId except);

  /// Forgets, or takes back, all moves since the last of these two calls.
  void keep() { moves_.clear(); }
  void undo();

  [[nodiscard]] const Assignment& assignment() const { return assignment_; }
  [[nodiscard]] bool fits(NodeId cluster, std::size_t size) const {
    return assignment_.size(cluster) + size <= bounds_.largest;
  }
  [[nodiscard]] const SizeBounds& bounds() const { return bounds_; }
  [[nodiscard]] std::size_t steps() const { return links_.steps(); }

 private:
  struct Move {
    NodeId node;
    NodeId from;
  };
  struct Target {
    NodeId cluster;
    double gain;
  };

  [[nodiscard]] Target best_target(NodeId node);
  void move(NodeId node, NodeId to);

  Assignment& assignment_;
  SizeBounds bounds_;
  Links links_;
  std::deque<NodeId> queue_;
  std::vector<char> queued_;
  std::vector<Move> moves_;
};

}  // namespace goblin::cluster
