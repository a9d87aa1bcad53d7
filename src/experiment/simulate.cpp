#include "goblin/experiment/simulate.hpp"

#include "goblin/random.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace goblin::experiment {
namespace {

void check(const Bandit& bandit, const world::World& world, const SimulateOptions& options) {
  if (bandit.user_count() != world.graph().node_count()) {
    throw std::invalid_argument(
        fmt::format("bandit: {} users (must be {}, as in the world)", bandit.user_count(), world.graph().node_count()));
  }
  if (bandit.options().dimension != world.dimension()) {
    throw std::invalid_argument(fmt::format("bandit: dimension {} (must be {}, as in the world)",
                                            bandit.options().dimension, world.dimension()));
  }
  if (options.rounds > world.round_count()) {
    throw std::invalid_argument(
        fmt::format("rounds: {} (must be at most {}, as the world has)", options.rounds, world.round_count()));
  }
}

std::optional<double> bound_of(const Bandit& bandit, const world::World& world, double delta) {
  const auto truth = world.truth();
  if (!truth || !has_node_per_user(bandit.policy())) return std::nullopt;
  if (!bandit.options().intercept) {
    return bandit.regret_bound({.noise = truth->noise,
                                .delta = delta,
                                .context_length = truth->context_length,
                                .smoothness = bandit.smoothness(truth->user_vectors)});
  }
  // The true vectors have nothing for the constant, which makes contexts longer.
  std::vector<double> vectors;
  for (std::size_t k = 0; k < truth->user_vectors.size(); ++k) {
    vectors.push_back(truth->user_vectors[k]);
    if ((k + 1) % world.dimension() == 0) vectors.push_back(0.0);
  }
  return bandit.regret_bound({.noise = truth->noise,
                              .delta = delta,
                              .context_length = std::hypot(truth->context_length, 1.0),
                              .smoothness = bandit.smoothness(vectors)});
}

}  // namespace

Trace simulate(Bandit& bandit, const world::World& world, const SimulateOptions& options) {
  check(bandit, world, options);
  Trace trace{.world = std::string(world.name()),
              .seed = world.seed(),
              .repetition = world.repetition(),
              .policy = bandit.policy(),
              .exploration = bandit.exploration(),
              .regret = {},
              .regret_bound = {},
              .bandit = {},
              .rows = {}};
  if (options.record_every > 0) trace.rows.reserve(options.rounds / options.record_every + 1);
  const double begin = options.clock ? options.clock() : 0.0;
  const std::uint64_t seed = Random(world.seed(), world.repetition(), world::choice_stream).bits();
  world::Round round;
  Decision decision;
  bool goes_on = true;
  while (goes_on && trace.rounds < options.rounds) {
    world.round(trace.rounds, round);
    bandit.select(round.user, {round.contexts, world.dimension()}, {}, decision,
                  Draw{.seed = seed, .decision = trace.rounds, .samples = options.samples});
    const std::size_t arm = decision.arm;
    bandit.update(round.user, round.context(arm), round.payoffs[arm]);

    ++trace.rounds;
    const double average = round.average_payoff();
    trace.reward += round.payoffs[arm];
    trace.random_reward += average;
    trace.negative_payoffs = trace.negative_payoffs || average < 0.0;
    if (!round.expected.empty()) {
      const double best = *std::max_element(round.expected.begin(), round.expected.end());
      trace.regret = trace.regret.value_or(0.0) + best - round.expected[arm];
    }
    goes_on = !options.keep_going || options.keep_going();
    const bool last = !goes_on || trace.rounds == options.rounds;
    if (options.record_every > 0 && (last || trace.rounds % options.record_every == 0)) {
      trace.rows.push_back({.round = trace.rounds,
                            .user = round.user,
                            .arm = static_cast<std::uint32_t>(arm),
                            .item = round.items.empty() ? std::optional<NodeId>{} : round.items[arm],
                            .payoff = round.payoffs[arm],
                            .average_payoff = average,
                            .reward = trace.reward,
                            .normalized_reward = trace.normalized_reward(),
                            .regret = trace.regret,
                            .log_determinant = bandit.log_determinant(),
                            .probability = decision.probability});
    }
  }
  if (options.clock) trace.seconds = options.clock() - begin;
  trace.regret_bound = bound_of(bandit, world, options.delta);
  trace.bandit = bandit.summary();
  return trace;
}

}  // namespace goblin::experiment
