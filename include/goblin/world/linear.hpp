#pragma once

#include "goblin/world/world.hpp"

#include <string>

namespace goblin::world {

struct LinearOptions {
  std::size_t dimension = 25;
  /// Candidates in a round.
  std::size_t arms = 10;
  /// The payoffs' noise is uniform between -payoff_noise and payoff_noise.
  double payoff_noise = 0.0;
  /// How alike friends are: 0 gives every user a vector of their own, infinity would give friends of friends the same.
  double smoothing = 10.0;
  std::uint64_t seed = 0;
  std::uint64_t repetition = 0;
};

/// Payoffs that are linear in the context: user i pays u_i.x + noise for x, |u_i| = 1. Contexts are uniform in
/// [-1, 1]^d and then of unit length, users uniform. Regret is known, and so is what Theorem 1 needs.
///
///     const goblin::world::Linear world(goblin::generate::cliques(2, 5), {.dimension = 3, .seed = 1});
///     world.round(7).payoffs;   // 10 numbers, the same whenever round 7 is asked for
class Linear : public World {
 public:
  /// Users' vectors that are smooth over the graph: the rows of (I + smoothing L)^{-1} Z, Z standard normal and L the
  /// graph's Laplacian, each scaled to unit length. d sparse solves by conjugate gradients.
  Linear(const Graph& graph, const LinearOptions& options);

  /// Given vectors, dimension numbers a user, user after user; the smoothing is not used. Throws std::invalid_argument
  /// if there are too few or too many.
  Linear(Graph graph, std::vector<double> user_vectors, const LinearOptions& options, std::string name = "linear");

  using World::round;
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] const Graph& graph() const override { return graph_; }
  [[nodiscard]] std::size_t dimension() const override { return options_.dimension; }
  [[nodiscard]] std::uint64_t seed() const override { return options_.seed; }
  [[nodiscard]] std::uint64_t repetition() const override { return options_.repetition; }
  [[nodiscard]] std::optional<LinearTruth> truth() const override;
  void round(std::uint64_t t, Round& round) const override;

 protected:
  /// The users' vectors in round t, user after user.
  [[nodiscard]] virtual std::span<const double> vectors_at(std::uint64_t /*t*/) const { return user_vectors_; }

 private:
  Graph graph_;
  std::vector<double> user_vectors_;
  LinearOptions options_;
  std::string name_;
};

}  // namespace goblin::world
