#include "goblin/world/cliques.hpp"

#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"
#include "world/unit_vector.hpp"

#include <algorithm>

namespace goblin::world {
namespace {

Graph noisy_graph(const CliquesOptions& options) {
  return generate::with_flipped_pairs(generate::cliques(options.cliques, options.size), options.graph_noise,
                                      Random(options.seed, options.repetition, graph_stream));
}

std::vector<double> clique_vectors(const CliquesOptions& options) {
  Random random(options.seed, options.repetition, vector_stream);
  const std::size_t d = options.dimension;
  std::vector<double> vectors(options.cliques * options.size * d);
  std::vector<double> vector(d);
  for (std::size_t user = 0; user < options.cliques * options.size && d > 0; ++user) {
    if (user % options.size == 0) draw_unit_vector(random, vector);
    std::copy(vector.begin(), vector.end(), vectors.begin() + static_cast<std::ptrdiff_t>(user * d));
  }
  return vectors;
}

}  // namespace

Cliques::Cliques(const CliquesOptions& options)
    : Linear(noisy_graph(options), clique_vectors(options),
             {.dimension = options.dimension,
              .arms = options.arms,
              .payoff_noise = options.payoff_noise,
              .seed = options.seed,
              .repetition = options.repetition},
             "cliques") {}

}  // namespace goblin::world
