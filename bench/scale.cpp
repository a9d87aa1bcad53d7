// What a round of the engine local costs as the graph grows, and how far its scores can be off.
//
//     ./dev bench --benchmark_filter=local_round            10^4, 10^5 and 10^6 users, 10^5 rounds each
//     ./dev bench --benchmark_filter=local_hubs             10^6 users, a third of whose edges go to a few hubs
//     ./dev bench --benchmark_filter=local_tolerance        the same at other tolerances
//     ./dev bench --benchmark_filter=local_reward           what the approximation costs in reward, against sparse

#include "communities.hpp"
#include "meters.hpp"
#include "worlds.hpp"

#include <cmath>

#include <benchmark/benchmark.h>

namespace goblin::bench {
namespace {

constexpr std::size_t dimension = 25;

/// One iteration is one round, select and update; what the world does is not counted.
void play(benchmark::State& state, const CommunityWorldOptions& options, double tolerance) {
  const world::Linear world = community_world(options);
  auto bandit = Bandit::gob_lin(
      world.graph(),
      {.dimension = dimension, .alpha = 0.1, .engine = {.kind = EngineKind::local, .local = {.tolerance = tolerance}}});
  std::vector<double> milliseconds;
  std::vector<double> computed_milliseconds;
  std::vector<double> select_milliseconds;  // computed, as the next
  std::vector<double> update_milliseconds;
  std::vector<double> settled;
  std::vector<double> edges;
  std::vector<double> bounds;
  std::vector<double> widths;
  std::size_t undecided = 0;
  world::Round round;
  Decision decision;
  std::size_t t = 0;
  while (state.KeepRunning()) {
    world.round(t++, round);
    const double computed = thread_seconds();
    const auto start = Clock::now();
    bandit.select(round.user, {round.contexts, dimension}, {}, decision);
    const double selected = thread_seconds();
    const auto solve = bandit.update(round.user, round.context(decision.arm), round.payoffs[decision.arm]);
    const double seconds = seconds_since(start);
    const double updated = thread_seconds();
    state.SetIterationTime(seconds);
    milliseconds.push_back(1e3 * seconds);
    computed_milliseconds.push_back(1e3 * (updated - computed));
    select_milliseconds.push_back(1e3 * (selected - computed));
    update_milliseconds.push_back(1e3 * (updated - selected));
    settled.push_back(static_cast<double>(solve.settled_nodes));
    edges.push_back(static_cast<double>(solve.walked_edges));
    bounds.push_back(decision.bounds[decision.arm]);
    widths.push_back(decision.widths[decision.arm]);
    const double best = decision.scores[decision.arm] - decision.bounds[decision.arm];
    for (std::size_t arm = 0; arm < decision.scores.size(); ++arm) {
      if (arm == decision.arm || decision.scores[arm] + decision.bounds[arm] <= best) continue;
      ++undecided;
      break;
    }
  }
  state.counters["median_ms"] = quantile(milliseconds, 0.5);
  state.counters["p99_ms"] = quantile(milliseconds, 0.99);
  state.counters["select_median"] = quantile(select_milliseconds, 0.5);
  state.counters["select_p99"] = quantile(select_milliseconds, 0.99);
  state.counters["update_median"] = quantile(update_milliseconds, 0.5);
  state.counters["update_p99"] = quantile(update_milliseconds, 0.99);
  state.counters["cpu_median_ms"] = quantile(computed_milliseconds, 0.5);
  state.counters["cpu_p99_ms"] = quantile(computed_milliseconds, 0.99);
  state.counters["cpu_max_ms"] = quantile(computed_milliseconds, 1.0);
  state.counters["cpu_late_ms"] = average(std::vector<double>(
      computed_milliseconds.begin() + static_cast<std::ptrdiff_t>(t / 2), computed_milliseconds.end()));
  state.counters["settled"] = average(settled);
  state.counters["settled_p50"] = quantile(settled, 0.5);
  state.counters["edges"] = average(edges);
  state.counters["edges_p50"] = quantile(edges, 0.5);
  state.counters["bound"] = average(bounds);
  state.counters["bound_p99"] = quantile(bounds, 0.99);
  state.counters["width"] = average(widths);
  state.counters["proved"] = 1.0 - static_cast<double>(undecided) / static_cast<double>(t);
  const auto summary = bandit.summary();
  state.counters["MB"] = static_cast<double>(summary.bytes) / 1e6;
  state.counters["unsettled"] = static_cast<double>(summary.unconverged_solves);
}

void local_round(benchmark::State& state) {
  play(state, {.users = static_cast<std::size_t>(state.range(0))}, LocalOptions{}.tolerance);
}
BENCHMARK(local_round)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->ArgName("users")
    ->Iterations(100'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

void local_hubs(benchmark::State& state) {
  play(state, {.users = static_cast<std::size_t>(state.range(0)), .hubs = true}, LocalOptions{}.tolerance);
}
BENCHMARK(local_hubs)
    ->Arg(1'000'000)
    ->ArgName("users")
    ->Iterations(20'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

void local_tolerance(benchmark::State& state) {
  play(state, {.users = 100'000}, std::pow(10.0, -0.5 * static_cast<double>(state.range(0))));
}
BENCHMARK(local_tolerance)
    ->DenseRange(2, 6)
    ->ArgName("half_decades")
    ->Iterations(10'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// The same rounds for an exact bandit, for a local one that goes its own way, and for a local one that learns what the
/// exact one does: how much reward the approximation costs, how often it decides otherwise, and how far its scores are
/// off where it says they can be. The argument is the seed.
void local_reward(benchmark::State& state, std::optional<data::Dataset> (*read)(const data::ReadOptions&),
                  double mean_length) {
  constexpr std::uint64_t rounds = 10'000;
  constexpr double alpha = 0.001;
  const auto data = read({.contexts = {.mean_length = mean_length}});
  if (!data) {
    state.SkipWithError("no data: set GOBLIN_DATA to its folder");
    return;
  }
  const world::Catalogue world(*data, {.arms = 25, .seed = static_cast<std::uint64_t>(state.range(0))});
  const auto make = [&](EngineKind kind) {
    return Bandit::gob_lin(data->graph, {.dimension = dimension, .alpha = alpha, .engine = {.kind = kind}});
  };
  double exact_reward = 0.0;
  double local_reward = 0.0;
  double same = 0.0;
  double error = 0.0;
  double bound = 0.0;
  double violations = 0.0;
  std::vector<double> milliseconds;
  while (state.KeepRunning()) {
    auto exact = make(EngineKind::sparse);
    auto local = make(EngineKind::local);
    auto follower = make(EngineKind::local);
    world::Round round;
    Decision decision;
    Decision followed;
    for (std::uint64_t t = 0; t < rounds; ++t) {
      world.round(t, round);
      const Contexts contexts(round.contexts, dimension);
      const double average_payoff = average(round.payoffs);
      const auto start = Clock::now();
      local.select(round.user, contexts, {}, decision);
      local.update(round.user, round.context(decision.arm), round.payoffs[decision.arm]);
      milliseconds.push_back(1e3 * seconds_since(start));
      local_reward += round.payoffs[decision.arm] - average_payoff;

      exact.select(round.user, contexts, {}, decision);
      exact_reward += round.payoffs[decision.arm] - average_payoff;
      follower.select(round.user, contexts, {}, followed);
      if (decision.arm == followed.arm) same += 1.0 / static_cast<double>(rounds);
      for (std::size_t arm = 0; arm < decision.scores.size(); ++arm) {
        const double difference = std::abs(decision.scores[arm] - followed.scores[arm]);
        error += difference / static_cast<double>(rounds * decision.scores.size());
        bound += followed.bounds[arm] / static_cast<double>(rounds * decision.scores.size());
        if (difference > followed.bounds[arm] + 1e-6) ++violations;
      }
      exact.update(round.user, round.context(decision.arm), round.payoffs[decision.arm]);
      follower.update(round.user, round.context(decision.arm), round.payoffs[decision.arm]);
    }
  }
  state.counters["exact_reward"] = exact_reward;
  state.counters["local_reward"] = local_reward;
  state.counters["ratio"] = local_reward / exact_reward;
  state.counters["same_choice"] = same;
  state.counters["error"] = error;
  state.counters["bound"] = bound;
  state.counters["violations"] = violations;
  state.counters["median_ms"] = quantile(milliseconds, 0.5);
  state.counters["p99_ms"] = quantile(milliseconds, 0.99);
}
void ten_seeds(benchmark::internal::Benchmark* benchmark) {
  benchmark->DenseRange(1, 10)->ArgName("seed")->Iterations(1)->Unit(benchmark::kSecond);
}
// With the alpha and the length of contexts that gob.lin was tuned to on other seeds (docs/reproduction.md).
BENCHMARK_CAPTURE(local_reward, lastfm, lastfm, 0.3)->Apply(ten_seeds);
BENCHMARK_CAPTURE(local_reward, delicious, delicious, 1.0)->Apply(ten_seeds);

}  // namespace
}  // namespace goblin::bench
