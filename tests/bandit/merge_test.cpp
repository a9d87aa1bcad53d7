// Two bandits that learned two parts of a log, merged, are the bandit that learned the whole log.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/error.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace merge_test {

using ::testing::HasSubstr;

void learn(Bandit& bandit, const Scenario& scenario, std::size_t from, std::size_t to) {
  for (std::size_t t = from; t < to; ++t) {
    const auto round = scenario.round(t);
    bandit.update(round.user, round.context(t % scenario.arms), round.rewards[t % scenario.arms]);
  }
}

/// The sums of both are the same, but for the order in which they were taken.
void expect_same_evidence(const Bandit& a, const Bandit& b) {
  EXPECT_EQ(a.rewards(), b.rewards());
  for (NodeId user = 0; user < a.user_count(); ++user) {
    const UserEvidence first = a.evidence(user);
    const UserEvidence second = b.evidence(user);
    ASSERT_EQ(first.count, second.count) << "user " << user;
    EXPECT_NEAR(first.squared_rewards, second.squared_rewards, 1e-12 * (1.0 + second.squared_rewards));
    for (std::size_t k = 0; k < first.contexts.size(); ++k) {
      ASSERT_NEAR(first.contexts[k], second.contexts[k], 1e-12 * (1.0 + std::abs(second.contexts[k])));
    }
    for (std::size_t k = 0; k < first.rewards.size(); ++k) {
      ASSERT_NEAR(first.rewards[k], second.rewards[k], 1e-12 * (1.0 + std::abs(second.rewards[k])));
    }
  }
}

/// Means, variances and ln|M| of both are the same, within the tolerance and what their engines say themselves.
void expect_same_belief(const Bandit& a, const Bandit& b, const Scenario& scenario, double tolerance) {
  for (std::size_t t = 0; t < 60; ++t) {
    const auto round = scenario.round(10'000 + t);
    const Decision first = a.select(round.user, {round.contexts, scenario.dimension});
    const Decision second = b.select(round.user, {round.contexts, scenario.dimension});
    for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
      const double allowed = tolerance * (1.0 + std::abs(second.scores[arm])) + first.bounds[arm] + second.bounds[arm];
      ASSERT_NEAR(first.means[arm], second.means[arm], allowed) << "round " << t;
      ASSERT_NEAR(first.scores[arm], second.scores[arm], allowed) << "round " << t;
    }
  }
  EXPECT_NEAR(a.log_determinant(), b.log_determinant(),
              10.0 * tolerance * (1.0 + b.log_determinant()) + a.log_determinant_error() + b.log_determinant_error());
}

double tolerance_of(EngineKind kind) { return kind == EngineKind::dense ? 1e-9 : 1e-8; }

using Case = std::tuple<Policy, EngineKind, std::size_t>;

class Merge : public ::testing::TestWithParam<Case> {};

TEST_P(Merge, two_halves_are_the_whole) {
  const auto [policy, kind, index] = GetParam();
  const Scenario scenario = scenarios()[index];
  BanditOptions options{
      .dimension = scenario.dimension, .ridge = 0.4, .hash = few_buckets, .engine = {.kind = kind, .threads = 2}};
  auto whole = Bandit::make(policy, scenario.graph, scenario.clusters_for(policy), options);
  const std::size_t ridges = whole.node_count() - (has_hub(policy) ? 1 : 0);
  for (std::size_t node = 0; node < ridges; ++node) {
    options.node_ridges.push_back(0.05 + 0.4 * static_cast<double>(node % 4));
  }
  whole = Bandit::make(policy, scenario.graph, scenario.clusters_for(policy), options);
  auto first = whole;
  // What is no part of what was learned may differ.
  options.alpha = 7.0;
  options.engine.kind = kind == EngineKind::dense ? EngineKind::sparse : EngineKind::dense;
  auto second = Bandit::make(policy, scenario.graph, scenario.clusters_for(policy), options);
  learn(whole, scenario, 0, 300);
  learn(first, scenario, 0, 170);
  learn(second, scenario, 170, 300);
  EXPECT_TRUE(first.merge(second).converged);
  expect_same_evidence(first, whole);
  expect_same_belief(first, whole, scenario, tolerance_of(kind));
  EXPECT_EQ(first.summary().components[0].engine, kind);
  // And they go on in the same way.
  learn(whole, scenario, 300, 350);
  learn(first, scenario, 300, 350);
  expect_same_belief(first, whole, scenario, tolerance_of(kind));
}

INSTANTIATE_TEST_SUITE_P(all, Merge,
                         ::testing::Combine(::testing::ValuesIn(policies_with_fixed_nodes()),
                                            ::testing::Values(EngineKind::dense, EngineKind::sparse, EngineKind::local),
                                            ::testing::Range<std::size_t>(0, scenarios().size())),
                         [](const auto& test) {
                           return test_name(std::get<0>(test.param)) + "_" +
                                  std::string(name_of(std::get<1>(test.param))) + "_" +
                                  scenarios()[std::get<2>(test.param)].name;
                         });

constexpr EngineKind exact_engines[] = {EngineKind::dense, EngineKind::sparse};

TEST(MergedBandit, many_parts_in_any_order) {
  const Scenario scenario{
      .name = "parts", .graph = generate::random({.nodes = 200, .edges = 700, .seed = 3}), .dimension = 5};
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    const BanditOptions options{.dimension = 5, .engine = {.kind = kind}};
    auto whole = Bandit::gob_lin(scenario.graph, options);
    learn(whole, scenario, 0, 1000);
    auto merged = Bandit::gob_lin(scenario.graph, options);
    for (const std::size_t part : {3, 0, 4, 1, 2}) {
      auto one = Bandit::gob_lin(scenario.graph, options);
      learn(one, scenario, 200 * part, 200 * (part + 1));
      merged.merge(one);
    }
    expect_same_evidence(merged, whole);
    expect_same_belief(merged, whole, scenario, tolerance_of(kind));
  }
}

TEST(MergedBandit, an_empty_one_changes_nothing_and_takes_everything) {
  const Scenario scenario = scenarios()[1];
  auto bandit = Bandit::gob_lin(scenario.graph, {.dimension = scenario.dimension});
  const auto empty = bandit;
  learn(bandit, scenario, 0, 100);
  const std::string before = bandit.to_bytes();
  bandit.merge(empty);
  EXPECT_EQ(bandit.to_bytes(), before);
  auto taken = empty;
  taken.merge(bandit);
  expect_same_evidence(taken, bandit);
  expect_same_belief(taken, bandit, scenario, 1e-9);
}

TEST(MergedBandit, with_itself_it_has_learned_everything_twice) {
  const Scenario scenario = scenarios()[1];
  auto bandit = Bandit::gob_lin(scenario.graph, {.dimension = scenario.dimension});
  auto twice = bandit;
  learn(bandit, scenario, 0, 100);
  learn(twice, scenario, 0, 100);
  learn(twice, scenario, 0, 100);
  bandit.merge(bandit);
  expect_same_evidence(bandit, twice);
  expect_same_belief(bandit, twice, scenario, 1e-9);
}

TEST(MergedBandit, evidence_of_nodes_only) {
  const Scenario scenario = scenarios()[0];
  for (const Policy policy : {Policy::linucb_sin, Policy::gob_lin_macro}) {
    const BanditOptions options{.dimension = scenario.dimension, .evidence_per_node = true};
    auto whole = Bandit::make(policy, scenario.graph, scenario.clusters_for(policy), options);
    auto first = whole;
    auto second = whole;
    learn(whole, scenario, 0, 200);
    learn(first, scenario, 0, 100);
    learn(second, scenario, 100, 200);
    first.merge(second);
    EXPECT_EQ(first.rewards(), whole.rewards());
    expect_same_belief(first, whole, scenario, 1e-9);
  }
}

// Users who come, edges that come and go, users who move: what counts is what both are now.
TEST(MergedBandit, after_edits) {
  const Scenario scenario = scenarios()[0];
  for (const EngineKind kind : exact_engines) {
    auto whole = Bandit::gob_lin_macro(scenario.graph, scenario.clusters(),
                                       {.dimension = scenario.dimension, .engine = {.kind = kind}});
    auto first = whole;
    auto second = whole;
    learn(whole, scenario, 0, 200);
    learn(first, scenario, 0, 100);
    learn(second, scenario, 100, 200);
    for (Bandit* bandit : {&whole, &first, &second}) {
      const NodeId user = bandit->add_user({}, 1);
      bandit->add_edge(user, 0, 0.5);
      bandit->move_user(2, 3);
      const auto edge = scenario.graph.edges()[4];
      bandit->remove_edge(edge.a, edge.b);
    }
    first.merge(second);
    expect_same_evidence(first, whole);
    expect_same_belief(first, whole, scenario, tolerance_of(kind));
    whole.move_user(1, 0);  // takes out what user 1 brought
    first.move_user(1, 0);
    expect_same_belief(first, whole, scenario, tolerance_of(kind));
  }
}

// To the edge of what is promised: the longest contexts, the smallest ridges, a hub, evidence of very different
// lengths.
TEST(MergedBandit, at_the_limits) {
  std::vector<Edge> edges;
  for (NodeId user = 1; user < 40; ++user) edges.push_back({0, user});
  for (const double ridge : {1e-100, 1e-4, 1.0, 1e100}) {
    for (const double length : {1e-3, 29'999.0}) {
      const Scenario scenario{
          .name = "hub", .graph = Graph(40, edges), .dimension = 4, .context_scale = length * std::sqrt(ridge) / 4.0};
      for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
        const BanditOptions options{.dimension = 4, .ridge = ridge, .coupling = ridge, .engine = {.kind = kind}};
        auto whole = Bandit::gob_lin(scenario.graph, options);
        auto first = whole;
        auto second = whole;
        learn(whole, scenario, 0, 400);
        learn(first, scenario, 0, 10);
        learn(second, scenario, 10, 400);
        first.merge(second);
        expect_same_evidence(first, whole);
        SCOPED_TRACE(std::string(name_of(kind)) + ", ridge " + std::to_string(ridge) + ", length " +
                     std::to_string(length));
        expect_same_belief(first, whole, scenario, 1e-6);
      }
    }
  }
}

// One user has so many rewards that they say a million times more than the ridge, another has a few; long contexts
// beside short ones at the same user, whose squares have no digits in S.
TEST(MergedBandit, much_beside_little) {
  const Graph graph(3, std::vector<Edge>{{0, 1}, {1, 2}});
  for (const EngineKind kind : exact_engines) {
    const BanditOptions options{.dimension = 3, .alpha = 0.0, .engine = {.kind = kind}};
    auto whole = Bandit::gob_lin(graph, options);
    auto second = whole;
    const auto teach = [&](NodeId user, const std::vector<double>& context, double reward) {
      whole.update(user, context, reward);
      second.update(user, context, reward);
    };
    for (int k = 0; k < 3000; ++k) teach(0, {30.0, 10.0 * std::sin(k), 1.0}, 20.0 + std::cos(k));
    teach(1, {20'000.0, 0.0, 0.0}, 1.0);
    teach(1, {0.0, 1e-4, 0.0}, 1.0);
    teach(2, {0.0, 1.0, 1.0}, 1.0);
    auto first = Bandit::gob_lin(graph, options);
    first.merge(second);
    for (NodeId user = 0; user < 3; ++user) {
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(first.mean(user)[k], whole.mean(user)[k], 1e-8 * (1.0 + std::abs(whole.mean(user)[k])));
      }
    }
    EXPECT_GT(std::abs(whole.mean(1)[1]), 1e-5);
    EXPECT_NEAR(first.log_determinant(), whole.log_determinant(), 1e-7);
  }
}

// Sums that say 10^12 times more than the ridge keep the digits of what is left to know.
TEST(MergedBandit, very_much) {
  const Graph graph(3, std::vector<Edge>{{0, 1}, {1, 2}});
  for (const EngineKind kind : exact_engines) {
    const BanditOptions options{.dimension = 3, .engine = {.kind = kind}};
    auto whole = Bandit::gob_lin(graph, options);
    for (int k = 0; k < 3000; ++k) {
      whole.update(0, std::vector<double>{20'000.0 * std::sin(0.7 * k), 20'000.0 * std::cos(0.3 * k), 1000.0}, 1.0);
    }
    auto merged = Bandit::gob_lin(graph, options);
    merged.merge(whole);
    for (NodeId user = 0; user < 3; ++user) {
      const auto expected = whole.covariance(user);
      const auto covariance = merged.covariance(user);
      for (std::size_t k = 0; k < 9; ++k) {
        const double scale = std::sqrt(expected[k / 3 * 4] * expected[k % 3 * 4]);
        EXPECT_NEAR(covariance[k], expected[k], 1e-6 * scale) << "user " << user;
      }
    }
  }
}

class MergeRefused : public ::testing::Test {
 protected:
  static Graph friends(double weight = 1.0, const char* last = "cat", bool with_edge = true) {
    Names names;
    for (const char* name : {"ann", "bob", last}) names.insert(name);
    std::vector<Edge> edges{{0, 1, weight}};
    if (with_edge) edges.push_back({1, 2, 2.0});
    return {names, edges};
  }
  static std::string refusal(Bandit ours, const Bandit& theirs) {
    const std::string before = ours.to_bytes();
    try {
      ours.merge(theirs);
      return "";
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(ours.to_bytes(), before);
      return error.what();
    }
  }
  const BanditOptions options{.dimension = 2};
  const Bandit bandit = Bandit::gob_lin(friends(), options);
};

TEST_F(MergeRefused, says_what_differs) {
  EXPECT_EQ(refusal(bandit, Bandit::linucb_ind(friends(), options)),
            "other: policy linucb-ind (must be gob.lin, as here)");
  EXPECT_EQ(refusal(bandit, Bandit::gob_lin(friends(), {.dimension = 3})), "other: dimension 3 (must be 2, as here)");
  EXPECT_EQ(refusal(bandit, Bandit::gob_lin(friends(), {.dimension = 2, .coupling = 0.5})),
            "other: coupling 0.5 (must be 1, as here)");
  EXPECT_EQ(refusal(bandit, Bandit::gob_lin(friends(), {.dimension = 2, .ridge = 2.0})),
            "other: ridge 2 of node 0 (must be 1, as here)");
  EXPECT_EQ(refusal(bandit, Bandit::gob_lin(friends(), {.dimension = 2, .node_ridges = {1.0, 1.0, 3.0}})),
            "other: ridge 3 of node 2 (must be 1, as here)");
  EXPECT_EQ(refusal(bandit, Bandit::gob_lin(friends(), {.dimension = 2, .node_ridges = {1.0, 1.0, 1.0}})), "");
}

TEST_F(MergeRefused, says_which_user_differs) {
  EXPECT_EQ(refusal(bandit, Bandit::gob_lin(friends(1.0, "dan"), options)),
            "other: user 2 is 'dan' (must be 'cat', as here)");
  auto larger = bandit;
  larger.add_user("zoe");
  EXPECT_EQ(refusal(bandit, larger), "other: 4 users (must be 3, as here)");
  const std::vector<Edge> edges{{0, 1}, {1, 2, 2.0}};
  const auto without_names = Bandit::gob_lin(Graph(3, edges), options);
  EXPECT_EQ(refusal(bandit, without_names), "other: user 0 is '0' (must be 'ann', as here)");
  EXPECT_EQ(refusal(without_names, bandit), "other: user 0 is 'ann' (must be '0', as here)");
  Names digits;
  for (const char* name : {"0", "1", "2"}) digits.insert(name);
  EXPECT_EQ(refusal(without_names, Bandit::gob_lin(Graph(digits, edges), options)), "");
  auto unnamed = without_names;
  unnamed.merge(bandit, false);
}

TEST_F(MergeRefused, says_which_edge_differs) {
  EXPECT_EQ(refusal(bandit, Bandit::gob_lin(friends(0.25), options)),
            "other: weight 0.25 between the users 'ann' and 'bob' (must be 1, as here)");
  EXPECT_EQ(refusal(bandit, Bandit::gob_lin(friends(1.0, "cat", false), options)),
            "other: weight 0 between the users 'bob' and 'cat' (must be 2, as here)");
  EXPECT_EQ(refusal(Bandit::gob_lin(friends(1.0, "cat", false), options), bandit),
            "other: weight 2 between the users 'bob' and 'cat' (must be 0, as here)");
}

TEST_F(MergeRefused, says_which_cluster_differs) {
  const auto block = Bandit::gob_lin_block(friends(), std::vector<NodeId>{0, 0, 1}, options);
  EXPECT_EQ(refusal(block, Bandit::gob_lin_block(friends(), std::vector<NodeId>{0, 1, 1}, options)),
            "other: cluster 1 of user 'bob' (must be 0, as here)");
  auto emptied = block;
  emptied.move_user("cat", 2);
  emptied.move_user("cat", 1);
  EXPECT_EQ(refusal(block, emptied), "other: 3 clusters (must be 2, as here)");
}

TEST_F(MergeRefused, says_whose_evidence_is_kept) {
  EXPECT_EQ(refusal(Bandit::linucb_sin(friends(), options),
                    Bandit::linucb_sin(friends(), {.dimension = 2, .evidence_per_node = true})),
            "other: evidence_per_node true (must be false, as here)");
}

// The engine sparse allows shorter contexts beside strong edges than dense.
TEST_F(MergeRefused, contexts_that_the_engine_cannot_hold) {
  const Graph strong(2, std::vector<Edge>{{0, 1, 1e9}});
  auto dense = Bandit::gob_lin(strong, {.dimension = 1, .engine = {.kind = EngineKind::dense}});
  const auto sparse = Bandit::gob_lin(strong, {.dimension = 1, .engine = {.kind = EngineKind::sparse}});
  dense.update(0, std::vector<double>{1.0}, 1.0);
  EXPECT_EQ(refusal(sparse, dense), "");
  dense.update(1, std::vector<double>{10'000.0}, 1.0);
  EXPECT_THAT(refusal(sparse, dense),
              HasSubstr("other: it may have learned a context of length 10000 at node 1 (must be at most "));
  auto other_way = dense;
  other_way.merge(sparse);
}

}  // namespace merge_test
}  // namespace goblin
