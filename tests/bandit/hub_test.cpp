// gob.lin.hub: the users' graph, and a node that nobody is, joined to everybody.

#include "bandit/hub_as_user.hpp"
#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"
#include "oracle/inverse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace hub_test {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using ::testing::HasSubstr;

EngineOptions exactly(EngineKind kind) {
  return {.kind = kind, .tolerance = 1e-12, .local = {.tolerance = 1e-12, .most_edges = 1'000'000}};
}

/// Weighted edges, users without friends, and contexts of about length 1.
Scenario small_world() {
  return {.name = "hub",
          .graph = generate::random({.nodes = 14, .edges = 16, .lowest_weight = 0.2, .highest_weight = 3.0, .seed = 5}),
          .dimension = 3,
          .arms = 4};
}

/// A, from the formula: ridges on the diagonal, coupling times the Laplacian of the users, the weight times that of the
/// star. The hub is row 0.
MatrixXd prior_matrix(const Graph& users, const BanditOptions& options) {
  const auto n = static_cast<Index>(users.node_count());
  MatrixXd a = MatrixXd::Zero(n + 1, n + 1);
  const auto join = [&a](Index i, Index j, double weight) {
    a(i, i) += weight;
    a(j, j) += weight;
    a(i, j) -= weight;
    a(j, i) -= weight;
  };
  a(0, 0) = options.hub.ridge;
  for (Index user = 0; user < n; ++user) {
    a(user + 1, user + 1) +=
        options.node_ridges.empty() ? options.ridge.value() : options.node_ridges[std::size_t(user)];
    join(0, user + 1, options.hub.weight);
  }
  for (const Edge& edge : users.edges()) join(edge.a + 1, edge.b + 1, options.coupling * edge.weight);
  return a;
}

/// N, c and what follows from them, all of it dense.
struct Formula {
  Formula(const Graph& users, const BanditOptions& options)
      : d(static_cast<Index>(options.dimension)), prior(prior_matrix(users, options)) {
    precision = MatrixXd::Zero(prior.rows() * d, prior.rows() * d);
    for (Index i = 0; i < prior.rows(); ++i) {
      for (Index j = 0; j < prior.rows(); ++j) {
        precision.block(i * d, j * d, d, d).diagonal().setConstant(prior(i, j));
      }
    }
    rewards = VectorXd::Zero(precision.rows());
  }

  void update(NodeId user, std::span<const double> context, double reward) {
    const Eigen::Map<const VectorXd> x(context.data(), d);
    const Index first = (user + 1) * d;
    precision.block(first, first, d, d) += x * x.transpose();
    rewards.segment(first, d) += reward * x;
  }

  void expect_is(const Bandit& bandit, double tolerance) const {
    const MatrixXd inverse = oracle::inverse_of(precision);
    const VectorXd mean = inverse * rewards;
    for (NodeId user = 0; user < bandit.user_count(); ++user) {
      const auto means = bandit.mean(user);
      const auto covariance = bandit.covariance(user);
      const Index first = (user + 1) * d;
      for (Index k = 0; k < d; ++k) {
        EXPECT_NEAR(means[std::size_t(k)], mean[first + k], tolerance) << "user " << user;
        for (Index j = 0; j < d; ++j) {
          EXPECT_NEAR(covariance[std::size_t(k * d + j)], inverse(first + k, first + j), tolerance) << "user " << user;
        }
      }
    }
    const double log_determinant =
        oracle::log_determinant_of(precision) - static_cast<double>(d) * oracle::log_determinant_of(prior);
    EXPECT_NEAR(bandit.log_determinant(), log_determinant, tolerance * 100 + bandit.log_determinant_error());
  }

  Index d;
  MatrixXd prior;
  MatrixXd precision;
  VectorXd rewards;
};

class Hub : public ::testing::TestWithParam<EngineKind> {
 protected:
  [[nodiscard]] BanditOptions options() const {
    return {.dimension = 3,
            .alpha = 0.4,
            .ridge = 0.05,
            .coupling = 1.7,
            .hub = {.weight = 0.8, .ridge = 0.02},
            .engine = exactly(GetParam())};
  }
};

TEST_P(Hub, believes_what_the_formula_says) {
  const Scenario world = small_world();
  for (const double coupling : {1.7, 0.0, 1e-3}) {
    for (const bool many_ridges : {false, true}) {
      SCOPED_TRACE(coupling);
      BanditOptions given = options();
      given.coupling = coupling;
      for (std::size_t user = 0; many_ridges && user < 14; ++user) {
        given.node_ridges.push_back(0.01 + 0.3 * static_cast<double>(user % 4));
      }
      auto bandit = Bandit::gob_lin_hub(world.graph, given);
      Formula formula(world.graph, given);
      for (std::uint64_t t = 0; t < 120; ++t) {
        const auto round = world.round(t);
        bandit.update(round.user, round.context(0), round.rewards[0]);
        formula.update(round.user, round.context(0), round.rewards[0]);
      }
      formula.expect_is(bandit, 1e-8);
    }
  }
}

/// Decisions, not only beliefs; with everything that can change.
TEST_P(Hub, is_gob_lin_with_one_more_user) {
  const Scenario world = small_world();
  const BanditOptions given = options();
  const HubAsUser as_user(world.graph, given);
  auto hub = Bandit::gob_lin_hub(world.graph, given);
  auto explicit_hub = Bandit::gob_lin(as_user.graph, as_user.options);
  EXPECT_EQ(hub.node_graph().edges().size(), as_user.graph.edges().size());
  EXPECT_EQ(hub.summary().nodes, 15);
  EXPECT_EQ(hub.summary().edges, as_user.graph.edge_count());
  EXPECT_EQ(hub.summary().components.size(), 1);
  EXPECT_EQ(hub.node(0), 1);
  for (std::uint64_t t = 0; t < 200; ++t) {
    if (t == 50) {
      hub.add_edge(0, 9, 2.5);
      explicit_hub.add_edge(1, 10, 1.7 * 2.5);
    }
    if (t == 80) {
      hub.remove_edge(0, 9);
      explicit_hub.remove_edge(1, 10);
      const std::vector<EdgeChange> changes = {{2, 3, 0.5}, {4, 11, 1.0}};
      const std::vector<EdgeChange> shifted = {{3, 4, 1.7 * 0.5}, {5, 12, 1.7}};
      hub.update_edges(changes);
      explicit_hub.update_edges(shifted);
    }
    if (t == 110) {
      EXPECT_EQ(hub.add_user(), 14);
      explicit_hub.add_user();
      explicit_hub.add_edge(0, 15, 0.8);
      hub.add_edge(14, 3);
      explicit_hub.add_edge(15, 4, 1.7);
      EXPECT_EQ(hub.node(14), 15);
    }
    if (t == 150) {
      hub = Bandit::from_bytes(hub.to_bytes());
      hub.rebuild();
    }
    auto round = world.round(t);
    if (t > 110 && t % 5 == 0) round.user = 14;
    const Decision decision = hub.select(round.user, {round.contexts, 3});
    const Decision expected = explicit_hub.select(round.user + 1, {round.contexts, 3});
    ASSERT_EQ(decision.arm, expected.arm) << t;
    for (std::size_t arm = 0; arm < world.arms; ++arm) ASSERT_NEAR(decision.scores[arm], expected.scores[arm], 1e-8);
    hub.update(round.user, round.context(decision.arm), round.rewards[decision.arm]);
    explicit_hub.update(round.user + 1, round.context(decision.arm), round.rewards[decision.arm]);
  }
  EXPECT_NEAR(hub.log_determinant(), explicit_hub.log_determinant(), 1e-7);
  EXPECT_EQ(hub.node_graph().edge_count(), explicit_hub.node_graph().edge_count());
}

/// Without coupling and with next to no ridge it is the hierarchical bandit, a mixed-effects model: user i's vector is
/// a common one of variance 1 / hub.ridge and a deviation of variance 1 / hub.weight. Here by conditioning on the
/// rewards.
TEST_P(Hub, alone_is_the_hierarchical_bandit) {
  const Scenario world = small_world();
  BanditOptions given = options();
  given.coupling = 0.0;
  given.ridge = 1e-7;
  auto bandit = Bandit::gob_lin_hub(world.graph, given);
  constexpr Index count = 60;
  MatrixXd contexts(count, 3);
  VectorXd rewards(count);
  std::vector<NodeId> users;
  for (Index t = 0; t < count; ++t) {
    const auto round = world.round(static_cast<std::uint64_t>(t));
    users.push_back(round.user);
    contexts.row(t) = Eigen::Map<const VectorXd>(round.context(0).data(), 3);
    rewards[t] = round.rewards[0];
    bandit.update(round.user, round.context(0), rewards[t]);
  }
  const auto covariance = [&given](NodeId a, NodeId b) {
    return 1.0 / given.hub.ridge + (a == b ? 1.0 / given.hub.weight : 0.0);
  };
  MatrixXd of_rewards = MatrixXd::Identity(count, count);
  for (Index s = 0; s < count; ++s) {
    for (Index t = 0; t < count; ++t) {
      of_rewards(s, t) +=
          covariance(users[std::size_t(s)], users[std::size_t(t)]) * contexts.row(s).dot(contexts.row(t));
    }
  }
  const MatrixXd inverse = oracle::inverse_of(of_rewards);
  for (NodeId user = 0; user < 14; ++user) {
    MatrixXd with_rewards(3, count);
    for (Index t = 0; t < count; ++t) {
      with_rewards.col(t) = covariance(user, users[std::size_t(t)]) * contexts.row(t).transpose();
    }
    const VectorXd mean = with_rewards * (inverse * rewards);
    const MatrixXd left =
        covariance(user, user) * MatrixXd::Identity(3, 3) - with_rewards * inverse * with_rewards.transpose();
    const auto means = bandit.mean(user);
    const auto believed = bandit.covariance(user);
    for (Index k = 0; k < 3; ++k) {
      EXPECT_NEAR(means[std::size_t(k)], mean[k], 1e-5) << "user " << user;
      for (Index j = 0; j < 3; ++j) EXPECT_NEAR(believed[std::size_t(3 * k + j)], left(k, j), 1e-5) << "user " << user;
    }
  }
}

/// Taken out of the equations, the hub leaves a complete graph: ridge + weight hub.ridge / s for everybody and an edge
/// weight^2 / s between any two, s = hub.ridge + n weight.
TEST_P(Hub, marginalized_is_a_complete_graph) {
  const Scenario world = small_world();
  constexpr double n = 14.0;
  const auto complete = [&](double weight, double coupling) {
    std::vector<Edge> edges;
    for (NodeId a = 0; a < 14; ++a) {
      for (NodeId b = a + 1; b < 14; ++b) edges.push_back({a, b, weight});
    }
    for (const Edge& edge : world.graph.edges()) {
      if (coupling > 0.0) edges.push_back({edge.a, edge.b, coupling * edge.weight});
    }
    return Graph(14, edges);
  };
  const auto compare = [&](Bandit hub, Bandit without, double tolerance) {
    for (std::uint64_t t = 0; t < 100; ++t) {
      const auto round = world.round(t);
      const Decision decision = hub.select(round.user, {round.contexts, 3});
      const Decision expected = without.select(round.user, {round.contexts, 3});
      for (std::size_t arm = 0; arm < world.arms; ++arm) {
        ASSERT_NEAR(decision.scores[arm], expected.scores[arm], tolerance) << t;
      }
      hub.update(round.user, round.context(0), round.rewards[0]);
      without.update(round.user, round.context(0), round.rewards[0]);
    }
    EXPECT_NEAR(hub.log_determinant(), without.log_determinant(), 100 * tolerance);
  };
  BanditOptions given = options();
  const double s = given.hub.ridge + n * given.hub.weight;
  BanditOptions same = given;
  same.coupling = 1.0;
  same.ridge = given.ridge.value() + given.hub.weight * given.hub.ridge / s;
  compare(Bandit::gob_lin_hub(world.graph, given),
          Bandit::gob_lin(complete(given.hub.weight * given.hub.weight / s, given.coupling), same), 1e-8);

  // Feature hashing without collisions: no coupling, no ridge, and one number for both of the hub's.
  constexpr double lambda = 0.6;
  given.coupling = 0.0;
  given.ridge = 1e-7;
  given.hub = {.weight = lambda, .ridge = lambda};
  same.ridge = lambda / (n + 1.0);
  same.coupling = lambda / (n + 1.0);
  compare(Bandit::gob_lin_hub(world.graph, given), Bandit::gob_lin(complete(1.0, 0.0), same), 1e-5);
}

/// What is promised at the edge: the longest contexts, the smallest ridges, the heaviest hub.
TEST_P(Hub, stays_exact_at_the_limits) {
  if (GetParam() == EngineKind::local) return;  // which promises bounds, and takes its time for them here
  using oracle::Matrix;
  struct Limit {
    HubOptions hub;
    double ridge;
    double length;
  };
  constexpr Index n = 14;
  std::vector<Limit> limits = {{{.weight = 1.0, .ridge = 1e-8}, 1e-8, 2.9},
                               {{.weight = 1e6, .ridge = 0.0072}, 1.0, 50.0},
                               {{.weight = 1.0, .ridge = 1e-4}, 1e-6, 29.0}};
  const Scenario world = small_world();
  for (Limit limit : limits) {
    // The engine sparse admits less of both at once.
    const double strongest = std::max(n * limit.hub.weight / limit.hub.ridge, (limit.hub.weight + 40.0) / limit.ridge);
    const double root = std::sqrt(std::min(limit.hub.ridge, limit.ridge));
    if (GetParam() == EngineKind::sparse) limit.length = std::min(limit.length, 0.99e11 / strongest * root);
    SCOPED_TRACE(limit.hub.ridge);
    BanditOptions given = options();
    given.ridge = limit.ridge;
    given.hub = limit.hub;
    auto bandit = Bandit::gob_lin_hub(world.graph, given);
    const MatrixXd prior = prior_matrix(world.graph, given);
    constexpr Index rows = (n + 1) * 3;
    Matrix precision = Matrix::Zero(rows, rows);
    for (Index i = 0; i < 15; ++i) {
      for (Index j = 0; j < 15; ++j) precision.block(3 * i, 3 * j, 3, 3).diagonal().setConstant(prior(i, j));
    }
    Matrix rewards = Matrix::Zero(rows, 1);
    for (std::uint64_t t = 0; t < 300; ++t) {
      const auto round = world.round(t);
      Eigen::Matrix<long double, 3, 1> x;
      for (Index k = 0; k < 3; ++k) x[k] = round.context(0)[std::size_t(k)];
      x *= limit.length / x.norm();
      const std::vector<double> context = {double(x[0]), double(x[1]), double(x[2])};
      for (Index k = 0; k < 3; ++k) x[k] = context[std::size_t(k)];
      const Index first = Index{3} * (round.user + 1);
      precision.block(first, first, 3, 3) += x * x.transpose();
      rewards.block(first, 0, 3, 1) += static_cast<long double>(round.rewards[0]) * x;
      bandit.update(round.user, context, round.rewards[0]);
      if (t % 100 != 99) continue;
      const Matrix inverse = oracle::inverse_of(precision);
      for (NodeId user = 0; user < n; ++user) {
        const Index at = Index{3} * (user + 1);
        const Decision decision = bandit.select(user, {context, 3});
        const auto variance = static_cast<double>(x.dot(inverse.block(at, at, 3, 3) * x));
        const double width = given.alpha * std::sqrt(variance * std::log(static_cast<double>(t) + 3.0));
        const auto mean = static_cast<double>(x.dot((inverse * rewards).block(at, 0, 3, 1).col(0)));
        EXPECT_NEAR(decision.widths[0], width, 1e-6 * width + decision.bounds[0]) << user;
        EXPECT_NEAR(decision.means[0], mean, 1e-6 * std::max(1.0, std::abs(mean)) + decision.bounds[0]) << user;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, Hub, ::testing::Values(EngineKind::dense, EngineKind::sparse, EngineKind::local),
                         [](const auto& test) { return std::string(name_of(test.param)); });

/// The bounds of local hold beside a hub that everybody hangs on, with the ridges that are usual here.
TEST(HubLocal, scores_are_within_their_bounds) {
  const Scenario world{
      .name = "local",
      .graph = generate::communities({.nodes = 120, .communities = 4, .average_degree = 6, .seed = 4}).graph,
      .dimension = 4,
      .arms = 4};
  BanditOptions given{.dimension = 4, .alpha = 0.3};
  given.engine.kind = EngineKind::dense;
  auto exact = Bandit::gob_lin_hub(world.graph, given);
  for (const std::size_t most_nodes : {16, 64}) {
    given.engine = {.kind = EngineKind::local, .local = {.most_nodes = most_nodes}};
    auto local = Bandit::gob_lin_hub(world.graph, given);
    if (most_nodes > 16) exact = Bandit::gob_lin_hub(world.graph, exact.options());
    for (std::uint64_t t = 0; t < 80; ++t) {
      if (t == 40) {
        for (Bandit* bandit : {&local, &exact}) bandit->add_edge(bandit->add_user(), 7, 2.0);
      }
      const auto round = world.round(t);
      const Decision decision = local.select(round.user, {round.contexts, 4});
      const Decision expected = exact.select(round.user, {round.contexts, 4});
      for (std::size_t arm = 0; arm < 4; ++arm) {
        ASSERT_LE(std::abs(decision.scores[arm] - expected.scores[arm]), decision.bounds[arm] + 1e-8) << t;
        ASSERT_LE(std::abs(decision.widths[arm] - expected.widths[arm]), decision.bounds[arm] + 1e-8) << t;
      }
      local.update(round.user, round.context(0), round.rewards[0]);
      exact.update(round.user, round.context(0), round.rewards[0]);
    }
    EXPECT_GE(local.log_determinant(), exact.log_determinant() - 1e-6);
    EXPECT_LE(local.log_determinant() - local.log_determinant_error(), exact.log_determinant() + 1e-6);
  }
}

/// What the hub is for: gob.lin draws what all users have in common to zero with n times the ridge.
TEST(HubTaste, what_everybody_likes_is_found_from_few_rewards) {
  const Graph users = generate::cliques(20, 10);
  auto plain = Bandit::gob_lin(users, {.dimension = 1});
  auto hub = Bandit::gob_lin_hub(users, {.dimension = 1, .ridge = 0.01});
  const std::vector<double> x{1.0};
  for (NodeId user = 0; user < 40; ++user) {  // four of twenty cliques
    plain.update(user, x, 1.0);
    hub.update(user, x, 1.0);
  }
  EXPECT_EQ(plain.mean(199)[0], 0.0);
  EXPECT_GT(hub.mean(199)[0], 0.8);
}

/// A ridge that nobody sets is the policy's usual one, which is small beside a hub.
TEST(HubTaste, the_usual_ridge_is_that_of_the_policy) {
  const Graph users = generate::cliques(2, 5);
  const std::vector<NodeId> clusters(10, 0);
  for (const PolicyInfo& info : policy_table) {
    const std::span<const NodeId> given = info.uses_clusters ? std::span(clusters) : std::span<const NodeId>();
    auto usual = Bandit::make(info.policy, users, given, {.dimension = 1});
    EXPECT_EQ(usual.options().ridge, info.usual_ridge) << info.name;
    auto set = Bandit::make(info.policy, users, given, {.dimension = 1, .ridge = info.usual_ridge});
    auto other = Bandit::make(info.policy, users, given, {.dimension = 1, .ridge = 2.0});
    const std::vector<double> x{1.0};
    for (auto* bandit : {&usual, &set, &other}) bandit->update(0, x, 1.0);
    EXPECT_EQ(usual.mean(0), set.mean(0)) << info.name;
    EXPECT_NE(usual.mean(0), other.mean(0)) << info.name;
    const std::string bytes = usual.to_bytes();
    EXPECT_EQ(Bandit::from_bytes(bytes).options().ridge, info.usual_ridge) << info.name;
    EXPECT_EQ(Bandit::estimate_bytes(info.policy, users, given, {.dimension = 1}),
              Bandit::estimate_bytes(info.policy, users, given, {.dimension = 1, .ridge = 0.5}));
  }
  EXPECT_LT(info_of(Policy::gob_lin_hub).usual_ridge, 1.0);
  EXPECT_EQ(info_of(Policy::gob_lin).usual_ridge, 1.0);
}

TEST(HubTheorem, smoothness_is_that_of_the_best_hub) {
  const Scenario world = small_world();
  const BanditOptions given{.dimension = 2, .ridge = 0.3, .coupling = 1.7, .hub = {.weight = 0.8, .ridge = 0.2}};
  const auto bandit = Bandit::gob_lin_hub(world.graph, given);
  const MatrixXd a = prior_matrix(world.graph, given);
  const MatrixXd without = a.bottomRightCorner(14, 14) - a.col(0).tail(14) * a.row(0).tail(14) / a(0, 0);
  MatrixXd vectors(14, 2);
  std::vector<double> numbers;
  Random random(3);
  for (Index user = 0; user < 14; ++user) {
    for (Index k = 0; k < 2; ++k) numbers.push_back(vectors(user, k) = random.normal());
  }
  EXPECT_NEAR(bandit.smoothness(numbers), (vectors.transpose() * without * vectors).trace(), 1e-9);
}

/// Theorem 1 needs to know how large x^T C_i x can be. Without friends that is what the star says, exactly.
TEST(HubTheorem, prior_precision_is_that_of_the_least_known_user) {
  const Scenario world = small_world();
  for (const double coupling : {0.0, 1.7}) {
    for (const bool many_ridges : {false, true}) {
      BanditOptions given{.dimension = 2, .ridge = 0.01, .coupling = coupling, .hub = {.weight = 0.8, .ridge = 1e-4}};
      for (std::size_t user = 0; many_ridges && user < 14; ++user) {
        given.node_ridges.push_back(0.01 * static_cast<double>(user + 1));
      }
      const auto bandit = Bandit::gob_lin_hub(world.graph, given);
      double largest = 0.0;
      for (NodeId user = 0; user < 14; ++user) largest = std::max(largest, bandit.covariance(user)[0]);
      EXPECT_LE(largest * bandit.prior_precision(), 1.0 + 1e-12);
      if (coupling == 0.0) {
        EXPECT_NEAR(largest * bandit.prior_precision(), 1.0, 1e-9);
      }
    }
  }
}

TEST(HubExplain, contributions_are_of_users) {
  Names names;
  for (const char* name : {"ann", "bob", "zoe"}) names.insert(name);
  auto bandit = Bandit::gob_lin_hub(Graph(names, std::vector<Edge>{{0, 1, 2.0}}), {.dimension = 1, .ridge = 0.01});
  const std::vector<double> x{1.0};
  bandit.update("ann", x, 1.0);
  bandit.update("zoe", x, -0.5);
  const Explanation explained = bandit.explain("bob", x);
  ASSERT_EQ(explained.contributions.size(), 2);
  EXPECT_EQ(explained.contributions[0].user, 0);
  EXPECT_GT(explained.contributions[0].value, 0.0);
  EXPECT_EQ(explained.contributions[1].user, 2);
  EXPECT_LT(explained.contributions[1].value, 0.0);  // over the hub
  EXPECT_NEAR(explained.contributions[0].value + explained.contributions[1].value, bandit.mean("bob")[0], 1e-12);
  ASSERT_EQ(explained.edges.size(), 1);  // friends'; the hub is nobody
  EXPECT_EQ(explained.edges[0].a, 0);
  EXPECT_EQ(explained.edges[0].b, 1);
  EXPECT_EQ(explained.edges[0].weight, 2.0);
  EXPECT_EQ(places_of(explained).size(), 3);
}

template <typename Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(HubRefuses, what_would_take_too_many_digits_in_the_callers_units) {
  const Graph two(2, std::vector<Edge>{{0, 1, 1.0}});
  const auto made = [&](BanditOptions options) {
    options.dimension = 1;
    return refusal([&] { (void)Bandit::gob_lin_hub(two, options); });
  };
  EXPECT_EQ(made({.hub = {.weight = 0.0}}), "hub: 0 (must be above 0 and at most 1e100)");
  EXPECT_EQ(made({.hub = {.ridge = 0.0}}), "hub_ridge: 0 (must be between 1e-100 and 1e100)");
  EXPECT_EQ(made({.hub = {.weight = 1.0, .ridge = 9e-10}}),
            "hub: 1 (must be at most 0.9 beside a hub_ridge of 9e-10, 2 users and the contexts learned)");
  EXPECT_EQ(made({.hub = {.weight = 1.0, .ridge = 1e-9}}), "accepted");
  EXPECT_EQ(made({.ridge = 4e-10, .hub = {.weight = 1.0, .ridge = 1.0}}),
            "hub: 1 (must be at most 0.8 beside a ridge of 4e-10)");
  EXPECT_THAT(made({.ridge = 1.0, .coupling = 4e9, .hub = {.weight = 1.0}}),
              HasSubstr("degree: 1 of user 0 (must be at most 0.5 "));
  EXPECT_EQ(made({.coupling = 0.0, .hub = {.weight = 2.0, .ridge = 2.0}}), "accepted");
  EXPECT_EQ(made({.node_ridges = {1.0, 1.0, 1.0}}),
            "node_ridges: 3 numbers (must be none, or one for each of the 2 nodes)");
  EXPECT_EQ(made({.node_ridges = {1.0, 1.0}}), "accepted");
  // Products beyond any number, and below any.
  EXPECT_THAT(refusal([] {
                const Graph heavy(2, std::vector<Edge>{{0, 1, 1e300}});
                (void)Bandit::gob_lin_hub(heavy, {.dimension = 1, .coupling = 1e100});
              }),
              HasSubstr("degree: 1e+300 of user 0"));
  const Graph light(2, std::vector<Edge>{{0, 1, 1e-300}});
  EXPECT_EQ(refusal([&] { (void)Bandit::gob_lin_hub(light, {.dimension = 1, .coupling = 1e-100}); }), "accepted");
}

TEST(HubRefuses, edges_and_users_that_come_later) {
  Names names;
  for (const char* name : {"ann", "bob", "cat"}) names.insert(name);
  auto bandit =
      Bandit::gob_lin_hub(Graph(names, std::vector<Edge>{{0, 1}}),
                          {.dimension = 1, .ridge = 1.0, .coupling = 2.0, .hub = {.weight = 1.0, .ridge = 1.75e-9}});
  bandit.update("ann", std::vector<double>{1e-6}, 1.0);
  EXPECT_THAT(refusal([&] { bandit.add_edge("bob", "cat", 1e9); }),
              HasSubstr("degree: 1e+09 of user 'bob' (must be at most 1e+09 "));
  EXPECT_EQ(bandit.graph().weight(1, 2), 0.0);
  EXPECT_EQ(refusal([&] { bandit.add_edge("bob", "cat", 9e8); }), "accepted");
  EXPECT_THAT(refusal([&] { bandit.add_user("dan"); }), HasSubstr("hub: 1 (must be at most 0.875 beside"));
  EXPECT_EQ(bandit.user_count(), 3);
  EXPECT_EQ(bandit.node_count(), 4);
  EXPECT_FALSE(bandit.has_user("dan"));
  EXPECT_THAT(refusal([&] { bandit.check_new_user(std::vector<double>{2.0}); }), HasSubstr("context: length 2"));
}

TEST(HubRefuses, to_merge_with_another_hub) {
  const Graph users = generate::cliques(2, 3);
  const BanditOptions options{.dimension = 1};
  auto bandit = Bandit::gob_lin_hub(users, options);
  BanditOptions other = options;
  other.hub.weight = 3.0;
  EXPECT_THAT(refusal([&] { bandit.merge(Bandit::gob_lin_hub(users, other)); }), HasSubstr("other: hub 3 (must"));
  other = options;
  other.hub.ridge = 3.0;
  EXPECT_THAT(refusal([&] { bandit.merge(Bandit::gob_lin_hub(users, other)); }), HasSubstr("other: hub_ridge 3 (must"));
  EXPECT_EQ(refusal([&] { bandit.merge(Bandit::gob_lin_hub(users, options)); }), "accepted");
}

/// With next to no coupling, the bytes are those of the star.
TEST(HubBytes, are_estimated_with_the_hub) {
  const Graph users = generate::random({.nodes = 200, .edges = 400, .seed = 2});
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse}) {
    const BanditOptions options{.dimension = 3, .engine = {.kind = kind}};
    const Scenario world{.name = "bytes", .graph = users, .dimension = 3};
    auto bandit = Bandit::gob_lin_hub(users, options);
    for (std::uint64_t t = 0; t < 300; ++t) {
      const auto round = world.round(t);
      bandit.update(round.user, round.context(0), round.rewards[0]);
    }
    EXPECT_LE(bandit.summary().bytes, Bandit::estimate_bytes(Policy::gob_lin_hub, users, {}, options));
  }
}

}  // namespace hub_test
}  // namespace goblin
