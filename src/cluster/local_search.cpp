#include "cluster/local_search.hpp"

#include "cluster/shuffle.hpp"

#include <limits>

namespace goblin::cluster {

void LocalSearch::queue(NodeId node) {
  if (queued_[node] != 0) return;
  queued_[node] = 1;
  queue_.push_back(node);
}

void LocalSearch::queue_all(Random& random) {
  for (const NodeId node : random_order<NodeId>(queued_.size(), random)) queue(node);
}

/// The best neighbouring cluster with room, the own one with gain -infinity if there is none. Leaves the links
/// gathered.
LocalSearch::Target LocalSearch::best_target(NodeId node) {
  links_.gather(assignment_, node);
  const NodeId own = assignment_.label(node);
  const std::size_t size = assignment_.level().size[node];
  Target best{own, -std::numeric_limits<double>::infinity()};
  for (const NodeId cluster : links_.clusters()) {
    if (cluster == own || !fits(cluster, size)) continue;
    const double gain = assignment_.gain(node, cluster, links_.to(own), links_.to(cluster));
    if (gain > best.gain) best = {cluster, gain};
  }
  return best;
}

void LocalSearch::run() {
  const std::size_t most_moves = moves_.size() + 100 * queued_.size();
  while (!queue_.empty() && moves_.size() < most_moves) {
    const NodeId node = queue_.front();
    queue_.pop_front();
    queued_[node] = 0;
    if (assignment_.size(assignment_.label(node)) < bounds_.smallest + assignment_.level().size[node]) continue;
    const Target target = best_target(node);
    if (target.gain > least_gain) move(node, target.cluster);
  }
}

/// The links of the node must have been gathered.
void LocalSearch::move(NodeId node, NodeId to) {
  const NodeId from = assignment_.label(node);
  assignment_.move(node, to, links_.to(from), links_.to(to));
  moves_.push_back({node, from});
  for (const NodeId neighbour : assignment_.level().graph.neighbours(node)) {
    if (assignment_.label(neighbour) != to) queue(neighbour);
  }
}

void LocalSearch::force(NodeId node, NodeId to) {
  links_.gather(assignment_, node);
  move(node, to);
  queue(node);
}

bool LocalSearch::evict(NodeId node) {
  const Target target = best_target(node);
  if (target.cluster == assignment_.label(node)) return false;
  move(node, target.cluster);
  queue(node);
  return true;
}

NodeId LocalSearch::cheapest(NodeId cluster, NodeId to, NodeId except) {
  NodeId best = except;
  double best_gain = -std::numeric_limits<double>::infinity();
  for (const NodeId node : assignment_.members(cluster)) {
    if (node == except) continue;
    links_.gather(assignment_, node);
    const double gain = assignment_.gain(node, to, links_.to(cluster), links_.to(to));
    if (gain > best_gain) {
      best_gain = gain;
      best = node;
    }
  }
  return best;
}

void LocalSearch::undo() {
  for (const NodeId node : queue_) queued_[node] = 0;
  queue_.clear();
  for (auto move = moves_.rbegin(); move != moves_.rend(); ++move) {
    links_.gather(assignment_, move->node);
    assignment_.move(move->node, move->from, links_.to(assignment_.label(move->node)), links_.to(move->from));
  }
  moves_.clear();
}

}  // namespace goblin::cluster
