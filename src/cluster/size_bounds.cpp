#include "cluster/size_bounds.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace goblin::cluster {
namespace {

constexpr NodeId nobody = static_cast<NodeId>(-1);
constexpr double worst = -std::numeric_limits<double>::infinity();

class Enforcer {
 public:
  Enforcer(Assignment& assignment, const SizeBounds& bounds)
      : assignment_(assignment), bounds_(bounds), links_(assignment.cluster_count()) {
    for (NodeId cluster = 0; cluster < assignment.cluster_count(); ++cluster) {
      by_size_.emplace(assignment.size(cluster), cluster);
    }
  }

  /// Sends nodes away, those that lose least first, until the cluster is small enough.
  void shrink(NodeId cluster) {
    std::vector<std::pair<double, NodeId>> leavers;
    for (const NodeId node : assignment_.members(cluster)) leavers.emplace_back(-best_target(node).gain, node);
    std::sort(leavers.begin(), leavers.end());
    for (const auto& leaver : leavers) {
      if (assignment_.size(cluster) <= bounds_.largest) return;
      const NodeId node = leaver.second;
      NodeId to = best_target(node).cluster;
      if (to == nobody) to = by_size_.begin()->second;
      if (to != cluster && has_room(to, node)) move(node, to);
    }
  }

  /// Takes nodes from the neighbouring clusters, those that lose least first, until the cluster is large enough.
  void grow(NodeId cluster) {
    while (assignment_.size(cluster) < bounds_.smallest) {
      NodeId node = best_neighbour(cluster);
      if (node == nobody) node = least_attached(by_size_.rbegin()->second);
      if (node == nobody) return;
      move(node, cluster);
    }
  }

 private:
  struct Target {
    NodeId cluster = nobody;
    double gain = worst;
  };

  [[nodiscard]] bool has_room(NodeId cluster, NodeId node) const {
    return assignment_.size(cluster) + assignment_.level().size[node] <= bounds_.largest;
  }

  [[nodiscard]] bool can_spare(NodeId cluster, NodeId node) const {
    return assignment_.size(cluster) >= bounds_.smallest + assignment_.level().size[node];
  }

  Target best_target(NodeId node) {
    Target best;
    links_.gather(assignment_, node);
    const NodeId own = assignment_.label(node);
    for (const NodeId cluster : links_.clusters()) {
      if (cluster == own || !has_room(cluster, node)) continue;
      const double gain = assignment_.gain(node, cluster, links_.to(own), links_.to(cluster));
      if (gain > best.gain) best = {cluster, gain};
    }
    return best;
  }

  NodeId best_neighbour(NodeId cluster) {
    NodeId best = nobody;
    double best_gain = worst;
    for (const NodeId member : assignment_.members(cluster)) {
      for (const NodeId node : assignment_.level().graph.neighbours(member)) {
        const NodeId own = assignment_.label(node);
        if (own == cluster || !can_spare(own, node) || !has_room(cluster, node)) continue;
        links_.gather(assignment_, node);
        const double gain = assignment_.gain(node, cluster, links_.to(own), links_.to(cluster));
        if (gain > best_gain) {
          best_gain = gain;
          best = node;
        }
      }
    }
    return best;
  }

  /// The node of a cluster with the smallest share of its volume inside the cluster.
  NodeId least_attached(NodeId cluster) {
    NodeId best = nobody;
    double least = std::numeric_limits<double>::infinity();
    for (const NodeId node : assignment_.members(cluster)) {
      if (!can_spare(cluster, node)) continue;
      links_.gather(assignment_, node);
      const double attached = Assignment::ratio(links_.to(cluster), assignment_.level().volume[node]);
      if (attached < least) {
        least = attached;
        best = node;
      }
    }
    return best;
  }

  void move(NodeId node, NodeId to) {
    const NodeId from = assignment_.label(node);
    links_.gather(assignment_, node);
    by_size_.erase({assignment_.size(from), from});
    by_size_.erase({assignment_.size(to), to});
    assignment_.move(node, to, links_.to(from), links_.to(to));
    by_size_.emplace(assignment_.size(from), from);
    by_size_.emplace(assignment_.size(to), to);
  }

  Assignment& assignment_;
  SizeBounds bounds_;
  Links links_;
  std::set<std::pair<std::size_t, NodeId>> by_size_;
};

}  // namespace

void enforce(Assignment& assignment, const SizeBounds& bounds) {
  Enforcer enforcer(assignment, bounds);
  for (NodeId cluster = 0; cluster < assignment.cluster_count(); ++cluster) {
    if (assignment.size(cluster) > bounds.largest) enforcer.shrink(cluster);
  }
  for (NodeId cluster = 0; cluster < assignment.cluster_count(); ++cluster) {
    if (assignment.size(cluster) < bounds.smallest) enforcer.grow(cluster);
  }
}

}  // namespace goblin::cluster
