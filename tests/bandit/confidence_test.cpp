#include "goblin/bandit/confidence.hpp"

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"

#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

namespace goblin {
namespace confidence_test {

// One user, d = 2, context (1, 0) seen twice with rewards 1 and 0: N = diag(3, 1), c = (1, 0), so w = (1/3, 0) and
// C = diag(1/3, 1); |M| = 3; two rewards, so t = 3.
Bandit worked_example(const BanditOptions& options) {
  auto bandit = Bandit::gob_lin(Graph(1), options);
  const std::vector<double> x{1.0, 0.0};
  bandit.update(0, x, 1.0);
  bandit.update(0, x, 0.0);
  return bandit;
}

TEST(Confidence, the_experiments_rule_by_hand) {
  const auto bandit = worked_example({.dimension = 2, .alpha = 0.5});
  const std::vector<double> arms{1.0, 0.0, 0.0, 2.0};
  const Decision decision = bandit.select(0, {arms, 2});
  EXPECT_NEAR(decision.means[0], 1.0 / 3.0, 1e-15);
  EXPECT_NEAR(decision.means[1], 0.0, 1e-15);
  EXPECT_NEAR(decision.widths[0], 0.3398889967229363, 1e-14);  // 0.5 sqrt(1/3 ln 4)
  EXPECT_NEAR(decision.widths[1], 1.1774100225154747, 1e-14);  // 0.5 sqrt(4 ln 4)
  EXPECT_EQ(decision.arm, 1);
  EXPECT_NEAR(bandit.log_determinant(), std::log(3.0), 1e-15);
}

TEST(Confidence, the_printed_rule_by_hand) {
  const auto bandit = worked_example(
      {.dimension = 2, .exploration = Exploration::printed_bound({.noise = 0.5, .delta = 0.1, .norm = 2.0})});
  const std::vector<double> arms{1.0, 0.0, 0.0, 2.0};
  const Decision decision = bandit.select(0, {arms, 2});
  EXPECT_NEAR(decision.widths[0], 1.7091431604567404, 1e-14);  // sqrt(1/3) (0.5 sqrt(ln(3 * 4/3 / 0.1)) + 2)
  EXPECT_NEAR(decision.widths[1], 6.238444838296503, 1e-14);   // 2 (0.5 sqrt(ln(3 * 5 / 0.1)) + 2)
}

TEST(Confidence, two_friends_by_hand) {
  // A = [[2, -1], [-1, 2]], A^{-1} = [[2, 1], [1, 2]] / 3. Reward 1 for x = 1 at user 0: q = 2/3, 1 + q = 5/3,
  // u = (2/3, 1/3), w = u / (5/3) = (0.4, 0.2), C_1 = 2/3 - (1/9) / (5/3) = 0.6.
  auto bandit = Bandit::gob_lin(Graph(2, std::vector<Edge>{{0, 1}}), {.dimension = 1, .alpha = 1.0});
  bandit.update(0, std::vector<double>{1.0}, 1.0);
  EXPECT_NEAR(bandit.mean(0)[0], 0.4, 1e-15);
  EXPECT_NEAR(bandit.mean(1)[0], 0.2, 1e-15);
  EXPECT_NEAR(bandit.covariance(0)[0], 0.4, 1e-15);
  EXPECT_NEAR(bandit.covariance(1)[0], 0.6, 1e-15);
  EXPECT_NEAR(bandit.log_determinant(), std::log(5.0 / 3.0), 1e-15);
}

TEST(RegretBound, by_hand) {
  const auto bandit = worked_example({.dimension = 2});
  // 2 sqrt(2 (2 * 0.25 ln(3 / 0.1) + 2 * 5) (1 + 4) ln 3)
  EXPECT_NEAR(bandit.regret_bound({.noise = 0.5, .delta = 0.1, .context_length = 2.0, .smoothness = 5.0}),
              22.675468247884996, 1e-12);
  EXPECT_THROW((void)bandit.regret_bound({.delta = 0.0}), std::invalid_argument);
  EXPECT_THROW((void)bandit.regret_bound({.noise = -1.0}), std::invalid_argument);
  EXPECT_THROW((void)bandit.regret_bound({.smoothness = std::nan("")}), std::invalid_argument);
}

TEST(RegretBound, smoothness_counts_lengths_and_differences) {
  const Graph graph(3, std::vector<Edge>{{0, 1, 2.0}, {1, 2}});
  const BanditOptions options{.dimension = 2, .ridge = 0.5, .coupling = 3.0};
  const std::vector<double> vectors{1.0, 0.0, 0.0, 1.0, 0.0, 1.0};
  // 0.5 (1 + 1 + 1) + 3 (2 * 2 + 0)
  EXPECT_DOUBLE_EQ(Bandit::gob_lin(graph, options).smoothness(vectors), 13.5);
  EXPECT_DOUBLE_EQ(Bandit::linucb_ind(graph, options).smoothness(vectors), 1.5);
  EXPECT_THROW((void)Bandit::linucb_sin(graph, options).smoothness(vectors), std::invalid_argument);
  const std::vector<NodeId> clusters{0, 1, 1};
  EXPECT_DOUBLE_EQ(Bandit::gob_lin_macro(graph, clusters, options).smoothness(vectors), 0.5 * 2.0 + 3.0 * 2.0 * 2.0);
  EXPECT_THROW((void)Bandit::gob_lin(graph, options).smoothness(std::span(vectors).first(4)), std::invalid_argument);
}

// Theorem 1 in worlds whose vectors are known: cliques that share a vector, uniform noise. With delta = 0.1 the bound
// may fail in one world of ten; here it must hold in all of these. The bound is far above the regret, so what it rests
// on is held too: every mean is within its width of the truth, and the bandit's regret is far below the worst one.
TEST(RegretBound, holds_in_simulated_linear_worlds) {
  constexpr std::size_t dimension = 4;
  constexpr std::size_t arms = 6;
  const Graph graph = generate::cliques(3, 5);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random setup(seed);
    std::vector<double> vectors(graph.node_count() * dimension);
    for (std::size_t clique = 0; clique < 3; ++clique) {
      std::vector<double> vector(dimension);
      double length = 0.0;
      for (double& value : vector) {
        value = setup.normal();
        length += value * value;
      }
      for (std::size_t user = 5 * clique; user < 5 * (clique + 1); ++user) {
        for (std::size_t k = 0; k < dimension; ++k) vectors[user * dimension + k] = vector[k] / std::sqrt(length);
      }
    }
    const double noise = 0.3;
    auto bandit = Bandit::gob_lin(graph, {.dimension = dimension});
    const double smoothness = bandit.smoothness(vectors);
    EXPECT_NEAR(smoothness, 15.0, 1e-9);  // equal vectors within a clique: the lengths alone
    bandit = Bandit::gob_lin(
        graph,
        {.dimension = dimension,
         .exploration = Exploration::printed_bound({.noise = noise, .delta = 0.1, .norm = std::sqrt(smoothness)})});
    double regret = 0.0;
    double worst_regret = 0.0;
    for (std::uint64_t t = 0; t < 400; ++t) {
      Random random(seed, 1, t);
      const auto user = static_cast<NodeId>(random.below(graph.node_count()));
      std::vector<double> contexts(arms * dimension);
      std::vector<double> payoffs(arms, 0.0);
      for (std::size_t arm = 0; arm < arms; ++arm) {
        for (std::size_t k = 0; k < dimension; ++k) {
          const double x = random.uniform(-0.5, 0.5);
          contexts[arm * dimension + k] = x;
          payoffs[arm] += x * vectors[user * dimension + k];
        }
      }
      const Decision decision = bandit.select(user, {contexts, dimension});
      const std::size_t arm = decision.arm;
      for (std::size_t k = 0; k < arms; ++k) {
        ASSERT_LE(std::abs(decision.means[k] - payoffs[k]), decision.widths[k]) << "seed " << seed << ", round " << t;
      }
      const auto [worst, best] = std::minmax_element(payoffs.begin(), payoffs.end());
      regret += *best - payoffs[arm];
      worst_regret += *best - *worst;
      bandit.update(user, std::span(contexts).subspan(arm * dimension, dimension),
                    payoffs[arm] + random.uniform(-noise, noise));
      const double bound =
          bandit.regret_bound({.noise = noise, .delta = 0.1, .context_length = 1.0, .smoothness = smoothness});
      ASSERT_LE(regret, bound) << "seed " << seed << ", round " << t;
    }
    EXPECT_LT(regret, 0.5 * worst_regret);
  }
}

}  // namespace confidence_test
}  // namespace goblin
