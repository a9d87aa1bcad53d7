#pragma once

#include "goblin/graph/graph.hpp"
#include "goblin/random.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace goblin::generate {

/// Cliques of the same size with no edge between them; node i is in clique i / size.
[[nodiscard]] Graph cliques(std::size_t count, std::size_t size);

/// The graph with noise: every pair of nodes gets a random number in [0, 1), and where it is above the threshold that
/// `expected_flips` of them exceed on average, the pair's edge is made (with weight 1) or broken. O(n^2). Throws
/// std::invalid_argument if there are fewer pairs than that.
[[nodiscard]] Graph with_flipped_pairs(const Graph& graph, double expected_flips, Random random);

/// The graph with other edges and the same number of neighbours for every node, and how many times two edges a-b and
/// c-d became a-d and c-b on the way, never a self loop or an edge that is there already. Each edge keeps its weight.
/// It is tried 20 times for each edge; a complete graph or a star has no other edges, so that nothing changes. O(m).
struct Rewired {
  Graph graph;
  std::size_t swaps = 0;
};
[[nodiscard]] Rewired rewired(const Graph& graph, Random random);

/// `edge_count` pairs of distinct nodes, drawn uniformly with replacement (a pair drawn twice weighs twice), each with
/// a weight uniform in [low, high].
struct RandomOptions {
  std::size_t nodes = 0;
  std::size_t edges = 0;
  double lowest_weight = 1.0;
  double highest_weight = 1.0;
  std::uint64_t seed = 0;
};
[[nodiscard]] Graph random(const RandomOptions& options);

/// Every pair of nodes is joined with this probability (between 0 and 1), with weight 1. O(nodes + edges).
[[nodiscard]] Graph random_pairs(std::size_t nodes, double probability, Random random);

/// A graph with communities and a heavy tail of degrees, like a social network.
struct CommunityOptions {
  std::size_t nodes = 0;
  std::size_t communities = 1;
  double average_degree = 14.0;
  /// The share of a node's edges that go to nodes of any community; of a hub's, more.
  double mixing = 0.3;
  /// Degrees follow a power law: a node has more than t times the least with probability t^(1 - exponent). Above 2.
  double exponent = 2.5;
  std::uint64_t seed = 0;
};
struct Communities {
  Graph graph;
  std::vector<NodeId> community_of;
};

/// nodes * average_degree / 2 edges of weight 1. Communities have the same size, give or take one; nodes are numbered
/// at random. No degree is expected above sqrt(nodes * average_degree). O(m log m) time, 24 bytes an edge beside the
/// graph.
[[nodiscard]] Communities communities(const CommunityOptions& options);

}  // namespace goblin::generate
