// Many rewards at once: rewards a second against the size of a batch, and the warm start from a log.
//
//     ./dev bench --benchmark_filter=bulk/           batches of 1 to 16,384 rewards, 100 users, the three engines
//     ./dev bench --benchmark_filter=warm_start      a log from nothing: 100 users, and Last.fm
//     ./dev bench --benchmark_filter=lastfm_batches  batches on Last.fm, after little evidence and after much

#include "communities.hpp"
#include "meters.hpp"
#include "suite.hpp"
#include "worlds.hpp"

#include <algorithm>
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

Bandit untaught(const world::World& world, const EngineOptions& engine) {
  return Bandit::gob_lin(world.graph(), {.dimension = world.dimension(), .alpha = 0.1, .engine = engine});
}

/// One iteration is one batch, learned by one thread; its processor time counts. `before`: rewards that are learned
/// first. All engines learn the same ones.
void learn_batches(benchmark::State& state, const world::World& world, EngineKind kind, std::size_t before) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const Events earlier(world, 0, before);
  const Events events(world, before, size * state.max_iterations);
  auto bandit = untaught(world, {.kind = kind, .threads = 1});
  bandit.update(earlier.batch(0, before));
  std::size_t at = 0;
  double seconds = 0.0;
  while (state.KeepRunning()) {
    const auto batch = events.batch(at, size);
    const double begin = thread_seconds();
    bandit.update(batch);
    seconds += thread_seconds() - begin;
    at += size;
  }
  state.counters["per_second"] = static_cast<double>(at) / seconds;
  state.counters["ms_per_reward"] = 1e3 * seconds / static_cast<double>(at);
}

void bulk(benchmark::State& state, EngineKind kind) {
  learn_batches(state, community_world({.users = 100}), kind, 500);
}

void lastfm_batches(benchmark::State& state) {
  const auto data = lastfm_or_skip(state);
  if (!data) return;
  learn_batches(state, world::Catalogue(*data, {.arms = 25, .seed = 7}), EngineKind::sparse,
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

/// One iteration: a log of so many rewards learned from nothing, in pieces of at most `batch`, on all cores. Time on
/// the wall; cpu_s is what all threads together computed.
void learn_log(benchmark::State& state, const world::World& world, EngineKind kind, std::size_t batch) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const Events events(world, 0, count);
  const auto empty = untaught(world, {.kind = kind});
  double wall = 0.0;
  double computed = 0.0;
  while (state.KeepRunning()) {
    auto bandit = empty;
    const auto begin = Clock::now();
    const double computed_before = process_seconds();
    for (std::size_t first = 0; first < count; first += batch) {
      bandit.update(events.batch(first, std::min(batch, count - first)));
    }
    computed += process_seconds() - computed_before;
    const double seconds = seconds_since(begin);
    wall += seconds;
    state.SetIterationTime(seconds);
  }
  state.counters["per_second"] = static_cast<double>(state.iterations() * count) / wall;
  state.counters["cpu_s"] = computed / static_cast<double>(state.iterations());
}

void warm_start(benchmark::State& state, EngineKind kind, std::size_t batch) {
  learn_log(state, community_world({.users = 100}), kind, batch);
}

void lastfm_warm_start(benchmark::State& state, EngineKind kind, std::size_t batch) {
  if (const auto data = lastfm_or_skip(state)) {
    learn_log(state, world::Catalogue(*data, {.arms = 25, .seed = 7}), kind, batch);
  }
}

constexpr std::size_t whole_log = 1'000'000'000;

using LearnLog = void (*)(benchmark::State&, EngineKind, std::size_t);

/// A line of the plot: logs of 10^2, 10^3, ... rewards.
void add_log(const std::string& name, LearnLog function, EngineKind kind, std::size_t batch, std::int64_t longest) {
  auto* benchmark = benchmark::RegisterBenchmark(name.c_str(), function, kind, batch);
  for (std::int64_t count = 100; count <= longest; count *= 10) benchmark->Arg(count);
  benchmark->ArgName("rewards")->Iterations(1)->UseManualTime();
}

}  // namespace

void register_bulk() {
  constexpr std::int64_t largest_batch = 16'384;
  for (const NamedEngine& engine : engines()) {
    for (std::int64_t size = 1; size <= largest_batch; size *= 4) {
      benchmark::RegisterBenchmark(("bulk/" + engine.name).c_str(), bulk, engine.kind)
          ->Arg(size)
          ->ArgName("batch")
          ->Iterations(std::max<std::int64_t>(1, 256 / size));
    }
  }
  for (const NamedEngine& engine : engines()) {
    add_log("warm_start/" + engine.name, warm_start, engine.kind, whole_log, 100'000);
  }
  add_log("warm_start/one-by-one", warm_start, EngineKind::sparse, 1, 10'000);
  add_log("lastfm_warm_start/sparse", lastfm_warm_start, EngineKind::sparse, whole_log, 1'000'000);
  add_log("lastfm_warm_start/local", lastfm_warm_start, EngineKind::local, whole_log, 1'000'000);
  add_log("lastfm_warm_start/one-by-one", lastfm_warm_start, EngineKind::sparse, 1, 10'000);
}

}  // namespace goblin::bench
