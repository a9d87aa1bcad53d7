#pragma once

#include "goblin/experiment/simulate.hpp"

#include <memory>
#include <span>

namespace goblin::experiment {

/// A policy to try.
struct Case {
  Policy policy = Policy::gob_lin;
  double alpha = 0.1;
  /// Everything else: dimension and alpha are taken from the world and from above. An exploration that is set here
  /// takes the place of alpha.
  BanditOptions bandit = {};
};

/// One repetition: its world, and the clusters of the world's users where a policy needs them.
struct Stage {
  std::shared_ptr<const world::World> world;
  std::vector<NodeId> clusters;
};

struct SweepOptions {
  SimulateOptions simulate = {};
  /// How many simulations run at the same time. What they find does not depend on it. clock and keep_going are then
  /// called from several threads.
  std::size_t threads = 1;
};

/// Simulates every case in every stage: traces[case][stage]. A simulation that was stopped before its first round has a
/// trace of 0 rounds.
[[nodiscard]] std::vector<std::vector<Trace>> sweep(std::span<const Stage> stages, std::span<const Case> cases,
                                                    const SweepOptions& options);

/// The mean over repetitions and its standard error, where there are at least two.
struct Estimate {
  double mean = 0.0;
  std::optional<double> standard_error;
};

/// Throws std::invalid_argument if there are no values.
[[nodiscard]] Estimate estimate(std::span<const double> values);

/// How far, in standard errors, the mean of `count` numbers may be off: |t| of Student's distribution with count - 1
/// degrees of freedom stays below it with the given probability. Throws std::invalid_argument below 2 numbers.
[[nodiscard]] double student_quantile(std::size_t count, double probability);

/// A case over its repetitions. Of simulations that were stopped, those that came to their end count; if none did, the
/// one that came farthest.
struct Result {
  std::string world;
  Policy policy = Policy::gob_lin;
  Exploration exploration = {};
  std::uint64_t repetitions = 0;
  std::uint64_t rounds = 0;  ///< in each of them
  Estimate reward;
  Estimate random_reward;
  Estimate normalized_reward;
  std::optional<double> ratio_to_random;  ///< of the rewards, where no payoff is negative
  std::optional<Estimate> regret;
  std::optional<Estimate> regret_bound;
  double seconds = 0.0;  ///< of one repetition
  double rounds_per_second = 0.0;
  std::size_t bytes = 0;  ///< the most of any repetition
  std::string engine;     ///< of the largest component, and after a plus those of others
};

/// The traces are those of one case. Throws std::invalid_argument if there is none.
[[nodiscard]] Result summarize(std::span<const Trace> traces);

}  // namespace goblin::experiment
