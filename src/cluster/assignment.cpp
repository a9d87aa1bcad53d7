#include "cluster/assignment.hpp"

#include <utility>

namespace goblin::cluster {

Assignment::Assignment(const Level& level, std::vector<NodeId> labels, std::size_t clusters)
    : level_(&level),
      labels_(std::move(labels)),
      volume_(clusters, 0.0),
      inner_(clusters, 0.0),
      size_(clusters, 0),
      members_(clusters),
      position_(labels_.size()) {
  for (NodeId node = 0; node < labels_.size(); ++node) {
    const NodeId own = labels_[node];
    volume_[own] += level.volume[node];
    inner_[own] += level.inner[node];
    size_[own] += level.size[node];
    position_[node] = static_cast<NodeId>(members_[own].size());
    members_[own].push_back(node);
    const auto neighbours = level.graph.neighbours(node);
    const auto weights = level.graph.weights(node);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      if (labels_[neighbours[k]] == own) inner_[own] += weights[k];
    }
  }
  for (NodeId cluster = 0; cluster < clusters; ++cluster) association_ += association(cluster);
}

double Assignment::gain(NodeId node, NodeId to, double link_from, double link_to) const {
  const NodeId from = labels_[node];
  const double volume = level_->volume[node];
  const double inner = level_->inner[node];
  const bool last = members_[from].size() == 1;  // what is left then is rounding, not a volume
  const double after_from = last ? 1.0 : ratio(inner_[from] - 2.0 * link_from - inner, volume_[from] - volume);
  const double after_to = ratio(inner_[to] + 2.0 * link_to + inner, volume_[to] + volume);
  return (after_from - association(from)) + (after_to - association(to));
}

void Assignment::move(NodeId node, NodeId to, double link_from, double link_to) {
  const NodeId from = labels_[node];
  association_ += gain(node, to, link_from, link_to);
  volume_[from] -= level_->volume[node];
  volume_[to] += level_->volume[node];
  inner_[from] -= 2.0 * link_from + level_->inner[node];
  inner_[to] += 2.0 * link_to + level_->inner[node];
  size_[from] -= level_->size[node];
  size_[to] += level_->size[node];
  labels_[node] = to;

  const NodeId last = members_[from].back();
  members_[from][position_[node]] = last;
  position_[last] = position_[node];
  members_[from].pop_back();
  position_[node] = static_cast<NodeId>(members_[to].size());
  members_[to].push_back(node);
  if (members_[from].empty()) volume_[from] = inner_[from] = 0.0;  // exactly
}

void Links::gather(const Assignment& assignment, NodeId node) {
  for (const NodeId cluster : clusters_) link_[cluster] = 0.0;
  clusters_.clear();
  const auto neighbours = assignment.level().graph.neighbours(node);
  const auto weights = assignment.level().graph.weights(node);
  for (std::size_t k = 0; k < neighbours.size(); ++k) {
    const NodeId cluster = assignment.label(neighbours[k]);
    if (link_[cluster] == 0.0) clusters_.push_back(cluster);
    link_[cluster] += weights[k];
  }
  steps_ += neighbours.size() + 1;
}

}  // namespace goblin::cluster
