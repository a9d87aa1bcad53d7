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
BENCHMARK(python_round)->Iterations(500)->Unit(benchmark::kMicrosecond);

/// The first candidates of 10,000 rounds of 4Cliques, one after the other in memory, and a bandit that knows them.
struct Batch {
  std::vector<NodeId> users;
  std::vector<double> contexts;
  std::vector<Observation> observations;
  Bandit bandit;

  Batch() : bandit(Bandit::linucb_ind(world::Cliques().graph(), {.dimension = dimension, .alpha = 0.05})) {
    const auto rounds = first_rounds(world::Cliques(), 10'000);
    for (const world::Round& round : rounds) {
      users.push_back(round.user);
      contexts.insert(contexts.end(), round.context(0).begin(), round.context(0).end());
    }
    for (std::size_t k = 0; k < users.size(); ++k) {
      observations.push_back({users[k], context(k), rounds[k].payoffs[0]});
    }
    bandit.update(observations);
  }
  [[nodiscard]] std::span<const double> context(std::size_t row) const {
    return std::span(contexts).subspan(row * dimension, dimension);
  }
};

void python_partial_fit(benchmark::State& state) {
  Batch batch;
  while (state.KeepRunning()) batch.bandit.update(batch.observations);
}
BENCHMARK(python_partial_fit)->Iterations(1)->Unit(benchmark::kMillisecond);

void python_predict(benchmark::State& state) {
  const Batch batch;
  Decision decision;
  std::vector<double> means(batch.users.size());
  while (state.KeepRunning()) {
    for (std::size_t k = 0; k < means.size(); ++k) {
      batch.bandit.select(batch.users[k], {batch.context(k), dimension}, {}, decision);
      means[k] = decision.means[0];
    }
    benchmark::DoNotOptimize(means.data());
  }
}
BENCHMARK(python_predict)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace goblin::bench
