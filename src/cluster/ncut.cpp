#include "cluster/ncut.hpp"

#include "cluster/assignment.hpp"
#include "cluster/coarsen.hpp"
#include "cluster/improve.hpp"
#include "cluster/kernel_kmeans.hpp"
#include "cluster/local_search.hpp"
#include "cluster/metis.hpp"
#include "cluster/size_bounds.hpp"
#include "cluster/small_components.hpp"
#include "goblin/random.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace goblin::cluster {
namespace {

/// Coarsening stops at this many nodes a cluster: enough for METIS to choose from, few enough to be quick.
constexpr std::size_t coarsest_nodes_per_cluster = 5;
constexpr std::size_t fewest_coarse_nodes = 100;
constexpr std::size_t kmeans_sweeps = 20;
/// All starts together see at most about this many edges, the first one apart.
constexpr std::size_t start_edges = 4'000'000;

/// Levels from the given one to the coarsest, and how they hang together: pair_of[l] maps the nodes of l to those of
/// l + 1.
struct Hierarchy {
  std::vector<Level> levels;
  std::vector<std::vector<NodeId>> pair_of;
};

Hierarchy coarsen(const Level& finest, std::size_t clusters, const SizeBounds& bounds, Random& random) {
  Hierarchy hierarchy{.levels = {finest}, .pair_of = {}};
  const std::size_t enough = std::max(coarsest_nodes_per_cluster * clusters, fewest_coarse_nodes);
  const std::size_t half_a_cluster = std::max<std::size_t>(2, finest.node_count() / (2 * clusters));
  const std::size_t largest_node = std::min(bounds.largest, half_a_cluster);
  while (hierarchy.levels.back().node_count() > enough) {
    const Level& level = hierarchy.levels.back();
    std::vector<NodeId> pairs = match(level, largest_node, random);
    Level coarse = contract(level, pairs);
    const bool stuck = coarse.node_count() > level.node_count() - level.node_count() / 20;
    if (stuck) break;
    hierarchy.pair_of.push_back(std::move(pairs));
    hierarchy.levels.push_back(std::move(coarse));
  }
  return hierarchy;
}

void refine(Assignment& assignment, const SizeBounds& bounds, Random& random) {
  enforce(assignment, bounds);
  kernel_kmeans(assignment, bounds, kmeans_sweeps);
  LocalSearch search(assignment, bounds);
  search.queue_all(random);
  search.run();
}

/// One clustering from scratch: coarsen, cluster the coarsest level with METIS, refine on the way back.
Assignment multilevel(const Level& finest, std::size_t clusters, const SizeBounds& bounds, Random& random) {
  const Hierarchy hierarchy = coarsen(finest, clusters, bounds, random);
  const Level& coarsest = hierarchy.levels.back();
  std::vector<NodeId> labels = bisect_recursively(coarsest.graph, coarsest.volume, clusters, random);
  for (std::size_t level = hierarchy.pair_of.size(); level > 0; --level) {
    Assignment assignment(hierarchy.levels[level], labels, clusters);
    refine(assignment, bounds, random);
    const std::vector<NodeId>& pairs = hierarchy.pair_of[level - 1];
    labels.resize(pairs.size());
    for (std::size_t node = 0; node < pairs.size(); ++node) labels[node] = assignment.label(pairs[node]);
  }
  Assignment assignment(finest, std::move(labels), clusters);
  refine(assignment, bounds, random);
  return assignment;
}

/// The best of several starts, as many as the size of the graph allows.
std::vector<NodeId> best_start(const Graph& graph, std::size_t clusters, const SizeBounds& bounds,
                               const Options& options) {
  const Level finest = finest_level(graph);
  const std::size_t affordable = std::max<std::size_t>(1, start_edges / std::max<std::size_t>(1, graph.edge_count()));
  const std::size_t starts = std::min(options.starts, affordable);
  Random first(options.seed, 0);
  Assignment best = multilevel(finest, clusters, bounds, first);
  for (std::size_t start = 1; start < starts; ++start) {
    Random random(options.seed, start);
    Assignment next = multilevel(finest, clusters, bounds, random);
    if (next.association() > best.association()) best = std::move(next);
  }
  return best.labels();
}

/// Clusters the core, the components that can fill a cluster, and then places the others.
std::vector<NodeId> start(const Graph& graph, std::size_t clusters, const SizeBounds& bounds, const Options& options) {
  const Components components = graph.components();
  std::vector<NodeId> core;
  for (NodeId node = 0; node < graph.node_count(); ++node) {
    if (components.nodes(components.of(node)).size() >= bounds.smallest) core.push_back(node);
  }
  if (core.size() == graph.node_count()) return best_start(graph, clusters, bounds, options);

  std::vector<NodeId> labels(graph.node_count(), unplaced);
  if (!core.empty()) {
    const std::size_t needed = (core.size() + bounds.largest - 1) / bounds.largest;
    const std::size_t core_clusters = std::clamp(core.size() / bounds.smallest, needed, clusters);
    const std::vector<NodeId> core_labels = best_start(graph.induced(core), core_clusters, bounds, options);
    for (std::size_t k = 0; k < core.size(); ++k) labels[core[k]] = core_labels[k];
  }
  place_small_components(graph, components, clusters, bounds, labels);
  return labels;
}

}  // namespace

std::vector<NodeId> normalized_cut(const Graph& graph, std::size_t clusters, const SizeBounds& bounds,
                                   const Options& options) {
  std::vector<NodeId> labels(graph.node_count(), 0);
  if (clusters == 1) return labels;
  if (clusters == graph.node_count()) {
    std::iota(labels.begin(), labels.end(), NodeId{0});
    return labels;
  }
  const Level level = finest_level(graph);
  Assignment assignment(level, start(graph, clusters, bounds, options), clusters);
  Random random(options.seed, options.starts);
  refine(assignment, bounds, random);
  LocalSearch search(assignment, bounds);
  improve(search, options.improvement_steps, random);
  return assignment.labels();
}

}  // namespace goblin::cluster
