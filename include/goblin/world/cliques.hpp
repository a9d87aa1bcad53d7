#pragma once

#include "goblin/world/linear.hpp"

namespace goblin::world {

struct CliquesOptions {
  std::size_t cliques = 4;
  /// Users in a clique.
  std::size_t size = 25;
  std::size_t dimension = 25;
  /// Candidates in a round.
  std::size_t arms = 10;
  /// The expected number of pairs of users whose edge is made or broken.
  double graph_noise = 0.0;
  /// The largest absolute value of the payoffs' noise, which is uniform.
  double payoff_noise = 0.0;
  std::uint64_t seed = 0;
  std::uint64_t repetition = 0;
};

/// The paper's 4Cliques: everybody in a clique has the same unit vector, and the bandits see the graph with noise.
/// Graph noise, vectors and rounds are other ones in another repetition.
class Cliques final : public Linear {
 public:
  explicit Cliques(const CliquesOptions& options = {});
};

}  // namespace goblin::world
