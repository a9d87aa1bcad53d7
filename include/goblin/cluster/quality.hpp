#pragma once

#include "goblin/graph/graph.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace goblin::cluster {

/// How good a clustering is. For a cluster c, vol(c) is the sum of the weighted degrees of its nodes and cut(c) the
/// weight of the edges that leave it; its normalized cut is
///
///     cut(c) / vol(c)          0 if vol(c) = 0: a cluster of isolated nodes cuts nothing,
///
/// between 0 (no edge leaves) and 1 (no edge stays).
struct Summary {
  std::size_t nodes = 0;
  std::size_t clusters = 0;
  /// The sum of cut(c) / vol(c) over the clusters, and that sum divided by the number of clusters.
  double normalized_cut = 0.0;
  double mean_normalized_cut = 0.0;
  /// The share of the edge weight whose two ends are in the same cluster; 1 for a graph without edges.
  double inside = 1.0;
  /// Nodes in a cluster; the median of an even number of clusters is the mean of the middle two.
  std::size_t smallest = 0;
  double median = 0.0;
  std::size_t largest = 0;
  /// For each cluster, by label.
  std::vector<std::size_t> size_of;
  std::vector<double> normalized_cut_of;
};

/// Measures a clustering: labels[node] is a number from 0 to the number of clusters minus 1, and each occurs. Throws
/// std::invalid_argument on labels of another form, or edge weights that add up to infinity. O(n + m).
[[nodiscard]] Summary summarize(const Graph& graph, std::span<const NodeId> labels);

}  // namespace goblin::cluster
