#include "goblin/graph/generators.hpp"

#include "goblin/random.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace goblin::generate {
namespace {

double quarter_of_a_community(const CommunityOptions& options) {
  return static_cast<double>(options.nodes) / static_cast<double>(options.communities) / 4.0;
}

void check(const CommunityOptions& options) {
  if (options.communities == 0 || options.communities > options.nodes) {
    throw std::invalid_argument(fmt::format("communities: {} (must be at least 1 and at most the number of nodes, {})",
                                            options.communities, options.nodes));
  }
  if (!(options.exponent > 2.0)) {
    throw std::invalid_argument(fmt::format("exponent: {} (must be above 2)", options.exponent));
  }
  if (!(options.mixing >= 0.0 && options.mixing <= 1.0)) {
    throw std::invalid_argument(fmt::format("mixing: {} (must be between 0 and 1)", options.mixing));
  }
  const double most = quarter_of_a_community(options);
  if (!(options.average_degree >= 0.0 && options.average_degree <= most)) {
    throw std::invalid_argument(fmt::format("average_degree: {} (must be between 0 and a quarter of a community, {})",
                                            options.average_degree, most));
  }
}

}  // namespace

Graph cliques(std::size_t count, std::size_t size) {
  std::vector<Edge> edges;
  edges.reserve(size == 0 ? 0 : count * size * (size - 1) / 2);
  for (std::size_t clique = 0; clique < count; ++clique) {
    for (std::size_t a = clique * size; a < (clique + 1) * size; ++a) {
      for (std::size_t b = a + 1; b < (clique + 1) * size; ++b) {
        edges.push_back({static_cast<NodeId>(a), static_cast<NodeId>(b)});
      }
    }
  }
  return {count * size, edges};
}

Graph with_flipped_pairs(const Graph& graph, double expected_flips, Random random) {
  const std::size_t n = graph.node_count();
  const double pairs = 0.5 * static_cast<double>(n) * (static_cast<double>(n) - 1.0);
  if (!(expected_flips >= 0.0 && expected_flips <= pairs)) {
    throw std::invalid_argument(fmt::format(
        "expected_flips: {} (must be at least 0 and at most the number of pairs, {})", expected_flips, pairs));
  }
  if (expected_flips == 0.0) return graph;
  const double threshold = 1.0 - expected_flips / pairs;
  std::vector<Edge> edges;
  for (NodeId a = 0; a < n; ++a) {
    for (NodeId b = a + 1; b < n; ++b) {
      const double weight = graph.weight(a, b);
      const bool flipped = random.uniform() >= threshold;
      if ((weight > 0.0) != flipped) edges.push_back({a, b, flipped ? 1.0 : weight});
    }
  }
  return graph.has_names() ? Graph(graph.names(), edges) : Graph(n, edges);
}

Rewired rewired(const Graph& graph, Random random) {
  constexpr std::size_t tries_an_edge = 20;
  std::vector<Edge> edges = graph.edges();
  const auto key = [](NodeId a, NodeId b) {
    return (static_cast<std::uint64_t>(std::min(a, b)) << 32U) | static_cast<std::uint64_t>(std::max(a, b));
  };
  std::unordered_set<std::uint64_t> there;
  there.reserve(edges.size());
  for (const Edge& edge : edges) there.insert(key(edge.a, edge.b));
  std::size_t swaps = 0;
  for (std::size_t tried = 0; edges.size() > 1 && tried < tries_an_edge * edges.size(); ++tried) {
    Edge& first = edges[random.below(edges.size())];
    Edge& second = edges[random.below(edges.size())];
    if (random.below(2) == 1) std::swap(second.a, second.b);
    if (first.a == second.b || second.a == first.b || there.contains(key(first.a, second.b)) ||
        there.contains(key(second.a, first.b))) {
      continue;
    }
    there.erase(key(first.a, first.b));
    there.erase(key(second.a, second.b));
    std::swap(first.b, second.b);
    there.insert(key(first.a, first.b));
    there.insert(key(second.a, second.b));
    ++swaps;
  }
  return {graph.has_names() ? Graph(graph.names(), edges) : Graph(graph.node_count(), edges), swaps};
}

Graph random(const RandomOptions& options) {
  if (options.edges > 0 && options.nodes < 2) {
    throw std::invalid_argument(fmt::format("nodes: {} (must be at least 2 for a graph with edges)", options.nodes));
  }
  Random random(options.seed);
  std::vector<Edge> edges;
  edges.reserve(options.edges);
  while (edges.size() < options.edges) {
    const auto a = static_cast<NodeId>(random.below(options.nodes));
    const auto b = static_cast<NodeId>(random.below(options.nodes));
    if (a != b) edges.push_back({a, b, random.uniform(options.lowest_weight, options.highest_weight)});
  }
  return {options.nodes, edges};
}

Graph random_pairs(std::size_t nodes, double probability, Random random) {
  if (!(probability >= 0.0 && probability <= 1.0)) {
    throw std::invalid_argument(fmt::format("probability: {} (must be between 0 and 1)", probability));
  }
  std::vector<Edge> edges;
  // From a pair that is joined to the next: (0, 1), (0, 2), (1, 2), (0, 3), ...
  std::uint64_t a = 0;
  for (std::uint64_t b = 1; probability > 0.0 && b < nodes; ++a) {
    a += random.failures(probability);
    while (a >= b && b < nodes) a -= b++;
    if (b < nodes) edges.push_back({static_cast<NodeId>(a), static_cast<NodeId>(b)});
  }
  return {nodes, edges};
}

Communities communities(const CommunityOptions& options) {
  check(options);
  Random random(options.seed);
  const std::size_t nodes = options.nodes;

  // Places 0, 1, ... stand in community order. A node's wish for neighbours is for its own community up to a quarter of
  // that, and for all nodes beyond: a hub knows people everywhere. home[p] and away[p] sum the wishes before place p.
  const auto first_of = [&](std::size_t community) { return community * nodes / options.communities; };
  const double least = options.average_degree * (options.exponent - 2.0) / (options.exponent - 1.0);
  const double most = std::sqrt(options.average_degree * static_cast<double>(nodes));
  const double most_at_home = quarter_of_a_community(options);
  std::vector<double> home(nodes + 1, 0.0);
  std::vector<double> away(nodes + 1, 0.0);
  std::vector<NodeId> node_at(nodes);
  for (std::size_t place = 0; place < nodes; ++place) {
    const double wish = std::min(most, least * std::pow(1.0 - random.uniform(), 1.0 / (1.0 - options.exponent)));
    const double at_home = std::min(most_at_home, (1.0 - options.mixing) * wish);
    home[place + 1] = home[place] + at_home;
    away[place + 1] = away[place] + (wish - at_home);
    node_at[place] = static_cast<NodeId>(place);
  }
  for (std::size_t left = nodes; left > 1; --left) std::swap(node_at[left - 1], node_at[random.below(left)]);
  const auto draw = [&random](const std::vector<double>& sums, std::size_t first, std::size_t end) {
    const double at = random.uniform(sums[first], sums[end]);
    const auto found = std::upper_bound(sums.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                                        sums.begin() + static_cast<std::ptrdiff_t>(end), at);
    return static_cast<std::size_t>(found - sums.begin()) - 1;
  };

  Communities result{.graph = {}, .community_of = std::vector<NodeId>(nodes)};
  std::vector<NodeId> community_at(nodes);
  for (std::size_t community = 0; community < options.communities; ++community) {
    for (std::size_t place = first_of(community); place < first_of(community + 1); ++place) {
      community_at[place] = static_cast<NodeId>(community);
      result.community_of[node_at[place]] = static_cast<NodeId>(community);
    }
  }

  // Draws the missing edges and drops the pairs there were already, until none is missing.
  const auto count = static_cast<std::size_t>(std::llround(options.average_degree * static_cast<double>(nodes) / 2.0));
  std::vector<std::pair<NodeId, NodeId>> pairs;
  pairs.reserve(count);
  while (pairs.size() < count) {
    const auto known = static_cast<std::ptrdiff_t>(pairs.size());
    while (pairs.size() < count) {
      const bool stays = random.uniform() * (home.back() + away.back()) < home.back();
      const std::size_t a = stays ? draw(home, 0, nodes) : draw(away, 0, nodes);
      const std::size_t own = community_at[a];
      const std::size_t b = stays ? draw(home, first_of(own), first_of(own + 1)) : draw(away, 0, nodes);
      if (a != b) pairs.emplace_back(std::min(node_at[a], node_at[b]), std::max(node_at[a], node_at[b]));
    }
    std::sort(pairs.begin() + known, pairs.end());
    std::inplace_merge(pairs.begin(), pairs.begin() + known, pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  }
  std::vector<Edge> edges;
  edges.reserve(count);
  for (const auto& pair : pairs) edges.push_back({pair.first, pair.second});
  result.graph = Graph(nodes, edges);
  return result;
}

}  // namespace goblin::generate
