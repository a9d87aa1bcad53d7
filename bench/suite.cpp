#include "suite.hpp"

#include "communities.hpp"
#include "meters.hpp"
#include "worlds.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

namespace goblin::bench {
namespace {

constexpr std::size_t warm_up = 64;
constexpr double alpha = 0.1;

void play_round(Bandit& bandit, const world::Round& round, Decision& decision) {
  const std::size_t dimension = bandit.options().dimension;
  bandit.select(round.user, {round.contexts, dimension}, {}, decision);
  bandit.update(round.user, round.context(decision.arm), round.payoffs[decision.arm]);
}

/// One iteration is one round, select and update, after some that warm the memory up.
void play(benchmark::State& state, Bandit bandit, const world::World& world) {
  const auto rounds = first_rounds(world, warm_up + state.max_iterations);
  Decision decision;
  std::size_t t = 0;
  while (t < warm_up) play_round(bandit, rounds[t++], decision);
  while (state.KeepRunning()) play_round(bandit, rounds[t++], decision);
  const auto summary = bandit.summary();
  state.counters["MB"] = static_cast<double>(summary.bytes) / 1e6;
  state.counters["components"] = static_cast<double>(summary.components.size());
}

void round_time(benchmark::State& state, EngineKind kind) {
  const auto world = community_world({.users = static_cast<std::size_t>(state.range(0))});
  play(state,
       Bandit::gob_lin(world.graph(), {.dimension = world.dimension(), .alpha = alpha, .engine = {.kind = kind}}),
       world);
}

void cluster_round(benchmark::State& state, Policy policy) {
  const auto clusters = static_cast<std::size_t>(state.range(0));
  const auto world = community_world({.users = 2000});
  std::vector<NodeId> labels(world.graph().node_count(), 0);
  if (clusters > 1) {
    labels = cluster::partition(world.graph(), {.method = cluster::Method::metis, .clusters = clusters}).labels;
  }
  play(state, Bandit::make(policy, world.graph(), labels, {.dimension = world.dimension(), .alpha = alpha}), world);
}

/// A bandit with some rewards, and rounds to decide.
struct Trained {
  std::vector<world::Round> rounds;
  Bandit bandit;
};

Trained trained(const CommunityWorldOptions& options, EngineKind kind) {
  const auto world = community_world(options);
  Trained result{.rounds = first_rounds(world, 500),
                 .bandit = Bandit::gob_lin(world.graph(),
                                           {.dimension = options.dimension, .alpha = alpha, .engine = {.kind = kind}})};
  for (const world::Round& round : result.rounds) {
    result.bandit.update(round.user, round.context(0), round.payoffs[0]);
  }
  return result;
}

/// One iteration is one decision, each for another round's user.
void select_latency(benchmark::State& state, const CommunityWorldOptions& options, EngineKind kind) {
  const Trained setting = trained(options, kind);
  Decision decision;
  std::size_t t = 0;
  while (state.KeepRunning()) {
    const world::Round& round = setting.rounds[t++ % setting.rounds.size()];
    setting.bandit.select(round.user, {round.contexts, options.dimension}, {}, decision);
    benchmark::DoNotOptimize(decision.arm);
  }
}

void select_candidates(benchmark::State& state, EngineKind kind) {
  select_latency(state, {.users = 100, .arms = static_cast<std::size_t>(state.range(0))}, kind);
}

void select_dimension(benchmark::State& state, EngineKind kind) {
  select_latency(state, {.users = 100, .dimension = static_cast<std::size_t>(state.range(0))}, kind);
}

/// One iteration: every thread makes as many decisions as there are rounds, some times over.
void select_threads(benchmark::State& state, EngineKind kind) {
  const std::size_t passes = kind == EngineKind::local ? 2 : 40;  // its decisions take hundreds of times as long
  const auto count = static_cast<std::size_t>(state.range(0));
  const Trained setting = trained({.users = 1000}, kind);
  const auto decide = [&setting, passes](std::size_t first) {
    Decision decision;
    for (std::size_t k = 0; k < passes * setting.rounds.size(); ++k) {
      const world::Round& round = setting.rounds[(first + k) % setting.rounds.size()];
      setting.bandit.select(round.user, {round.contexts, setting.bandit.options().dimension}, {}, decision);
      benchmark::DoNotOptimize(decision.arm);
    }
  };
  double seconds = 0.0;
  while (state.KeepRunning()) {
    const auto begin = Clock::now();
    std::vector<std::thread> threads;
    for (std::size_t k = 0; k < count; ++k) threads.emplace_back(decide, 37 * k);
    for (std::thread& thread : threads) thread.join();
    seconds += seconds_since(begin);
  }
  state.counters["per_second"] =
      static_cast<double>(state.iterations() * count * passes * setting.rounds.size()) / seconds;
}

/// One iteration is a sweep of eight simulations.
void sweep_threads(benchmark::State& state) {
  std::vector<experiment::Stage> stages;
  for (std::uint64_t repetition = 0; repetition < 8; ++repetition) {
    stages.push_back(
        {.world = std::make_shared<world::Cliques>(world::CliquesOptions{.repetition = repetition}), .clusters = {}});
  }
  const std::vector<experiment::Case> cases = {{.policy = Policy::gob_lin, .alpha = alpha, .bandit = {}}};
  double seconds = 0.0;
  while (state.KeepRunning()) {
    const auto begin = Clock::now();
    const auto traces =
        experiment::sweep(stages, cases,
                          {.simulate = {.rounds = 2000, .record_every = 0, .clock = {}, .keep_going = {}},
                           .threads = static_cast<std::size_t>(state.range(0))});
    benchmark::DoNotOptimize(traces.data());
    seconds += seconds_since(begin);
  }
  state.counters["per_second"] = static_cast<double>(state.iterations() * stages.size()) / seconds;
}

using Function = void (*)(benchmark::State&, EngineKind);

benchmark::internal::Benchmark* add(const std::string& family, const NamedEngine& engine, Function function) {
  return benchmark::RegisterBenchmark((family + "/" + engine.name).c_str(), function, engine.kind);
}

/// How many users each engine is measured with, and the rounds: enough for a steady mean, few where a round is slow.
/// dense takes (25 n)^2 numbers, and sparse starts from n solves.
struct Size {
  std::int64_t users;
  std::int64_t rounds;
};
std::vector<Size> sizes_of(EngineKind kind) {
  switch (kind) {
    case EngineKind::dense:
      return {{50, 2048}, {100, 2048}, {200, 1024}, {400, 512}, {800, 256}};
    case EngineKind::sparse:
      return {{100, 2048}, {300, 2048}, {1'000, 1024}, {3'000, 512}, {10'000, 256}, {30'000, 128}};
    default:
      return {{1'000, 20'000}, {10'000, 20'000}, {100'000, 20'000}, {1'000'000, 20'000}};
  }
}

/// 1, 2, 4, ... up to the cores that there are.
void thread_counts(benchmark::internal::Benchmark* benchmark) {
  const std::int64_t cores = std::max(2U, std::thread::hardware_concurrency());
  for (std::int64_t count = 1; count < cores; count *= 2) benchmark->Arg(count);
  benchmark->Arg(cores)->ArgName("threads")->UseRealTime();
}

}  // namespace

void register_suite() {
  for (const NamedEngine& engine : engines()) {
    for (const Size& size : sizes_of(engine.kind)) {
      add("round_time", engine, round_time)->Arg(size.users)->ArgName("users")->Iterations(size.rounds);
    }
  }
  for (const NamedEngine& engine : engines()) {
    auto* candidates = add("select_candidates", engine, select_candidates)->ArgName("candidates");
    for (const std::int64_t count : {5, 10, 25, 50, 100, 250, 1000}) candidates->Arg(count);
  }
  for (const NamedEngine& engine : engines()) {
    auto* dimension = add("select_dimension", engine, select_dimension)->ArgName("dimension");
    for (const std::int64_t count : {5, 10, 25, 50, 100}) dimension->Arg(count);
  }
  for (const Policy policy : {Policy::gob_lin_block, Policy::gob_lin_macro}) {
    auto* benchmark =
        benchmark::RegisterBenchmark(("cluster_round/" + std::string(name_of(policy))).c_str(), cluster_round, policy);
    for (const std::int64_t count : {1, 5, 10, 20, 50, 100, 200, 500}) benchmark->Arg(count);
    benchmark->ArgName("clusters")->Iterations(1024);
  }
  for (const NamedEngine& engine : engines()) {
    if (engine.kind == EngineKind::dense) continue;
    add("select_threads", engine, select_threads)->Apply(thread_counts)->Iterations(5);
  }
  benchmark::RegisterBenchmark("sweep_threads/gob.lin", sweep_threads)->Apply(thread_counts)->Iterations(5);
  register_bulk();
}

}  // namespace goblin::bench
