#pragma once

#include "goblin/cluster/quality.hpp"
#include "goblin/graph/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace goblin::cluster {

enum class Method {
  ncut,        ///< a small normalized cut: multilevel kernel k-means, then local search
  metis,       ///< METIS recursive bisection, clusters of about the same size
  components,  ///< the connected components
};

/// The method of a name ("ncut", "metis", "components") and back; throws std::invalid_argument on another name.
[[nodiscard]] Method method_of(std::string_view name);
[[nodiscard]] std::string_view name_of(Method method);

struct Options {
  Method method = Method::ncut;

  /// How many clusters: either their number, or how many nodes one has on average (then there are
  /// ceil(nodes / cluster_size)). One of the two, the other stays 0; both stay 0 for `components`.
  std::size_t clusters = 0;
  std::size_t cluster_size = 0;

  /// No cluster has more nodes, ever; 0: no cap. It needs clusters * max_size >= nodes.
  std::size_t max_size = 0;

  /// No cluster of `ncut` has fewer than average / imbalance nodes or more than average * imbalance. The bare minimum
  /// of the normalized cut is of little use: on Last.fm it is 0 for 20 clusters, with 19 groups of two to seven users
  /// who know nobody else and one cluster for the other 1,843. At least 1 (all sizes equal); infinity lifts both
  /// bounds.
  double imbalance = 3.0;

  std::uint64_t seed = 0;

  /// How many times `ncut` clusters from scratch; the best start is then improved. A graph of more than a million edges
  /// gets fewer starts, one of more than two million a single one.
  std::size_t starts = 4;

  /// How long `ncut` goes on improving the best start, in steps over a neighbour: 0 stops after the local search.
  std::size_t improvement_steps = 30'000'000;
};

struct Clustering {
  /// For each node its cluster, 0 ... clusters - 1; clusters are numbered in the order of their lowest node.
  std::vector<NodeId> labels;
  Summary summary;
};

/// Clusters the nodes of a graph. The same options give the same labels on every run, on any number of threads.
///
///     const goblin::Graph graph = goblin::generate::cliques(4, 25);
///     const auto clustering = goblin::cluster::partition(graph, {.clusters = 4});
///     clustering.labels[99];                   // 3
///     clustering.summary.normalized_cut;       // 0
///
/// Throws std::invalid_argument on an empty graph, and on options that contradict the graph or each other.
[[nodiscard]] Clustering partition(const Graph& graph, const Options& options);

}  // namespace goblin::cluster
