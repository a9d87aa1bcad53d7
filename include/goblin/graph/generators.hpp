#pragma once

#include "goblin/graph/graph.hpp"

#include <cstddef>
#include <cstdint>

namespace goblin::generate {

/// Cliques of the same size with no edge between them; node i is in clique i / size.
[[nodiscard]] Graph cliques(std::size_t count, std::size_t size);

/// `edge_count` pairs of distinct nodes, drawn uniformly with replacement (a pair drawn twice weighs twice), each with
/// a weight uniform in [low, high].
struct RandomOptions {
  std::size_t nodes = 0;
  std::size_t edges = 0;
  double lowest_weight = 1.0;
  double highest_weight = 1.0;
  std::uint64_t seed = 0;
};
[[nodiscard]] Graph random(const RandomOptions& options);

}  // namespace goblin::generate
