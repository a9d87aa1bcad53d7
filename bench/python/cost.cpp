// What bench/python/cost.py compares the Python package with: the same rounds and batches in C++.

#include "worlds.hpp"

#include <benchmark/benchmark.h>

namespace goblin::bench {
namespace {

constexpr std::size_t dimension = 25;

/// One user, 25 candidates: decide, then learn.
void python_round(benchmark::State& state) {
  const world::Cliques world({.cliques = 1, .size = 1, .dimension = dimension, .arms = 25});
  const auto rounds = first_rounds(world, 500);
  auto bandit = Bandit::gob_lin(world.graph(), {.dimension = dimension, .alpha = 0.05});
  Decision decision;
  std::size_t t = 0;
  while (state.KeepRunning()) {
    const world::Round& round = rounds[t++ % rounds.size()];
    bandit.select(round.user, {round.contexts, dimension}, {}, decision);
    bandit.update(round.user, round.context(decision.arm), round.payoffs[decision.arm]);
  }
}
BENCHMARK(python_round)->Unit(benchmark::kMicrosecond);

/// The first candidates of 10,000 rounds of 4Cliques.
struct Batch {
  world::Cliques world{{}};
  std::vector<world::Round> rounds = first_rounds(world, 10'000);
  Bandit bandit = Bandit::linucb_ind(world.graph(), {.dimension = dimension, .alpha = 0.05});

  [[nodiscard]] std::vector<Observation> observations() const {
    std::vector<Observation> result;
    for (const world::Round& round : rounds) result.push_back({round.user, round.context(0), round.payoffs[0]});
    return result;
  }
};

void python_partial_fit(benchmark::State& state) {
  Batch batch;
  const auto observations = batch.observations();
  while (state.KeepRunning()) batch.bandit.update(observations);
}
BENCHMARK(python_partial_fit)->Unit(benchmark::kMillisecond);

void python_predict(benchmark::State& state) {
  Batch batch;
  batch.bandit.update(batch.observations());
  Decision decision;
  std::vector<double> means(batch.rounds.size());
  while (state.KeepRunning()) {
    for (std::size_t k = 0; k < means.size(); ++k) {
      batch.bandit.select(batch.rounds[k].user, {batch.rounds[k].context(0), dimension}, {}, decision);
      means[k] = decision.means[0];
    }
    benchmark::DoNotOptimize(means.data());
  }
}
BENCHMARK(python_predict)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace goblin::bench
