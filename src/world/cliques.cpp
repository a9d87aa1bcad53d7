#include "goblin/world/cliques.hpp"

#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"
#include "world/unit_vector.hpp"

#include <algorithm>
#include <stdexcept>

namespace goblin::world {
namespace {

Graph noisy_graph(const CliquesOptions& options) {
  return generate::with_flipped_pairs(generate::cliques(options.cliques, options.size), options.graph_noise,
                                      Random(options.seed, options.repetition, graph_stream));
}

/// The vectors of all users. Those after a change are the next that the same stream draws, so that the first ones are
/// the same with and without a change.
std::vector<double> clique_vectors(const CliquesOptions& options, bool after_drift) {
  Random random(options.seed, options.repetition, vector_stream);
  const std::size_t d = options.dimension;
  std::vector<double> vectors(options.cliques * options.size * d);
  if (d == 0) return vectors;
  std::vector<double> vector(d);
  for (std::size_t clique = 0; after_drift && clique < options.cliques; ++clique) draw_unit_vector(random, vector);
  for (std::size_t user = 0; user < options.cliques * options.size; ++user) {
    if (user % options.size == 0) draw_unit_vector(random, vector);
    std::copy(vector.begin(), vector.end(), vectors.begin() + static_cast<std::ptrdiff_t>(user * d));
  }
  return vectors;
}

}  // namespace

Cliques::Cliques(const CliquesOptions& options)
    : Linear(noisy_graph(options), clique_vectors(options, false),
             {.dimension = options.dimension,
              .arms = options.arms,
              .payoff_noise = options.payoff_noise,
              .seed = options.seed,
              .repetition = options.repetition},
             "cliques"),
      drift_after_(options.drift_after) {
  if (drift_after_ == 0U) throw std::invalid_argument("drift_after: 0 (must be at least 1)");
  if (drift_after_) later_vectors_ = clique_vectors(options, true);
}

std::optional<LinearTruth> Cliques::truth() const { return drift_after_ ? std::nullopt : Linear::truth(); }

std::span<const double> Cliques::vectors_at(std::uint64_t t) const {
  return drift_after_ && t >= *drift_after_ ? std::span<const double>(later_vectors_) : Linear::vectors_at(t);
}

}  // namespace goblin::world
