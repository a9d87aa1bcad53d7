#include "graph/live_graph.hpp"

#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"
#include "graph/remove_places.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

namespace goblin {
namespace live_graph_test {

TEST(LiveGraph, follows_its_edits) {
  Names names;
  for (int node = 0; node < 75; ++node) names.insert("n" + std::to_string(node));
  const Graph base(names,
                   generate::random({.nodes = 75, .edges = 60, .lowest_weight = 0.5, .highest_weight = 2.0}).edges());
  LiveGraph live(base);
  std::map<std::pair<NodeId, NodeId>, double> expected;
  for (const Edge& edge : base.edges()) expected[{edge.a, edge.b}] = edge.weight;
  for (int k = 0; k < 5; ++k) live.add_node("new" + std::to_string(k));
  for (std::uint64_t t = 0; t < 6000; ++t) {
    Random random(3, 0, t);
    const auto a = static_cast<NodeId>(random.below(79));
    const auto b = static_cast<NodeId>(a + 1 + random.below(79 - a));
    const double weight = random.below(3) == 0 ? 0.0 : random.uniform(0.1, 2.0);
    live.set_weight(b, a, weight);
    expected.erase({a, b});
    if (weight > 0.0) expected[{a, b}] = weight;
    ASSERT_EQ(live.weight(a, b), weight);
  }
  EXPECT_EQ(live.find("n74"), 74);
  EXPECT_EQ(live.find("new4"), 79);
  EXPECT_EQ(live.name(79), "new4");
  const Graph now = live.snapshot();
  ASSERT_EQ(now.node_count(), 80);
  ASSERT_EQ(now.edge_count(), expected.size());
  for (const Edge& edge : now.edges()) {
    EXPECT_EQ(edge.weight, expected.at({edge.a, edge.b}));
    EXPECT_EQ(live.weight(edge.a, edge.b), edge.weight);
  }
  for (NodeId node = 0; node < 80; ++node) {
    std::map<NodeId, double> neighbours;
    live.for_each_neighbour(node, [&](NodeId other, double weight) { neighbours[other] = weight; });
    ASSERT_EQ(neighbours.size(), now.neighbours(node).size());
    ASSERT_TRUE(std::equal(neighbours.begin(), neighbours.end(), now.neighbours(node).begin(),
                           [](const auto& one, NodeId other) { return one.first == other; }));
    for (const auto& [other, weight] : neighbours) EXPECT_EQ(weight, now.weight(node, other));
  }
}

TEST(LiveGraph, keeps_nothing_of_edges_that_came_and_went) {
  LiveGraph live(generate::cliques(1, 30));
  live.set_weight(0, 1, 5.0);
  live.set_weight(0, 1, 1.0);  // as it was
  for (int round = 0; round < 2; ++round) {
    for (NodeId node = 2; node < 30; ++node) live.set_weight(0, node, 0.0);
    for (NodeId node = 2; node < 30; ++node) live.set_weight(0, node, 1.0);
  }
  const std::size_t before = live.bytes();
  EXPECT_LE(before, 3 * generate::cliques(1, 30).bytes());
  for (NodeId node = 2; node < 30; ++node) live.set_weight(0, node, 0.0);
  for (NodeId node = 2; node < 30; ++node) live.set_weight(0, node, 1.0);
  EXPECT_LE(live.bytes(), before);
  for (int k = 0; k < 200; ++k) live.add_node({});
  for (NodeId a = 30; a < 230; ++a) {
    for (NodeId b = a + 1; b < 230; ++b) {
      live.set_weight(a, b, 1.0);
      live.set_weight(a, b, 0.0);
    }
  }
  EXPECT_LE(live.bytes(), before + 100'000);
  EXPECT_EQ(live.snapshot().edge_count(), 435);
}

// Nodes that stay keep their edges, under the numbers that they get.
TEST(EditableGraph, gives_up_parts_that_no_edge_joins_to_the_others) {
  const Graph base =
      generate::random({.nodes = 120, .edges = 90, .lowest_weight = 0.5, .highest_weight = 2.0, .seed = 6});
  EditableGraph graph(base);
  std::vector<NodeId> names(base.node_count());  // who has a number
  std::iota(names.begin(), names.end(), 0);
  NodeId next_name = 120;
  std::map<std::pair<NodeId, NodeId>, double> expected;  // by names
  for (const Edge& edge : base.edges()) expected[{edge.a, edge.b}] = edge.weight;
  for (std::uint64_t t = 0; t < 60; ++t) {
    Random random(5, 0, t);
    const Components parts = graph.snapshot().components();
    const auto chosen = parts.nodes(parts.of(static_cast<NodeId>(random.below(graph.node_count()))));
    const std::vector<NodeId> gone(chosen.begin(), chosen.end());
    if (gone.size() < graph.node_count()) {
      for (const NodeId node : gone) {
        std::erase_if(expected, [&](const auto& edge) {
          return edge.first.first == names[node] || edge.first.second == names[node];
        });
      }
      graph.remove_nodes(gone);
      remove_places(names, gone);
    }
    // Others come, and edges.
    graph.add_nodes(2);
    for (int k = 0; k < 2; ++k) names.push_back(next_name++);
    for (int k = 0; k < 3; ++k) {
      const auto a = static_cast<NodeId>(random.below(graph.node_count()));
      const auto b = static_cast<NodeId>((a + 1 + random.below(graph.node_count() - 1)) % graph.node_count());
      graph.set_weight(a, b, random.uniform(0.5, 2.0));
      expected[std::minmax(names[a], names[b])] = graph.weight(a, b);
    }
    ASSERT_EQ(graph.node_count(), names.size());
    ASSERT_EQ(graph.edge_count(), expected.size());
    for (const Edge& edge : graph.edges()) {
      ASSERT_EQ(edge.weight, expected.at(std::minmax(names[edge.a], names[edge.b])));
      ASSERT_EQ(edge.weight, graph.weight(edge.b, edge.a));
    }
  }
}

}  // namespace live_graph_test
}  // namespace goblin
