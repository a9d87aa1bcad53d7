#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/world/world.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace goblin::experiment {

/// One round, and the sums up to it.
struct TraceRow {
  std::uint64_t round = 0;  ///< 1, 2, ...
  NodeId user = 0;
  std::uint32_t arm = 0;
  std::optional<NodeId> item;  ///< where the world has items
  double payoff = 0.0;
  double average_payoff = 0.0;        ///< of the candidates
  double reward = 0.0;                ///< sum of the payoffs
  double normalized_reward = 0.0;     ///< sum of payoff - average payoff
  std::optional<double> regret = {};  ///< sum of (best expected payoff - chosen one's), where it is known
  double log_determinant = 0.0;       ///< Bandit::log_determinant
  double probability = 1.0;           ///< Decision::probability
};

/// What a bandit did in a world.
struct Trace {
  std::string world;
  std::uint64_t seed = 0;
  std::uint64_t repetition = 0;
  Policy policy = Policy::gob_lin;
  Exploration exploration = {};
  std::uint64_t rounds = 0;  ///< played; fewer than asked for if it was stopped
  double reward = 0.0;
  double random_reward = 0.0;     ///< what choosing at random gets on average: the sum of the average payoffs
  bool negative_payoffs = false;  ///< whether a round paid less than nothing on average
  std::optional<double> regret;
  /// The right-hand side of Theorem 1, where the users' vectors are known and every user has a node.
  std::optional<double> regret_bound;
  double seconds = 0.0;  ///< by the clock that was passed in
  BanditSummary bandit;
  std::vector<TraceRow> rows;

  /// The paper's measure: the sum of a_t - (average payoff at t).
  [[nodiscard]] double normalized_reward() const { return reward - random_reward; }
};

struct SimulateOptions {
  std::uint64_t rounds = 10'000;
  /// The trace gets a row for every so many rounds, and one for the last; 0: no rows.
  std::uint64_t record_every = 1;
  /// Seconds since some moment. The library has no clock of its own.
  std::function<double()> clock = {};
  /// Asked after every round; false stops.
  std::function<bool()> keep_going = {};
  /// How certain Theorem 1's bound is: it fails with this probability.
  double delta = 0.1;
  /// Draw::samples, for TraceRow::probability with Thompson's rule; 0: that is not a number.
  std::size_t samples = 0;
};

/// Plays rounds 0, 1, ... of the world: choose, see the payoff, learn. The chance in the choices follows from the
/// world's seed and repetition, so that it is the same for every bandit. The bandit's users must be those of the
/// world's graph, in the same order; throws std::invalid_argument if their number or the dimension differs, or if the
/// world has fewer rounds.
[[nodiscard]] Trace simulate(Bandit& bandit, const world::World& world, const SimulateOptions& options = {});

}  // namespace goblin::experiment
