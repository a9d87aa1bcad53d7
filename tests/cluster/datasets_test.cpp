#include "support/datasets.hpp"

#include "goblin/cluster/partition.hpp"
#include "goblin/graph/tab_file.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace goblin::cluster {
namespace datasets_test {

/// What Graclus reaches, and METIS refined by k-means: the normalized cut divided by the number of clusters.
struct Published {
  std::size_t clusters;
  double graclus;
  double metis_kmeans;
};

/// The graph of a friend file: a header, then `user <tab> friend`, both directions listed; ids in ascending order.
Graph read_friends(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  TabReader reader(in, file.string());
  reader.next();
  std::vector<std::pair<NodeId, NodeId>> pairs;
  std::vector<NodeId> ids;
  while (reader.next()) {
    const auto a = static_cast<NodeId>(reader.number(0));
    const auto b = static_cast<NodeId>(reader.number(1));
    ids.push_back(a);
    if (a < b) pairs.emplace_back(a, b);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  const auto index = [&ids](NodeId id) {
    return static_cast<NodeId>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
  };
  std::vector<Edge> edges;
  edges.reserve(pairs.size());
  for (const auto& pair : pairs) edges.push_back({index(pair.first), index(pair.second)});
  return {ids.size(), edges};
}

/// With a fifteenth of the default effort, and in any case within the default bounds on the sizes.
void expect_lower_cuts(const Graph& graph, const std::vector<Published>& table) {
  for (const Published& row : table) {
    for (const std::uint64_t seed : {0, 1}) {
      const auto summary =
          partition(graph, {.clusters = row.clusters, .seed = seed, .improvement_steps = 2'000'000}).summary;
      EXPECT_LT(summary.mean_normalized_cut, std::min(row.graclus, row.metis_kmeans)) << row.clusters << " clusters";
      EXPECT_LE(summary.largest, (3 * graph.node_count() + row.clusters - 1) / row.clusters);
    }
  }
}

TEST(Datasets, lastfm_is_cut_less_than_by_graclus) {
  const auto file = test::dataset_file("hetrec2011-lastfm-2k/user_friends.dat");
  if (!file) GTEST_SKIP() << test::no_datasets;
  const Graph graph = read_friends(*file);
  ASSERT_EQ(graph.node_count(), 1892);
  ASSERT_EQ(graph.edge_count(), 12717);
  expect_lower_cuts(
      graph,
      {{5, .306, .317}, {10, .390, .394}, {20, .459, .474}, {50, .562, .558}, {100, .652, .639}, {200, .715, .706}});
}

TEST(Datasets, delicious_is_cut_less_than_by_graclus) {
  const auto file = test::dataset_file("hetrec2011-delicious-2k-reconstructed/user_contacts.dat");
  if (!file) GTEST_SKIP() << test::no_datasets;
  const Graph graph = read_friends(*file);
  ASSERT_EQ(graph.node_count(), 1861);
  ASSERT_EQ(graph.edge_count(), 7664);
  expect_lower_cuts(
      graph,
      {{5, .039, .056}, {10, .049, .087}, {20, .085, .115}, {50, .163, .185}, {100, .245, .259}, {200, .389, .376}});
}

}  // namespace datasets_test
}  // namespace goblin::cluster
