// What is special about sparse: variances that are found when they are asked for, and solves at a small ridge. That its
// belief is the exact one is tested with the other engines in tests/bandit.

#include "belief/sparse/lane_solver.hpp"
#include "belief/sparse/precision_solver.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"

#include <array>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace sparse_engine_test {

constexpr std::size_t users = 2100;  // more than are found at once

Bandit large_bandit() {
  std::vector<Edge> edges = generate::random({.nodes = users, .edges = 4000, .highest_weight = 3.0}).edges();
  for (NodeId user = 1; user < users; ++user) edges.push_back({user - 1, user, 0.5});
  return Bandit::gob_lin(Graph(users, edges),
                         {.dimension = 2, .ridge = 0.2, .engine = {.kind = EngineKind::sparse, .tolerance = 1e-12}});
}

void learn(Bandit& bandit, std::uint64_t seed, std::size_t rewards) {
  Random random(seed, 0, 0);
  for (std::size_t t = 0; t < rewards; ++t) {
    const std::array<double, 2> context{random.normal(), random.normal()};
    bandit.update(static_cast<NodeId>(random.below(users)), context, random.normal());
  }
}

void ask_everybody(const Bandit& bandit) {
  for (std::size_t user = 0; user < bandit.user_count(); ++user) (void)bandit.covariance(user);
}

void expect_same_belief(const Bandit& is, const Bandit& should_be) {
  ASSERT_EQ(is.user_count(), should_be.user_count());
  const std::array<double, 4> contexts{1.0, 0.5, -0.3, 2.0};
  for (std::size_t user = 0; user < is.user_count(); ++user) {
    const auto widths = is.select(user, {contexts, 2}).widths;
    const auto expected = should_be.select(user, {contexts, 2}).widths;
    for (std::size_t k = 0; k < 2; ++k) ASSERT_NEAR(widths[k], expected[k], 1e-9) << user;
  }
  for (std::size_t user = 0; user < is.user_count(); ++user) {
    const auto covariance = is.covariance(user);
    const auto expected = should_be.covariance(user);
    for (std::size_t k = 0; k < covariance.size(); ++k) ASSERT_NEAR(covariance[k], expected[k], 1e-10) << user;
    for (std::size_t k = 0; k < 2; ++k) ASSERT_NEAR(is.mean(user)[k], should_be.mean(user)[k], 1e-10) << user;
  }
}

TEST(SparseEngine, variances_may_be_asked_for_before_or_after_learning) {
  auto asked = large_bandit();
  ask_everybody(asked);
  auto silent = large_bandit();
  for (Bandit* bandit : {&asked, &silent}) learn(*bandit, 1, 20);
  expect_same_belief(silent, asked);
}

TEST(SparseEngine, variances_may_be_asked_for_before_or_after_the_graph_changes) {
  auto asked = large_bandit();
  ask_everybody(asked);
  auto silent = large_bandit();
  for (Bandit* bandit : {&asked, &silent}) {
    bandit->add_edge(3, 1900, 2.0);  // before anything is learned,
    (void)bandit->covariance(5);
    learn(*bandit, 1, 11);
    bandit->add_edge(7, 1000, 4.0);  // and afterwards
    bandit->remove_edge(3, 1900);
    learn(*bandit, 2, 5);
    const NodeId user = bandit->add_user();
    bandit->add_edge(user, 40);
    bandit->add_edge(user, 41);
    learn(*bandit, 3, 3);
    bandit->remove_edge(user, 40);
    bandit->remove_edge(user, 41);
  }
  expect_same_belief(silent, asked);
  auto rebuilt_graph = silent.graph();
  auto anew = Bandit::gob_lin(rebuilt_graph, silent.options());
  learn(anew, 1, 11);
  learn(anew, 2, 5);
  learn(anew, 3, 3);
  expect_same_belief(silent, anew);
}

TEST(SparseEngine, a_copy_and_a_file_hold_what_was_not_asked_for) {
  auto bandit = large_bandit();
  learn(bandit, 1, 10);
  const Bandit copy = bandit;
  const auto loaded = Bandit::from_bytes(bandit.to_bytes());
  expect_same_belief(copy, bandit);
  expect_same_belief(loaded, bandit);
}

TEST(SparseEngine, several_threads_may_ask_for_the_first_time) {
  auto bandit = large_bandit();
  learn(bandit, 1, 10);
  const Bandit copy = bandit;
  ask_everybody(copy);
  std::array<std::vector<double>, 2> found;
  {
    std::vector<std::jthread> threads;
    for (auto& variances : found) {
      threads.emplace_back([&] {
        for (std::size_t user = 0; user < 200; ++user) variances.push_back(bandit.covariance(user)[0]);
      });
    }
  }
  for (std::size_t user = 0; user < 200; ++user) {
    EXPECT_EQ(found[0][user], copy.covariance(user)[0]);
    EXPECT_EQ(found[1][user], copy.covariance(user)[0]);
  }
}

TEST(SparseEngine, making_a_bandit_tells_how_far_it_is_and_can_be_stopped) {
  const Graph graph = generate::cliques(10, 4);
  std::vector<double> shares;
  BanditOptions options{.dimension = 2};
  options.engine.progress = [&](double share) { shares.push_back(share); };
  (void)Bandit::gob_lin(graph, options);
  EXPECT_THAT(shares, ::testing::Each(::testing::AllOf(::testing::Ge(0.0), ::testing::Le(1.0))));
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  ASSERT_GE(shares.size(), 3);
  EXPECT_EQ(shares.back(), 1.0);
  options.engine.progress = [&](double share) {
    if (share > 0.5) throw std::runtime_error("enough");
  };
  EXPECT_THROW((void)Bandit::gob_lin(graph, options), std::runtime_error);
}

/// The average iterations of a solve to nine digits.
double iterations_of(const Graph& graph, double ridge, std::size_t rewards) {
  constexpr std::size_t d = 5;
  constexpr std::size_t solves = 10;
  PrecisionSolver solver(PriorMatrix(graph, ridge, 1.0), d);
  Random random(4, 0, 0);
  const auto node = [&] { return static_cast<std::size_t>(random.below(graph.node_count())); };
  const auto context = [&] {
    std::vector<double> x(d);
    for (double& value : x) value = random.normal() / std::sqrt(static_cast<double>(d));
    return x;
  };
  for (std::size_t t = 0; t < rewards; ++t) solver.observe(node(), std::span<const double>(context()));
  std::size_t iterations = 0;
  for (std::size_t k = 0; k < solves; ++k) {
    const auto x = context();
    solver.clear();
    std::copy(x.begin(), x.end(), solver.right_hand_side(node()));
    const auto solved = solver.solve(1e-9, 1000);
    EXPECT_LE(solved.residual, 1e-9);
    iterations += solved.iterations;
  }
  return static_cast<double>(iterations) / solves;
}

TEST(PrecisionSolver, a_small_ridge_costs_few_iterations) {
  const Graph communities =
      generate::communities({.nodes = 600, .communities = 6, .average_degree = 14, .seed = 1}).graph;
  std::vector<Edge> edges;
  for (NodeId leaf = 1; leaf < 600; ++leaf) edges.push_back({0, leaf});
  for (NodeId leaf = 2; leaf < 600; ++leaf) edges.push_back({leaf - 1, leaf});
  const Graph hub(600, edges);
  for (const Graph& graph : {communities, hub}) {
    for (const std::size_t rewards : {0, 300, 3000}) {
      const double at_one = iterations_of(graph, 1.0, rewards);
      EXPECT_LE(iterations_of(graph, 0.01, rewards), 1.8 * at_one) << rewards;
      EXPECT_LE(iterations_of(graph, 0.0001, rewards), 2.2 * at_one) << rewards;
    }
  }
}

/// The iterations of sixteen solves side by side to nine digits.
std::size_t iterations_side_by_side(const Graph& graph, double ridge) {
  constexpr std::size_t d = 5;
  const PriorMatrix prior(graph, ridge, 1.0);
  PrecisionSolver solver(prior, d);
  Random random(5, 0, 0);
  const auto node = [&] { return static_cast<std::size_t>(random.below(graph.node_count())); };
  const auto context = [&] {
    std::vector<double> x(d);
    for (double& value : x) value = random.normal() / std::sqrt(static_cast<double>(d));
    return x;
  };
  for (std::size_t t = 0; t < 300; ++t) solver.observe(node(), std::span<const double>(context()));
  std::vector<std::vector<double>> contexts;
  std::vector<LaneSolver::Column> columns;
  const std::vector<double> zero(d, 0.0);
  for (std::size_t k = 0; k < LaneSolver::lanes; ++k) contexts.push_back(context());
  for (const auto& x : contexts) {
    columns.push_back({.node = node(), .right_hand_side = x, .start = zero, .tolerance = 1e-9});
  }
  const LaneSolver lanes(prior, solver, d);
  const auto solved = LaneSolver::Workspace(lanes).solve(columns, 1000);
  for (const auto& one : solved) EXPECT_LE(one.residual, 1e-9);
  return solved.front().iterations;
}

TEST(LaneSolver, a_small_ridge_costs_few_iterations) {
  const Graph graph = generate::communities({.nodes = 600, .communities = 6, .average_degree = 14, .seed = 1}).graph;
  const auto at_one = static_cast<double>(iterations_side_by_side(graph, 1.0));
  EXPECT_LE(static_cast<double>(iterations_side_by_side(graph, 0.01)), 1.5 * at_one);
}

/// Batches are solved for without iterating as long as little has been learned, whatever came before; `dense` learns
/// the same.
TEST(SparseEngine, little_evidence_needs_no_iterations) {
  constexpr std::size_t d = 10;
  std::vector<Edge> edges = generate::random({.nodes = 150, .edges = 600, .highest_weight = 3.0}).edges();
  for (NodeId user = 1; user < 150; ++user) edges.push_back({user - 1, user, 0.5});
  const Graph graph(150, edges);
  const auto make = [&](EngineKind kind) {
    return Bandit::gob_lin(graph, {.dimension = d, .ridge = 0.3, .engine = {.kind = kind, .threads = 2}});
  };
  auto sparse = make(EngineKind::sparse);
  auto dense = make(EngineKind::dense);
  Random random(6, 0, 0);
  // Both learn so many rewards at once; the iterations that it took.
  const auto learn_batch = [&](std::size_t count) {
    std::vector<double> contexts(count * d);
    for (double& value : contexts) value = 0.3 * random.normal();
    std::vector<Observation> rewards;
    for (std::size_t t = 0; t < count; ++t) {
      rewards.push_back({static_cast<NodeId>(random.below(graph.node_count())), std::span(contexts).subspan(t * d, d),
                         random.normal()});
    }
    dense.update(rewards);
    const SolveSummary summary = sparse.update(rewards);
    EXPECT_TRUE(summary.converged);
    return summary.iterations;
  };
  const auto expect_same = [&] {
    for (NodeId user = 0; user < graph.node_count(); ++user) {
      const auto covariance = sparse.covariance(user);
      const auto expected = dense.covariance(user);
      for (std::size_t k = 0; k < covariance.size(); ++k) ASSERT_NEAR(covariance[k], expected[k], 1e-9) << user;
      for (std::size_t k = 0; k < d; ++k) ASSERT_NEAR(sparse.mean(user)[k], dense.mean(user)[k], 1e-8) << user;
    }
  };
  EXPECT_GT(learn_batch(40), 0);  // it does not pay yet
  EXPECT_EQ(learn_batch(64), 0);
  expect_same();
  EXPECT_GT(learn_batch(3), 0);  // one by one
  EXPECT_EQ(learn_batch(40), 0);
  expect_same();
  const std::vector<EdgeChange> edge = {{0, 100, 2.5}};
  for (auto* bandit : {&sparse, &dense}) bandit->update_edges(edge);
  EXPECT_GT(learn_batch(40), 0);
  EXPECT_EQ(learn_batch(64), 0);
  expect_same();
  EXPECT_EQ(learn_batch(30), 0);
  sparse.rebuild();
  learn_batch(30);
  EXPECT_EQ(learn_batch(30), 0);
  expect_same();
  while (learn_batch(64) == 0) EXPECT_LT(sparse.rewards(), 2000);
  expect_same();
}

}  // namespace sparse_engine_test
}  // namespace goblin
