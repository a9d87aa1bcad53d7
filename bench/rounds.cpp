// What a round costs: select among the candidates, then update.

#include "belief/engine_costs.hpp"
#include "communities.hpp"
#include "worlds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <optional>

#include <Eigen/Core>
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <benchmark/benchmark.h>

namespace goblin::bench {
namespace {

constexpr std::size_t dimension = 25;
constexpr std::size_t lastfm_rows = 1892 * dimension;

/// How far the scores of the bandit's next decisions, of a sample of users, are from those of N = A (x) I + sum of
/// phi phi^T built from what it learned (d rows a node, ridge and coupling 1) and solved to 1e-13 by another library.
/// N >= I, so that u is off by no more than its residual.
double largest_score_error(const Bandit& bandit, double alpha, std::span<const world::Round> rounds,
                           std::span<const std::size_t> arms) {
  using Eigen::Index;
  using Eigen::VectorXd;
  const Graph& graph = bandit.graph();
  const auto rows = static_cast<Index>(graph.node_count() * dimension);
  std::vector<Eigen::Triplet<double>> entries;
  VectorXd rewards = VectorXd::Zero(rows);
  for (std::size_t node = 0; node < graph.node_count(); ++node) {
    for (std::size_t k = 0; k < dimension; ++k) {
      const std::size_t row = node * dimension + k;
      entries.emplace_back(row, row, 1.0 + graph.degree(node));
      for (const NodeId other : graph.neighbours(node)) {
        entries.emplace_back(row, other * dimension + k, -graph.weight(static_cast<NodeId>(node), other));
      }
    }
  }
  for (std::size_t t = 0; t < arms.size(); ++t) {
    const auto x = rounds[t].context(arms[t]);
    const std::size_t first = rounds[t].user * dimension;
    for (std::size_t r = 0; r < dimension; ++r) {
      rewards[static_cast<Index>(first + r)] += rounds[t].payoffs[arms[t]] * x[r];
      for (std::size_t c = 0; c < dimension; ++c) entries.emplace_back(first + r, first + c, x[r] * x[c]);
    }
  }
  Eigen::SparseMatrix<double> precision(rows, rows);
  precision.setFromTriplets(entries.begin(), entries.end());
  Eigen::ConjugateGradient<Eigen::SparseMatrix<double>, Eigen::Lower | Eigen::Upper> solver(precision);
  solver.setTolerance(1e-13);
  const VectorXd means = solver.solve(rewards);
  const double factor = alpha * std::sqrt(std::log(static_cast<double>(arms.size()) + 2.0));
  double largest = 0.0;
  for (std::size_t t = arms.size(); t < rounds.size(); ++t) {
    const Decision decision = bandit.select(rounds[t].user, {rounds[t].contexts, dimension});
    const auto x = rounds[t].context(decision.arm);
    VectorXd phi = VectorXd::Zero(rows);
    const auto first = static_cast<Index>(rounds[t].user * dimension);
    std::copy(x.begin(), x.end(), phi.begin() + first);
    const VectorXd u = solver.solve(phi);
    const double score = phi.dot(means) + factor * std::sqrt(phi.dot(u));
    largest = std::max(largest, std::abs(score - decision.scores[decision.arm]));
  }
  return largest;
}

/// Plays as many rounds as the benchmark has iterations, and reports the engine and its work.
void play(benchmark::State& state, const world::World& world, const EngineOptions& engine, bool check = false) {
  constexpr double alpha = 0.05;
  constexpr std::size_t checked = 20;
  const auto rounds = first_rounds(world, state.max_iterations + checked);
  auto bandit = Bandit::gob_lin(world.graph(), {.dimension = dimension, .alpha = alpha, .engine = engine});
  std::vector<std::size_t> arms(state.max_iterations);
  Decision decision;
  std::size_t solver_iterations = 0;
  std::size_t t = 0;
  while (state.KeepRunning()) {
    const world::Round& round = rounds[t];
    bandit.select(round.user, {round.contexts, dimension}, {}, decision);
    arms[t++] = decision.arm;
    const auto solve = bandit.update(round.user, round.context(decision.arm), round.payoffs[decision.arm]);
    solver_iterations += solve.iterations;
  }
  const auto summary = bandit.summary();
  state.counters["MB"] = static_cast<double>(summary.bytes) / 1e6;
  state.counters["solver_iterations"] = static_cast<double>(solver_iterations) / static_cast<double>(t);
  state.counters["unconverged"] = static_cast<double>(summary.unconverged_solves);
  if (check) state.counters["score_error"] = largest_score_error(bandit, alpha, rounds, arms);
  state.SetLabel(std::string(name_of(summary.components.front().engine)));
}

void round_4cliques(benchmark::State& state, double graph_noise, EngineKind kind) {
  play(state, world::Cliques({.graph_noise = graph_noise, .payoff_noise = 0.25}), {.kind = kind});
}
BENCHMARK_CAPTURE(round_4cliques, clean, 0.0, EngineKind::automatic)->Iterations(10'000);
BENCHMARK_CAPTURE(round_4cliques, noise_500_dense, 500.0, EngineKind::dense)->Iterations(10'000);
BENCHMARK_CAPTURE(round_4cliques, noise_500, 500.0, EngineKind::automatic)->Iterations(10'000);

void play_lastfm(benchmark::State& state, const EngineOptions& engine) {
  const auto data = lastfm_or_skip(state);
  if (data) play(state, world::Catalogue(*data, {.arms = 25, .seed = 7}), engine, true);
}

void round_lastfm(benchmark::State& state) { play_lastfm(state, {}); }
BENCHMARK(round_lastfm)->Iterations(10'000)->Unit(benchmark::kMillisecond);

/// The same at other tolerances than the default, 10 to minus the argument: what they cost and what they buy.
void lastfm_tolerance(benchmark::State& state) {
  play_lastfm(state, {.tolerance = std::pow(10.0, -static_cast<double>(state.range(0)))});
}
BENCHMARK(lastfm_tolerance)->DenseRange(3, 8)->ArgName("digits")->Iterations(10'000)->Unit(benchmark::kMillisecond);

/// Seconds of this thread that work takes: other programs do not count.
template <typename Work>
double seconds_of(Work work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  work();
  return now() - begin;
}

/// What a component of so many users costs, each of whom has as many rewards as d, beside what `automatic` takes it
/// for (src/belief/engine_costs.hpp): a row of the table in docs/engines.md. The label is what it says of such a
/// component. sparse finds the variances of large components when they are asked for; here all of them are.
void measure_engine_costs(benchmark::State& state, EngineKind kind) {
  constexpr std::size_t candidates = 25;
  const world::Linear world = community_world({.users = static_cast<std::size_t>(state.range(0))});
  const Graph& graph = world.graph();
  const std::size_t learned = dimension * graph.node_count();
  const std::size_t count = state.max_iterations;
  const auto rounds = first_rounds(world, learned + count);
  BanditOptions options{.dimension = dimension, .engine = {.kind = kind, .threads = 1}};
  std::optional<Bandit> bandit;
  const double make = seconds_of([&] {
    bandit = Bandit::gob_lin(graph, options);
    for (NodeId user = 0; user < graph.node_count() && kind == EngineKind::sparse; user += 32)
      (void)bandit->covariance(user);
  });
  std::vector<Observation> batch;
  for (std::size_t t = 0; t < learned; ++t)
    batch.push_back({rounds[t].user, rounds[t].context(0), rounds[t].payoffs[0]});
  bandit->update(batch);
  std::vector<double> contexts;
  for (std::size_t k = 0; k < candidates; ++k) {
    const auto context = rounds[k].context(0);
    contexts.insert(contexts.end(), context.begin(), context.end());
  }
  Decision decision;
  double learn = 0.0;
  double decide = 0.0;
  std::size_t t = learned;
  while (state.KeepRunning()) {
    const world::Round& round = rounds[t++];
    decide += seconds_of([&] { bandit->select(round.user, {contexts, dimension}, {}, decision); });
    learn += seconds_of([&] { bandit->update(round.user, round.context(0), round.payoffs[0]); });
  }
  const EngineCosts estimated = engine_costs(kind, graph.node_count(), graph.edge_count(), dimension);
  const auto report = [&state](const std::string& what, double measured, double expected) {
    state.counters[what] = measured;
    state.counters[what + "_estimated"] = expected;
  };
  report("make_ms", 1e3 * make, 1e3 * estimated.make);
  report("learn_us", 1e6 * learn / static_cast<double>(count), 1e6 * estimated.learn);
  report("decide_us", 1e6 * decide / static_cast<double>(count), 1e6 * estimated.decide);
  report("MB", 1e-6 * static_cast<double>(bandit->summary().components.front().bytes), 1e-6 * estimated.bytes);
  options.engine.kind = EngineKind::automatic;
  state.SetLabel(Bandit::gob_lin(graph, options).summary().components.front().reason);
}
BENCHMARK_CAPTURE(measure_engine_costs, dense, EngineKind::dense)
    ->Name("engine_costs/dense")
    ->Arg(20)
    ->Arg(80)
    ->Iterations(1000);
BENCHMARK_CAPTURE(measure_engine_costs, sparse, EngineKind::sparse)
    ->Name("engine_costs/sparse")
    ->Arg(20)
    ->Arg(80)
    ->Arg(300)
    ->Arg(1000)
    ->Arg(3000)
    ->Iterations(200);
BENCHMARK_CAPTURE(measure_engine_costs, local, EngineKind::local)
    ->Name("engine_costs/local")
    ->Arg(1000)
    ->Arg(10'000)
    ->Iterations(1000);

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
BENCHMARK(dense_rank_one)->Arg(12'000)->ArgName("rows")->Iterations(10)->Unit(benchmark::kMillisecond);

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
