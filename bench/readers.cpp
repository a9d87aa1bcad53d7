// SharedBandit: what decisions wait for while another thread learns, and what learning loses to threads that decide.

#include "communities.hpp"
#include "meters.hpp"
#include "worlds.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

namespace goblin::bench {
namespace {

constexpr std::size_t trained_with = 2000;

/// A bandit with some rewards, and rounds to decide and to learn from.
struct Service {
  std::vector<world::Round> rounds;
  SharedBandit bandit;

  Service(const world::World& world, EngineKind kind)
      : rounds(first_rounds(world, 2 * trained_with)),
        bandit(
            Bandit::gob_lin(world.graph(), {.dimension = world.dimension(), .alpha = 0.05, .engine = {.kind = kind}})) {
    for (std::size_t t = 0; t < trained_with; ++t) learn(t);
  }

  void decide(std::size_t t, Decision& decision) const {
    const world::Round& round = rounds[t % rounds.size()];
    bandit.select(round.user, {round.contexts, round.contexts.size() / round.payoffs.size()}, {}, decision);
  }
  void learn(std::size_t t) {
    const world::Round& round = rounds[t % rounds.size()];
    bandit.update(round.user, round.context(t % 5), round.payoffs[t % 5]);
  }
};

/// On Last.fm; dense, for which that is too large, among 80 users.
std::optional<Service> service(benchmark::State& state, EngineKind kind) {
  if (kind == EngineKind::dense) return std::optional<Service>(std::in_place, community_world({.users = 80}), kind);
  const auto data = lastfm_or_skip(state);
  if (!data) return std::nullopt;
  return std::optional<Service>(std::in_place, world::Catalogue(*data, {.arms = 25, .seed = 7}), kind);
}

/// One iteration is one decision among 25 candidates, timed by the clock on the wall: waiting counts. Requests come
/// with pauses, as they do from outside: without, few of them would begin while a lock is held, however long it is. So
/// many threads learn meanwhile, without pause.
void readers(benchmark::State& state, EngineKind kind) {
  auto setting = service(state, kind);
  if (!setting) return;
  std::atomic<bool> done = false;
  std::vector<std::jthread> learners;
  for (std::int64_t k = 0; k < state.range(0); ++k) {
    learners.emplace_back([&] {
      for (std::size_t t = trained_with; !done; ++t) setting->learn(t);
    });
  }
  Decision decision;
  std::vector<double> times;
  times.reserve(state.max_iterations);
  auto begin = Clock::now();
  while (state.KeepRunning()) {
    const auto due = Clock::now() + std::chrono::microseconds(50);
    while (begin < due) begin = Clock::now();
    setting->decide(times.size(), decision);
    times.push_back(1e6 * seconds_since(begin));
    benchmark::DoNotOptimize(decision.arm);
  }
  done = true;
  learners.clear();
  state.counters["p50_us"] = quantile(times, 0.5);
  state.counters["p99_us"] = quantile(times, 0.99);
  state.counters["p99_9_us"] = quantile(times, 0.999);
}

/// One iteration is one reward, while so many threads decide without pause. Where there are more threads than
/// processors, `per_own_second`, by the time that the learner itself had, tells more than `per_second`.
void learner(benchmark::State& state, EngineKind kind) {
  auto setting = service(state, kind);
  if (!setting) return;
  std::atomic<bool> done = false;
  std::atomic<std::size_t> decisions = 0;
  std::vector<std::jthread> deciders;
  for (std::int64_t k = 0; k < state.range(0); ++k) {
    deciders.emplace_back([&, k] {
      Decision decision;
      std::size_t count = 0;
      for (; !done; ++count) setting->decide(count + 37 * static_cast<std::size_t>(k), decision);
      decisions += count;
    });
  }
  const auto begin = Clock::now();
  const double own_begin = thread_seconds();
  std::size_t t = trained_with;
  while (state.KeepRunning()) setting->learn(t++);
  const auto rewards = static_cast<double>(t - trained_with);
  const double own = thread_seconds() - own_begin;
  const double wall = seconds_since(begin);
  done = true;
  deciders.clear();
  state.counters["per_second"] = rewards / wall;
  state.counters["per_own_second"] = rewards / own;
  state.counters["decisions_per_second"] = static_cast<double>(decisions) / wall;
}

BENCHMARK_CAPTURE(readers, sparse, EngineKind::sparse)->Arg(0)->Arg(1)->ArgName("learners")->Iterations(20'000);
BENCHMARK_CAPTURE(readers, dense, EngineKind::dense)->Arg(0)->Arg(1)->ArgName("learners")->Iterations(20'000);
BENCHMARK_CAPTURE(readers, local, EngineKind::local)->Arg(0)->Arg(1)->ArgName("learners")->Iterations(3'000);

BENCHMARK_CAPTURE(learner, sparse, EngineKind::sparse)->DenseRange(0, 2)->ArgName("deciders")->Iterations(1'000);
BENCHMARK_CAPTURE(learner, dense, EngineKind::dense)->DenseRange(0, 2)->ArgName("deciders")->Iterations(5'000);
BENCHMARK_CAPTURE(learner, local, EngineKind::local)->DenseRange(0, 2)->ArgName("deciders")->Iterations(500);

}  // namespace
}  // namespace goblin::bench
