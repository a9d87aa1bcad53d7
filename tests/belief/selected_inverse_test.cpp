// Blocks of an inverse without the rest of it, against the whole inverse.

#include "belief/selected_inverse/selected_inverse.hpp"

#include "goblin/graph/generators.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <gtest/gtest.h>

namespace goblin {
namespace selected_inverse_test {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double no_limit = 1e300;

std::vector<Graph> graphs() {
  std::vector<Edge> path;
  std::vector<Edge> star;
  for (NodeId node = 1; node < 40; ++node) {
    path.push_back({node - 1, node, 0.5 + node});
    star.push_back({0, node, 2.0});
  }
  std::vector<Graph> all = {
      Graph(1), Graph(5), Graph(40, path), Graph(40, star), generate::cliques(1, 30), generate::cliques(4, 7)};
  for (const std::size_t edges : {60, 150, 400}) {
    all.push_back(
        generate::random({.nodes = 80, .edges = edges, .lowest_weight = 0.1, .highest_weight = 3.0, .seed = 9}));
  }
  return all;
}

PriorMatrix prior_of(const Graph& graph) {
  std::vector<double> ridges;
  for (std::size_t node = 0; node < graph.node_count(); ++node)
    ridges.push_back(0.2 + 0.3 * static_cast<double>(node % 4));
  return {graph, ridges, 1.5};
}

MatrixXd sum_of(std::size_t node, Index d) {
  MatrixXd contexts(d, static_cast<Index>(node % 5));
  for (Index k = 0; k < contexts.size(); ++k)
    contexts.data()[k] = std::sin(static_cast<double>(k) + 3.0 * static_cast<double>(node));
  return contexts * contexts.transpose();
}

MatrixXd whole_precision(const PriorMatrix& prior, Index d) {
  const auto n = static_cast<Index>(prior.node_count());
  MatrixXd precision = MatrixXd::Zero(n * d, n * d);
  for (Index i = 0; i < n; ++i) {
    const auto node = static_cast<std::size_t>(i);
    precision.block(i * d, i * d, d, d) = sum_of(node, d);
    precision.block(i * d, i * d, d, d).diagonal().array() += prior.diagonal(node);
    for (const NodeId other : prior.graph().neighbours(node)) {
      precision.block(i * d, static_cast<Index>(other) * d, d, d)
          .diagonal()
          .setConstant(-prior.coupling() * prior.graph().weight(static_cast<NodeId>(node), other));
    }
  }
  return precision;
}

TEST(SelectedInverse, is_the_diagonal_of_the_whole_inverse) {
  for (const Graph& graph : graphs()) {
    const PriorMatrix prior = prior_of(graph);
    for (const std::size_t dimension : {1, 3, 14}) {
      SCOPED_TRACE(std::to_string(graph.node_count()) + " nodes, d = " + std::to_string(dimension));
      const auto d = static_cast<Index>(dimension);
      const MatrixXd precision = whole_precision(prior, d);
      const Eigen::LLT<MatrixXd> factor(precision);
      const MatrixXd inverse = factor.solve(MatrixXd::Identity(precision.rows(), precision.cols()));
      const auto plan = EliminationPlan::make(graph, dimension, no_limit, no_limit);
      ASSERT_TRUE(plan);
      const auto add = [&](std::size_t node, Eigen::Ref<MatrixXd> block) { block += sum_of(node, d); };
      SelectedInverse selected(*plan, prior, add, {.threads = 2, .spare_bytes = {}, .progress = {}});
      ASSERT_TRUE(selected.log_determinant());
      EXPECT_NEAR(*selected.log_determinant(), 2.0 * factor.matrixLLT().diagonal().array().log().sum(),
                  1e-11 * static_cast<double>(precision.rows()));
      selected.invert();
      for (std::size_t node = 0; node < graph.node_count(); ++node) {
        const auto first = static_cast<Index>(node) * d;
        EXPECT_LT((selected.block(node) - inverse.block(first, first, d, d)).cwiseAbs().maxCoeff(), 1e-12);
      }
    }
  }
}

TEST(SelectedInverse, a_plan_says_what_it_needs_and_keeps_to_its_limits) {
  const Graph graph =
      generate::random({.nodes = 80, .edges = 300, .lowest_weight = 1.0, .highest_weight = 1.0, .seed = 9});
  const auto plan = EliminationPlan::make(graph, 4, no_limit, no_limit);
  ASSERT_TRUE(plan);
  const double multiplications = plan->factor_multiplications() + plan->inverse_multiplications();
  EXPECT_TRUE(EliminationPlan::make(graph, 4, multiplications, plan->bytes()));
  EXPECT_FALSE(EliminationPlan::make(graph, 4, 0.99 * multiplications, plan->bytes()));
  EXPECT_FALSE(EliminationPlan::make(graph, 4, multiplications, 0.99 * plan->bytes()));
  EXPECT_FALSE(EliminationPlan::make(graph, 4, 0.01 * multiplications, no_limit));
  std::vector<std::size_t> nodes;
  for (std::size_t at = 0; at < graph.node_count(); ++at) {
    nodes.push_back(plan->node(at));
    EXPECT_EQ(plan->position(plan->node(at)), at);
  }
  std::sort(nodes.begin(), nodes.end());
  EXPECT_EQ(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

TEST(SelectedInverse, of_the_prior_matrix_alone) {
  const PriorMatrix prior = prior_of(graphs().back());
  const auto inverse = prior_inverse(prior, no_limit, no_limit, 1);
  ASSERT_TRUE(inverse);
  MatrixXd precision = whole_precision(prior, 1);
  for (std::size_t node = 0; node < prior.node_count(); ++node) {
    precision(static_cast<Index>(node), static_cast<Index>(node)) = prior.diagonal(node);
  }
  const MatrixXd expected = precision.inverse();
  for (std::size_t node = 0; node < prior.node_count(); ++node) {
    EXPECT_NEAR(inverse->variances[node], expected(static_cast<Index>(node), static_cast<Index>(node)), 1e-12);
  }
  EXPECT_FALSE(prior_inverse(prior, 1.0, no_limit, 1));
}

}  // namespace selected_inverse_test
}  // namespace goblin
