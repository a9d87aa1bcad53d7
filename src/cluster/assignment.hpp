#pragma once

#include "cluster/level.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace goblin::cluster {

/// A smaller gain of the association is taken for rounding.
constexpr double least_gain = 1e-9;

/// The nodes of a level in clusters, with the sums that tell what a move is worth.
///
/// For a cluster c: S_c its volume, Q_c its internal weight with each edge counted at both ends, so that
/// cut(c) = S_c - Q_c. The normalized cut is the number of clusters minus the association, sum_c Q_c / S_c (a cluster
/// without volume counts 1). Moving node i from a to b changes the terms of a and b only:
///
///     S_a - v_i,  Q_a - 2 l_ia - q_i;    S_b + v_i,  Q_b + 2 l_ib + q_i
///
/// with v_i and q_i the node's own volume and inner weight and l_ic the weight from i to the others in c.
class Assignment {
 public:
  Assignment(const Level& level, std::vector<NodeId> labels, std::size_t clusters);

  [[nodiscard]] const Level& level() const { return *level_; }
  [[nodiscard]] std::size_t cluster_count() const { return volume_.size(); }
  [[nodiscard]] const std::vector<NodeId>& labels() const { return labels_; }
  [[nodiscard]] NodeId label(NodeId node) const { return labels_[node]; }
  [[nodiscard]] std::span<const NodeId> members(NodeId cluster) const { return members_[cluster]; }
  /// Nodes of the finest level in the cluster.
  [[nodiscard]] std::size_t size(NodeId cluster) const { return size_[cluster]; }
  [[nodiscard]] double volume(NodeId cluster) const { return volume_[cluster]; }
  [[nodiscard]] double inner(NodeId cluster) const { return inner_[cluster]; }
  [[nodiscard]] double association(NodeId cluster) const { return ratio(inner_[cluster], volume_[cluster]); }
  /// The sum over the clusters, O(1): every move adds its gain.
  [[nodiscard]] double association() const { return association_; }

  /// What the association gains if a node goes to another cluster; the links are its l_ia and l_ib. O(1).
  [[nodiscard]] double gain(NodeId node, NodeId to, double link_from, double link_to) const;

  void move(NodeId node, NodeId to, double link_from, double link_to);

  static double ratio(double inner, double volume) { return volume > 0.0 ? inner / volume : 1.0; }

 private:
  const Level* level_;
  std::vector<NodeId> labels_;
  std::vector<double> volume_;
  std::vector<double> inner_;
  std::vector<std::size_t> size_;
  std::vector<std::vector<NodeId>> members_;
  std::vector<NodeId> position_;  // of a node in members_[its label]
  double association_ = 0.0;
};

/// The weights l_ic from one node to the clusters around it. Gathering costs the node's neighbours; `steps` counts
/// them over the lifetime, which measures work without a clock.
class Links {
 public:
  explicit Links(std::size_t clusters) : link_(clusters, 0.0) {}

  void gather(const Assignment& assignment, NodeId node);

  /// The clusters of the neighbours, in order of appearance, each once.
  [[nodiscard]] std::span<const NodeId> clusters() const { return clusters_; }
  [[nodiscard]] double to(NodeId cluster) const { return link_[cluster]; }
  [[nodiscard]] std::size_t steps() const { return steps_; }

 private:
  std::vector<double> link_;
  std::vector<NodeId> clusters_;
  std::size_t steps_ = 0;
};

}  // namespace goblin::cluster
