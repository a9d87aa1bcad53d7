#include "belief/sparse/prior_variances.hpp"

#include "goblin/graph/generators.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <gtest/gtest.h>

namespace goblin {
namespace {

Eigen::MatrixXd dense_inverse(const PriorMatrix& prior) {
  const auto n = static_cast<Eigen::Index>(prior.node_count());
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index node = 0; node < n; ++node) a(node, node) = prior.ridge(node);
  for (const Edge& edge : prior.graph().edges()) {
    Eigen::VectorXd ends = Eigen::VectorXd::Zero(n);
    ends[edge.a] = 1.0;
    ends[edge.b] = -1.0;
    a += prior.coupling() * edge.weight * ends * ends.transpose();
  }
  return a.llt().solve(Eigen::MatrixXd::Identity(n, n));
}

std::vector<double> different_ridges(std::size_t count) {
  std::vector<double> ridges(count);
  for (std::size_t node = 0; node < count; ++node) ridges[node] = 0.05 * static_cast<double>(1 + node % 7);
  return ridges;
}

TEST(PriorVariances, are_the_diagonal_of_the_inverse) {
  const Graph graph = generate::random({.nodes = 45, .edges = 70, .lowest_weight = 0.01, .highest_weight = 20.0});
  for (const PriorMatrix& prior : {PriorMatrix(graph, 0.2, 3.0), PriorMatrix(graph, different_ridges(45), 3.0)}) {
    const auto variances = prior_variances(prior);
    const Eigen::MatrixXd expected = dense_inverse(prior);
    ASSERT_EQ(variances.size(), 45);
    for (Eigen::Index i = 0; i < 45; ++i) EXPECT_NEAR(variances[i], expected(i, i), 1e-12);
  }
}

TEST(PriorVariances, resistance_of_a_pair) {
  const PriorMatrix prior(generate::random({.nodes = 20, .edges = 30}), different_ridges(20), 1.0);
  const Eigen::MatrixXd expected = dense_inverse(prior);
  for (const auto& [a, b] : {std::pair(0, 1), std::pair(3, 17)}) {
    EXPECT_NEAR(prior_resistance(prior, a, b), expected(a, a) + expected(b, b) - 2.0 * expected(a, b), 1e-12);
  }
}

TEST(PriorMatrix, rows_add_up_to_the_ridges) {
  PriorMatrix prior(generate::random({.nodes = 12, .edges = 20, .highest_weight = 3.0}), different_ridges(12), 2.0);
  prior.set_edge(3, 11, 0.7);
  prior.set_edge(11, 2, 0.0);
  const PriorMatrix both = PriorMatrix::side_by_side(prior, PriorMatrix(Graph(1), 5.0, 2.0));
  ASSERT_EQ(both.node_count(), 13);
  EXPECT_EQ(both.graph().weight(3, 11), 0.7);
  EXPECT_EQ(both.graph().weight(2, 11), 0.0);
  EXPECT_EQ(both.ridge(12), 5.0);
  EXPECT_EQ(both.smallest_ridge(), 0.05);
  double total = 0.0;
  for (std::size_t node = 0; node < 13; ++node) {
    double row = both.diagonal(node);
    for (const double weight : both.graph().weights(node)) row -= both.coupling() * weight;
    EXPECT_NEAR(row, both.ridge(node), 1e-12);
    total += both.ridge(node);
  }
  EXPECT_NEAR(both.total_ridge(), total, 1e-12);
  const std::vector<NodeId> last{12};
  EXPECT_EQ(both.part(last).ridge(0), 5.0);
}

}  // namespace
}  // namespace goblin
