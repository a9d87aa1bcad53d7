#pragma once

#include "goblin/goblin.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace goblin::bench {

struct CommunityWorldOptions {
  std::size_t users = 1000;
  std::size_t dimension = 25;
  std::size_t arms = 25;
  /// A third of the edges go to a few: the largest hub has 2 % of all users as friends.
  bool hubs = false;
};

/// The graph with so many edges more, each from anybody to one whose share falls with a power of his rank.
inline Graph with_hubs(const Graph& graph, std::size_t more_edges) {
  constexpr double exponent = 0.22;  // of the share of the first k
  const auto n = static_cast<double>(graph.node_count());
  const double top = std::pow(n + 1.0, exponent);
  Random random(7);
  std::vector<Edge> edges = graph.edges();
  while (more_edges > 0) {
    const auto user = static_cast<NodeId>(random.below(graph.node_count()));
    const double rank = std::pow(1.0 + random.uniform() * (top - 1.0), 1.0 / exponent) - 1.0;
    const auto hub = static_cast<NodeId>(std::min(rank, n - 1.0));
    if (hub == user) continue;
    edges.push_back({user, hub});
    --more_edges;
  }
  return {graph.node_count(), edges};
}

/// A graph of communities of a hundred (average degree 14, or a quarter of few users; numbered at random), and users
/// whose vectors are those of their community plus a third of their own: what clicks look like, and made in no time for
/// a million of them.
inline world::Linear community_world(const CommunityWorldOptions& options) {
  const double degree = std::min(14.0, 0.25 * static_cast<double>(options.users));
  auto [graph, community_of] = generate::communities({.nodes = options.users,
                                                      .communities = std::max<std::size_t>(1, options.users / 100),
                                                      .average_degree = options.hubs ? degree * 2.0 / 3.0 : degree,
                                                      .seed = 1});
  if (options.hubs)
    graph = with_hubs(graph, static_cast<std::size_t>(degree * static_cast<double>(options.users) / 6.0));
  std::vector<double> vectors(options.users * options.dimension);
  for (std::size_t user = 0; user < options.users; ++user) {
    Random shared(2, 0, community_of[user]);
    Random alone(3, 0, user);
    double* vector = vectors.data() + user * options.dimension;
    double squared = 0.0;
    for (std::size_t k = 0; k < options.dimension; ++k) {
      vector[k] = shared.normal() + 0.33 * alone.normal();
      squared += vector[k] * vector[k];
    }
    for (std::size_t k = 0; k < options.dimension; ++k) vector[k] /= std::sqrt(squared);
  }
  return {std::move(graph),
          std::move(vectors),
          {.dimension = options.dimension, .arms = options.arms, .payoff_noise = 0.25}};
}

}  // namespace goblin::bench
