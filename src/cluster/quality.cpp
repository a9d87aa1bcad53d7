#include "goblin/cluster/quality.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace goblin::cluster {
namespace {

void check_labels(const Graph& graph, std::span<const NodeId> labels) {
  if (labels.size() != graph.node_count()) {
    throw std::invalid_argument(
        fmt::format("labels: {} of them (must be one for each of the {} nodes)", labels.size(), graph.node_count()));
  }
  for (std::size_t node = 0; node < labels.size(); ++node) {
    if (labels[node] >= labels.size()) {
      throw std::invalid_argument(
          fmt::format("labels[{}]: {} (must be below the number of nodes, {})", node, labels[node], labels.size()));
    }
  }
}

}  // namespace

Summary summarize(const Graph& graph, std::span<const NodeId> labels) {
  check_labels(graph, labels);
  Summary summary;
  summary.nodes = labels.size();
  if (labels.empty()) return summary;
  summary.clusters = *std::max_element(labels.begin(), labels.end()) + std::size_t{1};
  summary.size_of.assign(summary.clusters, 0);
  std::vector<double> volume(summary.clusters, 0.0);
  std::vector<double> cut(summary.clusters, 0.0);
  for (NodeId node = 0; node < labels.size(); ++node) {
    const NodeId own = labels[node];
    const auto neighbours = graph.neighbours(node);
    const auto weights = graph.weights(node);
    ++summary.size_of[own];
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      volume[own] += weights[k];
      if (labels[neighbours[k]] != own) cut[own] += weights[k];
    }
  }
  for (std::size_t cluster = 0; cluster < summary.clusters; ++cluster) {
    if (summary.size_of[cluster] == 0) {
      throw std::invalid_argument(
          fmt::format("labels: cluster {} has no node (every label below {} must occur)", cluster, summary.clusters));
    }
    summary.normalized_cut_of.push_back(volume[cluster] > 0.0 ? cut[cluster] / volume[cluster] : 0.0);
  }
  const double total_volume = std::accumulate(volume.begin(), volume.end(), 0.0);
  if (!std::isfinite(total_volume)) throw std::invalid_argument("graph: the edge weights add up to infinity");
  if (total_volume > 0.0) summary.inside = 1.0 - std::accumulate(cut.begin(), cut.end(), 0.0) / total_volume;
  summary.normalized_cut = std::accumulate(summary.normalized_cut_of.begin(), summary.normalized_cut_of.end(), 0.0);
  summary.mean_normalized_cut = summary.normalized_cut / static_cast<double>(summary.clusters);

  std::vector<std::size_t> sizes = summary.size_of;
  std::sort(sizes.begin(), sizes.end());
  summary.smallest = sizes.front();
  summary.largest = sizes.back();
  summary.median =
      (static_cast<double>(sizes[(sizes.size() - 1) / 2]) + static_cast<double>(sizes[sizes.size() / 2])) / 2.0;
  return summary;
}

}  // namespace goblin::cluster
