#include "cluster/improve.hpp"

#include "cluster/shuffle.hpp"

#include <queue>
#include <utility>
#include <vector>

namespace goblin::cluster {
namespace {

/// Grows a part of a cluster from a random node, each time by the node with the largest share of its volume tied to the
/// part, and cuts where the two sides have the largest association. O(volume log size).
class Splitter {
 public:
  explicit Splitter(std::size_t nodes) : tie_(nodes, 0.0), taken_(nodes, 0) {}

  /// The nodes of one side; none if the bounds allow no split.
  std::vector<NodeId> split(const Assignment& assignment, NodeId cluster, const SizeBounds& bounds, Random& random) {
    const Level& level = assignment.level();
    std::vector<NodeId> rest(assignment.members(cluster).begin(), assignment.members(cluster).end());
    shuffle(rest, random);
    std::priority_queue<std::pair<double, NodeId>> next;
    std::vector<NodeId> part;
    std::size_t best_count = 0;
    std::size_t size = 0;
    double best = 0.0;
    double volume = 0.0;
    double inner = 0.0;
    double rest_volume = assignment.volume(cluster);
    double rest_inner = assignment.inner(cluster);
    for (std::size_t at = 0; part.size() + 1 < rest.size();) {
      NodeId node = 0;
      if (next.empty()) {
        node = rest[at++];
      } else {
        node = next.top().second;
        next.pop();
      }
      if (taken_[node] != 0) continue;
      taken_[node] = 1;
      part.push_back(node);
      double tie_to_rest = 0.0;
      const auto neighbours = level.graph.neighbours(node);
      const auto weights = level.graph.weights(node);
      steps_ += neighbours.size() + 1;
      for (std::size_t k = 0; k < neighbours.size(); ++k) {
        const NodeId other = neighbours[k];
        if (assignment.label(other) != cluster || taken_[other] != 0) continue;
        tie_to_rest += weights[k];
        tie_[other] += weights[k];
        next.emplace(tie_[other] / level.volume[other], other);
      }
      size += level.size[node];
      volume += level.volume[node];
      inner += level.inner[node] + 2.0 * tie_[node];
      rest_volume -= level.volume[node];
      rest_inner -= level.inner[node] + 2.0 * tie_to_rest;
      if (size < bounds.smallest || assignment.size(cluster) < bounds.smallest + size) continue;
      const double here = Assignment::ratio(inner, volume) + Assignment::ratio(rest_inner, rest_volume);
      if (best_count == 0 || here > best) {
        best = here;
        best_count = part.size();
      }
    }
    for (const NodeId node : rest) {
      taken_[node] = 0;
      tie_[node] = 0.0;
    }
    part.resize(best_count);
    return part;
  }

  [[nodiscard]] std::size_t steps() const { return steps_; }

 private:
  std::vector<double> tie_;  // of a node outside the part to the part
  std::vector<char> taken_;
  std::size_t steps_ = 0;
};

/// Sends every node of a cluster to the best of its neighbours' clusters, the rim first. Whole components that the
/// cluster holds go to a random other cluster. False if there is no room.
bool dissolve(LocalSearch& search, NodeId cluster, Random& random) {
  const auto members = search.assignment().members(cluster);
  std::vector<NodeId> left(members.begin(), members.end());
  shuffle(left, random);
  for (std::size_t before = left.size() + 1; !left.empty() && left.size() < before;) {
    before = left.size();
    std::erase_if(left, [&search](NodeId node) { return search.evict(node); });
  }
  if (left.empty()) return true;
  const auto other = static_cast<NodeId>(random.below(search.assignment().cluster_count()));
  if (other == cluster || !search.fits(other, search.assignment().size(cluster))) return false;
  for (const NodeId node : left) search.force(node, other);
  return true;
}

/// Exchanges a random node with the node of a neighbouring cluster that costs least: the way forward where clusters are
/// as large as they may be. False if the node has no neighbouring cluster.
bool exchange(LocalSearch& search, Random& random) {
  const Assignment& assignment = search.assignment();
  const auto node = static_cast<NodeId>(random.below(assignment.labels().size()));
  const NodeId from = assignment.label(node);
  const auto neighbours = assignment.level().graph.neighbours(node);
  if (neighbours.empty()) return false;
  const NodeId to = assignment.label(neighbours[random.below(neighbours.size())]);
  if (to == from) return false;
  search.force(node, to);
  const NodeId back = search.cheapest(to, from, node);
  if (back == node) return false;
  search.force(back, from);
  return true;
}

/// Dissolves a random cluster and splits another.
bool rearrange(LocalSearch& search, Splitter& splitter, Random& random) {
  const std::size_t clusters = search.assignment().cluster_count();
  const auto dissolved = static_cast<NodeId>(random.below(clusters));
  const auto divided = static_cast<NodeId>(random.below(clusters));
  if (dissolved == divided || !dissolve(search, dissolved, random)) return false;
  const std::vector<NodeId> part = splitter.split(search.assignment(), divided, search.bounds(), random);
  for (const NodeId node : part) search.force(node, dissolved);
  return !part.empty();
}

}  // namespace

std::size_t improve(LocalSearch& search, std::size_t steps, Random& random) {
  const Assignment& assignment = search.assignment();
  const std::size_t clusters = assignment.cluster_count();
  if (clusters < 2) return 0;
  Splitter splitter(assignment.labels().size());
  const std::size_t patience = 1000 + assignment.labels().size() + 10 * clusters * clusters;
  std::size_t improvements = 0;
  std::size_t tries = 0;
  std::size_t last_improvement = 0;
  const std::size_t first_step = search.steps();
  while (search.steps() - first_step + splitter.steps() + tries < steps && tries - last_improvement < patience) {
    ++tries;
    const double before = assignment.association();
    bool changed = rearrange(search, splitter, random);
    if (!changed) {
      search.undo();
      changed = exchange(search, random);
    }
    if (changed) search.run();
    if (changed && assignment.association() > before + least_gain) {
      ++improvements;
      last_improvement = tries;
      search.keep();
    } else {
      search.undo();
    }
  }
  return improvements;
}

}  // namespace goblin::cluster
