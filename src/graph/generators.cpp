#include "goblin/graph/generators.hpp"

#include "goblin/random.hpp"

#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace goblin::generate {

Graph cliques(std::size_t count, std::size_t size) {
  std::vector<Edge> edges;
  edges.reserve(size == 0 ? 0 : count * size * (size - 1) / 2);
  for (std::size_t clique = 0; clique < count; ++clique) {
    for (std::size_t a = clique * size; a < (clique + 1) * size; ++a) {
      for (std::size_t b = a + 1; b < (clique + 1) * size; ++b) {
        edges.push_back({static_cast<NodeId>(a), static_cast<NodeId>(b)});
      }
    }
  }
  return {count * size, edges};
}

Graph random(const RandomOptions& options) {
  if (options.edges > 0 && options.nodes < 2) {
    throw std::invalid_argument(fmt::format("nodes: {} (must be at least 2 for a graph with edges)", options.nodes));
  }
  Random random(options.seed);
  std::vector<Edge> edges;
  edges.reserve(options.edges);
  while (edges.size() < options.edges) {
    const auto a = static_cast<NodeId>(random.below(options.nodes));
    const auto b = static_cast<NodeId>(random.below(options.nodes));
    if (a != b) edges.push_back({a, b, random.uniform(options.lowest_weight, options.highest_weight)});
  }
  return {options.nodes, edges};
}

}  // namespace goblin::generate
