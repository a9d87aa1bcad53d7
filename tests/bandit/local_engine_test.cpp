// The engine local says how far its scores can be off. It must never be off by more, on any graph and through any edit,
// and what it says must be of use.

#include "bandit/scenario.hpp"
#include "belief/engine_factory.hpp"
#include "belief/local/neighbourhood.hpp"
#include "goblin/bandit/bandit.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace local_engine_test {

struct LocalCase {
  std::string name;
  Graph graph;
  std::size_t dimension = 3;
  LocalOptions local = {};
  double ridge = 1.0;
  double coupling = 1.0;
  double context_scale = 1.0;
  bool printed_bound = false;
  bool many_ridges = false;  // between a tenth of the ridge and the ridge
  double useful = 0.01;      // the average bound is below this, for contexts of about unit length
};

std::vector<LocalCase> local_cases() {
  const auto random = [](std::size_t nodes, std::size_t edges, double low, double high) {
    return generate::random(
        {.nodes = nodes, .edges = edges, .lowest_weight = low, .highest_weight = high, .seed = nodes});
  };
  const Graph social = generate::communities({.nodes = 200, .communities = 3, .average_degree = 10, .seed = 3}).graph;
  // A hub that knows two thirds of everybody.
  std::vector<Edge> with_hub = social.edges();
  for (NodeId user = 1; user < 200; ++user) {
    if (user % 3 != 0) with_hub.push_back({0, user});
  }
  const Graph hub(200, with_hub);
  std::vector<LocalCase> all;
  all.push_back({.name = "communities", .graph = social});
  all.push_back({.name = "weighted_edges", .graph = random(150, 600, 0.05, 6.0)});
  all.push_back({.name = "isolated_users_and_components", .graph = random(160, 110, 0.5, 2.0)});
  all.push_back({.name = "one_dimension", .graph = random(300, 900, 1.0, 1.0), .dimension = 1});
  all.push_back({.name = "ten_dimensions", .graph = random(70, 400, 1.0, 1.0), .dimension = 10});
  all.push_back({.name = "coarse", .graph = social, .local = {.tolerance = 0.2}, .useful = 0.2});
  all.push_back({.name = "fine", .graph = social, .local = {.tolerance = 1e-4}, .useful = 0.005});
  all.push_back({.name = "one_neighbour", .graph = social, .local = {.most_nodes = 2}, .useful = 0.03});
  all.push_back({.name = "no_time", .graph = social, .local = {.tolerance = 1e-3, .most_edges = 40}, .useful = 0.1});
  all.push_back({.name = "little_ridge", .graph = social, .ridge = 0.05, .coupling = 2.0});
  all.push_back({.name = "long_contexts", .graph = social, .context_scale = 20.0, .useful = 0.03});
  all.push_back({.name = "a_ridge_for_each_node", .graph = social, .many_ridges = true, .useful = 0.02});
  all.push_back({.name = "printed_bound", .graph = social, .printed_bound = true, .useful = 0.04});
  // Where a decision looks at few nodes, it begins with the evidence of its own.
  all.push_back({.name = "few_nodes", .graph = social, .local = {.most_nodes = 32}});
  all.push_back({.name = "few_nodes_ten_dimensions",
                 .graph = random(120, 700, 0.5, 2.0),
                 .dimension = 10,
                 .local = {.most_nodes = 20},
                 .useful = 0.02});
  all.push_back({.name = "few_nodes_long_contexts",
                 .graph = social,
                 .local = {.most_nodes = 32},
                 .context_scale = 20.0,
                 .useful = 0.04});
  all.push_back({.name = "few_nodes_a_ridge_for_each_node",
                 .graph = random(200, 300, 0.05, 6.0),
                 .local = {.tolerance = 0.01, .most_nodes = 32},
                 .many_ridges = true,
                 .useful = 0.1});
  all.push_back({.name = "hub", .graph = hub});
  all.push_back(
      {.name = "hub_few_nodes", .graph = hub, .local = {.tolerance = 0.01, .most_nodes = 16}, .useful = 0.03});
  // Where the ridge is far below coupling times degree, nodes matter to each other over long distances.
  all.push_back({.name = "hub_little_ridge", .graph = hub, .ridge = 0.05, .coupling = 2.0});
  all.push_back(
      {.name = "a_little_ridge_for_each_node", .graph = social, .ridge = 0.05, .coupling = 2.0, .many_ridges = true});
  all.push_back({.name = "tiny_ridge", .graph = social, .ridge = 1e-3, .coupling = 2.0});
  all.push_back(
      {.name = "little_ridge_few_nodes", .graph = social, .local = {.most_nodes = 20}, .ridge = 0.05, .coupling = 2.0});
  all.push_back(
      {.name = "little_ridge_larger_graph",
       .graph = generate::communities({.nodes = 400, .communities = 4, .average_degree = 10, .seed = 4}).graph,
       .dimension = 2,
       .ridge = 0.05,
       .coupling = 2.0});
  return all;
}

const Exploration printed_bound = Exploration::printed_bound({.noise = 0.2, .delta = 0.05, .norm = 0.5});

class LocalAgainstExact : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] static Bandit make(const LocalCase& test, EngineKind kind) {
    BanditOptions options{.dimension = test.dimension,
                          .alpha = 0.3,
                          .ridge = test.ridge,
                          .coupling = test.coupling,
                          .engine = {.kind = kind, .local = test.local}};
    for (std::size_t node = 0; test.many_ridges && node < test.graph.node_count(); ++node) {
      options.node_ridges.push_back(test.ridge * (0.1 + 0.9 * static_cast<double>(node * 7 % 11) / 10.0));
    }
    if (test.printed_bound) options.exploration = printed_bound;
    return Bandit::gob_lin(test.graph, options);
  }
};

/// A width of ucb is the middle of what is known of it, one of the printed bound is never too small.
TEST_P(LocalAgainstExact, scores_are_within_the_bound_and_printed_widths_are_not_too_small) {
  constexpr std::size_t rounds = 800;
  constexpr double rounding = 1e-8;
  const LocalCase test = local_cases()[GetParam()];
  Scenario scenario{
      .name = test.name, .graph = test.graph, .dimension = test.dimension, .context_scale = test.context_scale};
  auto local = make(test, EngineKind::local);
  auto exact = make(test, EngineKind::dense);
  const Exploration explored = local.exploration();
  const auto with_printed_bound = [](Bandit& bandit) -> Bandit& {
    bandit.set_exploration(printed_bound);
    return bandit;
  };
  double total_bound = 0.0;
  double total_error = 0.0;
  std::size_t compared = 0;
  for (std::size_t t = 0; t < rounds; ++t) {
    if (t % 100 == 99) {
      // Late edges, a new user with a first friend, and an edge that goes.
      Random random(5, 1, t);
      const auto user = static_cast<NodeId>(random.below(local.user_count()));
      const auto other = static_cast<NodeId>((user + 1 + random.below(local.user_count() - 1)) % local.user_count());
      const Edge gone = local.graph().edges()[random.below(local.graph().edge_count())];
      const double weight = random.uniform(0.1, 3.0);
      for (Bandit* bandit : {&local, &exact}) {
        bandit->add_edge(user, other, weight);
        bandit->add_edge(bandit->add_user(), user, 0.7);
        bandit->remove_edge(gone.a, gone.b);
      }
      scenario.graph = Graph(local.user_count());
    }
    const auto round = scenario.round(t);
    const Decision decision = local.select(round.user, {round.contexts, test.dimension});
    const Decision expected = exact.select(round.user, {round.contexts, test.dimension});
    ASSERT_EQ(decision.engine, EngineKind::local);
    if (t % 4 == 0) {
      const Decision printed = with_printed_bound(local).select(round.user, {round.contexts, test.dimension});
      const Decision least = with_printed_bound(exact).select(round.user, {round.contexts, test.dimension});
      for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
        ASSERT_GE(printed.widths[arm], least.widths[arm] - rounding) << "round " << t;
        ASSERT_LE(printed.widths[arm] - printed.bounds[arm], least.widths[arm] + rounding) << "round " << t;
      }
      for (Bandit* bandit : {&local, &exact}) bandit->set_exploration(explored);
    }
    for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
      const double error = std::abs(decision.scores[arm] - expected.scores[arm]);
      ASSERT_LE(error, decision.bounds[arm] + rounding) << "round " << t;
      ASSERT_LE(std::abs(decision.widths[arm] - expected.widths[arm]), decision.bounds[arm] + rounding) << t;
      ASSERT_EQ(expected.bounds[arm], 0.0);
      total_bound += decision.bounds[arm];
      total_error += error;
      ++compared;
    }
    for (Bandit* bandit : {&local, &exact}) {
      bandit->update(round.user, round.context(decision.arm), round.rewards[decision.arm]);
    }
    if (t % 160 == 159) {
      // A batch: everybody's arms of a few rounds.
      std::vector<Scenario::Round> rounds_of_batch;
      for (std::size_t k = 0; k < 8; ++k) rounds_of_batch.push_back(scenario.round(rounds + t + k));
      std::vector<Observation> batch;
      for (const auto& one : rounds_of_batch) {
        for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
          batch.push_back({one.user, one.context(arm), one.rewards[arm]});
        }
      }
      for (Bandit* bandit : {&local, &exact}) bandit->update(batch);
    }
    ASSERT_LE(exact.log_determinant(), local.log_determinant() + rounding);
    ASSERT_GE(exact.log_determinant(), local.log_determinant() - local.log_determinant_error() - rounding);
  }
  const double average = total_bound / static_cast<double>(compared);
  EXPECT_LT(average, test.useful);
  RecordProperty("average_bound", std::to_string(average));
  RecordProperty("average_error", std::to_string(total_error / static_cast<double>(compared)));
}

INSTANTIATE_TEST_SUITE_P(all, LocalAgainstExact, ::testing::Range<std::size_t>(0, local_cases().size()),
                         [](const auto& test) { return local_cases()[test.param].name; });

TEST(LocalEngine, a_tighter_tolerance_makes_tighter_bounds) {
  const Scenario scenario{
      .name = "tolerances",
      .graph = generate::communities({.nodes = 500, .communities = 5, .average_degree = 12, .seed = 1}).graph,
      .dimension = 5};
  double before = 1e9;
  for (const double tolerance : {0.1, 0.01, 0.001}) {
    auto bandit = Bandit::gob_lin(
        scenario.graph, {.dimension = 5,
                         .alpha = 0.1,
                         .engine = {.kind = EngineKind::local, .local = {.tolerance = tolerance, .most_nodes = 300}}});
    double total = 0.0;
    for (std::size_t t = 0; t < 600; ++t) {
      const auto round = scenario.round(t);
      const Decision decision = bandit.select(round.user, {round.contexts, 5});
      total += *std::max_element(decision.bounds.begin(), decision.bounds.end());
      bandit.update(round.user, round.context(0), round.rewards[0]);
    }
    EXPECT_LT(total, before / 3.0) << tolerance;
    before = total;
  }
}

/// Everybody likes the same, and nobody much: what rewards leave in the residuals all points one way. No node has
/// enough of it to be settled, together it moves everybody, and only the coarse level sees that.
class LocalCoarse : public ::testing::Test {
 protected:
  static constexpr double ridge = 0.1;
  static constexpr LocalOptions limits = {.tolerance = 0.1, .most_nodes = 4, .most_edges = 500};

  [[nodiscard]] static Bandit make(EngineKind kind, const Graph& graph) {
    return Bandit::gob_lin(graph,
                           {.dimension = 1, .alpha = 0.0, .ridge = ridge, .engine = {.kind = kind, .local = limits}});
  }
  static void learn(Bandit& bandit, std::size_t rounds) {
    for (std::size_t t = 0; t < rounds; ++t) {
      const auto user = static_cast<NodeId>(7 * t % bandit.user_count());
      bandit.update(user, std::vector{0.1}, 0.05);
      if (t % 20 == 0) bandit.update(user, std::vector{1.0}, 0.5);  // this one is passed on
    }
  }
  static void expect_close(const Bandit& local, const Bandit& exact) {
    double error = 0.0;
    double total = 0.0;
    for (NodeId user = 0; user < exact.user_count(); ++user) {
      error += std::abs(local.mean(user)[0] - exact.mean(user)[0]);
      total += std::abs(exact.mean(user)[0]);
    }
    EXPECT_LT(error, 0.1 * total);
  }
};

TEST_F(LocalCoarse, sees_what_no_node_has_enough_of) {
  const Graph graph = generate::communities({.nodes = 300, .communities = 3, .average_degree = 8, .seed = 4}).graph;
  auto local = make(EngineKind::local, graph);
  auto exact = make(EngineKind::dense, graph);
  for (Bandit* bandit : {&local, &exact}) learn(*bandit, 600);
  expect_close(local, exact);
  expect_close(Bandit::from_bytes(local.to_bytes()), exact);
}

TEST_F(LocalCoarse, survives_edits) {
  const Graph half = generate::communities({.nodes = 150, .communities = 2, .average_degree = 8, .seed = 5}).graph;
  std::vector<Edge> edges = half.edges();
  for (const Edge& edge : half.edges()) edges.push_back({edge.a + 150, edge.b + 150, edge.weight});
  const Graph graph(300, edges);
  auto local = make(EngineKind::local, graph);
  auto exact = make(EngineKind::dense, graph);
  const auto both = [&](auto edit) {
    for (Bandit* bandit : {&local, &exact}) edit(*bandit);
    expect_close(local, exact);
  };
  both([](Bandit& bandit) { learn(bandit, 300); });
  both([](Bandit& bandit) { bandit.add_edge(3, 200); });       // joins
  both([](Bandit& bandit) { bandit.add_edge(5, 250, 1e6); });  // pushing alone would not end
  both([](Bandit& bandit) { learn(bandit, 300); });
  both([](Bandit& bandit) { bandit.remove_edge(5, 250); });
  both([](Bandit& bandit) { bandit.remove_edge(3, 200); });  // splits
  both([](Bandit& bandit) { learn(bandit, 300); });
}

TEST(LocalEngine, a_reward_reaches_no_more_nodes_in_a_larger_graph) {
  std::vector<double> edges;
  for (const std::size_t nodes : {2'000, 20'000}) {
    const Scenario scenario{
        .name = "growing",
        .graph =
            generate::communities({.nodes = nodes, .communities = nodes / 200, .average_degree = 14, .seed = 1}).graph,
        .dimension = 5};
    auto bandit = Bandit::gob_lin(scenario.graph, {.dimension = 5, .engine = {.kind = EngineKind::local}});
    double walked = 0.0;
    for (std::size_t t = 0; t < 500; ++t) {
      const auto round = scenario.round(t);
      walked += static_cast<double>(bandit.update(round.user, round.context(0), round.rewards[0]).walked_edges);
    }
    edges.push_back(walked / 500.0);
  }
  EXPECT_LT(edges[1], 1.5 * edges[0]);
}

/// Learns contexts of length 1 and gives the edges walked for one, on average, and the bytes of the engine.
struct Work {
  double edges = 0.0;
  std::size_t unconverged = 0;
  std::size_t bytes = 0;
};
Work learn_unit_contexts(Bandit& bandit, std::size_t from, std::size_t rewards) {
  Work work;
  for (std::size_t t = from; t < from + rewards; ++t) {
    Random random(9, 0, t);
    std::vector<double> x{random.normal(), random.normal(), random.normal()};
    const double length = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (double& value : x) value /= length;
    const auto solve = bandit.update(static_cast<NodeId>(random.below(bandit.user_count())), x, random.normal());
    work.edges += static_cast<double>(solve.walked_edges) / static_cast<double>(rewards);
    work.unconverged += solve.converged ? 0 : 1;
  }
  work.bytes = bandit.summary().components[0].bytes;
  return work;
}

TEST(LocalEngine, one_long_context_does_not_make_all_later_rewards_dear) {
  const Graph graph = generate::communities({.nodes = 3000, .communities = 15, .average_degree = 12, .seed = 2}).graph;
  auto plain =
      Bandit::gob_lin(graph, {.dimension = 3, .engine = {.kind = EngineKind::local, .local = {.tolerance = 0.01}}});
  auto startled = plain;
  learn_unit_contexts(plain, 0, 10);
  learn_unit_contexts(startled, 0, 10);
  startled.update(5, std::vector<double>{600.0, 0.0, 0.0}, 1.0);
  learn_unit_contexts(plain, 10, 300);
  learn_unit_contexts(startled, 10, 300);
  const Work expected = learn_unit_contexts(plain, 310, 300);
  const Work work = learn_unit_contexts(startled, 310, 300);
  // What is allowed follows the contexts in steps of a factor 1.5, so it may still be that much smaller.
  EXPECT_LT(work.edges, 2.5 * expected.edges);
  EXPECT_LE(work.unconverged, expected.unconverged);
}

/// However far the limits are: a tolerance that doubles have no digits for is not reached.
TEST(LocalEngine, work_that_leads_nowhere_ends) {
  const Graph graph = generate::communities({.nodes = 200, .communities = 2, .average_degree = 8, .seed = 2}).graph;
  for (const double tolerance : {1e-25, 1e-300}) {
    auto bandit = Bandit::gob_lin(
        graph, {.dimension = 3,
                .engine = {.kind = EngineKind::local, .local = {.tolerance = tolerance, .most_edges = 30'000'000}}});
    auto exact = Bandit::gob_lin(graph, {.dimension = 3, .engine = {.kind = EngineKind::dense}});
    for (const NodeId user : {NodeId{3}, NodeId{150}, NodeId{3}}) {
      const std::vector<double> x{0.6, static_cast<double>(user) / 1000.0, -0.3};
      exact.update(user, x, 1.0);
      const auto solve = bandit.update(user, x, 1.0);
      EXPECT_FALSE(solve.converged) << tolerance;
      EXPECT_LT(solve.walked_edges, 10'000'000U) << tolerance;
      EXPECT_THAT(bandit.mean(user), ::testing::Pointwise(::testing::DoubleNear(1e-12), exact.mean(user)));
    }
  }
}

TEST(LocalEngine, a_batch_whose_work_leads_nowhere_ends) {
  const Graph graph = generate::communities({.nodes = 200, .communities = 2, .average_degree = 8, .seed = 2}).graph;
  auto bandit = Bandit::gob_lin(
      graph, {.dimension = 3,
              .engine = {.kind = EngineKind::local, .local = {.tolerance = 1e-300, .most_edges = 10'000'000}}});
  const std::vector<double> x{0.6, 0.2, -0.3};
  std::vector<Observation> batch;
  for (NodeId user = 0; user < 100; ++user) batch.push_back({user, x, 1.0});
  const auto solve = bandit.update(batch);
  EXPECT_FALSE(solve.converged);
  EXPECT_LT(solve.walked_edges, 10'000'000U);
}

/// Where the graph is like a sheet of paper and the ridge is small, a reward reaches far, and slowly.
TEST(LocalEngine, work_that_leads_somewhere_goes_on) {
  constexpr NodeId side = 200;
  std::vector<Edge> edges;
  for (NodeId row = 0; row < side; ++row) {
    for (NodeId column = 0; column < side; ++column) {
      edges.push_back({row * side + column, row * side + (column + 1) % side, 1.0});
      edges.push_back({row * side + column, (row + 1) % side * side + column, 1.0});
    }
  }
  for (const double tolerance : {1e-3, 1e-4}) {
    auto bandit = Bandit::gob_lin(
        Graph(side * side, edges),
        {.dimension = 1,
         .ridge = 0.1,
         .engine = {.kind = EngineKind::local, .local = {.tolerance = tolerance, .most_edges = 3'000'000}}});
    const auto solve = bandit.update(5, std::vector<double>{1.0}, 1.0);
    EXPECT_TRUE(solve.converged) << tolerance << ": " << solve.residual << " after " << solve.walked_edges;
  }
}

TEST(LocalEngine, work_that_waits_takes_no_more_memory_the_longer_it_waits) {
  const Graph graph = generate::communities({.nodes = 400, .communities = 4, .average_degree = 12, .seed = 2}).graph;
  auto bandit = Bandit::gob_lin(
      graph, {.dimension = 3, .engine = {.kind = EngineKind::local, .local = {.tolerance = 1e-6, .most_edges = 30}}});
  learn_unit_contexts(bandit, 0, 3000);  // everybody has evidence, and everybody waits
  const Work before = learn_unit_contexts(bandit, 3000, 500);
  EXPECT_GE(before.unconverged, 490);
  const Work after = learn_unit_contexts(bandit, 3500, 8000);
  EXPECT_LT(after.bytes, before.bytes + 20'000);
}

TEST(LocalEngine, a_candidate_that_is_left_out_has_no_say) {
  const Graph graph = generate::communities({.nodes = 300, .communities = 3, .average_degree = 12, .seed = 2}).graph;
  auto bandit = Bandit::gob_lin(graph, {.dimension = 3, .engine = {.kind = EngineKind::local}});
  learn_unit_contexts(bandit, 0, 200);
  std::vector<double> contexts{0.5, 0.5, 0.1, 1e4, 0.0, 0.0, -0.2, 0.9, 0.3};
  const std::vector<std::uint8_t> mask{1, 0, 1};
  const Decision with_a_long_one = bandit.select(7, {contexts, 3}, mask);
  contexts[3] = 0.1;
  const Decision expected = bandit.select(7, {contexts, 3}, mask);
  EXPECT_EQ(with_a_long_one.scores, expected.scores);
  EXPECT_EQ(with_a_long_one.bounds, expected.bounds);
}

/// What a decision finds out about the prior is kept for those after it. They are the same whoever came first.
TEST(LocalEngine, decisions_do_not_depend_on_those_before) {
  const Graph graph = generate::communities({.nodes = 600, .communities = 4, .average_degree = 10, .seed = 5}).graph;
  const Scenario scenario{.name = "asked before", .graph = graph, .dimension = 3};
  for (const double ridge : {0.01, 1.0}) {
    auto bandit = Bandit::gob_lin(
        graph, {.dimension = 3, .ridge = ridge, .engine = {.kind = EngineKind::local, .local = {.most_nodes = 8}}});
    for (std::uint64_t t = 0; t < 200; ++t) {
      const auto round = scenario.round(t);
      bandit.update(round.user, round.context(0), round.rewards[0]);
    }
    const Bandit fresh(bandit);
    for (std::uint64_t t = 0; t < 60; ++t) {
      const auto round = scenario.round(t);
      const Bandit asked(fresh);
      std::vector<double> scaled = round.contexts;
      for (double& value : scaled) value *= t % 2 == 0 ? 0.01 : 100.0;
      static_cast<void>(asked.select(round.user, {scaled, 3}));
      const auto first = Bandit(fresh).select(round.user, {round.contexts, 3});
      const auto second = asked.select(round.user, {round.contexts, 3});
      EXPECT_EQ(first.widths, second.widths) << "ridge " << ridge << ", round " << t;
      EXPECT_EQ(first.bounds, second.bounds) << "ridge " << ridge << ", round " << t;
    }
  }
}

EngineKind chosen(std::size_t nodes, std::size_t edges, std::size_t numbers, double pull = 14.0) {
  return choose_engine(EngineKind::automatic, {nodes, edges, [pull] { return pull; }}, numbers);
}

TEST(LocalEngine, is_picked_for_large_components_only) {
  EXPECT_EQ(chosen(1'000'000, 7'000'000, 25), EngineKind::local);
  EXPECT_EQ(chosen(1'892, 12'717, 25), EngineKind::sparse);
  EXPECT_EQ(chosen(25, 300, 25), EngineKind::dense);
  // By cost, not by size: many edges or numbers make the same nodes dearer.
  EXPECT_EQ(chosen(2'500, 17'500, 25), EngineKind::sparse);
  EXPECT_EQ(chosen(2'500, 1'000'000, 25), EngineKind::local);
  EXPECT_EQ(chosen(2'500, 17'500, 100), EngineKind::local);
  // A few hundred nodes are exact, whatever the prior.
  for (const std::size_t nodes : {80, 150, 260}) {
    for (const std::size_t dimension : {1, 3, 10, 25, 100}) {
      for (const std::size_t degree : {2, 10, 40}) {
        EXPECT_NE(chosen(nodes, nodes * degree / 2, dimension), EngineKind::local);
      }
    }
  }
}

// A reward goes to and fro along an edge that outweighs all others. Where there are many such, solves have to come in
// time.
TEST(LocalEngine, settles_many_heavy_pairs_in_one_batch) {
  constexpr NodeId pairs = 100;
  constexpr std::size_t users = 20 * pairs;
  std::vector<Edge> edges;
  for (NodeId user = 0; user < users; ++user) {
    for (const NodeId step : {1, 7, 31, 77, 191}) edges.push_back({user, static_cast<NodeId>((user + step) % users)});
  }
  for (NodeId pair = 0; pair < pairs; ++pair) {
    edges.push_back({static_cast<NodeId>(20 * pair), static_cast<NodeId>(20 * pair + 10), 3'000.0});
  }
  auto bandit = Bandit::gob_lin(Graph(users, edges), {.dimension = 3, .engine = {.kind = EngineKind::local}});
  const std::vector<double> context = {1.0, 0.5, 0.25};
  std::vector<Observation> batch;
  for (NodeId pair = 0; pair < pairs; ++pair) batch.push_back({static_cast<NodeId>(20 * pair), context, 1.0});
  const auto solve = bandit.update(batch);
  EXPECT_TRUE(solve.converged);
  EXPECT_LT(solve.walked_edges, 7'000'000U);
}

TEST(LocalEngine, is_not_picked_where_it_would_not_keep_its_tolerance_and_an_exact_round_is_bearable) {
  EXPECT_EQ(chosen(7'000, 49'000, 25, 40.0), EngineKind::local);
  EXPECT_EQ(chosen(7'000, 49'000, 25, 280.0), EngineKind::sparse);
  EXPECT_EQ(chosen(10'000, 70'000, 25, 280.0), EngineKind::local) << "an exact round takes too long there";

  // A few heavy edges say nothing about the others.
  std::vector<Edge> edges;
  for (NodeId node = 0; node + 1 < 7'000; ++node) edges.push_back({node, node + 1, node == 3'000 ? 1e6 : 1.0});
  const Graph one_heavy_edge(7'000, edges);
  EXPECT_EQ(Bandit::gob_lin(one_heavy_edge, {.dimension = 25}).summary().components[0].engine, EngineKind::local);

  // From a ring of 6,000 users with a ridge, and from two half rings that are joined. The pull is 2 / ridge.
  constexpr std::size_t users = 6'000;
  const auto ring = [](std::size_t first, std::size_t count) {
    std::vector<Edge> edges;
    for (std::size_t k = 0; k + 1 < count; ++k) {
      edges.push_back({static_cast<NodeId>(first + k), static_cast<NodeId>(first + k + 1)});
    }
    return edges;
  };
  for (const double ridge : {1.0, 0.02}) {
    const BanditOptions options = {.dimension = 25, .ridge = ridge};
    const EngineKind expected = ridge == 1.0 ? EngineKind::local : EngineKind::sparse;
    const auto whole = Bandit::gob_lin(Graph(users, ring(0, users)), options);
    ASSERT_EQ(whole.summary().components.size(), 1U);
    EXPECT_EQ(whole.summary().components[0].engine, expected) << whole.summary().components[0].reason;
    EXPECT_EQ(whole.summary().components[0].reason.find("so small beside the friends") != std::string::npos,
              expected == EngineKind::sparse);

    auto halves = ring(0, users / 2);
    const auto other = ring(users / 2, users / 2);
    halves.insert(halves.end(), other.begin(), other.end());
    auto joined = Bandit::gob_lin(Graph(users, halves), options);
    EXPECT_EQ(joined.summary().components[0].engine, EngineKind::sparse) << "half as many are exact with any ridge";
    joined.add_edge(NodeId{0}, NodeId{users - 1});
    ASSERT_EQ(joined.summary().components.size(), 1U);
    EXPECT_EQ(joined.summary().components[0].engine, expected);

    // What is said to be needed is for the engine that is taken.
    BanditOptions forced = options;
    forced.engine.kind = expected;
    EXPECT_EQ(Bandit::estimate_bytes(Policy::gob_lin, Graph(users, ring(0, users)), {}, options),
              Bandit::estimate_bytes(Policy::gob_lin, Graph(users, ring(0, users)), {}, forced));
  }
}

/// Six communities in a row, each joined to the next by a single edge.
class LocalParts : public ::testing::Test {
 protected:
  static constexpr NodeId size = 60;
  static constexpr NodeId count = 6;
  static constexpr std::size_t dimension = 3;

  [[nodiscard]] static Graph graph() {
    std::vector<Edge> edges;
    for (NodeId part = 0; part < count; ++part) {
      const Graph community =
          generate::communities({.nodes = size, .communities = 2, .average_degree = 7, .seed = part + 1}).graph;
      for (const Edge& edge : community.edges()) {
        edges.push_back({part * size + edge.a, part * size + edge.b, edge.weight});
      }
      // So that no community is in parts.
      for (NodeId node = 1; node < size; ++node) edges.push_back({part * size + node - 1, part * size + node, 0.5});
    }
    for (NodeId part = 1; part < count; ++part) edges.push_back(bridge(part));
    return {count * size, edges};
  }
  [[nodiscard]] static Edge bridge(NodeId part) {
    return {(part - 1) * size + 7 * part % size, part * size + 11 * part % size, 2.0};
  }
  [[nodiscard]] static Bandit make(EngineKind kind) {
    BanditOptions options{
        .dimension = dimension, .alpha = 0.3, .engine = {.kind = kind, .local = {.tolerance = 1e-3, .most_nodes = 16}}};
    for (NodeId node = 0; node < count * size; ++node) options.node_ridges.push_back(0.5 + 0.1 * (node % 5));
    return Bandit::gob_lin(graph(), options);
  }
  void learn_and_compare() {
    Scenario scenario{.name = "parts", .graph = Graph(count * size), .dimension = dimension};
    for (std::size_t k = 0; k < 300; ++k) {
      const auto round = scenario.round(t++);
      const Decision decision = local.select(round.user, {round.contexts, dimension});
      const Decision expected = exact.select(round.user, {round.contexts, dimension});
      for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
        ASSERT_LE(std::abs(decision.scores[arm] - expected.scores[arm]), decision.bounds[arm] + 1e-8);
        ASSERT_LE(decision.bounds[arm], 0.2);
      }
      for (Bandit* bandit : {&local, &exact}) bandit->update(round.user, round.context(0), round.rewards[0]);
    }
    ASSERT_LE(exact.log_determinant(), local.log_determinant() + 1e-8);
    ASSERT_GE(exact.log_determinant(), local.log_determinant() - local.log_determinant_error() - 1e-8);
    for (NodeId part = 1; part < count; ++part) {
      const auto [a, b, weight] = bridge(part);
      ASSERT_EQ(local.node_graph().weight(a, b), exact.node_graph().weight(a, b));
    }
    ASSERT_EQ(local.node_graph().edge_count(), exact.node_graph().edge_count());
  }

  Bandit local = make(EngineKind::local);
  Bandit exact = make(EngineKind::dense);
  std::size_t t = 0;
};

TEST_F(LocalParts, are_cut_off_and_joined_again) {
  const auto change = [&](const std::vector<NodeId>& parts, bool there) {
    std::vector<EdgeChange> changes;
    for (const NodeId part : parts) {
      const auto [a, b, weight] = bridge(part);
      changes.push_back({a, b, there ? weight : 0.0});
    }
    for (Bandit* bandit : {&local, &exact}) bandit->update_edges(changes);
  };
  const auto components = [&] { return local.summary().components.size(); };
  learn_and_compare();
  change({2}, false);
  EXPECT_EQ(components(), 2);
  learn_and_compare();
  // What is between two cuts goes first, and those beside it have nothing left in common.
  change({4, 3}, false);
  EXPECT_EQ(components(), 4);
  learn_and_compare();
  local = Bandit::from_bytes(local.to_bytes());
  learn_and_compare();
  change({4, 2, 3}, true);
  EXPECT_EQ(components(), 1);
  learn_and_compare();
  change({1, 2, 3, 4, 5}, false);
  EXPECT_EQ(components(), 6);
  learn_and_compare();
  // A user alone, with evidence.
  for (Bandit* bandit : {&local, &exact}) {
    const Graph now = bandit->graph();
    std::vector<EdgeChange> changes;
    for (const NodeId other : now.neighbours(100)) changes.push_back({100, other, 0.0});
    bandit->update_edges(changes);
  }
  EXPECT_EQ(components(), 7);
  learn_and_compare();
}

TEST(LocalEngine, counts_what_a_bulk_keeps) {
  constexpr std::size_t users = 3000;
  auto bandit =
      Bandit::gob_lin(generate::communities({.nodes = users, .communities = 30, .average_degree = 10, .seed = 4}).graph,
                      {.dimension = 2, .engine = {.kind = EngineKind::local}});
  std::vector<std::vector<double>> contexts;
  for (std::size_t k = 0; k < 2 * users; ++k) contexts.push_back({1.0, static_cast<double>(k % 7)});
  std::vector<Observation> batch;
  for (std::size_t k = 0; k < contexts.size(); ++k) batch.push_back({static_cast<NodeId>(k % users), contexts[k], 1.0});
  bandit.update(batch);
  // A number for each node, which a model file does not hold.
  const Bandit loaded = Bandit::from_bytes(bandit.to_bytes());
  EXPECT_GE(bandit.summary().bytes, loaded.summary().bytes + users * sizeof(double));
}

TEST(LocalEngine, a_user_alone_takes_little_memory) {
  auto bandit = Bandit::linucb_ind(Graph(500), {.dimension = 25, .engine = {.kind = EngineKind::local}});
  for (NodeId user = 0; user < 500; ++user) bandit.update(user, std::vector<double>(25, 0.2), 1.0);
  EXPECT_LT(bandit.summary().bytes, 500 * 10'000);
}

// What the bounds rest on: s = A y > 0, whatever edges come and go.
TEST(Barrier, bounds_the_inverse_whatever_edges_come_and_go) {
  const Graph graph =
      generate::random({.nodes = 40, .edges = 90, .lowest_weight = 0.1, .highest_weight = 4.0, .seed = 3});
  std::vector<double> ridges(graph.node_count());
  for (std::size_t j = 0; j < ridges.size(); ++j) ridges[j] = 0.02 * static_cast<double>(1 + j % 9);
  for (PriorMatrix prior :
       {PriorMatrix(graph, 1.0, 1.0), PriorMatrix(graph, 0.1, 3.0), PriorMatrix(graph, ridges, 3.0)}) {
    Barrier barrier(prior, prior.diagonals());
    Random random(4);
    for (std::size_t edit = 0; edit < 300; ++edit) {
      // Most edges go to node 0, which becomes a hub; one in three goes again.
      const auto a = static_cast<NodeId>(1 + random.below(39));
      const auto b = static_cast<NodeId>(edit % 2 == 0 ? 0 : (a + 1 + random.below(38)) % 40);
      if (a == b) continue;
      std::vector<double> before;
      for (std::size_t j = 0; j < 40; ++j) before.push_back(barrier.slope(j));
      prior.set_edge(a, b, edit % 3 == 0 ? 0.0 : random.uniform(0.1, 9.0));
      std::vector<bool> changed(40, false);
      barrier.follow_edge(prior, prior.diagonals(), a, b, [&](NodeId node) { changed[node] = true; });
      const Barrier expected(prior, prior.diagonals());
      Eigen::MatrixXd rest = Eigen::MatrixXd::Zero(40, 40);
      for (const Edge& edge : prior.graph().edges()) {
        rest(edge.a, edge.b) = rest(edge.b, edge.a) = -prior.coupling() * edge.weight;
      }
      for (Eigen::Index j = 0; j < 40; ++j) {
        const auto node = static_cast<std::size_t>(j);
        const double height = barrier.height(node);
        ASSERT_EQ(height, expected.height(node));
        ASSERT_EQ(barrier.slope(node), expected.slope(node));
        double slope = prior.diagonal(node) * height;
        for (Eigen::Index k = 0; k < 40; ++k) slope += rest(j, k) * barrier.height(static_cast<std::size_t>(k));
        ASSERT_NEAR(barrier.slope(node), slope, 1e-10 * prior.diagonal(node));
        ASSERT_GT(barrier.slope(node), 0.24 * prior.ridge(node));
        ASSERT_GT(height, 0.0);
        ASSERT_LE(height, 1.0);
        ASSERT_GE(barrier.weight(node) / barrier.scale(), height / barrier.slope(node));
        ASSERT_TRUE(changed[node] || barrier.slope(node) == before[node]);
      }
      for (Eigen::Index j = 0; j < 40; ++j) {
        const auto node = static_cast<std::size_t>(j);
        rest(j, j) = prior.diagonal(node) - barrier.slope(node) / barrier.height(node);
      }
      ASSERT_GT(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(rest).eigenvalues().minCoeff(), -1e-9);
    }
  }
}

// The proofs about the prior, against a dense inverse.
TEST(Neighbourhood, gap_leak_and_values_are_what_they_claim) {
  const Graph graph =
      generate::random({.nodes = 60, .edges = 150, .lowest_weight = 0.1, .highest_weight = 4.0, .seed = 8});
  const auto n = static_cast<Eigen::Index>(graph.node_count());
  std::vector<double> ridges(graph.node_count());
  for (std::size_t j = 0; j < ridges.size(); ++j) ridges[j] = 0.02 * static_cast<double>(1 + j % 9);
  for (const PriorMatrix& prior :
       {PriorMatrix(graph, 1.0, 1.0), PriorMatrix(graph, 0.1, 3.0), PriorMatrix(graph, ridges, 3.0)}) {
    Eigen::MatrixXd precision = Eigen::MatrixXd::Zero(n, n);
    const std::vector<double> diagonal = prior.diagonals();
    for (Eigen::Index j = 0; j < n; ++j) precision(j, j) = diagonal[static_cast<std::size_t>(j)];
    for (const Edge& edge : graph.edges()) {
      precision(edge.a, edge.b) = precision(edge.b, edge.a) = -prior.coupling() * edge.weight;
    }
    const Eigen::MatrixXd inverse = precision.inverse();
    const Barrier barrier(prior, diagonal);
    Neighbourhood near;
    std::size_t open = 0;
    for (const std::size_t most : {2, 5, 20}) {
      for (const double tolerance : {0.3, 0.03, 1e-9}) {
        for (NodeId a = 0; a < 20; ++a) {
          std::vector<NodeId> seeds{a};
          if (a % 2 == 0) seeds.push_back(a + 20);
          near.grow({prior, diagonal, barrier}, seeds, tolerance, most);
          const auto nodes = near.nodes();
          const auto count = static_cast<Eigen::Index>(nodes.size());
          Eigen::MatrixXd part(count, count);
          Eigen::VectorXd ones = Eigen::VectorXd::Zero(count);
          for (Eigen::Index r = 0; r < count; ++r) {
            for (Eigen::Index c = 0; c < count; ++c) part(r, c) = precision(nodes[r], nodes[c]);
            if (r < static_cast<Eigen::Index>(seeds.size())) ones[r] = 1.0;
          }
          const Eigen::VectorXd g = part.inverse() * ones;
          double exact = 0.0;
          for (const NodeId first : seeds) {
            for (const NodeId second : seeds) exact += inverse(first, second);
          }
          ASSERT_GE(near.upper(), exact - 1e-12);
          ASSERT_GE(near.gap(), exact - ones.dot(g) - 1e-12);
          double squared_sum = 0.0;
          for (std::size_t k = 0; k < seeds.size(); ++k) squared_sum += near.entry(k).value;
          squared_sum *= squared_sum;
          ASSERT_LE(squared_sum, near.energy() * (exact + 1e-12));
          double leak = 0.0;
          for (const NodeId seed : seeds) leak += barrier.height(seed);
          for (Eigen::Index r = 0; r < count; ++r) leak -= barrier.slope(nodes[r]) * g[r];
          ASSERT_GE(near.leak(), leak - 1e-12);
          for (Eigen::Index r = 0; r < count; ++r) {
            ASSERT_LE(near.values()[r], g[r] + 1e-12);
            ASSERT_GT(near.values()[r], 0.0);
          }
          if (near.gap() > 0.0) ++open;
        }
      }
    }
    EXPECT_GT(open, 50);
  }
}

}  // namespace local_engine_test
}  // namespace goblin
