#include "belief/sparse/prior_variances.hpp"

#include "belief/precision_change.hpp"
#include "goblin/graph/generators.hpp"
#include "oracle/inverse.hpp"

#include <Eigen/Core>
#include <gtest/gtest.h>

namespace goblin {
namespace prior_variances_test {

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
  return oracle::inverse_of(a);
}

std::vector<double> different_ridges(std::size_t count) {
  std::vector<double> ridges(count);
  for (std::size_t node = 0; node < count; ++node) ridges[node] = 0.05 * static_cast<double>(1 + node % 7);
  return ridges;
}

TEST(PriorVariances, are_the_diagonal_of_the_inverse) {
  const Graph graph = generate::random({.nodes = 45, .edges = 70, .lowest_weight = 0.01, .highest_weight = 20.0});
  for (const PriorMatrix& prior : {PriorMatrix(graph, 0.2, 3.0), PriorMatrix(graph, different_ridges(45), 3.0)}) {
    const PriorVariances variances(45);
    const Eigen::MatrixXd expected = dense_inverse(prior);
    std::vector<double> found(45, 0.0);
    variances.find_all(prior, 2, {}, [&](std::size_t node, double variance) { found[node] += variance; });
    for (Eigen::Index i = 0; i < 45; ++i) EXPECT_NEAR(found[i], expected(i, i), 1e-12);
  }
}

TEST(PriorVariances, are_found_once_each_and_the_same_whoever_asks_first) {
  const PriorMatrix prior(generate::random({.nodes = 100, .edges = 150}), 0.3, 1.0);
  const auto asked_for = [&](const std::vector<std::size_t>& nodes, std::size_t threads) {
    const PriorVariances variances(100);
    std::vector<double> found(100, 0.0);
    std::vector<int> times(100, 0);
    const auto note = [&](std::size_t node, double variance) {
      EXPECT_FALSE(variances.is_known(node));
      found[node] = variance;
      ++times[node];
    };
    for (const std::size_t node : nodes) {
      variances.find(node, prior, note);
      EXPECT_TRUE(variances.is_known(node));
    }
    variances.find_all(prior, threads, {}, note);
    EXPECT_EQ(times, std::vector<int>(100, 1));
    return found;
  };
  const auto found = asked_for({}, 1);
  EXPECT_EQ(asked_for({}, 2), found);
  EXPECT_EQ(asked_for({99, 40, 41}, 1), found);
}

TEST(PriorVariances, tell_how_far_they_are_and_can_be_stopped) {
  const PriorMatrix prior(generate::random({.nodes = 200, .edges = 300}), 0.3, 1.0);
  const PriorVariances variances(200);
  std::size_t count = 0;
  const auto note = [&](std::size_t, double) { ++count; };
  EXPECT_THROW(variances.find_all(
                   prior, 1,
                   [](double share) {
                     if (share > 0.5) throw std::runtime_error("enough");
                   },
                   note),
               std::runtime_error);
  EXPECT_EQ(count, 128);
  std::vector<double> shares;
  variances.find_all(
      prior, 1, [&](double share) { shares.push_back(share); }, note);
  EXPECT_EQ(count, 200);
  EXPECT_EQ(shares, (std::vector<double>{1.0 / 3.0, 2.0 / 3.0, 1.0}));
}

TEST(PriorVariances, resistance_of_a_pair) {
  const PriorMatrix prior(generate::random({.nodes = 20, .edges = 30}), different_ridges(20), 1.0);
  const Eigen::MatrixXd expected = dense_inverse(prior);
  std::vector<Edge> edges;
  for (NodeId k = 0; k < 40; ++k) edges.push_back({k % 20, (k + 1 + k / 20) % 20, 0.25});
  const Eigen::MatrixXd solutions = prior_differences(prior, EdgeColumns(edges));
  for (Eigen::Index k = 0; k < 40; ++k) {
    for (Eigen::Index i = 0; i < 20; ++i) {
      EXPECT_NEAR(solutions(i, k), 0.5 * (expected(i, edges[k].a) - expected(i, edges[k].b)), 1e-12);
    }
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

}  // namespace prior_variances_test
}  // namespace goblin
