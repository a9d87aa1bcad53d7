// Whose rewards an estimate came from, against N^{-1} computed in the test from the graph and the rewards alone.

#include "bandit/hub_as_user.hpp"
#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/error.hpp"
#include "temporary_folder.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace explain_test {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using ::testing::HasSubstr;

/// Everything from its definition: A, N, and S and c of every user, all dense.
class Oracle {
 public:
  explicit Oracle(const Bandit& bandit)
      : d_(static_cast<Index>(bandit.options().dimension)),
        prior_(prior_of(bandit)),
        precision_(prior_.rows() * d_, prior_.rows() * d_) {
    for (NodeId user = 0; user < bandit.user_count(); ++user) {
      node_of_.push_back(bandit.node(user));
      contexts_.emplace_back(MatrixXd::Zero(d_, d_));
      rewards_.emplace_back(VectorXd::Zero(d_));
    }
    precision_.setZero();
    for (Index i = 0; i < prior_.rows(); ++i) {
      for (Index j = 0; j < prior_.rows(); ++j) {
        precision_.block(i * d_, j * d_, d_, d_).diagonal().setConstant(prior_(i, j));
      }
    }
  }

  void update(NodeId user, std::span<const double> context, double reward) {
    const Eigen::Map<const VectorXd> x(context.data(), d_);
    contexts_[user] += x * x.transpose();
    rewards_[user] += reward * x;
    const Index first = node_of_[user] * d_;
    precision_.block(first, first, d_, d_) += x * x.transpose();
    factor_.reset();
  }

  struct Explained {
    std::map<NodeId, double> values;  // of users
    double mean = 0.0;
    double variance = 0.0;
    double own = 0.0;  // shares of the variance
    double others = 0.0;
    double prior = 0.0;
  };
  [[nodiscard]] Explained explain(NodeId user, std::span<const double> context) const {
    VectorXd phi = VectorXd::Zero(precision_.rows());
    phi.segment(node_of_[user] * d_, d_) = Eigen::Map<const VectorXd>(context.data(), d_);
    if (!factor_) factor_.emplace(precision_);
    const VectorXd u = factor_->solve(phi);
    Explained result;
    result.variance = phi.dot(u);
    for (NodeId other = 0; other < node_of_.size(); ++other) {
      const VectorXd at = u.segment(node_of_[other] * d_, d_);
      result.values[other] = at.dot(rewards_[other]);
      result.mean += result.values[other];
      (other == user ? result.own : result.others) += at.dot(contexts_[other] * at) / result.variance;
    }
    for (Index i = 0; i < prior_.rows(); ++i) {
      for (Index j = 0; j < prior_.rows(); ++j) {
        result.prior += prior_(i, j) * u.segment(i * d_, d_).dot(u.segment(j * d_, d_)) / result.variance;
      }
    }
    return result;
  }

 private:
  static MatrixXd prior_of(const Bandit& bandit) {
    const HubAsUser hub(bandit.graph(), bandit.options());
    const Graph graph = has_hub(bandit.policy()) ? hub.graph : bandit.node_graph();
    const BanditOptions& options = has_hub(bandit.policy()) ? hub.options : bandit.options();
    MatrixXd prior = MatrixXd::Zero(static_cast<Index>(graph.node_count()), static_cast<Index>(graph.node_count()));
    for (Index i = 0; i < prior.rows(); ++i) {
      prior(i, i) =
          options.node_ridges.empty() ? options.ridge.value_or(1.0) : options.node_ridges[static_cast<std::size_t>(i)];
    }
    for (const Edge& edge : graph.edges()) {
      const double weight = options.coupling * edge.weight;
      prior(edge.a, edge.a) += weight;
      prior(edge.b, edge.b) += weight;
      prior(edge.a, edge.b) -= weight;
      prior(edge.b, edge.a) -= weight;
    }
    return prior;
  }

  Index d_;
  MatrixXd prior_;
  MatrixXd precision_;
  mutable std::optional<Eigen::LLT<MatrixXd>> factor_;  // of it; none where it has changed
  std::vector<NodeId> node_of_;
  std::vector<MatrixXd> contexts_;
  std::vector<VectorXd> rewards_;
};

double sum_of(const Explanation& explanation) {
  double total = explanation.rest;
  for (const Contribution& one : explanation.contributions) total += one.value;
  return total;
}

/// Compares an explanation of all users with the oracle's; `scale` is how large the numbers are.
void expect_same(const Explanation& explained, const Oracle::Explained& exact, double scale) {
  const double close = 1e-9 * scale;
  EXPECT_NEAR(sum_of(explained), explained.mean, close + explained.unexplained);
  EXPECT_NEAR(sum_of(explained), exact.mean, close + explained.unexplained);
  for (const Contribution& one : explained.contributions) {
    EXPECT_NEAR(one.value, exact.values.at(one.user), close + one.bound) << "user " << one.user;
  }
  const WidthShares& shares = explained.width_shares;
  const double missing = shares.unexplained + 1e-7;
  EXPECT_NEAR(shares.own, exact.own, missing);
  EXPECT_NEAR(shares.others, exact.others, missing);
  EXPECT_NEAR(shares.prior, exact.prior, missing);
  EXPECT_NEAR(shares.own + shares.others + shares.prior + shares.unexplained, 1.0, 1e-9);
}

using Case = std::tuple<Policy, EngineKind, std::size_t>;

class ExplainAgainstInverse : public ::testing::TestWithParam<Case> {};

TEST_P(ExplainAgainstInverse, contributions_and_shares_are_those_of_the_inverse) {
  const auto [policy, kind, index] = GetParam();
  if (policy == Policy::linucb_hash) GTEST_SKIP() << "nodes learn other contexts than users see";
  const Scenario scenario = scenarios()[index];
  const std::size_t users = scenario.graph.node_count();
  auto bandit =
      Bandit::make(policy, scenario.graph, scenario.clusters_for(policy),
                   {.dimension = scenario.dimension, .ridge = 0.7, .coupling = 1.5, .engine = {.kind = kind}});
  Oracle oracle(bandit);
  for (std::size_t t = 0; t <= 300; ++t) {
    const auto round = scenario.round(t);
    if (t % 30 == 0 || t < 3) {
      for (const NodeId user : {round.user, NodeId{0}}) {
        const Explanation explained = bandit.explain(user, round.context(0), users);
        EXPECT_EQ(explained.user, user);
        EXPECT_EQ(explained.engine, kind);
        EXPECT_EQ(explained.rest_count, 0U);
        if (kind != EngineKind::local) {
          EXPECT_EQ(explained.unexplained, 0.0);
        }
        expect_same(explained, oracle.explain(user, round.context(0)), scenario.context_scale);
        const Decision decision = bandit.select(user, {round.context(0), scenario.dimension});
        EXPECT_NEAR(explained.mean, decision.means[0], 1e-6 + decision.bounds[0]);
        EXPECT_NEAR(explained.width, decision.widths[0], 1e-6 + decision.bounds[0]);
      }
    }
    bandit.update(round.user, round.context(0), round.rewards[0]);
    oracle.update(round.user, round.context(0), round.rewards[0]);
  }
}

INSTANTIATE_TEST_SUITE_P(all, ExplainAgainstInverse,
                         ::testing::Combine(::testing::ValuesIn(policies_with_fixed_nodes()),
                                            ::testing::Values(EngineKind::dense, EngineKind::sparse, EngineKind::local),
                                            ::testing::Range(std::size_t{0}, scenarios().size())),
                         [](const auto& test) {
                           return test_name(std::get<0>(test.param)) + '_' +
                                  std::string(name_of(std::get<1>(test.param))) + '_' +
                                  scenarios()[std::get<2>(test.param)].name;
                         });

/// Teaches a bandit rounds of a scenario.
void play(Bandit& bandit, const Scenario& scenario, std::size_t rounds) {
  for (std::size_t t = 0; t < rounds; ++t) {
    const auto round = scenario.round(t);
    bandit.update(round.user, round.context(0), round.rewards[0]);
  }
}

TEST(ExplainLimits, contexts_as_long_as_they_may_be_and_a_hub) {
  std::vector<Edge> edges;
  std::vector<double> ridges{0.01};
  for (NodeId user = 1; user < 30; ++user) {
    edges.push_back({0, user, 0.5 + user});
    ridges.push_back(0.01 * user);
  }
  const Graph star(30, edges);
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    SCOPED_TRACE(name_of(kind));
    auto bandit = Bandit::gob_lin(star, {.dimension = 3, .node_ridges = ridges, .engine = {.kind = kind}});
    Oracle oracle(bandit);
    const double length = 2900.0;  // of 3,000
    const Scenario scenario{.name = {}, .graph = star, .dimension = 3, .context_scale = 1.0};
    for (std::size_t t = 0; t < 100; ++t) {
      auto round = scenario.round(t);
      auto context = std::span(round.contexts).first(3);
      const double norm = std::hypot(context[0], context[1], context[2]);
      for (double& value : context) value *= t % 3 == 0 ? length / norm : 1.0;
      bandit.update(round.user, context, round.rewards[0]);
      oracle.update(round.user, context, round.rewards[0]);
    }
    for (const NodeId user : {NodeId{0}, NodeId{1}, NodeId{29}}) {
      const auto round = scenario.round(1000 + user);
      expect_same(bandit.explain(user, round.context(0), 30), oracle.explain(user, round.context(0)), 1.0);
      std::vector<double> context(round.context(0).begin(), round.context(0).end());
      for (double& value : context) value *= 1000.0;
      expect_same(bandit.explain(user, context, 30), oracle.explain(user, context), 1000.0);
    }
  }
}

/// local, where it cannot look at everything.
TEST(ExplainLimits, what_local_does_not_see_is_within_its_bounds) {
  const Scenario scenario{
      .name = {},
      .graph = generate::random({.nodes = 250, .edges = 1500, .lowest_weight = 0.2, .highest_weight = 3.0, .seed = 5}),
      .dimension = 3,
      .context_scale = 1.0};
  const BanditOptions options{
      .dimension = 3,
      .ridge = 0.5,
      .engine = {.kind = EngineKind::local, .local = {.tolerance = 0.01, .most_nodes = 20, .most_edges = 1000}}};
  auto bandit = Bandit::gob_lin(scenario.graph, options);
  Oracle oracle(bandit);
  for (std::size_t t = 0; t < 600; ++t) {
    const auto round = scenario.round(t);
    bandit.update(round.user, round.context(0), round.rewards[0]);
    oracle.update(round.user, round.context(0), round.rewards[0]);
  }
  double unexplained = 0.0;
  double wrong = 0.0;
  for (std::size_t t = 0; t < 40; ++t) {
    const auto round = scenario.round(1000 + t);
    const Explanation explained = bandit.explain(round.user, round.context(0), 250);
    const auto exact = oracle.explain(round.user, round.context(0));
    EXPECT_LT(explained.contributions.size(), 200U);
    expect_same(explained, exact, 1.0);
    EXPECT_LE(std::abs(explained.mean - exact.mean), explained.unexplained + 1e-9);
    // Of the upper end of the variance.
    EXPECT_GE(explained.width, bandit.options().alpha * std::sqrt(exact.variance * std::log(602.0)) - 1e-9);
    unexplained += explained.unexplained;
    wrong += std::abs(sum_of(explained) - exact.mean);
  }
  EXPECT_LT(unexplained / 40, 0.2);
  EXPECT_GT(wrong, 0.05 * unexplained);  // the bound is no wild guess
}

TEST(Explain, the_rest_is_what_is_not_listed) {
  const Scenario scenario = scenarios()[0];
  auto bandit = Bandit::gob_lin(scenario.graph, {.dimension = scenario.dimension});
  play(bandit, scenario, 200);
  const auto context = scenario.round(500);
  const Explanation all = bandit.explain(3, context.context(0), 100);
  const Explanation some = bandit.explain(3, context.context(0), 4);
  ASSERT_EQ(all.contributions.size(), 12U);
  ASSERT_EQ(some.contributions.size(), 4U);
  EXPECT_EQ(some.rest_count, 8U);
  EXPECT_EQ(some.mean, all.mean);
  EXPECT_NEAR(sum_of(some), some.mean, 1e-9);
  for (std::size_t k = 0; k < all.contributions.size(); ++k) {
    if (k < 4) {
      EXPECT_EQ(some.contributions[k].user, all.contributions[k].user);
      EXPECT_EQ(some.contributions[k].value, all.contributions[k].value);
    }
    if (k > 0) {
      EXPECT_LE(std::abs(all.contributions[k].value), std::abs(all.contributions[k - 1].value));
    }
    EXPECT_EQ(all.contributions[k].rewards, bandit.evidence(all.contributions[k].user).count);
  }
  EXPECT_EQ(bandit.explain(3, context.context(0)).contributions.size(), 10U);  // as many as are shown by default
}

TEST(Explain, a_user_of_whom_nothing_is_known) {
  auto bandit = Bandit::gob_lin(Graph(3, std::vector<Edge>{{0, 1}}), {.dimension = 2});
  const std::vector<double> context = {0.6, 0.8};
  for (const NodeId user : {NodeId{0}, NodeId{2}}) {
    const Explanation explained = bandit.explain(user, context);
    EXPECT_EQ(explained.mean, 0.0);
    EXPECT_GT(explained.width, 0.0);
    EXPECT_TRUE(explained.contributions.empty());
    EXPECT_NEAR(explained.width_shares.prior, 1.0, 1e-12);
  }
  bandit.update(1, context, 1.0);
  EXPECT_EQ(bandit.explain(2, context).mean, 0.0);
  const Explanation explained = bandit.explain(0, context);
  ASSERT_EQ(explained.contributions.size(), 1U);
  EXPECT_EQ(explained.contributions[0].user, 1U);
  EXPECT_EQ(explained.width_shares.own, 0.0);
  EXPECT_GT(explained.width_shares.others, 0.0);
  // Nothing is uncertain about a context of zeros.
  const Explanation zero = bandit.explain(0, std::vector<double>{0.0, 0.0});
  EXPECT_EQ(zero.mean, 0.0);
  EXPECT_EQ(zero.width, 0.0);
  EXPECT_EQ(zero.width_shares.prior, 0.0);
}

TEST(Explain, where_evidence_is_kept_for_nodes_contributions_are_those_of_nodes) {
  const Scenario scenario = scenarios()[0];
  for (const Policy policy : {Policy::linucb_sin, Policy::gob_lin_macro}) {
    SCOPED_TRACE(name_of(policy));
    BanditOptions options{.dimension = scenario.dimension};
    auto per_user = Bandit::make(policy, scenario.graph, scenario.clusters_for(policy), options);
    options.evidence_per_node = true;
    auto per_node = Bandit::make(policy, scenario.graph, scenario.clusters_for(policy), options);
    play(per_user, scenario, 200);
    play(per_node, scenario, 200);
    const auto context = scenario.round(500);
    const Explanation by_user = per_user.explain(4, context.context(0), 100);
    const Explanation by_node = per_node.explain(4, context.context(0), 100);
    EXPECT_FALSE(by_user.per_node);
    EXPECT_TRUE(by_node.per_node);
    EXPECT_EQ(by_node.user, 4U);
    EXPECT_EQ(by_node.own, per_node.node(4));
    EXPECT_EQ(by_node.contributions.size(), per_node.node_count());
    EXPECT_NEAR(by_node.mean, by_user.mean, 1e-9);
    EXPECT_NEAR(sum_of(by_node), by_node.mean, 1e-9);
    EXPECT_NEAR(by_node.width_shares.prior, by_user.width_shares.prior, 1e-9);
    std::vector<double> of_node(per_node.node_count(), 0.0);
    for (const Contribution& one : by_user.contributions) of_node[per_user.node(one.user)] += one.value;
    for (const Contribution& one : by_node.contributions) EXPECT_NEAR(one.value, of_node[one.user], 1e-9);
  }
}

TEST(Explain, edges_join_the_contributors_to_the_user) {
  // 0 - 1 - 2 - 3, 3 - 4, 1 - 4 and a stranger, 5.
  const Graph graph(6, std::vector<Edge>{{0, 1, 2.0}, {1, 2}, {2, 3}, {3, 4}, {1, 4}});
  auto bandit = Bandit::gob_lin(graph, {.dimension = 1});
  const std::vector<double> context = {1.0};
  for (const NodeId user : {NodeId{0}, NodeId{3}, NodeId{5}}) bandit.update(user, context, 1.0);
  const Explanation explained = bandit.explain(0, context);
  ASSERT_EQ(explained.contributions.size(), 2U);  // the stranger has no say
  // 2 and 4 are both on a shortest way to 3; one is enough.
  ASSERT_EQ(explained.edges.size(), 3U);
  EXPECT_EQ(explained.edges[0].weight, 2.0);
  EXPECT_EQ(explained.edges[1].b, 2U);
  EXPECT_EQ(explained.edges[2].b, 3U);

  const auto places = places_of(explained);
  ASSERT_EQ(places.size(), 4U);
  EXPECT_EQ(places[0].user, 0U);
  EXPECT_EQ(places[0].value, explained.contributions[0].value);
  for (const ExplanationPlace& place : places) {
    EXPECT_NEAR(std::hypot(place.x, place.y), place.user, 1e-12);  // in a path, the ring is the number
    EXPECT_EQ(place.contributes, place.user == 0 || place.user == 3);
  }
}

TEST(Explain, everybody_has_a_place_of_their_own) {
  const Scenario scenario{
      .name = {}, .graph = generate::random({.nodes = 60, .edges = 100, .seed = 3}), .dimension = 2};
  for (const Policy policy : all_policies) {
    auto bandit =
        Bandit::make(policy, scenario.graph, scenario.clusters_for(policy), {.dimension = 2, .hash = few_buckets});
    play(bandit, scenario, 200);
    const Explanation explained = bandit.explain(7, scenario.round(900).context(0), 25);
    const auto places = places_of(explained);
    ASSERT_GE(places.size(), explained.contributions.size());
    EXPECT_EQ(places[0].user, 7U);
    for (std::size_t a = 0; a < places.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        EXPECT_NE(places[a].user, places[b].user);
        EXPECT_GT(std::hypot(places[a].x - places[b].x, places[a].y - places[b].y), 1e-6);
      }
    }
    const auto again = places_of(bandit.explain(7, scenario.round(900).context(0), 25));
    ASSERT_EQ(again.size(), places.size());
    for (std::size_t k = 0; k < places.size(); ++k) EXPECT_EQ(again[k].x, places[k].x);
  }
}

TEST(Explain, survives_edits_and_the_model_file) {
  const Scenario scenario = scenarios()[1];
  const TemporaryFolder folder;
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    auto bandit = Bandit::gob_lin(scenario.graph, {.dimension = scenario.dimension, .engine = {.kind = kind}});
    play(bandit, scenario, 100);
    const NodeId added = bandit.add_user();
    bandit.add_edge(added, 2, 3.0);
    const auto edges = scenario.graph.edges();
    bandit.remove_edge(edges[0].a, edges[0].b);
    Oracle oracle(bandit);
    for (std::size_t t = 0; t < 100; ++t) {
      const auto round = scenario.round(t);
      oracle.update(round.user, round.context(0), round.rewards[0]);
    }
    const auto round = scenario.round(700);
    const Explanation explained = bandit.explain(added, round.context(0), 100);
    expect_same(explained, oracle.explain(added, round.context(0)), 1.0);
    bandit.save(folder.path() / "model");
    const Explanation loaded = Bandit::load(folder.path() / "model").explain(added, round.context(0), 100);
    EXPECT_NEAR(loaded.mean, explained.mean, 1e-9);
    EXPECT_EQ(loaded.contributions.size(), explained.contributions.size());
  }
}

TEST(Explain, says_what_is_wrong_with_its_arguments) {
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  Names names;
  names.insert("ann");
  names.insert("bob");
  const auto bandit = Bandit::gob_lin(Graph(names, std::vector<Edge>{{0, 1}}), {.dimension = 2});
  const std::vector<double> context = {1.0, 0.0};
  const std::vector<double> infinite = {1.0, std::numeric_limits<double>::infinity()};
  EXPECT_THROW((void)bandit.explain("zoe", context), UnknownUser);
  EXPECT_THAT(message([&] { (void)bandit.explain("zoe", context); }), HasSubstr("user: 'zoe' (must be a user"));
  EXPECT_THAT(message([&] { (void)bandit.explain(7, context); }), HasSubstr("user: 7 (must be below"));
  EXPECT_THAT(message([&] { (void)bandit.explain("ann", std::vector<double>{1.0}); }),
              HasSubstr("context: 1 numbers (must be the dimension, 2)"));
  EXPECT_THAT(message([&] { (void)bandit.explain("ann", infinite); }), HasSubstr("context[1]: inf (must be finite)"));
  EXPECT_THAT(message([&] { (void)bandit.explain("ann", context, 0); }), HasSubstr("k: 0 (must be at least 1)"));
}

}  // namespace explain_test
}  // namespace goblin
