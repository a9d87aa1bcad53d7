#include "goblin/graph/graph.hpp"

#include "goblin/graph/generators.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace graph_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Edge> path_edges() { return {{0, 1}, {1, 2, 0.5}, {3, 4, 2.0}}; }

template <typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Names, a_number_is_named_by_its_digits_only) {
  EXPECT_EQ(number_named("0"), 0);
  EXPECT_EQ(number_named("10"), 10);
  EXPECT_EQ(number_named("4294967299"), 4294967299);
  EXPECT_EQ(number_named("18446744073709551615"), std::numeric_limits<std::size_t>::max());
  for (const char* other : {"", "00", "01", "+1", "-1", " 1", "1 ", "1.0", "0x1", "ann", "18446744073709551616"}) {
    EXPECT_EQ(number_named(other), std::nullopt) << other;
  }
}

TEST(Graph, stores_each_edge_at_both_ends_in_order) {
  const Graph graph(6, path_edges());
  EXPECT_EQ(graph.node_count(), 6);
  EXPECT_EQ(graph.edge_count(), 3);
  EXPECT_THAT(graph.neighbours(1), ElementsAre(0, 2));
  EXPECT_THAT(graph.weights(1), ElementsAre(1.0, 0.5));
  EXPECT_THAT(graph.neighbours(5), IsEmpty());
  EXPECT_DOUBLE_EQ(graph.degree(1), 1.5);
  EXPECT_DOUBLE_EQ(graph.weight(4, 3), 2.0);
  EXPECT_DOUBLE_EQ(graph.weight(0, 2), 0.0);
}

TEST(Graph, parallel_edges_add_up_to_the_same_number_at_both_ends) {
  const Graph graph(3, std::vector<Edge>{{0, 1, 0.1}, {2, 1, 1.0}, {1, 0, 0.7}, {0, 1, 1e-17}});
  EXPECT_EQ(graph.edge_count(), 2);
  EXPECT_THAT(graph.neighbours(1), ElementsAre(0, 2));
  EXPECT_EQ(graph.weight(0, 1), graph.weight(1, 0));
  EXPECT_DOUBLE_EQ(graph.weight(0, 1), 0.8);
}

TEST(Graph, refuses_bad_edges_with_the_reason) {
  const auto build = [](Edge edge) { return message_of([edge] { Graph(3, std::vector{edge}); }); };
  EXPECT_THAT(build({1, 1}), HasSubstr("self loop"));
  EXPECT_THAT(build({0, 3}), HasSubstr("node 3 (must be below the number of nodes, 3)"));
  EXPECT_THAT(build({0, 1, 0.0}), HasSubstr("weight 0 (must be finite and positive)"));
  EXPECT_THAT(build({0, 1, -2.0}), HasSubstr("weight -2"));
  EXPECT_THAT(build({0, 1, std::numeric_limits<double>::quiet_NaN()}), HasSubstr("weight nan"));
  EXPECT_THAT(build({0, 1, std::numeric_limits<double>::infinity()}), HasSubstr("weight inf"));
  const double large = std::numeric_limits<double>::max();
  EXPECT_THAT(message_of([large] {
                Graph(2, std::vector<Edge>{{0, 1, large}, {0, 1, large}});
              }),
              HasSubstr("add up to infinity"));
  Names names;
  names.insert("ann");
  names.insert("bob");
  try {
    const Graph graph(names, std::vector<Edge>{{0, 1}, {1, 1}});
    ADD_FAILURE();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "edges[1]: joins 'bob' (node 1) to itself (self loops are not allowed)");
  }
}

TEST(Graph, components_are_numbered_by_their_lowest_node) {
  const Components components = Graph(6, std::vector<Edge>{{4, 1}, {5, 0}, {4, 3}}).components();
  ASSERT_EQ(components.count(), 3);
  EXPECT_THAT(components.nodes(0), ElementsAre(0, 5));
  EXPECT_THAT(components.nodes(1), ElementsAre(1, 3, 4));
  EXPECT_THAT(components.nodes(2), ElementsAre(2));
  EXPECT_EQ(components.of(3), 1);
}

TEST(Graph, views) {
  Names names;
  for (const char* name : {"a", "b", "c", "d", "e"}) names.insert(name);
  const Graph graph(names, std::vector<Edge>{{0, 1}, {1, 2, 3.0}, {2, 3}, {3, 4}, {0, 4, 0.5}});
  const std::vector<NodeId> labels{0, 0, 2, 2, 1};

  EXPECT_EQ(graph.single().node_count(), 1);
  EXPECT_EQ(graph.edgeless().node_count(), 5);
  EXPECT_EQ(graph.edgeless().edge_count(), 0);
  EXPECT_EQ(graph.edgeless().names()[3], "d");

  const Graph within = graph.within(labels);
  EXPECT_EQ(within.edge_count(), 2);
  EXPECT_EQ(within.weight(0, 1), 1.0);
  EXPECT_EQ(within.weight(2, 3), 1.0);
  EXPECT_EQ(within.names()[4], "e");

  const Graph quotient = graph.quotient(labels);
  EXPECT_EQ(quotient.node_count(), 3);
  EXPECT_EQ(quotient.edge_count(), 3);
  EXPECT_EQ(quotient.weight(0, 2), 3.0);
  EXPECT_EQ(quotient.weight(2, 1), 1.0);
  EXPECT_EQ(quotient.weight(0, 1), 0.5);

  const Graph induced = graph.induced(std::vector<NodeId>{1, 2, 4});
  EXPECT_EQ(induced.node_count(), 3);
  EXPECT_EQ(induced.edge_count(), 1);
  EXPECT_EQ(induced.weight(0, 1), 3.0);

  EXPECT_THAT(message_of([&] { (void)graph.within(std::vector<NodeId>{0, 1}); }), HasSubstr("labels: 2 of them"));
  EXPECT_THAT(message_of([&] { (void)graph.quotient(std::vector<NodeId>{0, 1, 2, 3, 9}); }), HasSubstr("labels[4]: 9"));
}

TEST(Graph, edges_give_the_graph_back) {
  const Graph graph = generate::random({.nodes = 50, .edges = 200, .lowest_weight = 0.1, .highest_weight = 3.0});
  const Graph again(graph.node_count(), graph.edges());
  for (std::size_t node = 0; node < graph.node_count(); ++node) {
    EXPECT_THAT(again.neighbours(node), ::testing::ElementsAreArray(graph.neighbours(node)));
    EXPECT_THAT(again.weights(node), ::testing::ElementsAreArray(graph.weights(node)));
  }
}

TEST(Graph, empty) {
  const Graph graph;
  EXPECT_EQ(graph.node_count(), 0);
  EXPECT_EQ(graph.components().count(), 0);
  EXPECT_EQ(graph.quotient({}).node_count(), 0);
}

TEST(Names, can_be_taken_and_given_again) {
  Names names;
  for (int k = 0; k < 100; ++k) names.insert("name " + std::to_string(k));
  names.remove(std::vector<NodeId>{0, 42, 99});
  EXPECT_EQ(names.size(), 100);
  for (const NodeId index : {0, 42, 99}) {
    EXPECT_EQ(names[index], "");
    EXPECT_FALSE(names.find("name " + std::to_string(index)));
  }
  EXPECT_FALSE(names.find(""));
  EXPECT_EQ(names.find("name 43"), 43);
  EXPECT_EQ(names.insert("name 42"), 100);
  EXPECT_EQ(names.insert_nameless(), 101);
  for (int k = 200; k < 400; ++k) names.insert("name " + std::to_string(k));  // the table grows
  EXPECT_FALSE(names.find(""));
  EXPECT_EQ(names.find("name 42"), 100);
  EXPECT_EQ(names.find("name 200"), 102);
  EXPECT_EQ(names.insert(""), 302);  // a name like any other
  EXPECT_EQ(names.find(""), 302);
  names.remove(std::vector<NodeId>{100});
  EXPECT_FALSE(names.find("name 42"));
  EXPECT_EQ(names.find(""), 302);
  EXPECT_EQ(names[101], "");
}

TEST(Names, that_were_never_given_are_not_found) {
  Names names;
  names.insert_nameless();
  EXPECT_FALSE(names.find("ann"));
  EXPECT_EQ(names.insert("ann"), 1);
}

TEST(Names, finds_what_was_inserted_and_nothing_else) {
  Names names;
  EXPECT_FALSE(names.find("nobody"));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(names.insert("user " + std::to_string(i)), i);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(names.insert("user " + std::to_string(i)), i);
  EXPECT_EQ(names.size(), 1000);
  EXPECT_EQ(names[617], "user 617");
  EXPECT_EQ(names.find("user 999"), 999);
  EXPECT_FALSE(names.find("user 1000"));
  EXPECT_FALSE(names.find(""));
}

TEST(Generators, cliques) {
  const Graph graph = generate::cliques(4, 25);
  EXPECT_EQ(graph.node_count(), 100);
  EXPECT_EQ(graph.edge_count(), 1200);
  EXPECT_EQ(graph.components().count(), 4);
}

TEST(Generators, random_pairs_have_their_probability) {
  constexpr std::size_t nodes = 9;
  std::map<std::pair<NodeId, NodeId>, int> drawn;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const Graph graph = generate::random_pairs(nodes, 0.3, Random(seed));
    ASSERT_EQ(graph.node_count(), nodes);
    for (const Edge& edge : graph.edges()) {
      ASSERT_EQ(edge.weight, 1.0);
      ++drawn[{edge.a, edge.b}];
    }
  }
  EXPECT_EQ(drawn.size(), nodes * (nodes - 1) / 2);
  for (const auto& [pair, count] : drawn) EXPECT_NEAR(count, 1200, 5 * 29) << pair.first << " " << pair.second;
  EXPECT_EQ(generate::random_pairs(5, 1.0, Random(1)).edge_count(), 10);
  EXPECT_EQ(generate::random_pairs(5, 0.0, Random(1)).edge_count(), 0);
  EXPECT_EQ(generate::random_pairs(1000, 1e-300, Random(1)).edge_count(), 0);
  EXPECT_EQ(generate::random_pairs(0, 0.5, Random(1)).node_count(), 0);
  EXPECT_THROW((void)generate::random_pairs(5, 1.5, Random(1)), std::invalid_argument);
  // The same everywhere, and many nodes without looking at every pair.
  const auto edges = generate::random_pairs(1'000'000, 2e-11, Random(3)).edges();
  ASSERT_EQ(edges.size(), 9);
  EXPECT_EQ(edges[0].a, 54610);
  EXPECT_EQ(edges[0].b, 780165);
  EXPECT_EQ(edges[8].b, 747914);
}

TEST(Generators, communities) {
  const generate::CommunityOptions options{.nodes = 5000, .communities = 50, .seed = 2};
  const auto planted = generate::communities(options);
  EXPECT_EQ(planted.graph.node_count(), 5000);
  EXPECT_EQ(planted.graph.edge_count(), 35000);
  EXPECT_EQ(generate::communities(options).graph.edges().back().a, planted.graph.edges().back().a);
  std::size_t inside = 0;
  for (const Edge& edge : planted.graph.edges()) {
    EXPECT_EQ(edge.weight, 1.0);
    if (planted.community_of[edge.a] == planted.community_of[edge.b]) ++inside;
  }
  EXPECT_GT(inside, 0.5 * 35000);
  EXPECT_LT(inside, 0.7 * 35000);
  std::vector<std::size_t> size(50, 0);
  std::size_t largest_degree = 0;
  for (NodeId node = 0; node < 5000; ++node) {
    ++size[planted.community_of[node]];
    largest_degree = std::max(largest_degree, planted.graph.neighbours(node).size());
  }
  EXPECT_THAT(size, ::testing::Each(100));
  EXPECT_GT(largest_degree, 100);
  EXPECT_EQ(generate::communities({.nodes = 10, .communities = 3, .average_degree = 0.0}).graph.edge_count(), 0);
}

TEST(Generators, communities_say_what_is_wrong) {
  const auto message = [](const generate::CommunityOptions& options) {
    return message_of([&options] { (void)generate::communities(options); });
  };
  EXPECT_THAT(message({.nodes = 10, .communities = 0}), HasSubstr("communities: 0 (must be at least 1"));
  EXPECT_THAT(message({.nodes = 10, .communities = 11}), HasSubstr("communities: 11"));
  EXPECT_THAT(message({.nodes = 100, .exponent = 2.0}), HasSubstr("exponent: 2 (must be above 2)"));
  EXPECT_THAT(message({.nodes = 100, .mixing = 1.5}), HasSubstr("mixing: 1.5 (must be between 0 and 1)"));
  EXPECT_THAT(message({.nodes = 40, .communities = 1}), HasSubstr("average_degree: 14 (must be between 0 and"));
}

TEST(Generate, rewires_all_edges_and_keeps_degrees) {
  const Graph graph = generate::communities({.nodes = 200, .communities = 5, .average_degree = 6, .seed = 3}).graph;
  const auto rewired = generate::rewired(graph, Random(1));
  EXPECT_GT(rewired.swaps, graph.edge_count());
  ASSERT_EQ(rewired.graph.edge_count(), graph.edge_count());
  std::size_t kept = 0;
  for (std::size_t node = 0; node < graph.node_count(); ++node) {
    EXPECT_EQ(rewired.graph.neighbours(node).size(), graph.neighbours(node).size());
    for (const NodeId other : graph.neighbours(node)) kept += rewired.graph.weight(node, other) > 0.0 ? 1 : 0;
  }
  EXPECT_LT(kept, graph.edge_count() / 2);  // each counts twice
  EXPECT_EQ(generate::rewired(graph, Random(1)).graph.edges().size(), rewired.graph.edges().size());
  // Nothing can change where there is only one graph with these degrees.
  EXPECT_EQ(generate::rewired(generate::cliques(1, 6), Random(1)).swaps, 0);
  EXPECT_EQ(generate::rewired(Graph(3), Random(1)).swaps, 0);
}

TEST(Generate, rewiring_keeps_weights) {
  const Graph graph = generate::random({.nodes = 30, .edges = 60, .lowest_weight = 0.5, .highest_weight = 2.0});
  const auto weights = [](const Graph& any) {
    std::vector<double> all;
    for (const Edge& edge : any.edges()) all.push_back(edge.weight);
    std::sort(all.begin(), all.end());
    return all;
  };
  EXPECT_EQ(weights(generate::rewired(graph, Random(2)).graph), weights(graph));
}

}  // namespace graph_test
}  // namespace goblin
