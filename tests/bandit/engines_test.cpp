// Every engine and every policy against the algorithm as the paper prints it.

#include "bandit/hub_as_user.hpp"
#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "oracle/printed_algorithm.hpp"

#include <cmath>
#include <tuple>

#include <gtest/gtest.h>

namespace goblin {
namespace engines_test {

constexpr std::size_t rounds = 1000;

/// The nodes of a policy as the paper describes them, written down apart from the library's own views.
struct PrintedNodes {
  PrintedNodes(Policy which, const Scenario& scenario)
      : policy(which), users(scenario.graph), graph(1), of(scenario.graph.node_count(), 0) {
    if (has_hub(policy)) {
      for (std::size_t user = 0; user < of.size(); ++user) of[user] = HubAsUser::node_of(static_cast<NodeId>(user));
      return;
    }
    const auto clusters = scenario.clusters();
    std::vector<Edge> kept;
    for (const Edge& edge : scenario.graph.edges()) {
      const bool inside = clusters[edge.a] == clusters[edge.b];
      if (policy == Policy::gob_lin || (policy == Policy::gob_lin_block && inside)) kept.push_back(edge);
      if (policy == Policy::gob_lin_macro && !inside) {
        kept.push_back({clusters[edge.a], clusters[edge.b], edge.weight});
      }
    }
    if (policy == Policy::linucb_sin) return;
    for (std::size_t user = 0; user < of.size(); ++user) {
      of[user] = policy == Policy::gob_lin_macro ? clusters[user] : static_cast<NodeId>(user);
    }
    std::size_t count = 0;
    for (const NodeId node : of) count = std::max<std::size_t>(count, node + 1);
    graph = Graph(count, kept);
  }

  [[nodiscard]] oracle::PrintedAlgorithm printed(const BanditOptions& options) const {
    if (!has_hub(policy)) return {graph, options};
    const HubAsUser hub(users, options);
    return {hub.graph, hub.options};
  }
  /// That have a ridge in the options.
  [[nodiscard]] std::size_t ridges() const { return has_hub(policy) ? users.node_count() : graph.node_count(); }

  Policy policy;
  Graph users;
  Graph graph;
  std::vector<NodeId> of;
};

using Case = std::tuple<Policy, EngineKind, std::size_t>;

class EngineAgainstPrinted : public ::testing::TestWithParam<Case> {};

TEST_P(EngineAgainstPrinted, same_scores_and_choices) {
  const auto [policy, kind, index] = GetParam();
  if (policy == Policy::linucb_hash) GTEST_SKIP() << "nodes learn other contexts than users see";
  const Scenario scenario = scenarios()[index];
  const double tolerance = kind == EngineKind::dense ? 1e-8 : 1e-6;
  const PrintedNodes nodes(policy, scenario);
  for (const bool printed_bound : {false, true}) {
    BanditOptions options{.dimension = scenario.dimension, .alpha = 0.3, .engine = {.kind = kind}};
    if (printed_bound) options.exploration = Exploration::printed_bound({.noise = 0.2, .delta = 0.05, .norm = 1.5});
    auto bandit = Bandit::make(policy, scenario.graph, scenario.clusters_for(policy), options);
    oracle::PrintedAlgorithm printed = nodes.printed(options);
    for (std::size_t t = 0; t < rounds; ++t) {
      const auto round = scenario.round(t);
      const Decision decision = bandit.select(round.user, {round.contexts, scenario.dimension});
      const Decision expected = printed.select(nodes.of[round.user], round.contexts);
      for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
        ASSERT_NEAR(decision.scores[arm], expected.scores[arm], tolerance) << "round " << t;
        ASSERT_NEAR(decision.means[arm], expected.means[arm], tolerance) << "round " << t;
        ASSERT_NEAR(decision.widths[arm], expected.widths[arm], tolerance) << "round " << t;
      }
      ASSERT_EQ(decision.arm, expected.arm) << "round " << t;
      const auto solve = bandit.update(round.user, round.context(decision.arm), round.rewards[decision.arm]);
      ASSERT_TRUE(solve.converged);
      printed.update(nodes.of[round.user], round.context(decision.arm), round.rewards[decision.arm]);
    }
    EXPECT_NEAR(bandit.log_determinant(), printed.log_determinant(), 1e-6);
    EXPECT_EQ(bandit.summary().components[0].engine, kind);
  }
}

TEST_P(EngineAgainstPrinted, with_ridge_and_coupling) {
  const auto [policy, kind, index] = GetParam();
  if (policy == Policy::linucb_hash) GTEST_SKIP() << "nodes learn other contexts than users see";
  const Scenario scenario = scenarios()[index];
  const PrintedNodes nodes(policy, scenario);
  const BanditOptions options{
      .dimension = scenario.dimension, .alpha = 0.3, .ridge = 0.3, .coupling = 2.5, .engine = {.kind = kind}};
  auto bandit = Bandit::make(policy, scenario.graph, scenario.clusters_for(policy), options);
  oracle::PrintedAlgorithm printed = nodes.printed(options);
  for (std::size_t t = 0; t < 200; ++t) {
    const auto round = scenario.round(t);
    const Decision decision = bandit.select(round.user, {round.contexts, scenario.dimension});
    const Decision expected = printed.select(nodes.of[round.user], round.contexts);
    for (std::size_t arm = 0; arm < scenario.arms; ++arm) ASSERT_NEAR(decision.scores[arm], expected.scores[arm], 1e-6);
    bandit.update(round.user, round.context(decision.arm), round.rewards[decision.arm]);
    printed.update(nodes.of[round.user], round.context(decision.arm), round.rewards[decision.arm]);
  }
}

TEST_P(EngineAgainstPrinted, with_a_ridge_for_each_node) {
  const auto [policy, kind, index] = GetParam();
  if (policy == Policy::linucb_hash) GTEST_SKIP() << "nodes learn other contexts than users see";
  const Scenario scenario = scenarios()[index];
  const PrintedNodes nodes(policy, scenario);
  BanditOptions options{.dimension = scenario.dimension, .alpha = 0.3, .ridge = 0.7, .engine = {.kind = kind}};
  for (std::size_t node = 0; node < nodes.ridges(); ++node) {
    options.node_ridges.push_back(0.01 + 0.4 * static_cast<double>(node * node % 5));
  }
  auto bandit = Bandit::make(policy, scenario.graph, scenario.clusters_for(policy), options);
  oracle::PrintedAlgorithm printed = nodes.printed(options);
  for (std::size_t t = 0; t < 200; ++t) {
    const auto round = scenario.round(t);
    const Decision decision = bandit.select(round.user, {round.contexts, scenario.dimension});
    const Decision expected = printed.select(nodes.of[round.user], round.contexts);
    for (std::size_t arm = 0; arm < scenario.arms; ++arm) ASSERT_NEAR(decision.scores[arm], expected.scores[arm], 1e-6);
    bandit.update(round.user, round.context(decision.arm), round.rewards[decision.arm]);
    printed.update(nodes.of[round.user], round.context(decision.arm), round.rewards[decision.arm]);
  }
  EXPECT_NEAR(bandit.log_determinant(), printed.log_determinant(), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(all, EngineAgainstPrinted,
                         ::testing::Combine(::testing::ValuesIn(policies_with_fixed_nodes()),
                                            ::testing::Values(EngineKind::dense, EngineKind::sparse),
                                            ::testing::Range<std::size_t>(0, scenarios().size())),
                         [](const auto& test) {
                           return test_name(std::get<0>(test.param)) + "_" +
                                  std::string(name_of(std::get<1>(test.param))) + "_" +
                                  scenarios()[std::get<2>(test.param)].name;
                         });

}  // namespace engines_test
}  // namespace goblin
