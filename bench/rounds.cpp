// What a round costs: select among the candidates, then update.

#include "worlds.hpp"

#include <cstdint>

#include <Eigen/Core>
#include <benchmark/benchmark.h>

namespace goblin::bench {
namespace {

constexpr std::size_t dimension = 25;
constexpr std::size_t lastfm_rows = 1892 * dimension;

/// Plays as many rounds as the benchmark has iterations, and reports the engine and its work.
void play(benchmark::State& state, const world::World& world, EngineKind kind) {
  const auto rounds = first_rounds(world, state.max_iterations);
  auto bandit = Bandit::gob_lin(world.graph(), {.dimension = dimension, .alpha = 0.05, .engine = {.kind = kind}});
  Decision decision;
  std::size_t solver_iterations = 0;
  std::size_t t = 0;
  while (state.KeepRunning()) {
    const world::Round& round = rounds[t++];
    bandit.select(round.user, {round.contexts, dimension}, {}, decision);
    const auto solve = bandit.update(round.user, round.context(decision.arm), round.payoffs[decision.arm]);
    solver_iterations += solve.iterations;
  }
  const auto summary = bandit.summary();
  state.counters["MB"] = static_cast<double>(summary.bytes) / 1e6;
  state.counters["solver_iterations"] = static_cast<double>(solver_iterations) / static_cast<double>(t);
  state.counters["unconverged"] = static_cast<double>(summary.unconverged_solves);
  state.SetLabel(std::string(name_of(summary.components.front().engine)));
}

void round_4cliques(benchmark::State& state, double graph_noise, EngineKind kind) {
  play(state, world::Cliques({.graph_noise = graph_noise, .payoff_noise = 0.25}), kind);
}
BENCHMARK_CAPTURE(round_4cliques, clean, 0.0, EngineKind::automatic)->Iterations(10'000);
BENCHMARK_CAPTURE(round_4cliques, noise_500, 500.0, EngineKind::automatic)->Iterations(10'000);
BENCHMARK_CAPTURE(round_4cliques, noise_500_sparse, 500.0, EngineKind::sparse)->Iterations(10'000);

void round_lastfm(benchmark::State& state) {
  const auto data = lastfm();
  if (!data) {
    state.SkipWithError("no Last.fm data: set GOBLIN_DATA to its folder");
    return;
  }
  play(state, world::Catalogue(*data, {.arms = 25, .seed = 7}), EngineKind::automatic);
}
BENCHMARK(round_lastfm)->Iterations(5'000)->Unit(benchmark::kMillisecond);

/// One symmetric rank-one update of a dense inverse, at a size that fits; scaled_updates is the time of one of
/// Last.fm's 47,300 rows.
void dense_rank_one(benchmark::State& state) {
  const Eigen::Index rows = state.range(0);
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(rows, rows);
  const Eigen::VectorXd u = Eigen::VectorXd::Constant(rows, 1e-6);
  while (state.KeepRunning()) {
    inverse.selfadjointView<Eigen::Lower>().rankUpdate(u, -1.0);
    benchmark::ClobberMemory();
  }
  const double factor = static_cast<double>(lastfm_rows) / static_cast<double>(rows);
  state.counters["scaled_updates"] = benchmark::Counter(static_cast<double>(state.iterations()) / (factor * factor),
                                                        benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(dense_rank_one)->Arg(12'000)->Iterations(10)->Unit(benchmark::kMillisecond);

/// Selecting alone, from the belief after some rewards.
void select(benchmark::State& state, std::size_t users) {
  const world::Cliques world({.cliques = 1, .size = users, .dimension = dimension, .arms = 25});
  const auto rounds = first_rounds(world, 500);
  auto bandit = Bandit::gob_lin(world.graph(), {.dimension = dimension, .alpha = 0.1});
  for (const world::Round& round : rounds) bandit.update(round.user, round.context(0), round.payoffs[0]);
  Decision decision;
  std::size_t t = 0;
  while (state.KeepRunning()) {
    const world::Round& round = rounds[t++ % rounds.size()];
    bandit.select(round.user, {round.contexts, dimension}, {}, decision);
    benchmark::DoNotOptimize(decision.arm);
  }
  state.SetLabel(std::string(name_of(bandit.summary().components.front().engine)));
}
BENCHMARK_CAPTURE(select, one_user, 1)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(select, clique_of_25, 25)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(select, clique_of_120, 120)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace goblin::bench
