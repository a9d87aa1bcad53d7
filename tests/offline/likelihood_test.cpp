#include "offline/likelihood.hpp"

#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>

namespace goblin::offline {
namespace likelihood_test {

/// Rewards of users whose vectors are drawn from the prior, or whatever a test wants.
struct Rewards {
  std::vector<NodeId> users;
  std::vector<double> contexts;
  std::vector<double> rewards;

  [[nodiscard]] RewardTable table() const { return {users, contexts, rewards}; }
};

Rewards random_rewards(std::size_t users, std::size_t dimension, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> vectors(users * dimension);
  for (double& number : vectors) number = random.normal();
  Rewards result;
  for (std::size_t row = 0; row < count; ++row) {
    const auto user = static_cast<NodeId>(random.below(users));
    result.users.push_back(user);
    double reward = 0.3 * random.normal();
    for (std::size_t k = 0; k < dimension; ++k) {
      result.contexts.push_back(random.normal());
      reward += result.contexts.back() * vectors[user * dimension + k];
    }
    result.rewards.push_back(reward);
  }
  return result;
}

std::vector<NodeId> own_nodes(std::size_t users) {
  std::vector<NodeId> nodes(users);
  for (std::size_t k = 0; k < users; ++k) nodes[k] = static_cast<NodeId>(k);
  return nodes;
}

/// ln of the density of all rewards, as a normal distribution with covariance s^2 (I + Phi A_x^{-1} Phi^T): the
/// definition, with nothing in common with what is tested.
double density(const Graph& graph, const Rewards& rewards, std::size_t dimension, double ridge, double coupling,
               double noise) {
  const auto n = static_cast<Eigen::Index>(graph.node_count());
  const auto d = static_cast<Eigen::Index>(dimension);
  Eigen::MatrixXd prior = ridge * Eigen::MatrixXd::Identity(n, n);
  for (const Edge& edge : graph.edges()) {
    prior(edge.a, edge.a) += coupling * edge.weight;
    prior(edge.b, edge.b) += coupling * edge.weight;
    prior(edge.a, edge.b) -= coupling * edge.weight;
    prior(edge.b, edge.a) -= coupling * edge.weight;
  }
  const Eigen::MatrixXd inverse = prior.inverse();
  const auto count = static_cast<Eigen::Index>(rewards.users.size());
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Identity(count, count);
  for (Eigen::Index a = 0; a < count; ++a) {
    for (Eigen::Index b = 0; b < count; ++b) {
      const Eigen::Map<const Eigen::VectorXd> x(rewards.contexts.data() + a * d, d);
      const Eigen::Map<const Eigen::VectorXd> y(rewards.contexts.data() + b * d, d);
      covariance(a, b) +=
          inverse(rewards.users[static_cast<std::size_t>(a)], rewards.users[static_cast<std::size_t>(b)]) * x.dot(y);
    }
  }
  covariance *= noise * noise;
  const Eigen::Map<const Eigen::VectorXd> values(rewards.rewards.data(), count);
  const Eigen::LLT<Eigen::MatrixXd> factor(covariance);
  return -0.5 * static_cast<double>(count) * std::log(2.0 * std::numbers::pi) -
         factor.matrixLLT().diagonal().array().log().sum() - 0.5 * factor.matrixL().solve(values).squaredNorm();
}

TEST(MarginalLikelihood, is_the_density_of_the_rewards) {
  const Graph graph(6, std::vector<Edge>{{0, 1}, {1, 2, 0.5}, {2, 0}, {3, 4, 2.0}});
  const Rewards rewards = random_rewards(6, 3, 40, 1);
  const NodeEvidence evidence(rewards.table(), 3, own_nodes(6), 6);
  const MarginalLikelihood likelihood(graph, 3);
  for (const double ridge : {0.01, 1.0, 30.0}) {
    for (const double coupling : {0.001, 1.0, 1000.0}) {
      const LikelihoodPoint point = likelihood.at(evidence, ridge, coupling);
      EXPECT_NEAR(point.log_likelihood, density(graph, rewards, 3, ridge, coupling, point.noise), 1e-7);
      const double other = likelihood.at(evidence, ridge, coupling, 0.7).log_likelihood;
      EXPECT_NEAR(other, density(graph, rewards, 3, ridge, coupling, 0.7), 1e-7);
      // The noise is the best one.
      for (const double factor : {0.99, 1.01}) {
        EXPECT_LT(likelihood.at(evidence, ridge, coupling, factor * point.noise).log_likelihood, point.log_likelihood);
      }
    }
  }
}

TEST(MarginalLikelihood, without_edges_needs_no_solve) {
  const Rewards rewards = random_rewards(5, 4, 30, 2);
  const Graph graph(5);
  const NodeEvidence evidence(rewards.table(), 4, own_nodes(5), 5);
  const LikelihoodPoint point = MarginalLikelihood(graph, 4).at(evidence, 0.5, 1.0);
  EXPECT_NEAR(point.log_likelihood, density(graph, rewards, 4, 0.5, 0.0, point.noise), 1e-8);
  EXPECT_EQ(point.standard_error, 0.0);
  EXPECT_EQ(point.coupling, 0.0);
}

/// The estimate against the exact value, from hardly any coupling to a lot, with many and with few rewards.
TEST(LikelihoodSolver, estimates_the_determinant_within_its_error) {
  const auto communities = generate::communities({.nodes = 120, .communities = 3, .average_degree = 8, .seed = 4});
  for (const std::size_t count : {std::size_t{60}, std::size_t{3000}}) {
    const Rewards rewards = random_rewards(120, 5, count, 3);
    const NodeEvidence evidence(rewards.table(), 5, own_nodes(120), 120);
    const MarginalLikelihood likelihood(communities.graph, 5);
    for (const double ridge : {0.1, 10.0}) {
      for (const double coupling : {0.01, 1.0, 1000.0}) {
        const PriorMatrix prior(communities.graph, ridge, coupling);
        const PriorFit exact = exact_fit(prior, evidence.sums());
        const PriorFit estimated = evidence.solver().fit(prior, 8);
        EXPECT_NEAR(estimated.explained, exact.explained, 1e-6 * exact.explained);
        ASSERT_EQ(estimated.estimates.size(), 63U);
        double mean = 0.0;
        double squared = 0.0;
        for (const double value : estimated.estimates) mean += value / 63.0;
        for (const double value : estimated.estimates) squared += (value - mean) * (value - mean);
        const double error = std::sqrt(squared / (62.0 * 63.0));
        EXPECT_NEAR(estimated.log_determinant + mean, exact.log_determinant, 4.0 * error + 1e-3)
            << count << " rewards, ridge " << ridge << ", coupling " << coupling;
        // What ln|A| is off by is taken off, so that few rewards are judged as well as many.
        const LikelihoodPoint point = likelihood.at(evidence, ridge, coupling);
        const double ratio = exact.log_determinant - 5.0 * log_determinant(prior);
        const double log_likelihood =
            -0.5 *
            (static_cast<double>(count) * (std::log(2.0 * std::numbers::pi * point.noise * point.noise) + 1.0) + ratio);
        EXPECT_NEAR(point.log_likelihood, log_likelihood, 4.0 * point.standard_error + 1e-3);
        EXPECT_LT(point.standard_error, 0.5);
      }
    }
  }
}

TEST(LogDeterminant, is_that_of_the_matrix) {
  const Graph graph(4, std::vector<Edge>{{0, 1}, {1, 2, 0.5}, {2, 0}});
  Eigen::Matrix4d matrix = 0.3 * Eigen::Matrix4d::Identity();
  for (const Edge& edge : graph.edges()) {
    matrix(edge.a, edge.a) += 2.0 * edge.weight;
    matrix(edge.b, edge.b) += 2.0 * edge.weight;
    matrix(edge.a, edge.b) -= 2.0 * edge.weight;
    matrix(edge.b, edge.a) -= 2.0 * edge.weight;
  }
  EXPECT_NEAR(log_determinant(PriorMatrix(graph, 0.3, 2.0)), std::log(matrix.determinant()), 1e-12);
  EXPECT_NEAR(log_determinant(PriorMatrix(Graph(3), {0.5, 2.0, 3.0}, 1.0)), std::log(3.0), 1e-12);
}

}  // namespace likelihood_test
}  // namespace goblin::offline
