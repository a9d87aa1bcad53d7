#include "goblin/cluster/partition.hpp"

#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::cluster {
namespace partition_test {

using ::testing::HasSubstr;

constexpr std::size_t few_steps = 200'000;

/// The normalized cut straight from its definition.
double normalized_cut_of(const Graph& graph, const std::vector<NodeId>& labels) {
  std::map<NodeId, double> volume;
  std::map<NodeId, double> cut;
  for (const Edge& edge : graph.edges()) {
    volume[labels[edge.a]] += edge.weight;
    volume[labels[edge.b]] += edge.weight;
    if (labels[edge.a] == labels[edge.b]) continue;
    cut[labels[edge.a]] += edge.weight;
    cut[labels[edge.b]] += edge.weight;
  }
  double sum = 0.0;
  for (const auto& entry : cut) sum += entry.second / volume[entry.first];
  return sum;
}

/// Two labellings are the same clustering under other names.
bool same_clusters(const std::vector<NodeId>& one, const std::vector<NodeId>& other) {
  std::map<NodeId, NodeId> there;
  std::map<NodeId, NodeId> back;
  for (std::size_t node = 0; node < one.size(); ++node) {
    if (there.emplace(one[node], other[node]).first->second != other[node]) return false;
    if (back.emplace(other[node], one[node]).first->second != one[node]) return false;
  }
  return true;
}

void expect_valid(const Graph& graph, const Options& options, const Clustering& clustering, std::size_t clusters) {
  ASSERT_EQ(clustering.labels.size(), graph.node_count());
  std::vector<std::size_t> size(clusters, 0);
  NodeId next = 0;
  for (const NodeId label : clustering.labels) {
    ASSERT_LE(label, next) << "clusters are numbered in the order of their lowest node";
    if (label == next) ++next;
    ASSERT_LT(label, clusters);
    ++size[label];
  }
  EXPECT_EQ(next, clusters);
  EXPECT_GE(*std::min_element(size.begin(), size.end()), 1);
  if (options.max_size > 0) {
    EXPECT_LE(*std::max_element(size.begin(), size.end()), options.max_size);
  }
  EXPECT_EQ(clustering.summary.clusters, clusters);
  EXPECT_EQ(clustering.summary.size_of, size);
  EXPECT_NEAR(clustering.summary.normalized_cut, normalized_cut_of(graph, clustering.labels), 1e-9);
}

std::string message_of(const Graph& graph, const Options& options) {
  try {
    (void)partition(graph, options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Partition, finds_cliques_exactly) {
  const Graph graph = generate::cliques(10, 12);
  for (const Method method : {Method::ncut, Method::metis}) {
    const auto clustering = partition(graph, {.method = method, .clusters = 10, .improvement_steps = few_steps});
    EXPECT_EQ(clustering.summary.normalized_cut, 0.0);
    for (NodeId node = 0; node < 120; ++node) EXPECT_EQ(clustering.labels[node], node / 12);
  }
}

TEST(Partition, finds_planted_communities) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto planted = generate::communities(
        {.nodes = 1200, .communities = 12, .average_degree = 16.0, .mixing = 0.1, .exponent = 30.0, .seed = seed});
    const auto clustering = partition(planted.graph, {.clusters = 12, .seed = seed, .improvement_steps = few_steps});
    // A node may have more friends elsewhere than at home, so a few may differ, but the cut may not be larger.
    EXPECT_LE(clustering.summary.normalized_cut, summarize(planted.graph, planted.community_of).normalized_cut + 1e-9);
    std::map<NodeId, std::map<NodeId, std::size_t>> overlap;
    for (NodeId node = 0; node < 1200; ++node) ++overlap[clustering.labels[node]][planted.community_of[node]];
    std::size_t agreeing = 0;
    for (const auto& cluster : overlap) {
      std::size_t most = 0;
      for (const auto& community : cluster.second) most = std::max(most, community.second);
      agreeing += most;
    }
    EXPECT_GE(agreeing, 1195);
  }
}

TEST(Partition, finds_communities_that_only_the_weights_show) {
  // A complete graph; within a group edges weigh ten times as much.
  std::vector<Edge> edges;
  for (NodeId a = 0; a < 40; ++a) {
    for (NodeId b = a + 1; b < 40; ++b) edges.push_back({a, b, a % 4 == b % 4 ? 1.0 : 0.1});
  }
  const auto clustering = partition(Graph(40, edges), {.clusters = 4, .improvement_steps = few_steps});
  for (NodeId node = 0; node < 40; ++node) EXPECT_EQ(clustering.labels[node], node % 4);
}

TEST(Partition, finds_the_same_clusters_under_other_numbers) {
  const auto planted = generate::communities(
      {.nodes = 600, .communities = 6, .average_degree = 18.0, .mixing = 0.05, .exponent = 50.0, .seed = 4});
  std::vector<Edge> mirrored;
  for (const Edge& edge : planted.graph.edges()) mirrored.push_back({599 - edge.b, 599 - edge.a, edge.weight});
  const Options options{.clusters = 6, .improvement_steps = few_steps};
  const auto one = partition(planted.graph, options);
  auto other = partition(Graph(600, mirrored), options);
  EXPECT_NEAR(one.summary.normalized_cut, other.summary.normalized_cut, 1e-9);
  std::reverse(other.labels.begin(), other.labels.end());
  EXPECT_TRUE(same_clusters(one.labels, other.labels));
  EXPECT_TRUE(same_clusters(one.labels, planted.community_of));
}

TEST(Partition, is_valid_for_every_graph_number_and_cap) {
  std::vector<Graph> graphs;
  graphs.push_back(generate::random({.nodes = 61, .edges = 30, .seed = 1}));  // many components, isolated nodes
  graphs.push_back(generate::random({.nodes = 61, .edges = 300, .lowest_weight = 1e-3, .highest_weight = 1e3}));
  graphs.emplace_back(61);
  std::vector<Edge> star;
  for (NodeId leaf = 1; leaf < 61; ++leaf) star.push_back({0, leaf});
  graphs.emplace_back(61, star);
  graphs.emplace_back(61, std::vector<Edge>{{0, 1, 1e300}, {1, 2, 1e-300}, {5, 6, 1.0}, {6, 7, 1e16}, {7, 8, 1e-16}});
  for (const Graph& graph : graphs) {
    for (const Method method : {Method::ncut, Method::metis}) {
      for (const std::size_t clusters : {1, 2, 3, 7, 20, 30, 31, 59, 60, 61}) {
        const std::size_t least = (61 + clusters - 1) / clusters;
        for (const std::size_t max_size : {std::size_t{0}, least, least + 1, 2 * least}) {
          for (const double imbalance : {1.0, 3.0, std::numeric_limits<double>::infinity()}) {
            const Options options{.method = method,
                                  .clusters = clusters,
                                  .max_size = max_size,
                                  .imbalance = imbalance,
                                  .starts = 2,
                                  .improvement_steps = 3000};
            SCOPED_TRACE(::testing::Message() << name_of(method) << " clusters " << clusters << " max_size " << max_size
                                              << " imbalance " << imbalance);
            expect_valid(graph, options, partition(graph, options), clusters);
          }
        }
      }
    }
  }
}

TEST(Partition, imbalance_bounds_the_sizes) {
  // A long tail of small components, which the bare minimum of the normalized cut would make clusters of.
  std::vector<Edge> edges = generate::cliques(1, 60).edges();
  for (NodeId node = 60; node < 100; node += 2) edges.push_back({node, node + 1});
  const Graph graph(110, edges);
  const auto bounded = partition(graph, {.clusters = 5, .imbalance = 2.0, .improvement_steps = few_steps}).summary;
  EXPECT_GE(bounded.smallest, 11);
  EXPECT_LE(bounded.largest, 44);
  const auto free = partition(
      graph, {.clusters = 5, .imbalance = std::numeric_limits<double>::infinity(), .improvement_steps = few_steps});
  EXPECT_EQ(free.summary.normalized_cut, 0.0);
  EXPECT_GE(free.summary.largest, 60);
}

TEST(Partition, isolated_nodes_even_the_sizes_out) {
  std::vector<Edge> edges;
  NodeId first = 0;
  for (const NodeId size : {30, 25, 20}) {
    for (const Edge& edge : generate::cliques(1, size).edges()) edges.push_back({edge.a + first, edge.b + first});
    first += size;
  }
  const auto summary = partition(Graph(90, edges), {.clusters = 3}).summary;
  EXPECT_EQ(summary.normalized_cut, 0.0);
  EXPECT_EQ(summary.smallest, 30);
  EXPECT_EQ(summary.largest, 30);
}

TEST(Partition, small_components_stay_whole) {
  std::vector<Edge> edges = generate::communities({.nodes = 400, .communities = 4, .seed = 2}).graph.edges();
  for (NodeId node = 400; node < 430; node += 3) {
    edges.push_back({node, node + 1});
    edges.push_back({node + 1, node + 2});
  }
  const Graph graph(440, edges);
  const auto clustering = partition(graph, {.clusters = 4, .improvement_steps = few_steps});
  for (NodeId node = 400; node < 430; node += 3) {
    EXPECT_EQ(clustering.labels[node], clustering.labels[node + 1]);
    EXPECT_EQ(clustering.labels[node], clustering.labels[node + 2]);
  }
}

TEST(Partition, more_steps_and_more_starts_do_not_raise_the_cut) {
  const Graph graph = generate::communities({.nodes = 800, .communities = 8, .mixing = 0.5, .seed = 9}).graph;
  double last = std::numeric_limits<double>::infinity();
  for (const std::size_t steps : {0, 100'000, 1'000'000}) {
    const double cut = partition(graph, {.clusters = 16, .improvement_steps = steps}).summary.normalized_cut;
    EXPECT_LE(cut, last);
    last = cut;
  }
  const double one = partition(graph, {.clusters = 16, .starts = 1, .improvement_steps = 0}).summary.normalized_cut;
  const double four = partition(graph, {.clusters = 16, .starts = 4, .improvement_steps = 0}).summary.normalized_cut;
  EXPECT_LE(four, one);
  EXPECT_LT(last, four);
}

TEST(Partition, beats_metis_on_its_own_terms) {
  const Graph graph = generate::communities({.nodes = 1000, .communities = 10, .mixing = 0.4, .seed = 1}).graph;
  const Options options{.clusters = 25, .max_size = 41, .improvement_steps = 3'000'000};
  Options metis = options;
  metis.method = Method::metis;
  EXPECT_LT(partition(graph, options).summary.normalized_cut, partition(graph, metis).summary.normalized_cut);
}

TEST(Partition, depends_on_the_seed_and_on_nothing_else) {
  const Graph graph = generate::communities({.nodes = 700, .communities = 7, .mixing = 0.5, .seed = 3}).graph;
  for (const Method method : {Method::ncut, Method::metis}) {
    const Options options{.method = method, .clusters = 20, .seed = 5, .improvement_steps = few_steps};
    const auto expected = partition(graph, options).labels;
    std::vector<std::vector<NodeId>> labels(4);
    std::vector<std::thread> threads;
    threads.reserve(labels.size());
    for (auto& result : labels) threads.emplace_back([&] { result = partition(graph, options).labels; });
    for (auto& thread : threads) thread.join();
    for (const auto& result : labels) EXPECT_EQ(result, expected);
    Options other = options;
    other.seed = 6;
    EXPECT_NE(partition(graph, other).labels, expected);
  }
}

TEST(Partition, one_cluster_and_one_node_a_cluster) {
  const Graph graph = generate::random({.nodes = 50, .edges = 120});
  EXPECT_EQ(partition(graph, {.clusters = 1}).summary.normalized_cut, 0.0);
  const auto singletons = partition(graph, {.clusters = 50});
  EXPECT_EQ(singletons.summary.largest, 1);
  EXPECT_EQ(singletons.summary.inside, 0.0);
  EXPECT_EQ(partition(Graph(1), {.clusters = 1}).labels, std::vector<NodeId>{0});
}

TEST(Partition, cluster_size_is_the_average) {
  const Graph graph = generate::random({.nodes = 50, .edges = 120});
  EXPECT_EQ(partition(graph, {.cluster_size = 10, .improvement_steps = 0}).summary.clusters, 5);
  EXPECT_EQ(partition(graph, {.cluster_size = 12, .improvement_steps = 0}).summary.clusters, 5);
  EXPECT_EQ(partition(graph, {.cluster_size = 50, .improvement_steps = 0}).summary.clusters, 1);
}

TEST(Partition, components) {
  const Graph graph(6, std::vector<Edge>{{0, 3}, {1, 4}, {4, 5}});
  const auto clustering = partition(graph, {.method = Method::components});
  EXPECT_THAT(clustering.labels, ::testing::ElementsAre(0, 1, 2, 0, 1, 1));
  EXPECT_EQ(clustering.summary.normalized_cut, 0.0);
  EXPECT_EQ(partition(graph, {.method = Method::components, .max_size = 3}).labels, clustering.labels);
}

TEST(Partition, says_what_is_wrong) {
  const Graph graph = generate::random({.nodes = 10, .edges = 20});
  EXPECT_THAT(message_of(Graph(), {.clusters = 1}), HasSubstr("graph: 0 nodes (must have at least 1)"));
  EXPECT_THAT(message_of(graph, {}), HasSubstr("one of the two must be set"));
  EXPECT_THAT(message_of(graph, {.clusters = 2, .cluster_size = 5}), HasSubstr("one of the two must be set"));
  EXPECT_THAT(message_of(graph, {.clusters = 11}), HasSubstr("clusters: 11 (must be at most the number of nodes, 10)"));
  EXPECT_THAT(message_of(graph, {.cluster_size = 11}), HasSubstr("cluster_size: 11 (must be at most"));
  EXPECT_THAT(message_of(graph, {.clusters = 3, .max_size = 3}),
              HasSubstr("max_size: 3 (must be at least 4 for 10 nodes in 3 clusters)"));
  EXPECT_THAT(message_of(graph, {.clusters = 3, .imbalance = 0.5}), HasSubstr("imbalance: 0.5 (must be at least 1)"));
  EXPECT_THAT(message_of(graph, {.clusters = 3, .imbalance = std::nan("")}), HasSubstr("imbalance: nan"));
  EXPECT_THAT(message_of(graph, {.clusters = 3, .starts = 0}), HasSubstr("starts: 0 (must be at least 1)"));
  EXPECT_THAT(message_of(graph, {.method = Method::components, .clusters = 3}), HasSubstr("both must be 0"));
  EXPECT_THAT(message_of(generate::cliques(2, 5), {.method = Method::components, .max_size = 4}),
              HasSubstr("max_size: 4 (a connected component has 5 nodes"));
  const double large = std::numeric_limits<double>::max();
  EXPECT_THAT(message_of(Graph(3, std::vector<Edge>{{0, 1, large}, {1, 2, large}}), {.clusters = 2}),
              HasSubstr("add up to infinity"));
}

TEST(Partition, methods_have_names) {
  for (const Method method : {Method::ncut, Method::metis, Method::components}) {
    EXPECT_EQ(method_of(name_of(method)), method);
  }
  EXPECT_THROW((void)method_of("spectral"), std::invalid_argument);
}

}  // namespace partition_test
}  // namespace goblin::cluster
