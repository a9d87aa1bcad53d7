#include "goblin/cluster/partition.hpp"

#include "cluster/assignment.hpp"
#include "cluster/metis.hpp"
#include "cluster/ncut.hpp"
#include "cluster/size_bounds.hpp"
#include "goblin/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace goblin::cluster {
namespace {

constexpr std::array<std::pair<std::string_view, Method>, 3> methods{
    {{"ncut", Method::ncut}, {"metis", Method::metis}, {"components", Method::components}}};

/// The number of clusters asked for; throws unless the options and the graph agree.
std::size_t cluster_count(const Graph& graph, const Options& options) {
  const std::size_t nodes = graph.node_count();
  if ((options.clusters == 0) == (options.cluster_size == 0)) {
    throw std::invalid_argument(
        fmt::format("clusters: {}, cluster_size: {} (one of the two must be set, to at least 1)", options.clusters,
                    options.cluster_size));
  }
  if (options.clusters > nodes) {
    throw std::invalid_argument(
        fmt::format("clusters: {} (must be at most the number of nodes, {})", options.clusters, nodes));
  }
  if (options.cluster_size > nodes) {
    throw std::invalid_argument(
        fmt::format("cluster_size: {} (must be at most the number of nodes, {})", options.cluster_size, nodes));
  }
  const std::size_t clusters =
      options.clusters > 0 ? options.clusters : (nodes + options.cluster_size - 1) / options.cluster_size;
  if (options.max_size > 0 && options.max_size < (nodes + clusters - 1) / clusters) {
    throw std::invalid_argument(fmt::format("max_size: {} (must be at least {} for {} nodes in {} clusters)",
                                            options.max_size, (nodes + clusters - 1) / clusters, nodes, clusters));
  }
  return clusters;
}

void check_graph(const Graph& graph) {
  if (graph.node_count() == 0) throw std::invalid_argument("graph: 0 nodes (must have at least 1)");
  double volume = 0.0;
  for (NodeId node = 0; node < graph.node_count(); ++node) volume += graph.degree(node);
  if (!std::isfinite(volume)) throw std::invalid_argument("graph: the edge weights add up to infinity");
}

std::size_t cap(const Options& options) {
  return options.max_size > 0 ? options.max_size : std::numeric_limits<std::size_t>::max();
}

std::vector<NodeId> by_ncut(const Graph& graph, const Options& options) {
  const std::size_t clusters = cluster_count(graph, options);
  if (!(options.imbalance >= 1.0)) {
    throw std::invalid_argument(fmt::format("imbalance: {} (must be at least 1)", options.imbalance));
  }
  if (options.starts == 0) throw std::invalid_argument("starts: 0 (must be at least 1)");
  const double average = static_cast<double>(graph.node_count()) / static_cast<double>(clusters);
  const double largest = std::min(std::ceil(average * options.imbalance), static_cast<double>(graph.node_count()));
  const SizeBounds bounds{.smallest = std::max<std::size_t>(1, static_cast<std::size_t>(average / options.imbalance)),
                          .largest = std::min(cap(options), static_cast<std::size_t>(largest))};
  return normalized_cut(graph, clusters, bounds, options);
}

std::vector<NodeId> by_metis(const Graph& graph, const Options& options) {
  const std::size_t clusters = cluster_count(graph, options);
  const Level level = finest_level(graph);
  const std::vector<double> ones(graph.node_count(), 1.0);
  Random random(options.seed);
  Assignment assignment(level, bisect_recursively(graph, ones, clusters, random), clusters);
  enforce(assignment, {.smallest = 1, .largest = cap(options)});
  return assignment.labels();
}

std::vector<NodeId> by_components(const Graph& graph, const Options& options) {
  if (options.clusters > 0 || options.cluster_size > 0) {
    throw std::invalid_argument(
        fmt::format("clusters: {}, cluster_size: {} (method components finds their number itself: both must be 0)",
                    options.clusters, options.cluster_size));
  }
  const Components components = graph.components();
  std::vector<NodeId> labels(graph.node_count());
  for (NodeId node = 0; node < labels.size(); ++node) {
    labels[node] = components.of(node);
    const std::size_t size = components.nodes(labels[node]).size();
    if (size > cap(options)) {
      throw std::invalid_argument(
          fmt::format("max_size: {} (a connected component has {} nodes, and method components cannot divide it)",
                      options.max_size, size));
    }
  }
  return labels;
}

/// Numbers the clusters in the order of their lowest node.
void number_by_lowest_node(std::vector<NodeId>& labels) {
  constexpr NodeId none = std::numeric_limits<NodeId>::max();
  std::vector<NodeId> number(labels.size(), none);
  NodeId count = 0;
  for (NodeId& label : labels) {
    if (number[label] == none) number[label] = count++;
    label = number[label];
  }
}

}  // namespace

Method method_of(std::string_view name) {
  for (const auto& method : methods) {
    if (method.first == name) return method.second;
  }
  throw std::invalid_argument(fmt::format("method: '{}' (must be ncut, metis or components)", name));
}

std::string_view name_of(Method method) {
  return std::find_if(methods.begin(), methods.end(), [method](const auto& entry) { return entry.second == method; })
      ->first;
}

Clustering partition(const Graph& graph, const Options& options) {
  check_graph(graph);
  Clustering clustering;
  switch (options.method) {
    case Method::ncut:
      clustering.labels = by_ncut(graph, options);
      break;
    case Method::metis:
      clustering.labels = by_metis(graph, options);
      break;
    case Method::components:
      clustering.labels = by_components(graph, options);
      break;
  }
  number_by_lowest_node(clustering.labels);
  clustering.summary = summarize(graph, clustering.labels);
  return clustering;
}

}  // namespace goblin::cluster
