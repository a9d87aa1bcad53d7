// gob.lin with the normalized Laplacian, against its formula computed plainly.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/bandit/shared_bandit.hpp"
#include "goblin/error.hpp"
#include "oracle/inverse.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace normalized_test {

using Eigen::Index;
using oracle::Matrix;
using oracle::Vector;
using ::testing::HasSubstr;

/// N = A (x) I_d + the evidence, A = ridge I + coupling (I - D^(-1/2) W D^(-1/2)), all of it. A user without friends
/// has ridge alone.
class Plain {
 public:
  Plain(const Graph& graph, const BanditOptions& options) : d_(static_cast<Index>(options.dimension)) {
    const auto n = static_cast<Index>(graph.node_count());
    prior_ = Matrix::Zero(n, n);
    for (Index i = 0; i < n; ++i) {
      prior_(i, i) =
          options.node_ridges.empty() ? options.ridge.value_or(1.0) : options.node_ridges[static_cast<std::size_t>(i)];
      if (graph.degree(i) > 0.0) prior_(i, i) += options.coupling;
    }
    for (const Edge& edge : graph.edges()) {
      const long double share =
          edge.weight / std::sqrt(static_cast<long double>(graph.degree(edge.a)) * graph.degree(edge.b));
      prior_(edge.a, edge.b) = prior_(edge.b, edge.a) = -options.coupling * share;
    }
    precision_ = Matrix::Zero(n * d_, n * d_);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) precision_.block(i * d_, j * d_, d_, d_).diagonal().setConstant(prior_(i, j));
    }
    rewards_ = Vector::Zero(n * d_);
  }

  void update(NodeId user, std::span<const double> context, double reward) {
    Vector x(d_);
    for (Index k = 0; k < d_; ++k) x[k] = context[static_cast<std::size_t>(k)];
    precision_.block(user * d_, user * d_, d_, d_) += x * x.transpose();
    rewards_.segment(user * d_, d_) += reward * x;
  }

  struct Belief {
    Vector means;
    Matrix inverse;
    double log_determinant;
  };
  [[nodiscard]] Belief belief() const {
    const Matrix inverse = oracle::inverse_of(precision_);
    return {inverse * rewards_, inverse,
            static_cast<double>(oracle::log_determinant_of(precision_) -
                                static_cast<long double>(d_) * oracle::log_determinant_of(prior_))};
  }

  [[nodiscard]] const Matrix& prior() const { return prior_; }

 private:
  Index d_;
  Matrix prior_;
  Matrix precision_;
  Vector rewards_;
};

void expect_same(const Bandit& bandit, const Plain& plain, double tolerance) {
  const auto d = static_cast<Index>(bandit.options().dimension);
  const Plain::Belief expected = plain.belief();
  for (NodeId user = 0; user < bandit.user_count(); ++user) {
    const auto mean = bandit.mean(user);
    const auto covariance = bandit.covariance(user);
    const Matrix block = expected.inverse.block(user * d, user * d, d, d);
    const auto scale = static_cast<double>(block.cwiseAbs().maxCoeff());
    for (Index k = 0; k < d; ++k) {
      EXPECT_NEAR(mean[static_cast<std::size_t>(k)], static_cast<double>(expected.means[user * d + k]), tolerance);
    }
    for (Index k = 0; k < d * d; ++k) {
      EXPECT_NEAR(covariance[static_cast<std::size_t>(k)], static_cast<double>(block.data()[k]), tolerance * scale);
    }
  }
  EXPECT_GE(bandit.log_determinant(), expected.log_determinant - tolerance);
  EXPECT_LE(bandit.log_determinant(), expected.log_determinant + bandit.log_determinant_error() + tolerance);
}

void expect_same(const Bandit& a, const Bandit& b, double tolerance) {
  ASSERT_EQ(a.user_count(), b.user_count());
  for (NodeId user = 0; user < a.user_count(); ++user) {
    const auto means = std::pair(a.mean(user), b.mean(user));
    const auto covariances = std::pair(a.covariance(user), b.covariance(user));
    for (std::size_t k = 0; k < means.first.size(); ++k) EXPECT_NEAR(means.first[k], means.second[k], tolerance);
    for (std::size_t k = 0; k < covariances.first.size(); ++k) {
      EXPECT_NEAR(covariances.first[k], covariances.second[k], tolerance);
    }
  }
  const double errors = a.log_determinant_error() + b.log_determinant_error();
  EXPECT_NEAR(a.log_determinant(), b.log_determinant(), tolerance + errors);
  EXPECT_EQ(a.rewards(), b.rewards());
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

class Normalized : public ::testing::TestWithParam<EngineKind> {
 protected:
  [[nodiscard]] BanditOptions options(std::size_t dimension) const {
    return {.dimension = dimension,
            .alpha = 0.4,
            .ridge = 0.6,
            .coupling = 1.7,
            .laplacian = Laplacian::normalized,
            .engine = {.kind = GetParam(),
                       .tolerance = 1e-12,
                       .local = {.tolerance = 1e-12, .most_edges = 1'000'000},
                       .threads = 2}};
  }
  static void learn(auto& bandit, const Scenario& scenario, std::size_t from, std::size_t to) {
    for (std::size_t t = from; t < to; ++t) {
      const auto round = scenario.round(t);
      bandit.update(round.user, round.context(0), round.rewards[0]);
    }
  }
  Scenario scenario{
      .name = "normalized",
      .graph = generate::random({.nodes = 12, .edges = 20, .lowest_weight = 0.1, .highest_weight = 5.0, .seed = 5}),
      .dimension = 3,
      .arms = 5};
};

TEST_P(Normalized, is_its_formula) {
  for (const Scenario& world : scenarios()) {
    SCOPED_TRACE(world.name);
    BanditOptions given = options(world.dimension);
    for (const bool own_ridges : {false, true}) {
      for (NodeId user = 0; own_ridges && user < world.graph.node_count(); ++user) {
        given.node_ridges.push_back(0.05 + 0.3 * (user % 4));
      }
      auto bandit = Bandit::gob_lin(world.graph, given);
      Plain plain(world.graph, given);
      expect_same(bandit, plain, 1e-9);
      learn(bandit, world, 0, 60);
      learn(plain, world, 0, 60);
      expect_same(bandit, plain, 1e-8);
      const auto expected = plain.belief();
      const auto d = static_cast<Index>(world.dimension);
      for (std::size_t t = 60; t < 70; ++t) {
        const auto round = world.round(t);
        const Decision decision = bandit.select(round.user, {round.contexts, world.dimension});
        for (std::size_t arm = 0; arm < world.arms; ++arm) {
          Vector x(d);
          for (Index k = 0; k < d; ++k) x[k] = round.context(arm)[static_cast<std::size_t>(k)];
          const auto mean = static_cast<double>(x.dot(expected.means.segment(round.user * d, d)));
          const auto variance =
              static_cast<double>(x.dot(expected.inverse.block(round.user * d, round.user * d, d, d) * x));
          EXPECT_NEAR(decision.means[arm], mean, 1e-8);
          EXPECT_NEAR(decision.widths[arm], 0.4 * std::sqrt(variance * std::log(62.0)), 1e-7);
        }
      }
    }
  }
}

TEST_P(Normalized, a_batch_is_its_rewards_one_by_one) {
  for (const std::size_t count : {2U, 30U, 400U}) {
    auto bandit = Bandit::gob_lin(scenario.graph, options(3));
    Plain plain(scenario.graph, options(3));
    std::vector<Scenario::Round> rounds;
    std::vector<Observation> batch;
    for (std::size_t t = 0; t < count; ++t) rounds.push_back(scenario.round(t));
    for (const auto& round : rounds) batch.push_back({round.user, round.context(0), round.rewards[0]});
    bandit.update(batch);
    learn(plain, scenario, 0, count);
    expect_same(bandit, plain, 1e-8);
  }
}

TEST_P(Normalized, evidence_is_what_users_saw) {
  auto bandit = Bandit::gob_lin(scenario.graph, options(3));
  auto combinatorial_options = options(3);
  combinatorial_options.laplacian = Laplacian::combinatorial;
  auto combinatorial = Bandit::gob_lin(scenario.graph, combinatorial_options);
  learn(bandit, scenario, 0, 40);
  learn(combinatorial, scenario, 0, 40);
  bandit.add_edge(0, 7, 3.0);
  for (NodeId user = 0; user < bandit.user_count(); ++user) {
    EXPECT_TRUE(std::ranges::equal(bandit.evidence(user).contexts, combinatorial.evidence(user).contexts));
    EXPECT_TRUE(std::ranges::equal(bandit.evidence(user).rewards, combinatorial.evidence(user).rewards));
    EXPECT_EQ(bandit.evidence(user).count, combinatorial.evidence(user).count);
  }
}

TEST_P(Normalized, edges_change_it_to_what_it_would_always_have_been) {
  BanditOptions given = options(3);
  for (NodeId user = 0; user < 12; ++user) given.node_ridges.push_back(0.2 + 0.1 * user);
  auto bandit = Bandit::gob_lin(Graph(12), given);
  auto edges = std::vector<Edge>{};
  std::size_t t = 0;
  const auto check = [&](const char* what) {
    SCOPED_TRACE(what);
    const Graph graph(bandit.user_count(), edges);
    BanditOptions as_many = given;
    while (as_many.node_ridges.size() < graph.node_count()) as_many.node_ridges.push_back(given.ridge.value_or(1.0));
    auto always = Bandit::gob_lin(graph, as_many);
    Plain plain(graph, as_many);
    learn(always, scenario, 0, t);
    learn(plain, scenario, 0, t);
    expect_same(bandit, always, 1e-8);
    expect_same(bandit, plain, 1e-8);
    EXPECT_EQ(bandit.summary().components.size(), always.summary().components.size());
    EXPECT_EQ(bandit.summary().edges, always.summary().edges);
  };
  for (const Edge& edge : scenario.graph.edges()) {  // joined, one after the other
    bandit.add_edge(edge.a, edge.b, edge.weight);
    edges.push_back(edge);
    learn(bandit, scenario, t, t + 3);
    t += 3;
  }
  check("joined");
  while (edges.size() > 5) {  // and fallen apart
    bandit.remove_edge(edges.back().a, edges.back().b);
    edges.pop_back();
  }
  learn(bandit, scenario, t, t + 3);
  t += 3;
  check("fallen apart");
  const NodeId added = bandit.add_user();
  bandit.add_edge(added, 3, 0.25);
  edges.push_back({3, added, 0.25});
  check("a user who joined");
  std::vector<EdgeChange> changes{{0, 11, 2.0}, {1, 2, 4.0}, {0, 11, 1.0}, {added, 3, 0.0}};
  bandit.update_edges(changes);
  edges.pop_back();
  edges.push_back({0, 11, 3.0});
  edges.push_back({1, 2, 4.0});
  check("many at once");
  bandit.rebuild();
  check("rebuilt");
}

TEST_P(Normalized, halves_are_merged_and_files_go_on) {
  auto first = Bandit::gob_lin(scenario.graph, options(3));
  auto second = first;
  learn(first, scenario, 0, 30);
  learn(second, scenario, 30, 60);
  first.merge(second);
  Plain plain(scenario.graph, options(3));
  learn(plain, scenario, 0, 60);
  expect_same(first, plain, 1e-8);

  const std::string bytes = first.to_bytes();
  auto loaded = Bandit::from_bytes(bytes);
  EXPECT_EQ(loaded.options().laplacian, Laplacian::normalized);
  expect_same(first, loaded, 0.0);
  for (Bandit* bandit : {&first, &loaded}) {
    bandit->add_edge(0, 5, 0.5);
    learn(*bandit, scenario, 60, 70);
  }
  expect_same(first, loaded, 0.0);

  // The graph of both was made in different orders, and is the same.
  auto edges = scenario.graph.edges();
  std::reverse(edges.begin(), edges.end());
  auto live = Bandit::gob_lin(Graph(12), options(3));
  for (const Edge& edge : edges) live.add_edge(edge.b, edge.a, edge.weight);
  learn(live, scenario, 0, 20);
  second.merge(live);
  EXPECT_EQ(second.rewards(), 50);

  auto combinatorial = options(3);
  combinatorial.laplacian = Laplacian::combinatorial;
  EXPECT_THAT(message_of([&] { second.merge(Bandit::gob_lin(scenario.graph, combinatorial)); }),
              HasSubstr("other: laplacian combinatorial (must be normalized, as here)"));
}

TEST_P(Normalized, contributions_add_up_to_the_mean) {
  auto bandit = Bandit::gob_lin(scenario.graph, options(3));
  learn(bandit, scenario, 0, 80);
  for (std::size_t t = 80; t < 90; ++t) {
    const auto round = scenario.round(t);
    const Explanation explained = bandit.explain(round.user, round.context(0), 100);
    const Decision decision = bandit.select(round.user, {round.contexts, 3});
    double sum = explained.rest;
    for (const Contribution& one : explained.contributions) sum += one.value;
    EXPECT_NEAR(sum, explained.mean, 1e-9 + explained.unexplained);
    EXPECT_NEAR(explained.mean, decision.means[0], 1e-8 + explained.unexplained + decision.bounds[0]);
    EXPECT_NEAR(explained.width, decision.widths[0], 1e-7);
    const auto& shares = explained.width_shares;
    EXPECT_NEAR(shares.own + shares.others + shares.prior + shares.unexplained, 1.0, 1e-9);
  }
  // One number, one friend each: what a user's rewards said is what is left when they are not there.
  auto pair = Bandit::gob_lin(Graph(2, std::vector<Edge>{{0, 1, 4.0}}), options(1));
  pair.update(0, std::vector<double>{2.0}, 1.0);
  EXPECT_NEAR(pair.explain(1, std::vector<double>{3.0}).contributions[0].value, 3.0 * pair.mean(1)[0], 1e-9);
}

TEST_P(Normalized, thompson_draws_with_the_users_covariance) {
  auto bandit = Bandit::gob_lin(scenario.graph, options(3));
  learn(bandit, scenario, 0, 40);
  bandit.set_exploration(exploration_named("thompson:0.5"));
  const auto round = scenario.round(50);
  const Decision decision = bandit.select(round.user, {round.contexts, 3}, {}, Draw{});
  const auto covariance = bandit.covariance(round.user);
  for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
    double variance = 0.0;
    for (std::size_t k = 0; k < 9; ++k)
      variance += covariance[k] * round.context(arm)[k / 3] * round.context(arm)[k % 3];
    EXPECT_NEAR(decision.widths[arm], 0.5 * std::sqrt(variance), 1e-8);
  }
}

/// A star: the centre has a thousand times the degree of a leaf.
TEST_P(Normalized, contexts_may_be_as_long_as_is_said_and_no_longer) {
  std::vector<Edge> edges;
  for (NodeId leaf = 1; leaf <= 40; ++leaf) edges.push_back({0, leaf});
  const Graph star(41, edges);
  BanditOptions given = options(2);
  given.ridge = 1e-3;
  given.coupling = 1.0;
  auto bandit = Bandit::gob_lin(star, given);
  for (const NodeId user : {NodeId{0}, NodeId{7}}) {
    const double longest = 30'000 * std::sqrt(*given.ridge) / std::sqrt(star.degree(user));
    bandit.check(user, std::vector<double>{longest * 0.999999, 0.0}, 1.0);
    EXPECT_THAT(message_of([&] {
                  bandit.check(user, std::vector<double>{longest * 1.001, 0.0}, 1.0);
                }),
                HasSubstr("context: length"));
    EXPECT_THAT(message_of([&] {
                  bandit.check(user, std::vector<double>{longest * 1.001, 0.0}, 1.0);
                }),
                HasSubstr(fmt::format("(must be at most {:g}", longest)));
  }
  const double at_hub = 0.999 * 30'000 * std::sqrt(*given.ridge / 40.0);
  const double at_leaf = 0.999 * 30'000 * std::sqrt(*given.ridge);
  Plain plain(star, given);
  Random random(3, 0, 0);
  for (int t = 0; t < 12; ++t) {
    const double angle = 0.3 * t;
    const NodeId user = t % 3 == 0 ? 0 : static_cast<NodeId>(t);
    const double length = user == 0 ? at_hub : t % 2 == 0 ? at_leaf : 1.0;
    const std::vector<double> x{length * std::cos(angle), length * std::sin(angle)};
    const double reward = random.normal();
    bandit.update(user, x, reward);
    plain.update(user, x, reward);
  }
  if (GetParam() == EngineKind::local) return;  // whose tolerance is one of scores, not of covariances
  const Plain::Belief expected = plain.belief();
  for (NodeId user = 0; user < 41; ++user) {
    const auto covariance = bandit.covariance(user);
    const auto mean = bandit.mean(user);
    for (Index k = 0; k < 2; ++k) {
      const auto exact = static_cast<double>(expected.inverse(2 * user + k, 2 * user + k));
      EXPECT_NEAR(covariance[static_cast<std::size_t>(3 * k)], exact, 1e-6 * exact + 1e-12) << user;
      const auto exact_mean = static_cast<double>(expected.means[2 * user + k]);
      EXPECT_NEAR(mean[static_cast<std::size_t>(k)], exact_mean, 1e-6 * std::sqrt(exact)) << user;
    }
  }
}

TEST_P(Normalized, what_stops_an_edge_half_way_leaves_everything_as_it_was) {
  auto bandit = Bandit::gob_lin(scenario.graph, options(3));
  learn(bandit, scenario, 0, 60);
  const Bandit before(bandit);
  std::size_t told = 0;
  const auto count = [&](double) { ++told; };
  bandit.set_progress(count);
  Bandit(bandit).add_edge(0, 6, 2.0);
  const std::size_t all = told;
  for (std::size_t stop = 1; stop <= all; ++stop) {
    told = 0;
    bandit.set_progress([&](double) {
      if (++told == stop) throw std::runtime_error("enough");
    });
    EXPECT_THROW(bandit.add_edge(0, 6, 2.0), std::runtime_error);
    expect_same(bandit, before, 0.0);
    EXPECT_EQ(bandit.graph().weight(0, 6), before.graph().weight(0, 6));
  }
  bandit.set_progress({});
  learn(bandit, scenario, 60, 65);
  bandit.add_edge(0, 6, 2.0);
  Bandit other(before);
  other.set_progress({});
  learn(other, scenario, 60, 65);
  other.add_edge(0, 6, 2.0);
  expect_same(bandit, other, 0.0);
}

TEST_P(Normalized, smoothness_is_that_of_the_users_vectors) {
  auto bandit = Bandit::gob_lin(scenario.graph, options(3));
  const Plain plain(scenario.graph, options(3));
  Random random(4, 0, 0);
  std::vector<double> vectors(36);
  for (double& value : vectors) value = random.normal();
  double expected = 0.0;
  for (Index i = 0; i < 12; ++i) {
    for (Index j = 0; j < 12; ++j) {
      for (Index k = 0; k < 3; ++k) {
        expected += static_cast<double>(plain.prior()(i, j)) * vectors[static_cast<std::size_t>(3 * i + k)] *
                    vectors[static_cast<std::size_t>(3 * j + k)];
      }
    }
  }
  EXPECT_NEAR(bandit.smoothness(vectors), expected, 1e-9);
}

TEST_P(Normalized, decides_while_edges_change) {
  SharedBandit shared(Bandit::gob_lin(scenario.graph, options(3)));
  auto expected = Bandit::gob_lin(scenario.graph, options(3));
  std::atomic<bool> stop = false;
  std::atomic<std::size_t> decisions = 0;
  std::thread reader([&] {
    for (std::size_t t = 0; !stop; ++t) {
      const auto round = scenario.round(t % 50);
      const Decision decision = shared.select(round.user, {round.contexts, 3});
      for (const double score : decision.scores) EXPECT_TRUE(std::isfinite(score));
      (void)shared.mean(round.user);
      ++decisions;
    }
  });
  for (std::size_t t = 0; t < 40 || decisions < 20; ++t) {
    const auto round = scenario.round(t);
    shared.update(round.user, round.context(0), round.rewards[0]);
    expected.update(round.user, round.context(0), round.rewards[0]);
    if (t % 4 != 0) continue;
    const NodeId a = static_cast<NodeId>(t / 4 % 12);
    shared.add_edge(a, (a + 5) % 12, 0.5);
    expected.add_edge(a, (a + 5) % 12, 0.5);
  }
  stop = true;
  reader.join();
  expect_same(shared.snapshot(), expected, 1e-8);
}

/// The belief is that of the rewards that are left, or of all with their weights.
TEST_P(Normalized, forgets) {
  constexpr std::size_t count = 90;
  for (const Forgetting& forgetting : {Forgetting{.window = 25}, Forgetting{.discount = 0.8}}) {
    SCOPED_TRACE(forgetting.window);
    BanditOptions given = options(3);
    given.forgetting = forgetting;
    auto bandit = Bandit::gob_lin(scenario.graph, given);
    for (std::size_t t = 0; t < 40; ++t) {
      const auto round = scenario.round(t);
      bandit.update(round.user, round.context(0), round.rewards[0]);
    }
    std::vector<Scenario::Round> rounds;
    std::vector<Observation> batch;
    for (std::size_t t = 40; t < count; ++t) rounds.push_back(scenario.round(t));
    for (const auto& round : rounds) batch.push_back({round.user, round.context(0), round.rewards[0]});
    bandit.update(std::span(batch).first(8));
    bandit.update(std::span(batch).subspan(8));
    bandit.add_edge(0, 7, 1.5);
    bandit = Bandit::from_bytes(bandit.to_bytes());

    given.forgetting = {};
    auto expected = Bandit::gob_lin(scenario.graph, given);
    expected.add_edge(0, 7, 1.5);
    std::vector<double> weights(scenario.graph.node_count(), 1.0);  // of a user's next older reward
    for (std::size_t t = count; t-- > 0;) {
      const auto round = scenario.round(t);
      double weight = forgetting.window == 0 || count - t <= forgetting.window ? 1.0 : 0.0;
      if (forgetting.window == 0) weight = std::exchange(weights[round.user], 0.8 * weights[round.user]);
      std::vector<double> x(round.context(0).begin(), round.context(0).end());
      for (double& value : x) value *= std::sqrt(weight);
      expected.update(round.user, x, std::sqrt(weight) * round.rewards[0]);
    }
    expect_same(bandit, expected, 1e-8);
  }
}

INSTANTIATE_TEST_SUITE_P(all, Normalized, ::testing::Values(EngineKind::dense, EngineKind::sparse, EngineKind::local),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST(NormalizedLaplacian, says_what_is_wrong) {
  const Graph pair(2, std::vector<Edge>{{0, 1}});
  for (const Policy policy : all_policies) {
    if (policy == Policy::gob_lin) continue;
    const std::vector<NodeId> clusters(uses_clusters(policy) ? 2 : 0, 0);
    const BanditOptions options{.dimension = 1, .laplacian = Laplacian::normalized};
    EXPECT_THAT(message_of([&] { (void)Bandit::make(policy, pair, clusters, options); }),
                HasSubstr("laplacian: normalized (must be combinatorial for " + std::string(name_of(policy)) + ")"));
  }
  BanditOptions options{.dimension = 1, .laplacian = Laplacian::normalized};
  options.coupling = 3e9;
  EXPECT_THAT(message_of([&] { (void)Bandit::gob_lin(pair, options); }),
              HasSubstr("coupling: 3e+09 (must be at most 2e+09 beside this ridge)"));
  options.coupling = 1.0;
  const Graph heavy(2, std::vector<Edge>{{0, 1, 1e120}});
  EXPECT_THAT(message_of([&] { (void)Bandit::gob_lin(heavy, options); }),
              HasSubstr("degree: 1e+120 of node 0 (must be between 1e-100 and 1e+100 beside this ridge"));
  auto bandit = Bandit::gob_lin(pair, options);
  EXPECT_THAT(message_of([&] { bandit.add_edge(0, 1, 1e120); }), HasSubstr("degree: 1e+120 of node 0"));
  EXPECT_EQ(bandit.graph().weight(0, 1), 1.0);
  // Heavy edges are no heavier than others here.
  bandit.add_edge(0, 1, 1e60);
  bandit.update(0, std::vector<double>{1.0}, 1.0);
  EXPECT_NEAR(bandit.mean(1)[0] / bandit.mean(0)[0], 0.5, 1e-12);
}

TEST(NormalizedLaplacian, an_edge_that_does_not_fit_is_refused) {
  const Scenario scenario{.name = "tight", .graph = Graph(30), .dimension = 4};
  BanditOptions options{.dimension = 4, .laplacian = Laplacian::normalized};
  options.engine.kind = EngineKind::dense;
  auto bandit = Bandit::gob_lin(scenario.graph, options);
  std::vector<EdgeChange> all;
  for (NodeId user = 0; user < 29; ++user) all.push_back({user, user + 1});
  options.engine.memory_limit = bandit.summary().bytes + 60'000;
  auto tight = Bandit::gob_lin(scenario.graph, options);
  EXPECT_THROW(tight.update_edges(all), CapacityError);
  EXPECT_EQ(tight.graph().edge_count(), 0);
  EXPECT_EQ(tight.summary().components.size(), 30);
  bandit.update_edges(all);
  EXPECT_EQ(bandit.summary().components.size(), 1);
  EXPECT_GE(Bandit::estimate_bytes(Policy::gob_lin, bandit.graph(), {}, bandit.options()),
            Bandit::estimate_bytes(Policy::gob_lin, bandit.graph(), {}, {.dimension = 4, .engine = options.engine}));
}

/// In a star, the combinatorial Laplacian holds the centre by each of its friends; here they hold it as one would.
TEST(NormalizedLaplacian, friends_count_by_their_share) {
  std::vector<Edge> edges;
  for (NodeId leaf = 1; leaf <= 9; ++leaf) edges.push_back({0, leaf});
  const Graph star(10, edges);
  EXPECT_NEAR(Bandit::gob_lin(star, {.dimension = 1}).covariance(0)[0], 2.0 / 11.0, 1e-12);
  const auto normalized = Bandit::gob_lin(star, {.dimension = 1, .laplacian = Laplacian::normalized});
  EXPECT_NEAR(normalized.covariance(0)[0], 2.0 / 3.0, 1e-12);
  EXPECT_NEAR(normalized.covariance(1)[0], 14.0 / 27.0, 1e-12);
}

}  // namespace normalized_test
}  // namespace goblin
