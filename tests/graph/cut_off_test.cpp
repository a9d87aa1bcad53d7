#include "graph/cut_off.hpp"

#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

namespace goblin {
namespace cut_off_test {

TEST(CutOff, gives_all_parts_but_one) {
  const EditableGraph graph(Graph(9, std::vector<Edge>{{0, 1}, {1, 2}, {3, 4}, {5, 6}, {6, 7}, {7, 5}}));
  using Parts = std::vector<std::vector<NodeId>>;
  EXPECT_EQ(cut_off(graph, std::array<NodeId, 2>{0, 2}), Parts{});
  EXPECT_EQ(cut_off(graph, std::array<NodeId, 2>{0, 8}), (Parts{{8}}));
  EXPECT_EQ(cut_off(graph, std::array<NodeId, 2>{7, 3}), (Parts{{3, 4}}));
  EXPECT_EQ(cut_off(graph, std::array<NodeId, 4>{7, 3, 8, 5}), (Parts{{3, 4}, {8}}));
  EXPECT_EQ(cut_off(graph, std::array<NodeId, 1>{7}), Parts{});
}

TEST(CutOff, is_what_the_components_say) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const std::size_t nodes = 2 + random.below(60);
    const EditableGraph graph(generate::random({.nodes = nodes, .edges = random.below(2 * nodes), .seed = seed}));
    std::set<NodeId> from;
    for (std::size_t k = 1 + random.below(nodes); k > 0; --k) from.insert(static_cast<NodeId>(random.below(nodes)));
    const Components components = graph.snapshot().components();
    std::map<NodeId, std::vector<NodeId>> expected;
    for (const NodeId node : from) {
      const auto all = components.nodes(components.of(node));
      expected[all.front()] = {all.begin(), all.end()};
    }
    const auto parts = cut_off(graph, std::vector<NodeId>(from.begin(), from.end()));
    ASSERT_EQ(parts.size() + 1, expected.size());
    for (const auto& part : parts) {
      ASSERT_EQ(part, expected[part.front()]);
      expected.erase(part.front());
    }
    EXPECT_TRUE(std::is_sorted(parts.begin(), parts.end()));
  }
}

}  // namespace cut_off_test
}  // namespace goblin
