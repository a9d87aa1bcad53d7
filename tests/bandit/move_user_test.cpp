// Evidence belongs to users: it can be asked for, it moves with them, and everything believed follows from it.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace move_user_test {

using ::testing::HasSubstr;

Scenario world() {
  return {.name = "moves",
          .graph = generate::random({.nodes = 15, .edges = 40, .lowest_weight = 0.2, .highest_weight = 3.0, .seed = 6}),
          .dimension = 4};
}

BanditOptions options_for(EngineKind kind) {
  return {.dimension = 4,
          .alpha = 0.4,
          .ridge = 0.7,
          .hash = few_buckets,
          .engine = {.kind = kind, .tolerance = 1e-12, .local = {.tolerance = 1e-12, .most_edges = 1'000'000}}};
}

void learn(Bandit& bandit, std::size_t from, std::size_t to) {
  const Scenario scenario = world();
  for (std::size_t t = from; t < to; ++t) {
    const auto round = scenario.round(t);
    bandit.update(round.user, round.context(0), round.rewards[0]);
  }
}

void expect_same_beliefs(const Bandit& a, const Bandit& b) {
  for (NodeId user = 0; user < a.user_count(); ++user) {
    for (const auto& [first, second] :
         {std::pair(a.mean(user), b.mean(user)), std::pair(a.covariance(user), b.covariance(user))}) {
      for (std::size_t k = 0; k < first.size(); ++k) EXPECT_NEAR(first[k], second[k], 1e-9) << "user " << user;
    }
  }
  EXPECT_NEAR(a.log_determinant(), b.log_determinant(), 1e-8);
}

class MoveUser : public ::testing::TestWithParam<std::tuple<Policy, EngineKind>> {
 protected:
  [[nodiscard]] Bandit make(const std::vector<NodeId>& clusters) const {
    return Bandit::make(std::get<0>(GetParam()), world().graph, clusters, options_for(std::get<1>(GetParam())));
  }
};

TEST_P(MoveUser, gives_the_belief_of_a_bandit_that_had_always_been_so) {
  auto clusters = world().clusters();
  auto bandit = make(clusters);
  learn(bandit, 0, 60);
  std::size_t t = 60;
  // To another cluster, to a new one, after it, back; a cluster that becomes empty.
  const std::vector<std::pair<NodeId, NodeId>> moves{{0, 1}, {4, 3}, {7, 3}, {0, 0}, {4, 2}, {7, 1}, {2, 1}, {5, 0}};
  for (const auto& [user, cluster] : moves) {
    EXPECT_TRUE(bandit.move_user(user, cluster).converged);
    clusters[user] = cluster;
    EXPECT_EQ(bandit.cluster(user), cluster);
    auto expected = make(clusters);
    learn(expected, 0, t);
    expect_same_beliefs(bandit, expected);
    learn(bandit, t, t + 5);
    t += 5;
  }
  auto expected = make(clusters);
  learn(expected, 0, t);
  expect_same_beliefs(bandit, expected);
  bandit.add_edge(4, 7, 0.5);  // what the map of users believes of the graph is right, too
  bandit.remove_edge(4, 7);
  expect_same_beliefs(bandit, expected);
  expect_same_beliefs(Bandit::from_bytes(bandit.to_bytes()), expected);
}

TEST_P(MoveUser, to_where_the_user_is_changes_nothing) {
  auto bandit = make(world().clusters());
  learn(bandit, 0, 30);
  const std::string before = bandit.to_bytes();
  bandit.move_user(4, *bandit.cluster(4));
  EXPECT_EQ(bandit.to_bytes(), before);
}

TEST_P(MoveUser, is_refused_where_there_is_no_such_cluster) {
  auto bandit = make(world().clusters());
  learn(bandit, 0, 30);
  const std::string before = bandit.to_bytes();
  EXPECT_THROW(bandit.move_user(4, 4), std::invalid_argument);
  EXPECT_THROW(bandit.move_user(99, 0), UnknownUser);
  EXPECT_EQ(bandit.to_bytes(), before);
}

INSTANTIATE_TEST_SUITE_P(all, MoveUser,
                         ::testing::Combine(::testing::Values(Policy::gob_lin_macro, Policy::gob_lin_block),
                                            ::testing::Values(EngineKind::dense, EngineKind::sparse,
                                                              EngineKind::local)),
                         [](const auto& test) {
                           return test_name(std::get<0>(test.param)) + "_" +
                                  std::string(name_of(std::get<1>(test.param)));
                         });

TEST(UsersEvidence, is_the_sum_over_the_users_rewards_whatever_the_policy) {
  for (const Policy policy : all_policies) {
    auto bandit = Bandit::make(policy, world().graph, world().clusters_for(policy), options_for(EngineKind::automatic));
    learn(bandit, 0, 40);
    std::vector<double> contexts(10);
    std::vector<double> rewards(4);
    double squared_rewards = 0.0;
    std::size_t count = 0;
    for (std::size_t t = 0; t < 40; ++t) {
      const auto round = world().round(t);
      if (round.user != 3) continue;
      const auto x = round.context(0);
      std::size_t at = 0;
      for (std::size_t c = 0; c < 4; ++c) {
        for (std::size_t r = c; r < 4; ++r) contexts[at++] += x[c] * x[r];
        rewards[c] += round.rewards[0] * x[c];
      }
      squared_rewards += round.rewards[0] * round.rewards[0];
      ++count;
    }
    const UserEvidence evidence = bandit.evidence(3);
    ASSERT_GT(count, 0);
    EXPECT_EQ(evidence.count, count);
    EXPECT_DOUBLE_EQ(evidence.squared_rewards, squared_rewards);
    for (std::size_t k = 0; k < 10; ++k) EXPECT_DOUBLE_EQ(evidence.contexts[k], contexts[k]);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_DOUBLE_EQ(evidence.rewards[k], rewards[k]);
    EXPECT_THROW((void)bandit.evidence(99), UnknownUser);
  }
}

TEST(UsersEvidence, may_be_kept_for_nodes_only) {
  BanditOptions options = options_for(EngineKind::automatic);
  options.dimension = 30;
  const Graph crowd(10'000);
  auto per_user = Bandit::linucb_sin(crowd, options);
  options.evidence_per_node = true;
  auto per_node = Bandit::linucb_sin(crowd, options);
  const std::vector<double> x(30, 0.1);
  for (NodeId user = 0; user < 10'000; user += 10) {
    per_user.update(user, x, 1.0);
    per_node.update(user, x, 1.0);
  }
  EXPECT_EQ(per_user.mean(0), per_node.mean(0));
  EXPECT_LT(per_node.summary().bytes + 1000 * 30 * 33 / 2 * sizeof(double), per_user.summary().bytes);
  EXPECT_THAT([&] { (void)per_node.evidence(3); },
              ::testing::ThrowsMessage<std::invalid_argument>(HasSubstr("evidence_per_node: true (must be false")));
  BanditOptions macro = options_for(EngineKind::automatic);
  macro.evidence_per_node = true;
  auto bandit = Bandit::gob_lin_macro(world().graph, world().clusters(), macro);
  EXPECT_THROW(bandit.move_user(0, 1), std::invalid_argument);
  EXPECT_FALSE(Bandit::from_bytes(bandit.to_bytes()).options().evidence_per_node == false);
}

TEST(UsersEvidence, is_what_everything_follows_from) {
  for (const Policy policy : all_policies) {
    for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
      auto bandit = Bandit::make(policy, world().graph, world().clusters_for(policy), options_for(kind));
      EXPECT_TRUE(bandit.rebuild().converged);  // nothing learned yet
      learn(bandit, 0, 80);
      Bandit rebuilt(bandit);
      EXPECT_TRUE(rebuilt.rebuild().converged);
      expect_same_beliefs(bandit, rebuilt);
      learn(bandit, 80, 90);
      learn(rebuilt, 80, 90);
      expect_same_beliefs(bandit, rebuilt);
    }
  }
}

TEST(MoveUser, is_refused_where_there_are_no_clusters) {
  auto bandit = Bandit::gob_lin(world().graph, options_for(EngineKind::dense));
  EXPECT_THAT([&] { bandit.move_user(0, 1); },
              ::testing::ThrowsMessage<std::invalid_argument>(HasSubstr("policy: gob.lin (must be one with clusters")));
}

TEST(MoveUser, takes_the_last_evidence_of_a_component_along) {
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    const Graph friends(8, std::vector<Edge>{{0, 2}, {4, 6}});
    auto bandit = Bandit::gob_lin_macro(friends, std::vector<NodeId>{0, 0, 1, 1, 2, 2, 3, 3}, options_for(kind));
    bandit.update(1, std::vector<double>{0.5, 0.5, 0.0, 0.0}, 1.0);
    ASSERT_GT(bandit.mean(0)[0], 0.1);
    EXPECT_TRUE(bandit.move_user(1, 2).converged);  // a component that never learned anything
    EXPECT_NEAR(bandit.mean(0)[0], 0.0, 1e-12) << name_of(kind);
    EXPECT_NEAR(bandit.mean(2)[0], 0.0, 1e-12) << name_of(kind);
    EXPECT_GT(bandit.mean(4)[0], 0.1);
    EXPECT_GT(bandit.mean(6)[0], 0.01);
  }
}

/// The longest contexts there can be go with their user: what is believed of those who stay must not have lost its
/// digits, and those who are joined must get all of it.
TEST(MoveUserWithTheLongestContexts, leaves_all_beliefs_exact) {
  for (const double longest : {1'000.0, 10'000.0, 29'000.0}) {
    for (const Policy policy : {Policy::gob_lin_macro, Policy::gob_lin_block}) {
      for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
        BanditOptions options = options_for(kind);
        options.ridge = 1.0;
        auto clusters = world().clusters();
        auto bandit = Bandit::make(policy, world().graph, clusters, options);
        constexpr NodeId mover = 4;
        const auto learn_long = [&](Bandit& learner) {
          const Scenario scenario = world();
          for (std::size_t t = 0; t < 300; ++t) {
            const auto round = scenario.round(t);
            std::vector<double> context(round.context(0).begin(), round.context(0).end());
            double length = 0.0;
            for (const double value : context) length = std::hypot(length, value);
            for (double& value : context) value *= round.user == mover ? longest / length : 1.0;
            learner.update(round.user, context, round.rewards[0]);
          }
        };
        learn_long(bandit);
        for (const NodeId cluster : {3, 0}) {
          ASSERT_NE(clusters[mover], cluster);
          EXPECT_TRUE(bandit.move_user(mover, cluster).converged);
          clusters[mover] = cluster;
          BanditOptions exact = options;
          exact.engine.kind = EngineKind::dense;
          auto expected = Bandit::make(policy, world().graph, clusters, exact);
          learn_long(expected);
          for (NodeId user = 0; user < bandit.user_count(); ++user) {
            for (const auto& [is, should_be] : {std::pair(bandit.mean(user), expected.mean(user)),
                                                std::pair(bandit.covariance(user), expected.covariance(user))}) {
              double largest = 0.0;
              for (const double value : should_be) largest = std::max(largest, std::abs(value));
              for (std::size_t k = 0; k < is.size(); ++k) {
                ASSERT_NEAR(is[k], should_be[k], 1e-6 * largest)
                    << name_of(policy) << " " << name_of(kind) << ", contexts of " << longest << ", user " << user;
              }
            }
          }
        }
      }
    }
  }
}

TEST(MoveUser, that_is_refused_leaves_everything_as_it_was) {
  const std::vector<NodeId> apart{0, 0, 1};
  auto heavy = Bandit::gob_lin_macro(Graph(3, std::vector<Edge>{{0, 1, 3e9}}), apart, options_for(EngineKind::dense));
  std::string before = heavy.to_bytes();
  EXPECT_THROW(heavy.move_user(0, 2), std::invalid_argument);  // the edge would lie between two nodes
  EXPECT_EQ(heavy.to_bytes(), before);

  std::vector<Edge> edges{{40, 3}, {40, 41}};
  for (NodeId user = 1; user < 40; ++user) edges.push_back({user - 1, user});
  const Graph path(42, edges);
  std::vector<NodeId> clusters(42, 0);
  clusters[40] = clusters[41] = 1;
  BanditOptions tight = options_for(EngineKind::dense);
  tight.engine.memory_limit = Bandit::estimate_bytes(Policy::gob_lin_block, path, clusters, tight);
  auto full = Bandit::gob_lin_block(path, clusters, tight);
  full.update(40, std::vector<double>{1.0, 0.0, 0.0, 0.0}, 1.0);
  before = full.to_bytes();
  EXPECT_THROW(full.move_user(40, 0), CapacityError);  // one component of 42 takes more than two of 40 and 2
  EXPECT_EQ(full.to_bytes(), before);
}

TEST(MoveUser, that_would_not_fit_leaves_everything_as_it_was) {
  std::vector<Edge> edges;
  for (NodeId user = 1; user < 40; ++user) edges.push_back({user - 1, user});
  const Graph path(40, edges);
  const std::vector<NodeId> together(40, 0);
  std::vector<NodeId> alone(40);
  std::iota(alone.begin(), alone.end(), NodeId{0});
  for (const auto& [policy, clusters, to] :
       {std::tuple(Policy::gob_lin_block, together, NodeId{1}), std::tuple(Policy::gob_lin_macro, alone, NodeId{19})}) {
    BanditOptions tight = options_for(EngineKind::dense);
    tight.engine.memory_limit = Bandit::estimate_bytes(policy, path, clusters, tight);
    auto full = Bandit::make(policy, path, clusters, tight);
    full.update(20, std::vector<double>{1.0, 0.0, 0.0, 0.0}, 1.0);
    const std::string before = full.to_bytes();
    EXPECT_THROW(full.move_user(20, to), CapacityError) << "an engine that is changed in a copy takes twice its memory";
    EXPECT_EQ(full.to_bytes(), before) << name_of(policy);
  }
}

TEST(MoveUser, that_is_stopped_leaves_the_user_where_the_belief_is) {
  std::vector<Edge> edges;
  for (NodeId user = 1; user < 40; ++user) edges.push_back({user - 1, user});
  const std::vector<NodeId> together(40, 0);
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    auto bandit = Bandit::gob_lin_block(Graph(40, edges), together, options_for(kind));
    bandit.update(20, std::vector<double>{1.0, 0.0, 0.0, 0.0}, 1.0);
    const std::vector<double> mean = bandit.mean(21);
    bool told = false;
    bandit.set_progress([&told](double) {
      told = true;
      throw std::runtime_error("stopped");
    });
    try {
      bandit.move_user(20, 1);
    } catch (const std::runtime_error&) {
    }
    bandit.set_progress({});
    if (!told) continue;  // too quick to be stopped
    EXPECT_EQ(bandit.cluster(20), 0) << name_of(kind);
    EXPECT_EQ(bandit.node_graph().edge_count(), 39) << name_of(kind);
    for (std::size_t k = 0; k < mean.size(); ++k) EXPECT_NEAR(bandit.mean(21)[k], mean[k], 1e-9) << name_of(kind);
    bandit.move_user(20, 1);
    EXPECT_NEAR(bandit.mean(21)[0], 0.0, 1e-9) << name_of(kind);
  }
}

TEST(MoveUser, through_many_clusters_can_still_be_saved) {
  auto bandit = Bandit::gob_lin_block(Graph(2), std::vector<NodeId>{0, 1}, options_for(EngineKind::dense));
  for (NodeId cluster = 2; cluster < 3000; ++cluster) bandit.move_user(cluster % 2, cluster);
  EXPECT_EQ(Bandit::from_bytes(bandit.to_bytes()).cluster(1), bandit.cluster(1));
}

}  // namespace move_user_test
}  // namespace goblin
