// Contexts as long and edges as heavy as they may be: scores stay within 1e-6 of an inverse that is computed with more
// digits, and what is beyond is refused.

#include "goblin/bandit/bandit.hpp"
#include "goblin/random.hpp"
#include "oracle/inverse.hpp"

#include <cmath>
#include <tuple>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace long_contexts_test {

using oracle::Matrix;
using oracle::Vector;
using ::testing::HasSubstr;

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
      const Matrix inverse = oracle::inverse_of(precision);
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

/// A reward, for an inverse with more digits.
struct Learned {
  NodeId user;
  std::vector<double> context;
  double reward;
};

/// Scores and widths of contexts of that length, compared with the inverse for what was learned.
void expect_exact(const Bandit& bandit, std::span<const Learned> learned, double length) {
  const auto d = static_cast<Eigen::Index>(dimension);
  const auto n = static_cast<Eigen::Index>(bandit.user_count());
  Matrix precision = Matrix::Zero(n * d, n * d);
  Vector rewards = Vector::Zero(n * d);
  for (Eigen::Index user = 0; user < n; ++user) {
    precision.diagonal().segment(user * d, d).setConstant(bandit.options().node_ridges[static_cast<std::size_t>(user)]);
  }
  for (const Edge& edge : bandit.graph().edges()) {
    for (Eigen::Index k = 0; k < d; ++k) {
      const Eigen::Index a = edge.a * d + k;
      const Eigen::Index b = edge.b * d + k;
      precision(a, a) += edge.weight;
      precision(b, b) += edge.weight;
      precision(a, b) -= edge.weight;
      precision(b, a) -= edge.weight;
    }
  }
  for (const Learned& one : learned) {
    const Vector x = Eigen::Map<const Eigen::VectorXd>(one.context.data(), d).cast<long double>();
    precision.block(one.user * d, one.user * d, d, d) += x * x.transpose();
    rewards.segment(one.user * d, d) += static_cast<long double>(one.reward) * x;
  }
  // Ridges differ by many digits: with a diagonal of ones none of them is lost.
  const Vector root = precision.diagonal().cwiseSqrt().cwiseInverse();
  const Matrix scaled = root.asDiagonal() * precision * root.asDiagonal();
  const Matrix inverse = root.asDiagonal() * oracle::inverse_of(scaled) * root.asDiagonal();
  const Vector mean = inverse * rewards;
  for (NodeId user = 0; user < bandit.user_count(); ++user) {
    Random random(7, 0, user);
    const auto contexts = contexts_of_length(random, length);
    const Decision decision = bandit.select(user, {contexts, dimension});
    const Eigen::Index first = user * d;
    for (std::size_t arm = 0; arm < arms; ++arm) {
      const Vector x = Eigen::Map<const Eigen::VectorXd>(contexts.data() + arm * dimension, d).cast<long double>();
      const auto variance = static_cast<double>(x.dot(inverse.block(first, first, d, d) * x));
      const double width = alpha * std::sqrt(variance * std::log(static_cast<double>(bandit.rewards()) + 2.0));
      const auto score = static_cast<double>(x.dot(mean.segment(first, d))) + width;
      ASSERT_NEAR(decision.widths[arm], width, 1e-6 * width + decision.bounds[arm]) << "user " << user;
      ASSERT_NEAR(decision.scores[arm], score, 1e-6 * std::max(1.0, std::abs(score)) + decision.bounds[arm])
          << "user " << user;
    }
  }
}

struct Join {
  EngineKind kind;
  double small;   // ridge of the other ten
  double weight;  // of the edges that join them to the first ten, times that ridge
};

class LongContextsBeforeAJoin : public ::testing::TestWithParam<Join> {};

/// The longest contexts beside a ridge of 1 are learned before an edge joins users with a far smaller ridge, beside
/// which they would be refused. Nothing is lost: how many digits a context takes is up to the ridge of its own node.
/// Only with a window sparse may have to solve for such a context again, to forget it, and refuses the edge.
TEST_P(LongContextsBeforeAJoin, are_not_in_the_way) {
  const auto [kind, small, weight] = GetParam();
  for (const Forgetting& forgetting : {Forgetting{}, Forgetting{.window = 250}, Forgetting{.discount = 0.8}}) {
    SCOPED_TRACE(forgetting.window);
    SCOPED_TRACE(forgetting.discount);
    std::vector<Edge> edges;
    BanditOptions options{.dimension = dimension, .alpha = alpha, .forgetting = forgetting};
    options.engine.kind = kind;
    for (NodeId user = 0; user < users; ++user) {
      const bool is_first = user < 10;
      edges.push_back({user, static_cast<NodeId>((user + 1) % 10 + (is_first ? 0 : 10)), is_first ? 1.0 : small});
      options.node_ridges.push_back(is_first ? 1.0 : small);
    }
    auto bandit = Bandit::gob_lin(Graph(users, edges), options);
    std::vector<Learned> learned;
    const auto learn = [&](std::size_t count, std::size_t batch, double of_first, double of_second) {
      const std::size_t before = learned.size();
      for (std::size_t k = 0; k < count; ++k) {
        Random random(5, 0, learned.size());
        const auto user = static_cast<NodeId>(random.below(users));
        auto context = contexts_of_length(random, user < 10 ? of_first : of_second);
        context.resize(dimension);
        learned.push_back({user, context, random.normal()});
      }
      std::vector<Observation> some;
      for (std::size_t k = before; k < learned.size(); ++k) {
        some.push_back({learned[k].user, learned[k].context, learned[k].reward});
        if (some.size() < batch) continue;
        bandit.update(some);
        some.clear();
      }
    };
    // What counts, a reward that counts less as a shorter context.
    const auto that_count = [&] {
      if (forgetting.window > 0) return std::vector<Learned>(learned.end() - 250, learned.end());
      std::vector<Learned> result = learned;
      std::vector<double> roots(users, 1.0);
      for (auto one = result.rbegin(); one != result.rend(); ++one) {
        for (double& value : one->context) value *= roots[one->user];
        one->reward *= roots[one->user];
        roots[one->user] *= std::sqrt(forgetting.discount);
      }
      return result;
    };
    learn(300, 1, 29'999.0, 29'999.0 * std::sqrt(small));
    const std::vector<EdgeChange> joins{{0, 10, weight * small}, {5, 15, weight * small}};
    if (kind == EngineKind::sparse && forgetting.window > 0) {
      EXPECT_THROW(bandit.update_edges(joins), std::invalid_argument);
      EXPECT_THROW(bandit.add_edge(0, 10, small), std::invalid_argument);
      EXPECT_EQ(bandit.graph().edge_count(), edges.size());
      bandit.add_edge(0, 5);  // joins nothing
      continue;
    }
    bandit.update_edges(joins);
    const double longest = std::min(29'999.0, 0.99e11 / (2.0 + weight)) * std::sqrt(small);
    expect_exact(bandit, that_count(), longest);
    learn(100, 1, longest, longest);  // with a window, long contexts leave
    expect_exact(bandit, that_count(), longest);
    learn(60, 30, longest, longest);
    expect_exact(bandit, that_count(), longest);
    bandit.remove_edge(0, 10);
    bandit.add_edge(3, 17, small);
    expect_exact(bandit, that_count(), longest);
    bandit.rebuild();
    expect_exact(bandit, that_count(), longest);
    bandit.remove_edge(3, 17);
    bandit.remove_edge(5, 15);
    EXPECT_EQ(bandit.summary().components.size(), 2U);
    expect_exact(bandit, that_count(), longest);
  }
}

INSTANTIATE_TEST_SUITE_P(all, LongContextsBeforeAJoin,
                         ::testing::Values(Join{EngineKind::dense, 1e-6, 1e9}, Join{EngineKind::dense, 1e-12, 1e9},
                                           Join{EngineKind::dense, 1e-12, 1.0}, Join{EngineKind::dense, 1e-60, 1e9},
                                           Join{EngineKind::sparse, 1e-6, 3e6}, Join{EngineKind::sparse, 1e-12, 3e6},
                                           Join{EngineKind::sparse, 1e-12, 1.0}, Join{EngineKind::sparse, 1e-60, 3e6},
                                           Join{EngineKind::local, 1e-6, 1e9}, Join{EngineKind::local, 1e-12, 1.0}));

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

}  // namespace long_contexts_test
}  // namespace goblin
