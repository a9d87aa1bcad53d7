// Rewards, edges that come and go, users who move, saving and loading, in any order: the belief is always that of a
// bandit which was made as things are now and then learned the same rewards.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <gtest/gtest.h>

namespace goblin {
namespace random_edits_test {

constexpr NodeId users = 8;
constexpr NodeId clusters = 3;

struct Reward {
  NodeId user;
  std::vector<double> context;
  double value;
};

class RandomEdits : public ::testing::TestWithParam<std::tuple<Policy, EngineKind>> {
 protected:
  [[nodiscard]] Bandit make(const Graph& graph, EngineKind kind) const {
    BanditOptions options{
        .dimension = 2,
        .ridge = 0.7,
        .coupling = 1.3,
        .engine = {.kind = kind, .tolerance = 1e-12, .local = {.tolerance = 1e-12, .most_edges = 1'000'000}}};
    const NodeId nodes = policy == Policy::gob_lin_macro ? clusters : users;
    for (NodeId node = 0; node < nodes; ++node) options.node_ridges.push_back(0.3 + 0.2 * node);
    return Bandit::make(policy, graph, uses_clusters(policy) ? labels : std::vector<NodeId>{}, options);
  }

  void change(Bandit& bandit, Random& random) {
    const auto user = static_cast<NodeId>(random.below(users));
    const auto other = static_cast<NodeId>((user + 1 + random.below(users - 1)) % users);
    switch (random.below(5)) {
      case 0:
      case 1:
        rewards.push_back({user, {random.normal(), random.normal()}, random.normal()});
        bandit.update(user, rewards.back().context, rewards.back().value);
        break;
      case 2: {
        const double weight = std::min(1e4, std::exp(4.0 * random.normal()));
        bandit.add_edge(user, other, weight);
        weights[std::minmax(user, other)] += weight;
        break;
      }
      case 3:
        if (weights.erase(std::minmax(user, other)) > 0) bandit.remove_edge(user, other);
        break;
      default:
        if (!uses_clusters(policy)) break;
        labels[user] = static_cast<NodeId>(random.below(clusters));
        bandit.move_user(user, labels[user]);
    }
  }

  [[nodiscard]] Bandit expected() const {
    std::vector<Edge> edges;
    for (const auto& [ends, weight] : weights) edges.push_back({ends.first, ends.second, weight});
    auto bandit = make(Graph(users, edges), EngineKind::dense);
    for (const Reward& reward : rewards) bandit.update(reward.user, reward.context, reward.value);
    return bandit;
  }

  Policy policy = std::get<0>(GetParam());
  std::vector<NodeId> labels;
  std::map<std::pair<NodeId, NodeId>, double> weights;
  std::vector<Reward> rewards;
};

TEST_P(RandomEdits, leave_no_trace) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    labels.assign(users, 0);
    for (NodeId user = 0; user < users; ++user) labels[user] = user % clusters;
    weights.clear();
    rewards.clear();
    auto bandit = make(Graph(users), std::get<1>(GetParam()));
    for (std::uint64_t t = 0; t < 120; ++t) {
      Random random(seed, 1, t);
      change(bandit, random);
      if (t % 10 != 9) continue;
      bandit = Bandit::from_bytes(bandit.to_bytes());
      // A bandit made anew has as many nodes only if somebody is in the last cluster.
      if (std::find(labels.begin(), labels.end(), clusters - 1) == labels.end()) continue;
      const Bandit wanted = expected();
      for (NodeId user = 0; user < users; ++user) {
        for (const auto& [is, should_be] : {std::pair(bandit.mean(user), wanted.mean(user)),
                                            std::pair(bandit.covariance(user), wanted.covariance(user))}) {
          for (std::size_t k = 0; k < is.size(); ++k) ASSERT_NEAR(is[k], should_be[k], 1e-9) << seed << " " << t;
        }
      }
      ASSERT_NEAR(bandit.log_determinant(), wanted.log_determinant(), 1e-8) << seed << " " << t;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, RandomEdits,
                         ::testing::Combine(::testing::Values(Policy::gob_lin, Policy::gob_lin_macro,
                                                              Policy::gob_lin_block, Policy::gob_lin_hub),
                                            ::testing::Values(EngineKind::dense, EngineKind::sparse, EngineKind::local,
                                                              EngineKind::automatic)),
                         [](const auto& test) {
                           return test_name(std::get<0>(test.param)) + "_" +
                                  std::string(name_of(std::get<1>(test.param)));
                         });

/// With coupling 0 friends do not learn from each other. Edges come and go all the same, and change nothing.
TEST(RandomEdits, without_coupling_edges_change_the_graph_only) {
  const Scenario scenario{.name = "apart", .graph = generate::random({.nodes = 200, .edges = 900}), .dimension = 3};
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    SCOPED_TRACE(name_of(kind));
    auto bandit = Bandit::gob_lin(scenario.graph, {.dimension = 3, .coupling = 0.0, .engine = {.kind = kind}});
    for (std::uint64_t t = 0; t < 30; ++t) {
      const auto round = scenario.round(t);
      bandit.update(round.user, round.context(0), round.rewards[0]);
    }
    std::vector<EdgeChange> changes;
    for (NodeId user = 0; user < 20; ++user) changes.push_back({user, user + 170, 2.0});
    const auto edges = scenario.graph.edges();
    for (std::size_t k = 0; k < edges.size(); k += 50) changes.push_back({edges[k].a, edges[k].b, 0.0});
    const auto before = bandit;
    bandit.update_edges(changes);
    bandit.add_edge(100, 150, 5.0);
    EXPECT_NE(bandit.graph().edges().size(), before.graph().edges().size());
    EXPECT_NEAR(bandit.log_determinant(), before.log_determinant(), 1e-9);
    for (NodeId user = 0; user < 200; ++user) {
      const auto mean = bandit.mean(user);
      const auto covariance = bandit.covariance(user);
      for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(mean[k], before.mean(user)[k], 1e-9) << user;
      for (std::size_t k = 0; k < 9; ++k) EXPECT_NEAR(covariance[k], before.covariance(user)[k], 1e-9) << user;
    }
  }
}

}  // namespace random_edits_test
}  // namespace goblin
