// What users see of nodes: the map, and what follows from it for sums, vectors and matrices.

#include "belief/lens.hpp"

#include "belief/evidence.hpp"
#include "belief/symmetric_matrix.hpp"
#include "goblin/random.hpp"

#include <cmath>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

namespace goblin {
namespace lens_test {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::span<const double> numbers(const auto& matrix) { return {matrix.data(), static_cast<std::size_t>(matrix.size())}; }
std::span<double> room(auto& matrix) { return {matrix.data(), static_cast<std::size_t>(matrix.size())}; }

VectorXd random_vector(Random& random, std::size_t size) {
  VectorXd result(static_cast<Index>(size));
  for (double& value : result) value = random.normal();
  return result;
}

/// P, written down column by column.
MatrixXd matrix_of(const Lens& lens, std::size_t dimension, std::size_t node_dimension) {
  MatrixXd result(static_cast<Index>(node_dimension), static_cast<Index>(dimension));
  for (std::size_t k = 0; k < dimension; ++k) {
    const VectorXd unit = VectorXd::Unit(static_cast<Index>(dimension), static_cast<Index>(k));
    VectorXd column(result.rows());
    lens.to_node(numbers(unit), room(column));
    result.col(static_cast<Index>(k)) = column;
  }
  return result;
}

struct Case {
  const char* name;
  std::size_t dimension;
  std::size_t node_dimension;
  Lens lens;
};

std::vector<Case> cases() {
  return {{"plain", 4, 4, Lens(4, 1.0)},
          {"scaled", 4, 4, Lens(4, 2.5)},
          {"hashed", 5, 64, Lens::hashing(5, 64, 3, 7)},
          {"hashed_with_collisions", 6, 7, Lens::hashing(6, 7, 1, 0)},
          {"one_bucket", 3, 1, Lens::hashing(3, 1, 2, 5)}};
}

TEST(Lens, sums_vectors_and_matrices_follow_from_the_map) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const MatrixXd p = matrix_of(one.lens, one.dimension, one.node_dimension);
    Random random(5, 0, 0);
    Evidence of_user(one.dimension, 1);
    Evidence of_node(one.node_dimension, 1);
    for (int t = 0; t < 8; ++t) {
      const VectorXd x = random_vector(random, one.dimension);
      VectorXd at_node(static_cast<Index>(one.node_dimension));
      one.lens.to_node(numbers(x), room(at_node));
      EXPECT_NEAR((at_node - p * x).norm(), 0.0, 1e-12);
      EXPECT_LE(at_node.norm(), one.lens.stretch() * x.norm() * (1.0 + 1e-12));
      const double reward = random.normal();
      of_user.add(0, numbers(x), reward);
      of_node.add(0, numbers(at_node), reward);
    }
    const Lens::Sums sums = one.lens.to_node(of_user.at(0));
    const UserEvidence expected = of_node.at(0);
    ASSERT_EQ(sums.contexts.size(), expected.contexts.size());
    for (std::size_t k = 0; k < sums.contexts.size(); ++k) EXPECT_NEAR(sums.contexts[k], expected.contexts[k], 1e-11);
    for (std::size_t k = 0; k < sums.rewards.size(); ++k) EXPECT_NEAR(sums.rewards[k], expected.rewards[k], 1e-11);
    EXPECT_EQ(sums.count, expected.count);
    EXPECT_EQ(sums.squared_rewards, expected.squared_rewards);
    EXPECT_EQ(one.lens.to_node(UserEvidence{}).view().count, 0U);

    const VectorXd v = random_vector(random, one.node_dimension);
    VectorXd back(static_cast<Index>(one.dimension));
    one.lens.to_user(numbers(v), room(back));
    EXPECT_NEAR((back - p.transpose() * v).norm(), 0.0, 1e-12);
    if (!one.lens.hashes()) continue;

    const MatrixXd c = unpacked(expected.contexts, one.node_dimension);
    const auto places = one.lens.places();
    VectorXd some(static_cast<Index>(places.size()));
    MatrixXd block(some.size(), some.size());
    for (std::size_t a = 0; a < places.size(); ++a) {
      some[static_cast<Index>(a)] = v[places[a]];
      for (std::size_t b = 0; b < places.size(); ++b) {
        block(static_cast<Index>(a), static_cast<Index>(b)) = c(places[a], places[b]);
      }
    }
    MatrixXd covariance(back.size(), back.size());
    one.lens.gathered_to_user(numbers(some), numbers(block), room(back), room(covariance));
    EXPECT_NEAR((back - p.transpose() * v).norm(), 0.0, 1e-12);
    EXPECT_NEAR((covariance - p.transpose() * c * p).norm(), 0.0, 1e-10);
  }
}

TEST(Lens, a_context_is_stretched_no_more_than_said) {
  for (const std::size_t buckets : {1U, 3U, 10U, 100U, 5000U}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Lens lens = Lens::hashing(6, buckets, seed, 2);
      const MatrixXd p = matrix_of(lens, 6, buckets);
      EXPECT_LE(p.transpose().operatorNorm(), lens.stretch() * (1.0 + 1e-12));
      if (lens.places().size() == 12) {
        EXPECT_NEAR(lens.stretch(), std::sqrt(2.0), 1e-12);
      }
    }
  }
}

TEST(Lens, hashing_is_the_same_everywhere_and_always) {
  // Model files rely on it.
  const MatrixXd p = matrix_of(Lens::hashing(3, 10, 42, 1), 3, 10);
  MatrixXd expected = MatrixXd::Zero(10, 3);
  expected(0, 0) = expected(3, 0) = expected(5, 2) = 1.0;
  expected(7, 1) = 2.0;  // both terms
  expected(8, 2) = -1.0;
  EXPECT_EQ(p, expected) << p;
}

/// Over all seeds, h(u, x).h(v, y) is x.y on average, and twice that where u = v: the part that everybody shares, and
/// the user's own. The variance falls as 1 / m.
TEST(Lens, products_are_right_on_average) {
  constexpr std::size_t d = 5;
  Random random(9, 0, 0);
  const VectorXd x = random_vector(random, d);
  const VectorXd y = random_vector(random, d);
  constexpr std::size_t seeds = 4000;
  double variance_before = 0.0;
  for (const std::size_t buckets : {32U, 256U}) {
    for (const NodeId other : {NodeId{3}, NodeId{8}}) {
      double sum = 0.0;
      double squares = 0.0;
      VectorXd first(static_cast<Index>(buckets));
      VectorXd second(static_cast<Index>(buckets));
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        Lens::hashing(d, buckets, seed, 3).to_node(numbers(x), room(first));
        Lens::hashing(d, buckets, seed, other).to_node(numbers(y), room(second));
        sum += first.dot(second);
        squares += first.dot(second) * first.dot(second);
      }
      const double mean = sum / seeds;
      const double variance = squares / seeds - mean * mean;
      const double expected = (other == 3 ? 2.0 : 1.0) * x.dot(y);
      EXPECT_NEAR(mean, expected, 4.0 * std::sqrt(variance / seeds)) << buckets << ' ' << other;
      if (other != 8) continue;
      if (variance_before > 0.0) {
        EXPECT_NEAR(variance_before / variance, 8.0, 2.0);
      }
      variance_before = variance;
    }
  }
}

TEST(Lens, buckets_are_used_alike) {
  constexpr std::size_t buckets = 50;
  std::vector<double> counts(buckets, 0.0);
  double signs = 0.0;
  constexpr std::size_t users = 2000;
  for (NodeId user = 0; user < users; ++user) {
    std::vector<double> at_node(buckets);
    const Lens lens = Lens::hashing(1, buckets, 11, user);
    lens.to_node(std::vector<double>{1.0}, at_node);
    std::vector<double> everybody(buckets);
    for (std::size_t k = 0; k < buckets; ++k) counts[k] += std::abs(at_node[k]);
    for (const double value : at_node) signs += value;
  }
  // One of the counts is everybody's bucket, too.
  double chi = 0.0;
  std::size_t crowded = 0;
  for (const double count : counts) {
    if (count > 0.5 * users) {
      ++crowded;
      continue;
    }
    chi += (count - users / 50.0) * (count - users / 50.0) / (users / 50.0);
  }
  EXPECT_EQ(crowded, 1U);
  EXPECT_LT(chi, 49.0 + 4.0 * std::sqrt(98.0));
  EXPECT_LT(std::abs(std::abs(signs) - users), 4.0 * std::sqrt(users));  // the shared sign, and own ones that cancel
}

}  // namespace lens_test
}  // namespace goblin
