#include "cluster/small_components.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace goblin::cluster {
namespace {

/// The clusters by what a little more volume saves of the normalized cut: d/dS (cut / S) = -cut / S^2.
class Placer {
 public:
  Placer(const Graph& graph, std::size_t clusters, std::vector<NodeId>& labels)
      : labels_(labels), volume_(clusters, 0.0), cut_(clusters, 0.0), size_(clusters, 0) {
    for (NodeId node = 0; node < labels.size(); ++node) {
      if (labels[node] == unplaced) continue;
      ++size_[labels[node]];
      volume_[labels[node]] += graph.degree(node);
      const auto neighbours = graph.neighbours(node);
      for (std::size_t k = 0; k < neighbours.size(); ++k) {
        if (labels[neighbours[k]] != labels[node]) cut_[labels[node]] += graph.weights(node)[k];
      }
    }
    for (NodeId cluster = 0; cluster < clusters; ++cluster) {
      by_size_.emplace(size_[cluster], cluster);
      if (cut_[cluster] > 0.0) by_saving_.emplace(saving(cluster), cluster);
    }
  }

  [[nodiscard]] NodeId smallest() const { return by_size_.begin()->second; }
  [[nodiscard]] std::size_t size(NodeId cluster) const { return size_[cluster]; }

  /// The cluster that saves most among those with room, the smallest if there is none.
  [[nodiscard]] NodeId neediest(std::size_t room, std::size_t largest) const {
    for (auto entry = by_saving_.rbegin(); entry != by_saving_.rend(); ++entry) {
      if (size_[entry->second] + room <= largest) return entry->second;
    }
    return smallest();
  }

  void place(std::span<const NodeId> nodes, double volume, NodeId cluster) {
    by_size_.erase({size_[cluster], cluster});
    by_saving_.erase({saving(cluster), cluster});
    for (const NodeId node : nodes) labels_[node] = cluster;
    size_[cluster] += nodes.size();
    volume_[cluster] += volume;
    by_size_.emplace(size_[cluster], cluster);
    if (cut_[cluster] > 0.0) by_saving_.emplace(saving(cluster), cluster);
  }

 private:
  [[nodiscard]] double saving(NodeId cluster) const {
    return cut_[cluster] > 0.0 ? cut_[cluster] / volume_[cluster] / volume_[cluster] : 0.0;
  }

  std::vector<NodeId>& labels_;
  std::vector<double> volume_;
  std::vector<double> cut_;
  std::vector<std::size_t> size_;
  std::set<std::pair<std::size_t, NodeId>> by_size_;
  std::set<std::pair<double, NodeId>> by_saving_;
};

}  // namespace

void place_small_components(const Graph& graph, const Components& components, std::size_t clusters,
                            const SizeBounds& bounds, std::vector<NodeId>& labels) {
  std::vector<NodeId> pieces;
  for (NodeId component = 0; component < components.count(); ++component) {
    if (labels[components.nodes(component).front()] == unplaced) pieces.push_back(component);
  }
  std::stable_sort(pieces.begin(), pieces.end(), [&components](NodeId a, NodeId b) {
    return components.nodes(a).size() > components.nodes(b).size();
  });
  Placer placer(graph, clusters, labels);
  for (const NodeId piece : pieces) {
    const auto nodes = components.nodes(piece);
    double volume = 0.0;
    for (const NodeId node : nodes) volume += graph.degree(node);
    const bool filling = placer.size(placer.smallest()) < bounds.smallest;
    const NodeId cluster = volume > 0.0 && !filling ? placer.neediest(nodes.size(), bounds.largest) : placer.smallest();
    if (placer.size(cluster) + nodes.size() <= bounds.largest) {
      placer.place(nodes, volume, cluster);
    } else {
      for (const NodeId& node : nodes) placer.place({&node, 1}, graph.degree(node), placer.smallest());
    }
  }
}

}  // namespace goblin::cluster
