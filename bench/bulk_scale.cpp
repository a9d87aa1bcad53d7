// What the engine local takes for a million users: a whole log at once, and edits of the graph.
//
//     ./dev bench --benchmark_filter=bulk_local     a log in batches: seconds, memory, and how far scores can be off
//     ./dev bench --benchmark_filter=local_edit     edges that come and go, and the first edge of a new user

#include "communities.hpp"
#include "meters.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <benchmark/benchmark.h>

namespace goblin::bench {
namespace {

constexpr std::size_t dimension = 25;

/// Rewards first, first + 1, ... of a log: users at random, contexts of unit length.
struct Rewards {
  Rewards(const world::Linear& world, std::size_t first, std::size_t count)
      : contexts(count * dimension), rewards(count) {
    observations.reserve(count);
    const auto truth = world.truth();
    for (std::size_t k = 0; k < count; ++k) {
      Random random(7, 0, first + k);
      const auto user = static_cast<NodeId>(random.below(world.graph().node_count()));
      const auto context = std::span(contexts).subspan(k * dimension, dimension);
      double squared = 0.0;
      for (double& value : context) {
        value = random.uniform(-1.0, 1.0);
        squared += value * value;
      }
      double payoff = random.uniform(-0.25, 0.25);
      for (std::size_t c = 0; c < dimension; ++c) {
        context[c] /= std::sqrt(squared);
        payoff += context[c] * truth->user_vectors[user * dimension + c];
      }
      rewards[k] = payoff;
      observations.push_back({user, context, payoff});
    }
  }

  std::vector<double> contexts;
  std::vector<double> rewards;
  std::vector<Observation> observations;
};

void bulk_local(benchmark::State& state) {
  const auto users = static_cast<std::size_t>(state.range(0));
  const auto rewards = static_cast<std::size_t>(state.range(1));
  const auto batch = static_cast<std::size_t>(state.range(2));
  const world::Linear world = community_world({.users = users});
  auto bandit =
      Bandit::gob_lin(world.graph(), {.dimension = dimension, .alpha = 0.1, .engine = {.kind = EngineKind::local}});
  double computed = 0.0;
  double wall = 0.0;
  double iterations = 0.0;
  while (state.KeepRunning()) {
    double seconds = 0.0;
    for (std::size_t first = 0; first < rewards; first += batch) {
      const Rewards log(world, first, std::min(batch, rewards - first));
      const auto start = Clock::now();
      const double computed_before = process_seconds();
      iterations += static_cast<double>(bandit.update(log.observations).iterations);
      computed += process_seconds() - computed_before;
      seconds += seconds_since(start);
    }
    wall += seconds;
    state.SetIterationTime(seconds);
  }
  state.counters["wall_s"] = wall;
  state.counters["peak_GB"] = peak_bytes() / 1e9;
  state.counters["cpu_s"] = computed;
  state.counters["iterations"] = iterations;

  const auto count_bounds = [&](double alpha, const std::string& name) {
    constexpr std::size_t sampled = 2000;
    std::vector<double> bounds;
    Decision decision;
    bandit.set_alpha(alpha);
    for (std::size_t k = 0; k < sampled; ++k) {
      const auto round = world.round(k);
      bandit.select(round.user, {round.contexts, dimension}, {}, decision);
      bounds.push_back(*std::max_element(decision.bounds.begin(), decision.bounds.end()));
    }
    state.counters["largest_" + name] = quantile(bounds, 1.0);
    state.counters["average_" + name] = average(bounds);
  };
  count_bounds(0.0, "mean_bound");  // without a width, a bound is that of the mean
  count_bounds(0.1, "score_bound");
  count_bounds(1.0, "bound");
  state.counters["tolerance"] = bandit.options().engine.local.tolerance;
  state.counters["log_determinant"] = bandit.log_determinant();
  state.counters["log_determinant_error"] = bandit.log_determinant_error();
  state.counters["unconverged"] = static_cast<double>(bandit.summary().unconverged_solves);
}
BENCHMARK(bulk_local)
    ->ArgNames({"users", "rewards", "batch"})
    ->Args({100'000, 1'000'000, 1'000'000})
    ->Args({1'000'000, 10'000'000, 2'500'000})
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kSecond);

/// Edges that are added and removed again, between users who have evidence, and new users with a first friend, some of
/// whom lose that friend again: then their part is cut off.
void local_edit(benchmark::State& state) {
  const auto users = static_cast<std::size_t>(state.range(0));
  const world::Linear world = community_world({.users = users});
  auto bandit =
      Bandit::gob_lin(world.graph(), {.dimension = dimension, .alpha = 0.1, .engine = {.kind = EngineKind::local}});
  bandit.update(Rewards(world, 0, users).observations);
  std::vector<double> added;
  std::vector<double> removed;
  std::vector<double> first_edge;
  std::vector<double> cut_off;
  std::vector<double> batched;
  const auto milliseconds = [](auto&& call) {
    const auto start = Clock::now();
    call();
    return 1e3 * seconds_since(start);
  };
  std::size_t t = 0;
  while (state.KeepRunning()) {
    Random random(11, 0, t++);
    const auto user = static_cast<NodeId>(random.below(users));
    auto other = static_cast<NodeId>((user + 1 + random.below(200)) % users);
    if (other == user) other = static_cast<NodeId>((user + 1) % users);
    added.push_back(milliseconds([&] { bandit.add_edge(user, other, 0.5); }));
    removed.push_back(milliseconds([&] { bandit.remove_edge(user, other); }));
    const NodeId newcomer = bandit.add_user();
    first_edge.push_back(milliseconds([&] { bandit.add_edge(newcomer, user); }));
    if (t % 2 == 0) {
      bandit.update(newcomer, std::vector<double>(dimension, 0.2), 1.0);
      cut_off.push_back(milliseconds([&] { bandit.remove_edge(newcomer, user); }));
    }
    std::vector<EdgeChange> changes;
    for (std::size_t k = 0; k < 20; ++k) {
      const auto a = static_cast<NodeId>(random.below(users));
      changes.push_back({a, static_cast<NodeId>((a + 1 + random.below(200)) % users), 0.5});
    }
    batched.push_back(milliseconds([&] { bandit.update_edges(changes); }) / static_cast<double>(changes.size()));
    state.SetIterationTime(1e-3 * added.back());
  }
  const auto report = [&](const std::string& name, const std::vector<double>& values) {
    state.counters[name + "_ms"] = quantile(values, 0.5);
    state.counters[name + "_p99_ms"] = quantile(values, 0.99);
    state.counters[name + "_max_ms"] = quantile(values, 1.0);
  };
  report("add", added);
  report("remove", removed);
  report("first", first_edge);
  report("cut_off", cut_off);
  report("batched", batched);
}
BENCHMARK(local_edit)
    ->ArgName("users")
    ->Arg(50'000)
    ->Arg(1'000'000)
    ->Iterations(300)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace goblin::bench
