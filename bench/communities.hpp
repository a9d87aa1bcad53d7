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
};

/// A graph of communities of a hundred (average degree 14, or a quarter of few users), and users whose vectors are
/// those of their community plus a third of their own: what clicks look like, and made in no time for a million of
/// them.
inline world::Linear community_world(const CommunityWorldOptions& options) {
  auto [graph, community_of] =
      generate::communities({.nodes = options.users,
                             .communities = std::max<std::size_t>(1, options.users / 100),
                             .average_degree = std::min(14.0, 0.25 * static_cast<double>(options.users)),
                             .seed = 1});
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
