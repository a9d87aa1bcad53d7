#include "goblin/cluster/quality.hpp"

#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"

#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::cluster {
namespace quality_test {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

std::string message_of(const Graph& graph, const std::vector<NodeId>& labels) {
  try {
    (void)summarize(graph, labels);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Quality, two_triangles_joined_by_an_edge) {
  const Graph graph(6, std::vector<Edge>{{0, 1}, {1, 2}, {0, 2}, {3, 4}, {4, 5}, {3, 5}, {2, 3, 0.5}});
  const Summary summary = summarize(graph, std::vector<NodeId>{0, 0, 0, 1, 1, 1});
  EXPECT_EQ(summary.nodes, 6);
  EXPECT_EQ(summary.clusters, 2);
  EXPECT_DOUBLE_EQ(summary.normalized_cut, 2 * 0.5 / 6.5);
  EXPECT_DOUBLE_EQ(summary.mean_normalized_cut, 0.5 / 6.5);
  EXPECT_DOUBLE_EQ(summary.inside, 6.0 / 6.5);
  EXPECT_THAT(summary.normalized_cut_of, Pointwise(DoubleNear(1e-15), {0.5 / 6.5, 0.5 / 6.5}));
  EXPECT_THAT(summary.size_of, ElementsAre(3, 3));
}

TEST(Quality, sizes) {
  const Summary summary = summarize(Graph(10), std::vector<NodeId>{0, 0, 0, 0, 0, 1, 2, 2, 3, 3});
  EXPECT_EQ(summary.smallest, 1);
  EXPECT_DOUBLE_EQ(summary.median, 2.0);
  EXPECT_EQ(summary.largest, 5);
  EXPECT_DOUBLE_EQ(summarize(Graph(4), std::vector<NodeId>{0, 0, 0, 1}).median, 2.0);
}

TEST(Quality, a_cluster_without_edges_cuts_nothing) {
  const Graph graph(4, std::vector<Edge>{{0, 1}});
  EXPECT_THAT(summarize(graph, std::vector<NodeId>{0, 1, 2, 2}).normalized_cut_of, ElementsAre(1.0, 1.0, 0.0));
  const Summary none = summarize(Graph(3), std::vector<NodeId>{0, 1, 1});
  EXPECT_EQ(none.normalized_cut, 0.0);
  EXPECT_EQ(none.inside, 1.0);
}

TEST(Quality, does_not_depend_on_how_nodes_and_clusters_are_numbered) {
  const Graph graph =
      generate::random({.nodes = 40, .edges = 150, .lowest_weight = 0.1, .highest_weight = 3.0, .seed = 5});
  std::vector<NodeId> labels(40);
  for (NodeId node = 0; node < 40; ++node) labels[node] = node * 7 / 5 % 4;
  std::vector<Edge> mirrored;
  for (const Edge& edge : graph.edges()) mirrored.push_back({39 - edge.a, 39 - edge.b, edge.weight});
  std::vector<NodeId> renumbered(40);
  const std::vector<NodeId> new_label{2, 0, 3, 1};
  for (NodeId node = 0; node < 40; ++node) renumbered[39 - node] = new_label[labels[node]];
  const Summary one = summarize(graph, labels);
  const Summary other = summarize(Graph(40, mirrored), renumbered);
  EXPECT_NEAR(one.normalized_cut, other.normalized_cut, 1e-13);
  EXPECT_NEAR(one.inside, other.inside, 1e-13);
  EXPECT_EQ(one.median, other.median);
  for (NodeId k = 0; k < 4; ++k) EXPECT_NEAR(one.normalized_cut_of[k], other.normalized_cut_of[new_label[k]], 1e-13);
}

TEST(Quality, does_not_depend_on_the_scale_of_the_weights) {
  const Graph graph = generate::random({.nodes = 20, .edges = 60, .lowest_weight = 0.5, .highest_weight = 2.0});
  std::vector<Edge> scaled = graph.edges();
  for (Edge& edge : scaled) edge.weight *= 1e100;
  std::vector<NodeId> labels(20);
  for (NodeId node = 0; node < 20; ++node) labels[node] = node % 3;
  EXPECT_NEAR(summarize(graph, labels).normalized_cut, summarize(Graph(20, scaled), labels).normalized_cut, 1e-12);
}

TEST(Quality, refuses_labels_of_another_form) {
  const Graph graph(3, std::vector<Edge>{{0, 1}, {1, 2}});
  EXPECT_THAT(message_of(graph, {0, 1}), HasSubstr("labels: 2 of them (must be one for each of the 3 nodes)"));
  EXPECT_THAT(message_of(graph, {0, 1, 3}), HasSubstr("labels[2]: 3 (must be below the number of nodes, 3)"));
  EXPECT_THAT(message_of(graph, {0, 2, 2}), HasSubstr("cluster 1 has no node"));
  const double large = std::numeric_limits<double>::max();
  EXPECT_THAT(message_of(Graph(3, std::vector<Edge>{{0, 1, large}, {1, 2, large}}), {0, 0, 0}),
              HasSubstr("add up to infinity"));
}

TEST(Quality, empty_graph) { EXPECT_EQ(summarize(Graph(), {}).clusters, 0); }

}  // namespace quality_test
}  // namespace goblin::cluster
