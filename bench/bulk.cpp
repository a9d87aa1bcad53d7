// Many rewards at once: rewards a second against the size of a batch, and the warm start from a log.

#include "communities.hpp"
#include "worlds.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace goblin::bench {
namespace {

/// What was shown and what came of it: one candidate of each round of a world.
class Events {
 public:
  Events(const world::World& world, std::size_t first, std::size_t count) : dimension_(world.dimension()) {
    world::Round round;
    for (std::size_t t = first; t < first + count; ++t) {
      world.round(t, round);
      const std::size_t arm = t % round.payoffs.size();
      const auto context = round.context(arm);
      contexts_.insert(contexts_.end(), context.begin(), context.end());
      users_.push_back(round.user);
      rewards_.push_back(round.payoffs[arm]);
    }
  }

  [[nodiscard]] std::vector<Observation> batch(std::size_t first, std::size_t count) const {
    std::vector<Observation> result;
    for (std::size_t k = first; k < first + count; ++k) {
      result.push_back({users_[k], std::span(contexts_).subspan(k * dimension_, dimension_), rewards_[k]});
    }
    return result;
  }

 private:
  std::size_t dimension_;
  std::vector<double> contexts_;
  std::vector<NodeId> users_;
  std::vector<double> rewards_;
};

/// One iteration is one batch. `before`: rewards that are learned first.
void learn_batches(benchmark::State& state, const world::World& world, const EngineOptions& engine,
                   std::size_t before) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const Events earlier(world, 0, before);
  const Events events(world, before, size * state.max_iterations);
  auto bandit = Bandit::gob_lin(world.graph(), {.dimension = world.dimension(), .alpha = 0.1, .engine = engine});
  bandit.update(earlier.batch(0, before));
  std::size_t at = 0;
  double seconds = 0.0;
  while (state.KeepRunning()) {
    const auto batch = events.batch(at, size);
    const auto begin = std::chrono::steady_clock::now();
    bandit.update(batch);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    at += size;
  }
  state.counters["per_second"] = static_cast<double>(at) / seconds;
  state.counters["ms_per_reward"] = 1e3 * seconds / static_cast<double>(at);
}

void bulk(benchmark::State& state, EngineKind kind) {
  learn_batches(state, community_world({.users = 100}), {.kind = kind, .threads = 1}, 500);
}

void lastfm_batches(benchmark::State& state) {
  const auto data = lastfm();
  if (!data) {
    state.SkipWithError("no Last.fm data: set GOBLIN_DATA to its folder");
    return;
  }
  learn_batches(state, world::Catalogue(*data, {.arms = 25, .seed = 7}), {.kind = EngineKind::sparse, .threads = 1},
                static_cast<std::size_t>(state.range(1)));
}
BENCHMARK(lastfm_batches)
    ->ArgNames({"batch", "after"})
    ->Args({1, 5'000})
    ->Args({8, 5'000})
    ->Args({64, 5'000})
    ->Args({512, 5'000})
    ->Args({1, 100'000})
    ->Args({64, 100'000})
    ->Iterations(4);

/// One iteration: all of Last.fm's belief from a log of so many rewards, by a bandit that knew nothing.
void lastfm_warm_start(benchmark::State& state) {
  const auto data = lastfm();
  if (!data) {
    state.SkipWithError("no Last.fm data: set GOBLIN_DATA to its folder");
    return;
  }
  const world::Catalogue world(*data, {.arms = 25, .seed = 7});
  const auto count = static_cast<std::size_t>(state.range(0));
  const Events events(world, 0, count);
  const auto batch = events.batch(0, count);
  const auto untaught =
      Bandit::gob_lin(world.graph(), {.dimension = world.dimension(), .engine = {.kind = EngineKind::sparse}});
  double seconds = 0.0;
  while (state.KeepRunning()) {
    auto bandit = untaught;
    const auto begin = std::chrono::steady_clock::now();
    bandit.update(batch);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  state.counters["per_second"] = static_cast<double>(state.iterations() * count) / seconds;
}
BENCHMARK(lastfm_warm_start)
    ->ArgName("rewards")
    ->Arg(1'000)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

struct Registered {
  Registered() {
    struct Engine {
      const char* name;
      EngineKind kind;
      std::int64_t largest;
    };
    for (const Engine& engine :
         {Engine{"bulk/dense", EngineKind::dense, 16'384}, Engine{"bulk/sparse", EngineKind::sparse, 16'384},
          Engine{"bulk/local", EngineKind::local, 16'384}}) {
      for (std::int64_t size = 1; size <= engine.largest; size *= 4) {
        benchmark::RegisterBenchmark(engine.name, bulk, engine.kind)
            ->Arg(size)
            ->ArgName("batch")
            ->Iterations(std::max<std::int64_t>(2, 256 / size));
      }
    }
  }
};
const Registered registered;

}  // namespace
}  // namespace goblin::bench
