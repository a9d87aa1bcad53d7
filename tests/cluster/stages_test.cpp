#include "cluster/assignment.hpp"
#include "cluster/coarsen.hpp"
#include "cluster/improve.hpp"
#include "cluster/kernel_kmeans.hpp"
#include "cluster/local_search.hpp"
#include "cluster/metis.hpp"
#include "cluster/size_bounds.hpp"
#include "cluster/small_components.hpp"
#include "goblin/cluster/quality.hpp"
#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::cluster {
namespace stages_test {

using ::testing::ElementsAre;

Graph weighted_graph() {
  return generate::random({.nodes = 120, .edges = 400, .lowest_weight = 0.2, .highest_weight = 2.0, .seed = 3});
}

std::vector<NodeId> random_labels(std::size_t nodes, std::size_t clusters, std::uint64_t seed) {
  Random random(seed);
  std::vector<NodeId> labels(nodes);
  for (std::size_t node = 0; node < nodes; ++node) {
    labels[node] = static_cast<NodeId>(node < clusters ? node : random.below(clusters));
  }
  return labels;
}

/// The sums that moves keep up to date, against sums from scratch.
void expect_exact(const Assignment& assignment) {
  const Assignment fresh(assignment.level(), assignment.labels(), assignment.cluster_count());
  EXPECT_NEAR(assignment.association(), fresh.association(), 1e-9);
  for (NodeId cluster = 0; cluster < assignment.cluster_count(); ++cluster) {
    EXPECT_NEAR(assignment.volume(cluster), fresh.volume(cluster), 1e-9);
    EXPECT_NEAR(assignment.inner(cluster), fresh.inner(cluster), 1e-9);
    EXPECT_EQ(assignment.size(cluster), fresh.size(cluster));
    const std::set<NodeId> members(assignment.members(cluster).begin(), assignment.members(cluster).end());
    const std::set<NodeId> fresh_members(fresh.members(cluster).begin(), fresh.members(cluster).end());
    EXPECT_EQ(members, fresh_members);
  }
}

TEST(Assignment, association_is_the_number_of_clusters_minus_the_normalized_cut) {
  const Graph graph = weighted_graph();
  const Level level = finest_level(graph);
  const auto labels = random_labels(120, 7, 1);
  EXPECT_NEAR(Assignment(level, labels, 7).association(), 7.0 - summarize(graph, labels).normalized_cut, 1e-12);
}

TEST(Assignment, gains_are_exact) {
  const Level level = finest_level(weighted_graph());
  Assignment assignment(level, random_labels(120, 6, 2), 6);
  Links links(6);
  Random random(4);
  for (int turn = 0; turn < 500; ++turn) {
    const auto node = static_cast<NodeId>(random.below(120));
    const auto to = static_cast<NodeId>(random.below(6));
    const NodeId from = assignment.label(node);
    if (to == from || assignment.size(from) == 1) continue;
    links.gather(assignment, node);
    const double gain = assignment.gain(node, to, links.to(from), links.to(to));
    const double before = Assignment(level, assignment.labels(), 6).association();
    assignment.move(node, to, links.to(from), links.to(to));
    EXPECT_NEAR(Assignment(level, assignment.labels(), 6).association() - before, gain, 1e-12);
  }
  expect_exact(assignment);
}

TEST(Coarsen, pairs_are_neighbours_or_share_one_and_keep_the_sums) {
  const Graph graph = weighted_graph();
  const Level level = finest_level(graph);
  Random random(1);
  const std::vector<NodeId> pair_of = match(level, 2, random);
  std::map<NodeId, std::vector<NodeId>> pairs;
  for (NodeId node = 0; node < 120; ++node) pairs[pair_of[node]].push_back(node);
  EXPECT_LT(pairs.size(), 80);
  for (const auto& entry : pairs) {
    ASSERT_LE(entry.second.size(), 2);
    if (entry.second.size() < 2) continue;
    const NodeId a = entry.second[0];
    const NodeId b = entry.second[1];
    const bool share = std::any_of(graph.neighbours(a).begin(), graph.neighbours(a).end(),
                                   [&](NodeId other) { return graph.weight(other, b) > 0.0; });
    EXPECT_TRUE(graph.weight(a, b) > 0.0 || share);
  }
  const Level coarse = contract(level, pair_of);
  EXPECT_EQ(coarse.node_count(), pairs.size());
  EXPECT_EQ(std::accumulate(coarse.size.begin(), coarse.size.end(), NodeId{0}), 120);
  EXPECT_NEAR(std::accumulate(coarse.volume.begin(), coarse.volume.end(), 0.0),
              std::accumulate(level.volume.begin(), level.volume.end(), 0.0), 1e-9);
  for (NodeId node = 0; node < coarse.node_count(); ++node) {
    EXPECT_NEAR(coarse.volume[node] - coarse.inner[node], coarse.graph.degree(node), 1e-9);
  }
}

TEST(Coarsen, takes_the_neighbour_that_saves_most) {
  // A ring of heavy and light edges by turns.
  const Level ring = finest_level(Graph(4, std::vector<Edge>{{0, 1, 5.0}, {1, 2, 1.0}, {2, 3, 5.0}, {0, 3, 1.0}}));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const auto pairs = match(ring, 2, random);
    EXPECT_EQ(pairs[0], pairs[1]);
    EXPECT_EQ(pairs[2], pairs[3]);
  }
}

TEST(Coarsen, halves_a_star_and_respects_the_size) {
  std::vector<Edge> edges;
  for (NodeId leaf = 1; leaf < 101; ++leaf) edges.push_back({0, leaf});
  Level level = finest_level(Graph(101, edges));
  Random random(0);
  level = contract(level, match(level, 4, random));
  EXPECT_LE(level.node_count(), 52);
  level = contract(level, match(level, 4, random));
  level = contract(level, match(level, 4, random));
  level = contract(level, match(level, 4, random));
  EXPECT_LE(*std::max_element(level.size.begin(), level.size.end()), 4);
}

TEST(Coarsen, a_clustering_has_the_same_cut_on_every_level) {
  const Graph graph = weighted_graph();
  const Level level = finest_level(graph);
  Random random(6);
  const auto pair_of = match(level, 10, random);
  const Level coarse = contract(level, pair_of);
  const auto coarse_labels = random_labels(coarse.node_count(), 5, 9);
  std::vector<NodeId> labels(120);
  for (NodeId node = 0; node < 120; ++node) labels[node] = coarse_labels[pair_of[node]];
  EXPECT_NEAR(Assignment(coarse, coarse_labels, 5).association(), Assignment(level, labels, 5).association(), 1e-10);
}

TEST(Metis, separates_cliques_and_leaves_no_part_empty) {
  const Graph graph = generate::cliques(8, 10);
  Random random(0);
  const auto labels = bisect_recursively(graph, std::vector<double>(80, 1.0), 8, random);
  EXPECT_EQ(summarize(graph, labels).clusters, 8);
  EXPECT_EQ(summarize(graph, labels).normalized_cut, 0.0);
}

TEST(Metis, every_number_of_parts_of_awkward_graphs) {
  std::vector<Edge> star;
  for (NodeId leaf = 1; leaf < 40; ++leaf) star.push_back({0, leaf, leaf == 1 ? 1e-300 : 1e12});
  const std::vector<Graph> graphs{Graph(40), Graph(40, star), generate::cliques(20, 2), generate::cliques(1, 40),
                                  Graph(40, std::vector<Edge>{{0, 1}})};
  for (const Graph& graph : graphs) {
    const Level level = finest_level(graph);
    for (std::size_t clusters = 1; clusters <= 40; ++clusters) {
      Random random(clusters);
      ::testing::internal::CaptureStdout();
      const auto labels = bisect_recursively(graph, level.volume, clusters, random);
      EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
      EXPECT_EQ(std::set<NodeId>(labels.begin(), labels.end()).size(), clusters);
      EXPECT_EQ(*std::max_element(labels.begin(), labels.end()), clusters - 1);
    }
  }
}

/// Six communities of 50, and their nodes' labels with every fifth one wrong.
std::pair<Level, std::vector<NodeId>> disturbed_communities() {
  auto planted = generate::communities({.nodes = 300, .communities = 6, .average_degree = 10.0, .mixing = 0.3});
  for (NodeId node = 0; node < 300; node += 5) planted.community_of[node] = node / 5 % 6;
  return {finest_level(planted.graph), planted.community_of};
}

TEST(KernelKmeans, every_sweep_lowers_the_cut) {
  const auto start = disturbed_communities();
  Assignment assignment(start.first, start.second, 6);
  double before = assignment.association();
  std::size_t sweeps = 0;
  while (sweeps < 100 && kernel_kmeans(assignment, {}, 1) == 1) {
    EXPECT_GT(assignment.association(), before);
    before = assignment.association();
    ++sweeps;
  }
  EXPECT_GT(sweeps, 0);
  EXPECT_LT(sweeps, 100);
  EXPECT_EQ(assignment.association(), before);
  expect_exact(assignment);
}

TEST(KernelKmeans, keeps_to_the_bounds) {
  const auto start = disturbed_communities();
  Assignment assignment(start.first, start.second, 6);
  const SizeBounds bounds{.smallest = 48, .largest = 52};
  enforce(assignment, bounds);
  EXPECT_GT(kernel_kmeans(assignment, bounds, 20), 0);
  for (NodeId cluster = 0; cluster < 6; ++cluster) {
    EXPECT_GE(assignment.size(cluster), 48);
    EXPECT_LE(assignment.size(cluster), 52);
  }
}

TEST(LocalSearch, ends_where_no_single_move_gains) {
  const Level level = finest_level(weighted_graph());
  Assignment assignment(level, random_labels(120, 6, 8), 6);
  const double before = assignment.association();
  Random random(0);
  LocalSearch search(assignment, {});
  search.queue_all(random);
  search.run();
  EXPECT_GT(assignment.association(), before);
  expect_exact(assignment);
  // Volumes change under nodes that were looked at: after a few rounds all is quiet.
  for (double last = 0.0; last != assignment.association();) {
    last = assignment.association();
    search.queue_all(random);
    search.run();
  }
  Links links(6);
  for (NodeId node = 0; node < 120; ++node) {
    const NodeId own = assignment.label(node);
    if (assignment.size(own) == 1) continue;
    links.gather(assignment, node);
    for (const NodeId to : links.clusters()) {
      if (to == own) continue;
      EXPECT_LE(assignment.gain(node, to, links.to(own), links.to(to)), least_gain);
    }
  }
}

TEST(LocalSearch, takes_back_what_it_did) {
  const Level level = finest_level(weighted_graph());
  const auto labels = random_labels(120, 6, 8);
  Assignment assignment(level, labels, 6);
  Random random(0);
  LocalSearch search(assignment, {});
  search.queue_all(random);
  search.run();
  EXPECT_NE(assignment.labels(), labels);
  search.undo();
  EXPECT_EQ(assignment.labels(), labels);
  expect_exact(assignment);
}

TEST(Improve, lowers_the_cut_below_the_local_search_and_keeps_to_the_bounds) {
  const Level level = finest_level(weighted_graph());
  const SizeBounds bounds{.smallest = 5, .largest = 30};
  std::vector<NodeId> labels(120);
  for (NodeId node = 0; node < 120; ++node) labels[node] = node % 10;
  Assignment assignment(level, labels, 10);
  Random random(0);
  LocalSearch search(assignment, bounds);
  search.queue_all(random);
  search.run();
  search.keep();
  const double before = assignment.association();
  EXPECT_GT(improve(search, 1'000'000, random), 0);
  EXPECT_GT(assignment.association(), before + 0.01);
  expect_exact(assignment);
  for (NodeId cluster = 0; cluster < 10; ++cluster) {
    EXPECT_GE(assignment.size(cluster), 5);
    EXPECT_LE(assignment.size(cluster), 30);
  }
}

TEST(Improve, exchanges_nodes_where_no_cluster_has_room) {
  // Two triangles, one node of each on the wrong side, and not a single size that may change.
  const Level level = finest_level(generate::cliques(2, 3));
  Assignment assignment(level, {0, 0, 1, 1, 1, 0}, 2);
  Random random(0);
  LocalSearch search(assignment, {.smallest = 3, .largest = 3});
  EXPECT_GT(improve(search, 100'000, random), 0);
  EXPECT_DOUBLE_EQ(assignment.association(), 2.0);
}

TEST(SizeBounds, are_always_reached_on_the_finest_level) {
  const std::vector<Graph> graphs{weighted_graph(), Graph(120), generate::cliques(6, 20), generate::cliques(60, 2)};
  for (const Graph& graph : graphs) {
    const Level level = finest_level(graph);
    for (const std::size_t clusters : {1, 2, 7, 60, 119, 120}) {
      const SizeBounds bounds{.smallest = 120 / clusters, .largest = (120 + clusters - 1) / clusters};
      Assignment assignment(level, std::vector<NodeId>(120, 0), clusters);
      enforce(assignment, bounds);
      for (NodeId cluster = 0; cluster < clusters; ++cluster) {
        EXPECT_GE(assignment.size(cluster), bounds.smallest);
        EXPECT_LE(assignment.size(cluster), bounds.largest);
      }
      expect_exact(assignment);
    }
  }
}

TEST(SmallComponents, go_whole_where_they_lower_the_cut_most_and_isolated_nodes_to_the_smallest_cluster) {
  // A path 0-1-2-3 cut in the middle, where cluster 1 has the larger volume; the pair 4-5; two isolated nodes.
  const Graph graph(8, std::vector<Edge>{{0, 1}, {1, 2}, {2, 3, 5.0}, {4, 5}});
  std::vector<NodeId> labels{0, 0, 1, 1, unplaced, unplaced, unplaced, unplaced};
  place_small_components(graph, graph.components(), 2, {}, labels);
  EXPECT_THAT(labels, ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
}

TEST(SmallComponents, are_divided_only_where_no_cluster_has_room) {
  const Graph graph = generate::cliques(3, 2);
  std::vector<NodeId> labels(6, unplaced);
  place_small_components(graph, graph.components(), 2, {.smallest = 1, .largest = 3}, labels);
  EXPECT_EQ(labels[0], labels[1]);
  EXPECT_EQ(labels[2], labels[3]);
  EXPECT_NE(labels[4], labels[5]);
}

}  // namespace stages_test
}  // namespace goblin::cluster
