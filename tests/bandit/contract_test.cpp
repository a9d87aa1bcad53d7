// What every policy promises, whichever engine keeps its belief.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "temporary_folder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace contract_test {

using ::testing::HasSubstr;

Scenario scenario_for_contract() {
  return {.name = "contract",
          .graph = generate::random({.nodes = 12, .edges = 24, .lowest_weight = 0.2, .highest_weight = 3.0, .seed = 5}),
          .dimension = 5,
          .arms = 6};
}

void expect_same_beliefs(const Bandit& a, const Bandit& b, double tolerance) {
  ASSERT_EQ(a.user_count(), b.user_count());
  for (NodeId user = 0; user < a.user_count(); ++user) {
    const auto means = std::pair(a.mean(user), b.mean(user));
    const auto covariances = std::pair(a.covariance(user), b.covariance(user));
    for (std::size_t k = 0; k < means.first.size(); ++k) EXPECT_NEAR(means.first[k], means.second[k], tolerance);
    for (std::size_t k = 0; k < covariances.first.size(); ++k) {
      EXPECT_NEAR(covariances.first[k], covariances.second[k], tolerance);
    }
  }
  // It is a sum of one addend for each reward, and grows with them.
  EXPECT_NEAR(a.log_determinant(), b.log_determinant(), tolerance * std::max(1.0, std::abs(b.log_determinant())));
}

class Contract : public ::testing::TestWithParam<std::tuple<Policy, EngineKind>> {
 protected:
  [[nodiscard]] Policy policy() const { return std::get<0>(GetParam()); }
  [[nodiscard]] BanditOptions options() const {
    return {.dimension = scenario.dimension,
            .alpha = 0.4,
            .ridge = 1.0,
            .hash = few_buckets,
            .engine = {.kind = std::get<1>(GetParam()),
                       .tolerance = 1e-12,
                       .local = {.tolerance = 1e-12, .most_edges = 1'000'000}}};
  }
  [[nodiscard]] Bandit bandit_on(const Graph& graph) const {
    return Bandit::make(policy(), graph, scenario.clusters_for(policy()), options());
  }
  [[nodiscard]] Bandit fresh() const { return bandit_on(scenario.graph); }
  [[nodiscard]] Contexts contexts(const Scenario::Round& round) const { return {round.contexts, scenario.dimension}; }

  /// Learns the first arm of rounds [from, to).
  void learn(Bandit& bandit, std::size_t from, std::size_t to) const {
    for (std::size_t t = from; t < to; ++t) {
      const auto round = scenario.round(t);
      bandit.update(round.user, round.context(0), round.rewards[0]);
    }
  }
  /// Where clusters are found, who is in which depends on what was known when a reward came.
  [[nodiscard]] bool depends_on_the_order() const { return finds_clusters(policy()); }
  template <typename Call>
  void expect_refused(const Bandit& bandit, Call call, const std::string& message) const {
    const Bandit before(bandit);
    try {
      call();
      ADD_FAILURE() << "accepted what should be refused with: " << message;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
    expect_same_beliefs(bandit, before, 0.0);
    EXPECT_EQ(bandit.rewards(), before.rewards());
    EXPECT_EQ(bandit.user_count(), before.user_count());
    EXPECT_EQ(bandit.graph().edge_count(), before.graph().edge_count());
  }

  Scenario scenario = scenario_for_contract();
};

TEST_P(Contract, is_deterministic) {
  auto a = fresh();
  auto b = fresh();
  for (std::size_t t = 0; t < 100; ++t) {
    const auto round = scenario.round(t);
    const Decision first = a.select(round.user, contexts(round));
    const Decision second = b.select(round.user, contexts(round));
    ASSERT_EQ(first.arm, second.arm);
    ASSERT_EQ(first.scores, second.scores);
    a.update(round.user, round.context(first.arm), round.rewards[first.arm]);
    b.update(round.user, round.context(first.arm), round.rewards[first.arm]);
  }
}

TEST_P(Contract, does_not_depend_on_where_the_numbers_lie) {
  auto bandit = fresh();
  auto shifted = fresh();
  std::vector<double> room(16);
  for (std::size_t t = 0; t < 60; ++t) {
    const auto round = scenario.round(t);
    const auto place = std::span(room).subspan(t % 8, 5);
    std::copy_n(round.context(0).data(), 5, place.data());
    bandit.update(round.user, round.context(0), round.rewards[0]);
    shifted.update(round.user, place, round.rewards[0]);
  }
  expect_same_beliefs(bandit, shifted, 0.0);
}

TEST_P(Contract, select_is_pure_and_scores_add_up) {
  auto bandit = fresh();
  learn(bandit, 0, 50);
  const auto round = scenario.round(50);
  const Decision first = bandit.select(round.user, contexts(round));
  const Decision again = bandit.select(round.user, contexts(round));
  EXPECT_EQ(first.scores, again.scores);
  EXPECT_EQ(bandit.rewards(), 50);
  for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
    EXPECT_EQ(first.scores[arm], first.means[arm] + first.widths[arm]);
    EXPECT_GT(first.widths[arm], 0.0);
    EXPECT_LE(first.scores[arm], first.scores[first.arm]);
  }
}

TEST_P(Contract, order_of_updates_does_not_matter) {
  if (depends_on_the_order()) GTEST_SKIP() << "every reward may move users";
  auto forward = fresh();
  auto backward = fresh();
  auto batched = fresh();
  std::vector<Scenario::Round> rounds;
  std::vector<Observation> batch;
  for (std::size_t t = 0; t < 200; ++t) rounds.push_back(scenario.round(t));
  for (const auto& round : rounds) {
    forward.update(round.user, round.context(0), round.rewards[0]);
    batch.push_back({round.user, round.context(0), round.rewards[0]});
  }
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    backward.update(round->user, round->context(0), round->rewards[0]);
  }
  batched.update(batch);
  expect_same_beliefs(forward, backward, 1e-9);
  expect_same_beliefs(forward, batched, 1e-9);
  EXPECT_EQ(batched.rewards(), 200);
}

TEST_P(Contract, ties_go_to_the_lowest_index) {
  auto bandit = fresh();
  learn(bandit, 0, 20);
  std::vector<double> same;
  for (int arm = 0; arm < 4; ++arm) same.insert(same.end(), {0.1, 0.2, 0.3, 0.4, 0.5});
  EXPECT_EQ(bandit.select(0, {same, 5}).arm, 0);
  const std::vector<std::uint8_t> mask{0, 0, 1, 1};
  EXPECT_EQ(bandit.select(0, {same, 5}, mask).arm, 2);
  const auto ranked = bandit.rank(0, {same, 5}, 9);
  ASSERT_EQ(ranked.size(), 4);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(ranked[k].arm, k);
}

TEST_P(Contract, rank_is_the_scores_in_order) {
  auto bandit = fresh();
  learn(bandit, 0, 60);
  const auto round = scenario.round(61);
  const Decision decision = bandit.select(round.user, contexts(round));
  const auto ranked = bandit.rank(round.user, contexts(round), 3);
  ASSERT_EQ(ranked.size(), 3);
  EXPECT_EQ(ranked[0].arm, decision.arm);
  auto sorted = decision.scores;
  std::sort(sorted.rbegin(), sorted.rend());
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(ranked[k].score, sorted[k]);
    EXPECT_EQ(ranked[k].score, decision.scores[ranked[k].arm]);
  }
}

TEST_P(Contract, a_mask_leaves_candidates_out_and_changes_no_other_score) {
  auto bandit = fresh();
  learn(bandit, 0, 60);
  auto round = scenario.round(61);
  const Decision all = bandit.select(round.user, contexts(round));
  std::vector<std::uint8_t> mask(scenario.arms, 1);
  mask[all.arm] = 0;
  round.contexts[all.arm * scenario.dimension] = std::numeric_limits<double>::quiet_NaN();  // not looked at
  const Decision masked = bandit.select(round.user, contexts(round), mask);
  EXPECT_NE(masked.arm, all.arm);
  for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
    if (arm == all.arm) {
      EXPECT_EQ(masked.scores[arm], -std::numeric_limits<double>::infinity());
    } else {
      EXPECT_EQ(masked.scores[arm], all.scores[arm]);
    }
  }
  for (const Ranked& ranked : bandit.rank(round.user, contexts(round), scenario.arms, mask)) {
    EXPECT_NE(ranked.arm, all.arm);
  }
}

TEST_P(Contract, the_number_of_candidates_may_change) {
  auto bandit = fresh();
  learn(bandit, 0, 30);
  const auto round = scenario.round(31);
  const Decision all = bandit.select(round.user, contexts(round));
  Decision decision;
  for (std::size_t count = 1; count <= scenario.arms; ++count) {
    bandit.select(round.user, {std::span(round.contexts).first(count * 5), 5}, {}, decision);
    ASSERT_EQ(decision.scores.size(), count);
    for (std::size_t arm = 0; arm < count; ++arm) EXPECT_EQ(decision.scores[arm], all.scores[arm]);
  }
}

TEST_P(Contract, bad_input_is_refused_and_changes_nothing) {
  auto bandit = fresh();
  learn(bandit, 0, 10);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> good(10, 0.5);
  std::vector<double> bad = good;
  bad[7] = nan;
  const auto one = std::span<const double>(good).first(5);
  const std::vector<std::uint8_t> none{0, 0};
  const std::vector<std::uint8_t> three{1, 1, 1};

  expect_refused(
      bandit,
      [&] {
        (void)bandit.select(12, {good, 5});
      },
      "user: 12 (must be below the number of users, 12)");
  expect_refused(
      bandit,
      [&] {
        (void)bandit.select(-1, {good, 5});
      },
      "user: -1 (must be below");
  expect_refused(
      bandit,
      [&] {
        (void)bandit.select("zoe", {good, 5});
      },
      "user: 'zoe' (must be a user");
  expect_refused(
      bandit,
      [&] {
        (void)bandit.select(0, {good, 4});
      },
      "contexts: dimension 4 (must be 5)");
  expect_refused(
      bandit,
      [&] {
        (void)bandit.select(0, {std::span(good).first(7), 5});
      },
      "contexts: 7 numbers");
  expect_refused(
      bandit,
      [&] {
        (void)bandit.select(0, {{}, 5});
      },
      "contexts: 0 numbers (must be a positive multiple");
  expect_refused(
      bandit,
      [&] {
        (void)bandit.select(0, {bad, 5});
      },
      "candidate 1: context[2]: nan (must be finite");
  expect_refused(
      bandit,
      [&] {
        (void)bandit.select(0, {good, 5}, none);
      },
      "leaves out all of the 2 candidates");
  expect_refused(
      bandit,
      [&] {
        (void)bandit.select(0, {good, 5}, three);
      },
      "allowed: 3 flags (must be one for each");
  expect_refused(
      bandit,
      [&] {
        (void)bandit.rank(0, {good, 5}, 0);
      },
      "k: 0 (must be at least 1)");
  expect_refused(
      bandit, [&] { bandit.update(12, one, 1.0); }, "user: 12");
  expect_refused(
      bandit, [&] { bandit.update(0, good, 1.0); }, "context: 10 numbers (must be the dimension, 5)");
  expect_refused(
      bandit, [&] { bandit.update(0, std::span(bad).subspan(5), 1.0); }, "context[2]: nan");
  expect_refused(
      bandit, [&] { bandit.update(0, one, nan); }, "reward: nan (must be finite");
  expect_refused(
      bandit, [&] { bandit.update(0, one, -infinity); }, "reward: -inf (must be finite");
  const std::vector<Observation> batch{{0, one, 1.0}, {1, one, infinity}};
  expect_refused(
      bandit, [&] { bandit.update(batch); }, "batch[1]: reward: inf");
  expect_refused(
      bandit, [&] { bandit.add_edge(0, 0); }, "joins user 0 to itself");
  expect_refused(
      bandit, [&] { bandit.add_edge(0, 1, -1.0); }, "weight: -1 (must be finite and positive)");
  expect_refused(
      bandit, [&] { bandit.add_edge(0, 1, nan); }, "weight: nan");
  expect_refused(
      bandit, [&] { bandit.add_edge(0, 99); }, "user: 99");
  expect_refused(
      bandit, [&] { bandit.add_user("zoe"); }, "name: 'zoe' (must be empty where users have no names)");
  bandit.add_user();
  expect_refused(
      bandit, [&] { bandit.remove_edge(0, 12); }, "edge: 0 to 12 (must be in the graph)");
}

TEST_P(Contract, rewards_outside_the_unit_interval_are_learned) {
  auto bandit = fresh();
  const std::vector<double> x{1.0, 0.0, 0.0, 0.0, 0.0};
  bandit.update(0, x, 1000.0);
  EXPECT_GT(bandit.mean(0)[0], 50.0);
}

TEST_P(Contract, a_zero_context_teaches_nothing) {
  if (depends_on_the_order()) GTEST_SKIP() << "every reward may move users";
  auto bandit = fresh();
  learn(bandit, 0, 20);
  const Bandit before(bandit);
  EXPECT_TRUE(bandit.update(3, std::vector<double>(5, 0.0), 1.0).converged);
  expect_same_beliefs(bandit, before, 0.0);
  EXPECT_EQ(bandit.rewards(), 21);
}

TEST_P(Contract, copies_go_their_own_way) {
  auto bandit = fresh();
  learn(bandit, 0, 20);
  Bandit copy(bandit);
  learn(copy, 20, 40);
  EXPECT_EQ(bandit.rewards(), 20);
  learn(bandit, 20, 40);
  expect_same_beliefs(bandit, copy, 0.0);
}

TEST_P(Contract, order_does_not_matter_at_the_default_tolerance) {
  if (depends_on_the_order()) GTEST_SKIP() << "every reward may move users";
  const Scenario large{
      .name = "order", .graph = generate::random({.nodes = 60, .edges = 150, .seed = 8}), .dimension = 5};
  // By default local promises a bound, not digits.
  const BanditOptions defaults{
      .dimension = 5, .hash = few_buckets, .engine = {.kind = std::get<1>(GetParam()), .local = {.tolerance = 1e-12}}};
  auto forward = Bandit::make(policy(), large.graph, large.clusters_for(policy()), defaults);
  auto backward = forward;
  for (std::size_t t = 0; t < 400; ++t) {
    const auto first = large.round(t);
    const auto last = large.round(399 - t);
    forward.update(first.user, first.context(0), first.rewards[0]);
    backward.update(last.user, last.context(0), last.rewards[0]);
  }
  expect_same_beliefs(forward, backward, 1e-9);
}

// Live edits: the belief is what it would be had the graph always been so.

TEST_P(Contract, heavy_edges_come_and_go_without_a_trace) {
  for (const double weight : {1e-3, 1e3, 1e6, 1e9}) {
    auto bandit = fresh();
    learn(bandit, 0, 30);
    const Bandit before(bandit);
    bandit.add_edge(0, 7, weight);
    learn(bandit, 30, 35);
    bandit.remove_edge(0, 7);
    Bandit expected(before);
    learn(expected, 30, 35);
    // The weight itself takes digits from the ridge while it is there; the edge that goes must not take more.
    expect_same_beliefs(bandit, expected, std::max(1e-9, 1e-14 * weight));
    EXPECT_TRUE(std::isfinite(bandit.log_determinant()));
  }
}

TEST_P(Contract, many_edges_removed_one_by_one) {
  constexpr std::size_t users = 40;
  const Graph crowd =
      generate::random({.nodes = users, .edges = 600, .lowest_weight = 0.01, .highest_weight = 2.0, .seed = 2});
  Scenario busy{.name = "crowd", .graph = crowd, .dimension = 3};
  const auto make = [&](const Graph& graph) {
    return Bandit::make(policy(), graph, busy.clusters_for(policy()),
                        {.dimension = 3, .hash = few_buckets, .engine = options().engine});
  };
  auto bandit = make(crowd);
  auto expected = make(Graph(users));
  for (std::size_t t = 0; t < 60; ++t) {
    const auto round = busy.round(t);
    bandit.update(round.user, round.context(0), round.rewards[0]);
    expected.update(round.user, round.context(0), round.rewards[0]);
  }
  for (const Edge& edge : crowd.edges()) bandit.remove_edge(edge.a, edge.b);
  expect_same_beliefs(bandit, expected, 1e-9);
  EXPECT_EQ(bandit.summary().edges, has_hub(policy()) ? users : 0);  // those of the hub stay
  EXPECT_EQ(bandit.summary().components.size(), expected.summary().components.size());
}

TEST_P(Contract, added_edges_equal_a_rebuilt_bandit) {
  if (depends_on_the_order()) GTEST_SKIP() << "every reward may move users";
  auto bandit = fresh();
  learn(bandit, 0, 40);
  auto edges = scenario.graph.edges();
  for (const Edge& edge : {Edge{0, 7, 1.5}, Edge{3, 11, 0.25}, Edge{3, 11, 1.0}, Edge{1, 2, 4.0}}) {
    bandit.add_edge(edge.a, edge.b, edge.weight);
    edges.push_back(edge);
  }
  learn(bandit, 40, 60);
  const Graph expected(12, edges);
  auto rebuilt = bandit_on(expected);
  learn(rebuilt, 0, 60);
  expect_same_beliefs(bandit, rebuilt, 1e-9);
  EXPECT_EQ(bandit.graph().edge_count(), expected.edge_count());
  EXPECT_DOUBLE_EQ(bandit.graph().weight(3, 11), expected.weight(3, 11));
}

TEST_P(Contract, removed_edges_equal_a_rebuilt_bandit) {
  auto bandit = fresh();
  learn(bandit, 0, 40);
  auto edges = scenario.graph.edges();
  while (edges.size() > 8) {  // few enough that components fall apart
    const Edge edge = edges.back();
    edges.pop_back();
    bandit.remove_edge(edge.b, edge.a);
  }
  learn(bandit, 40, 60);
  auto rebuilt = bandit_on(Graph(12, edges));
  learn(rebuilt, 0, 60);
  expect_same_beliefs(bandit, rebuilt, 1e-9);
  EXPECT_EQ(bandit.summary().components.size(), rebuilt.summary().components.size());
  EXPECT_EQ(bandit.summary().edges, rebuilt.summary().edges);
}

TEST_P(Contract, a_graph_built_live_equals_one_that_was_there) {
  if (depends_on_the_order()) GTEST_SKIP() << "every reward may move users";
  Scenario empty = scenario;
  empty.graph = Graph(12);
  auto live = Bandit::make(policy(), empty.graph, scenario.clusters_for(policy()), options());
  std::size_t t = 0;
  for (const Edge& edge : scenario.graph.edges()) {
    live.add_edge(edge.a, edge.b, edge.weight);
    learn(live, t, t + 2);
    t += 2;
  }
  auto bandit = fresh();
  learn(bandit, 0, t);
  expect_same_beliefs(live, bandit, 1e-9);
  EXPECT_EQ(live.summary().components.size(), bandit.summary().components.size());
}

TEST_P(Contract, added_users_equal_a_rebuilt_bandit) {
  if (depends_on_the_order()) GTEST_SKIP() << "every reward may move users";
  auto bandit = fresh();
  learn(bandit, 0, 40);
  const std::optional<NodeId> cluster = uses_clusters(policy()) ? std::optional<NodeId>(1) : std::nullopt;
  EXPECT_EQ(bandit.add_user({}, cluster), 12);
  EXPECT_EQ(bandit.add_user(), 13);
  bandit.add_edge(12, 4, 2.0);
  bandit.add_edge(13, 12);
  const std::vector<double> x{0.3, 0.1, -0.4, 0.2, 0.6};
  bandit.update(13, x, 1.0);

  auto edges = scenario.graph.edges();
  edges.push_back({12, 4, 2.0});
  edges.push_back({13, 12});
  auto clusters = scenario.clusters_for(policy());
  if (uses_clusters(policy())) clusters.insert(clusters.end(), {1, 3});
  auto rebuilt = Bandit::make(policy(), Graph(14, edges), clusters, options());
  learn(rebuilt, 0, 40);
  rebuilt.update(13, x, 1.0);
  expect_same_beliefs(bandit, rebuilt, 1e-9);
}

TEST_P(Contract, const_calls_may_run_at_the_same_time) {
  auto bandit = fresh();
  learn(bandit, 0, 43);  // some updates still wait
  std::vector<std::vector<Decision>> decisions(4);
  std::vector<std::thread> threads;
  for (auto& mine : decisions) {
    threads.emplace_back([&] {
      for (std::size_t t = 0; t < 200; ++t) {
        const auto round = scenario.round(t);
        mine.push_back(bandit.select(round.user, contexts(round)));
      }
    });
  }
  const TemporaryFolder folder;
  for (int k = 0; k < 2; ++k) {
    threads.emplace_back([&, k] {
      for (int time = 0; time < 5; ++time) bandit.save(folder / ("model" + std::to_string(k)));
      EXPECT_EQ(bandit.summary().rewards, 43);
      EXPECT_EQ(Bandit(bandit).rank(0, contexts(scenario.round(0)), 2).size(), 2);
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& mine : decisions) {
    for (std::size_t t = 0; t < mine.size(); ++t) EXPECT_EQ(mine[t].scores, decisions[0][t].scores);
  }
}

INSTANTIATE_TEST_SUITE_P(all, Contract,
                         ::testing::Combine(::testing::ValuesIn(all_policies),
                                            ::testing::Values(EngineKind::dense, EngineKind::sparse,
                                                              EngineKind::local)),
                         [](const auto& test) {
                           return test_name(std::get<0>(test.param)) + "_" +
                                  std::string(name_of(std::get<1>(test.param)));
                         });

// The identities of the paper.

void expect_same_choices(Bandit a, Bandit b, const Scenario& scenario) {
  for (std::size_t t = 0; t < 500; ++t) {
    const auto round = scenario.round(t);
    const Decision first = a.select(round.user, {round.contexts, scenario.dimension});
    const Decision second = b.select(round.user, {round.contexts, scenario.dimension});
    ASSERT_EQ(first.arm, second.arm) << "round " << t;
    for (std::size_t arm = 0; arm < scenario.arms; ++arm) ASSERT_NEAR(first.scores[arm], second.scores[arm], 1e-12);
    a.update(round.user, round.context(first.arm), round.rewards[first.arm]);
    b.update(round.user, round.context(first.arm), round.rewards[first.arm]);
  }
}

TEST(Identities, block_with_singleton_clusters_is_linucb_ind) {
  const Scenario scenario = scenario_for_contract();
  std::vector<NodeId> own(12);
  std::iota(own.begin(), own.end(), 0);
  const BanditOptions options{.dimension = 5, .alpha = 0.4};
  expect_same_choices(Bandit::gob_lin_block(scenario.graph, own, options), Bandit::linucb_ind(scenario.graph, options),
                      scenario);
}

TEST(Identities, macro_with_one_cluster_is_linucb_sin) {
  const Scenario scenario = scenario_for_contract();
  const std::vector<NodeId> together(12, 0);
  const BanditOptions options{.dimension = 5, .alpha = 0.4};
  expect_same_choices(Bandit::gob_lin_macro(scenario.graph, together, options),
                      Bandit::linucb_sin(scenario.graph, options), scenario);
}

TEST(Identities, scaling_contexts_is_dividing_ridge_and_coupling) {
  const Scenario scenario = scenario_for_contract();
  auto scaled = Bandit::gob_lin(scenario.graph, {.dimension = 5, .alpha = 0.4});
  auto divided =
      Bandit::gob_lin(scenario.graph, {.dimension = 5, .alpha = 0.4, .ridge = 1.0 / 9.0, .coupling = 1.0 / 9.0});
  for (std::size_t t = 0; t < 200; ++t) {
    const auto round = scenario.round(t);
    std::vector<double> longer = round.contexts;
    for (double& value : longer) value *= 3.0;
    const Decision first = scaled.select(round.user, {longer, 5});
    const Decision second = divided.select(round.user, {round.contexts, 5});
    for (std::size_t arm = 0; arm < scenario.arms; ++arm) ASSERT_NEAR(first.scores[arm], second.scores[arm], 1e-10);
    scaled.update(round.user, std::span(longer).first(5), round.rewards[0]);
    divided.update(round.user, round.context(0), round.rewards[0]);
  }
}

}  // namespace contract_test
}  // namespace goblin
