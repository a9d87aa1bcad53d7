#pragma once

#include "goblin/world/linear.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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
  /// After so many rounds every clique gets another vector: tastes change all at once. None: they never do.
  std::optional<std::uint64_t> drift_after = {};
  std::uint64_t seed = 0;
  std::uint64_t repetition = 0;
};

/// The paper's 4Cliques: everybody in a clique has the same unit vector, and the bandits see the graph with noise.
/// Graph noise, vectors and rounds are other ones in another repetition. Where tastes change, users, contexts and noise
/// are those of the world where they do not.
class Cliques final : public Linear {
 public:
  /// Throws std::invalid_argument if there would be no world, or if tastes change after 0 rounds.
  explicit Cliques(const CliquesOptions& options = {});

  /// None where tastes change: Theorem 1 speaks of users with one vector each.
  [[nodiscard]] std::optional<LinearTruth> truth() const override;

 protected:
  [[nodiscard]] std::span<const double> vectors_at(std::uint64_t t) const override;

 private:
  std::optional<std::uint64_t> drift_after_;
  std::vector<double> later_vectors_;  // empty where tastes never change
};

}  // namespace goblin::world
