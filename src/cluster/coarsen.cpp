#include "cluster/coarsen.hpp"

#include "cluster/shuffle.hpp"

#include <array>
#include <bit>

namespace goblin::cluster {
namespace {

constexpr NodeId none = static_cast<NodeId>(-1);

/// All nodes, by the power of two of their number of neighbours, in random order within one.
std::vector<NodeId> order_by_degree_buckets(const Graph& graph, Random& random) {
  std::array<std::vector<NodeId>, 33> buckets;
  for (const NodeId node : random_order<NodeId>(graph.node_count(), random)) {
    buckets[std::bit_width(static_cast<std::uint32_t>(graph.neighbours(node).size()))].push_back(node);
  }
  std::vector<NodeId> order;
  order.reserve(graph.node_count());
  for (const auto& bucket : buckets) order.insert(order.end(), bucket.begin(), bucket.end());
  return order;
}

}  // namespace

Level finest_level(const Graph& graph) {
  Level level{.graph = graph,
              .volume = std::vector<double>(graph.node_count()),
              .inner = std::vector<double>(graph.node_count(), 0.0),
              .size = std::vector<NodeId>(graph.node_count(), 1)};
  for (NodeId node = 0; node < graph.node_count(); ++node) level.volume[node] = graph.degree(node);
  return level;
}

std::vector<NodeId> match(const Level& level, std::size_t largest_size, Random& random) {
  std::vector<NodeId> pair_of(level.node_count(), none);
  std::vector<NodeId> waiting_at(level.node_count(), none);
  NodeId pairs = 0;
  const auto fits = [&](NodeId a, NodeId b) {
    return std::size_t{level.size[a]} + std::size_t{level.size[b]} <= largest_size;
  };
  for (const NodeId node : order_by_degree_buckets(level.graph, random)) {
    if (pair_of[node] != none) continue;
    const auto neighbours = level.graph.neighbours(node);
    const auto weights = level.graph.weights(node);
    NodeId partner = none;
    NodeId heaviest = none;
    double best = 0.0;
    double best_any = 0.0;
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      const NodeId other = neighbours[k];
      const double saved = weights[k] * (1.0 / level.volume[node] + 1.0 / level.volume[other]);
      if (saved > best_any) {
        best_any = saved;
        heaviest = other;
      }
      if (pair_of[other] == none && saved > best && fits(node, other)) {
        best = saved;
        partner = other;
      }
    }
    if (partner == none && heaviest != none) {
      NodeId& waiting = waiting_at[heaviest];
      if (waiting == none || pair_of[waiting] != none || !fits(node, waiting)) {
        waiting = node;
        continue;
      }
      partner = waiting;
      waiting = none;
    }
    pair_of[node] = pairs;
    if (partner != none) pair_of[partner] = pairs;
    ++pairs;
  }
  for (NodeId& pair : pair_of) {
    if (pair == none) pair = pairs++;
  }
  return pair_of;
}

Level contract(const Level& level, const std::vector<NodeId>& pair_of) {
  Level coarse;
  coarse.graph = level.graph.quotient(pair_of);
  const std::size_t count = coarse.graph.node_count();
  coarse.volume.assign(count, 0.0);
  coarse.inner.assign(count, 0.0);
  coarse.size.assign(count, 0);
  for (NodeId node = 0; node < level.node_count(); ++node) {
    const NodeId pair = pair_of[node];
    coarse.volume[pair] += level.volume[node];
    coarse.inner[pair] += level.inner[node];
    coarse.size[pair] += level.size[node];
    const auto neighbours = level.graph.neighbours(node);
    const auto weights = level.graph.weights(node);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      if (pair_of[neighbours[k]] == pair) coarse.inner[pair] += weights[k];
    }
  }
  return coarse;
}

}  // namespace goblin::cluster
