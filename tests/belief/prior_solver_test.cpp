#include "belief/prior_solver.hpp"

#include "goblin/graph/generators.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <gtest/gtest.h>

namespace goblin {
namespace {

Eigen::MatrixXd dense_inverse(const Graph& graph, const Prior& prior) {
  const auto n = static_cast<Eigen::Index>(graph.node_count());
  Eigen::MatrixXd a = prior.ridge * Eigen::MatrixXd::Identity(n, n);
  for (const Edge& edge : graph.edges()) {
    Eigen::VectorXd ends = Eigen::VectorXd::Zero(n);
    ends[edge.a] = 1.0;
    ends[edge.b] = -1.0;
    a += prior.coupling * edge.weight * ends * ends.transpose();
  }
  return a.llt().solve(Eigen::MatrixXd::Identity(n, n));
}

TEST(PriorSolver, gives_the_diagonal_of_the_inverse) {
  const Graph graph = generate::random({.nodes = 45, .edges = 70, .lowest_weight = 0.01, .highest_weight = 20.0});
  const Prior prior{.ridge = 0.2, .coupling = 3.0};
  const auto variances = prior_variances(graph, prior);
  const Eigen::MatrixXd expected = dense_inverse(graph, prior);
  ASSERT_EQ(variances.size(), 45);
  for (Eigen::Index i = 0; i < 45; ++i) EXPECT_NEAR(variances[i], expected(i, i), 1e-12);
}

TEST(PriorSolver, gives_the_resistance_of_a_pair) {
  const Graph graph = generate::random({.nodes = 20, .edges = 30});
  const Eigen::MatrixXd expected = dense_inverse(graph, {});
  for (const auto& [a, b] : {std::pair(0, 1), std::pair(3, 17)}) {
    EXPECT_NEAR(prior_resistance(graph, {}, a, b), expected(a, a) + expected(b, b) - 2.0 * expected(a, b), 1e-12);
  }
}

}  // namespace
}  // namespace goblin
