#include "cluster/kernel_kmeans.hpp"

#include <utility>
#include <vector>

namespace goblin::cluster {
namespace {

/// The labels that one sweep would give.
std::vector<NodeId> sweep(const Assignment& assignment, const SizeBounds& bounds, Links& links) {
  const Level& level = assignment.level();
  std::vector<NodeId> labels = assignment.labels();
  std::vector<std::size_t> size(assignment.cluster_count());
  for (NodeId cluster = 0; cluster < size.size(); ++cluster) size[cluster] = assignment.size(cluster);
  for (NodeId node = 0; node < level.node_count(); ++node) {
    const NodeId own = labels[node];
    if (level.volume[node] <= 0.0 || size[own] < bounds.smallest + level.size[node]) continue;
    links.gather(assignment, node);
    const auto distance = [&](NodeId cluster, double link) {
      const double volume = assignment.volume(cluster);
      return (assignment.association(cluster) - 2.0 * link / level.volume[node]) / volume;
    };
    NodeId nearest = own;
    double least = distance(own, links.to(own) + level.inner[node]);
    for (const NodeId cluster : links.clusters()) {
      if (cluster == own || size[cluster] + level.size[node] > bounds.largest) continue;
      const double here = distance(cluster, links.to(cluster));
      if (here < least) {
        least = here;
        nearest = cluster;
      }
    }
    size[own] -= level.size[node];
    size[nearest] += level.size[node];
    labels[node] = nearest;
  }
  return labels;
}

}  // namespace

std::size_t kernel_kmeans(Assignment& assignment, const SizeBounds& bounds, std::size_t sweeps) {
  Links links(assignment.cluster_count());
  for (std::size_t done = 0; done < sweeps; ++done) {
    Assignment next(assignment.level(), sweep(assignment, bounds, links), assignment.cluster_count());
    if (next.association() <= assignment.association() + least_gain) return done;
    assignment = std::move(next);
  }
  return sweeps;
}

}  // namespace goblin::cluster
