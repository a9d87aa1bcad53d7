// Contexts as long and edges as heavy as they may be: scores stay within 1e-6 of an inverse that is computed with more
// digits, and what is beyond is refused.

#include "goblin/bandit/bandit.hpp"
#include "goblin/random.hpp"

#include <cmath>
#include <tuple>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace {

using ::testing::HasSubstr;
using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

constexpr std::size_t users = 20;
constexpr std::size_t dimension = 4;
constexpr std::size_t arms = 5;
constexpr double alpha = 0.3;

Graph ring(double weight) {
  std::vector<Edge> edges;
  for (NodeId user = 0; user < users; ++user) edges.push_back({user, static_cast<NodeId>((user + 1) % users), weight});
  return {users, edges};
}

Bandit bandit_on_ring(EngineKind kind, double weight, double ridge) {
  return Bandit::gob_lin(ring(weight),
                         {.dimension = dimension, .alpha = alpha, .ridge = ridge, .engine = {.kind = kind}});
}

std::vector<double> contexts_of_length(Random& random, double length) {
  std::vector<double> contexts;
  for (std::size_t arm = 0; arm < arms; ++arm) {
    std::vector<double> x(dimension);
    double squared = 0.0;
    for (double& value : x) {
      value = random.normal();
      squared += value * value;
    }
    for (const double value : x) contexts.push_back(value * length / std::sqrt(squared));
  }
  return contexts;
}

using Case = std::tuple<EngineKind, double, double>;

class LongContexts : public ::testing::TestWithParam<Case> {};

TEST_P(LongContexts, stay_exact) {
  const auto [kind, weight, length] = GetParam();
  constexpr double ridge = 1.0;
  auto bandit = bandit_on_ring(kind, weight, ridge);
  Matrix precision = ridge * Matrix::Identity(users * dimension, users * dimension);
  Vector rewards = Vector::Zero(users * dimension);
  for (const Edge& edge : ring(weight).edges()) {
    for (std::size_t k = 0; k < dimension; ++k) {
      const auto a = static_cast<Eigen::Index>(edge.a * dimension + k);
      const auto b = static_cast<Eigen::Index>(edge.b * dimension + k);
      precision(a, a) += weight;
      precision(b, b) += weight;
      precision(a, b) -= weight;
      precision(b, a) -= weight;
    }
  }
  for (std::size_t t = 0; t < 1000; ++t) {
    Random random(5, 0, t);
    const auto user = static_cast<NodeId>(random.below(users));
    const auto contexts = contexts_of_length(random, length);
    const double reward = random.normal();
    if (t % 50 == 49) {
      const Matrix inverse = precision.llt().solve(Matrix::Identity(precision.rows(), precision.cols()));
      const Vector mean = inverse * rewards;
      for (NodeId each = 0; each < users; ++each) {
        const Decision decision = bandit.select(each, {contexts, dimension});
        for (std::size_t arm = 0; arm < arms; ++arm) {
          Vector x(dimension);
          for (std::size_t k = 0; k < dimension; ++k) x[k] = contexts[arm * dimension + k];
          const auto first = static_cast<Eigen::Index>(each * dimension);
          const auto block = inverse.block(first, first, dimension, dimension);
          const long double variance = x.dot(block * x);
          const auto width = alpha * std::sqrt(static_cast<double>(variance) * std::log(static_cast<double>(t) + 2.0));
          const auto score = static_cast<double>(x.dot(mean.segment(first, dimension))) + width;
          ASSERT_NEAR(decision.widths[arm], width, 1e-6 * width) << "round " << t << ", user " << each;
          ASSERT_NEAR(decision.scores[arm], score, 1e-6 * std::max(1.0, std::abs(score))) << "round " << t;
        }
      }
    }
    const auto x = std::span(contexts).first(dimension);
    for (std::size_t r = 0; r < dimension; ++r) {
      rewards[static_cast<Eigen::Index>(user * dimension + r)] += static_cast<long double>(reward) * x[r];
      for (std::size_t c = 0; c < dimension; ++c) {
        precision(static_cast<Eigen::Index>(user * dimension + r), static_cast<Eigen::Index>(user * dimension + c)) +=
            static_cast<long double>(x[r]) * x[c];
      }
    }
    bandit.update(user, x, reward);
  }
}

/// The longest contexts that sparse admits beside edges of these weights, and some shorter ones. On the ring the degree
/// is twice the weight.
INSTANTIATE_TEST_SUITE_P(sparse, LongContexts,
                         ::testing::Values(Case{EngineKind::sparse, 1.0, 1e3}, Case{EngineKind::sparse, 1.0, 1e4},
                                           Case{EngineKind::sparse, 1.0, 29'999.0}, Case{EngineKind::sparse, 1e4, 100},
                                           Case{EngineKind::sparse, 1e4, 29'999.0},
                                           Case{EngineKind::sparse, 1.6e6, 100},
                                           Case{EngineKind::sparse, 1.6e6, 29'999.0},
                                           Case{EngineKind::sparse, 5e6, 9'999.0}, Case{EngineKind::sparse, 5e7, 999.0},
                                           Case{EngineKind::sparse, 5e8, 99.0}, Case{EngineKind::sparse, 1e9, 1.0},
                                           Case{EngineKind::sparse, 1e9, 49.0}));
INSTANTIATE_TEST_SUITE_P(dense, LongContexts,
                         ::testing::Values(Case{EngineKind::dense, 1.0, 29'999.0},
                                           Case{EngineKind::dense, 1e8, 29'999.0},
                                           Case{EngineKind::dense, 1e9, 29'999.0}));

std::string refusal_of(Bandit& bandit, double length) {
  try {
    bandit.update(0, std::vector<double>{length, 0.0, 0.0, 0.0}, 1.0);
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(bandit.rewards(), 0);
    return error.what();
  }
  return "learned";
}

TEST(LongContexts, beyond_are_refused) {
  for (const double ridge : {1.0, 1e-6}) {
    const double root = std::sqrt(ridge);
    auto sparse = bandit_on_ring(EngineKind::sparse, ridge, ridge);
    EXPECT_THAT(refusal_of(sparse, 30'001.0 * root),
                HasSubstr("beside this ridge and these edges; scale the contexts"));
    auto heavy = bandit_on_ring(EngineKind::sparse, 5e7 * ridge, ridge);
    EXPECT_THAT(refusal_of(heavy, 1001.0 * root), HasSubstr("(must be at most 1"));
    EXPECT_EQ(refusal_of(heavy, 999.0 * root), "learned");
    auto dense = bandit_on_ring(EngineKind::dense, 5e7 * ridge, ridge);
    EXPECT_EQ(refusal_of(dense, 29'999.0 * root), "learned");
  }
}

TEST(LongContexts, and_edges_too_heavy_for_them_are_refused) {
  auto bandit = bandit_on_ring(EngineKind::sparse, 1.0, 1.0);
  bandit.update(0, std::vector<double>{1e4, 0.0, 0.0, 0.0}, 1.0);
  bandit.add_edge(3, 7, 9e6);
  EXPECT_THROW(bandit.add_edge(5, 9, 2e7), std::invalid_argument);
  EXPECT_EQ(bandit.graph().weight(5, 9), 0.0);
  bandit.remove_edge(3, 7);
}

}  // namespace
}  // namespace goblin
