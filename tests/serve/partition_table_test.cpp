#include "serve/partition_table.hpp"

#include "service_fixture.hpp"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace partition_table_test {

using testing::HasSubstr;

/// Twelve users, u0 to u11, four in each cluster.
const std::vector<NodeId> clusters = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};

TEST(PartitionTable, one_partition_has_everybody) {
  const PartitionTable table;
  EXPECT_EQ(table.count(), 1);
  for (const char* user : {"", "ann", "u0"}) EXPECT_EQ(table.of(user), 0);
}

TEST(PartitionTable, users_whom_nobody_listed_are_spread_by_their_names) {
  const PartitionTable table(4);
  std::map<std::size_t, int> users;
  for (int k = 0; k < 4'000; ++k) ++users[table.of(fmt::format("user {}", k))];
  ASSERT_EQ(users.size(), 4);
  for (const auto& [partition, count] : users) {
    EXPECT_GT(count, 850) << partition;
    EXPECT_LT(count, 1'150) << partition;
  }
  // Names that differ in a few bits only, as numbers of equal length do.
  std::map<std::size_t, int> even;
  for (int k = 1'000; k < 5'000; k += 4) ++even[PartitionTable(2).of(fmt::format("{}", k))];
  EXPECT_NEAR(even[0], 500, 60);
  // Every server must find the same, today and after the next release: these are not to change.
  EXPECT_EQ((std::vector{table.of("ann"), table.of("bob"), table.of("cat"), table.of("dan")}),
            (std::vector<std::size_t>{0, 0, 3, 1}));
}

TEST(PartitionTable, listed_users_are_where_the_list_says) {
  const std::vector<NodeId> of = {2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1};
  const PartitionTable table(3, named_cliques(), of);
  for (std::size_t user = 0; user < of.size(); ++user) EXPECT_EQ(table.of(fmt::format("u{}", user)), of[user]);
  EXPECT_EQ(table.of("stranger"), PartitionTable(3).of("stranger"));
}

TEST(PartitionTable, a_list_that_cannot_be_is_refused_with_the_user) {
  const auto complaint = [](std::size_t count, const Graph& users, std::vector<NodeId> of) -> std::string {
    try {
      const PartitionTable table(count, users, std::move(of));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "none";
  };
  const std::vector<NodeId> zeros(12, 0);
  EXPECT_EQ(complaint(2, named_cliques(), zeros), "none");
  EXPECT_EQ(complaint(0, named_cliques(), zeros), "partitions: 0 (must be at least 1)");
  EXPECT_EQ(complaint(2, named_cliques(), {0, 1}), "2 partitions for 12 users (must be one for each)");
  std::vector<NodeId> beyond = zeros;
  beyond[7] = 2;
  EXPECT_EQ(complaint(2, named_cliques(), beyond), "user \"u7\" is in partition 2 (must be below 2)");
  EXPECT_THAT(complaint(2, generate::cliques(3, 4), zeros), HasSubstr("users without names"));
}

TEST(PartitionTable, clusters_stay_whole_and_partitions_are_about_as_large) {
  std::vector<NodeId> many;
  for (NodeId cluster = 0; cluster < 40; ++cluster) many.insert(many.end(), 1 + cluster * 7 % 23, cluster);
  const std::vector<NodeId> of = spread(many, 4);
  ASSERT_EQ(of.size(), many.size());
  std::map<NodeId, std::set<NodeId>> partitions_of_cluster;
  std::map<NodeId, std::size_t> users;
  for (std::size_t user = 0; user < many.size(); ++user) {
    partitions_of_cluster[many[user]].insert(of[user]);
    ++users[of[user]];
  }
  for (const auto& [cluster, partitions] : partitions_of_cluster) EXPECT_EQ(partitions.size(), 1) << cluster;
  ASSERT_EQ(users.size(), 4);
  for (const auto& [partition, count] : users) {
    EXPECT_NEAR(static_cast<double>(count), static_cast<double>(many.size()) / 4, 2) << partition;
  }
  // More partitions than clusters: some have nobody.
  EXPECT_THAT(spread(std::vector<NodeId>{0, 0, 1}, 5), testing::Each(testing::Lt(2)));
}

TEST(PartitionTable, a_cluster_in_two_partitions_is_named) {
  const Graph graph = named_cliques();
  EXPECT_EQ(divided_cluster(graph, clusters, {2, graph, spread(clusters, 2)}), std::nullopt);
  std::vector<NodeId> of(12, 0);
  of[6] = 1;
  EXPECT_EQ(divided_cluster(graph, clusters, {2, graph, of}), "cluster 1 has users of the partitions 0 and 1");
  EXPECT_EQ(divided_cluster(graph, {}, {2, graph, of}), std::nullopt) << "where there are no clusters";
}

TEST(PartitionTable, the_parts_of_a_graph_are_the_graph_without_what_goes_across) {
  const Graph plain = named_cliques();
  EdgeList edges;
  for (const Edge& edge : plain.edges()) edges.add(edge);
  edges.add({0, 4, 2.5});   // across
  edges.add({0, 11, 1.5});  // from one cluster to another one, within a partition
  edges.add({4, 5, 0.5});   // once more
  const Graph graph(Names(plain.names()), edges);
  const PartitionTable table(2, graph, {0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0});
  const PartOfGraph first = part_of(graph, clusters, table, 0);
  const PartOfGraph second = part_of(graph, clusters, table, 1);
  EXPECT_EQ(first.graph.node_count(), 8);
  EXPECT_EQ(second.graph.node_count(), 4);
  EXPECT_EQ(first.clusters, (std::vector<NodeId>{0, 0, 0, 0, 1, 1, 1, 1})) << "numbered anew";
  EXPECT_EQ(second.clusters, (std::vector<NodeId>{0, 0, 0, 0}));
  std::size_t within = 0;
  for (const PartOfGraph* part : {&first, &second}) {
    for (std::size_t user = 0; user < part->graph.node_count(); ++user) {
      const auto whole = graph.names().find(part->graph.names()[user]);
      ASSERT_TRUE(whole);
      for (std::size_t k = 0; k < part->graph.neighbours(user).size(); ++k) {
        const auto other = graph.names().find(part->graph.names()[part->graph.neighbours(user)[k]]);
        const auto neighbours = graph.neighbours(*whole);
        const auto place = std::find(neighbours.begin(), neighbours.end(), *other);
        ASSERT_NE(place, neighbours.end());
        EXPECT_EQ(part->graph.weights(user)[k], graph.weights(*whole)[place - neighbours.begin()]);
        ++within;
      }
    }
  }
  EXPECT_EQ(within / 2, graph.edge_count() - 1) << "all edges but the one across";
  EXPECT_EQ(part_of(graph, clusters, PartitionTable(), 0).graph.edge_count(), graph.edge_count());
}

}  // namespace partition_table_test
}  // namespace goblin::serve
