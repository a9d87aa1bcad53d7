#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace goblin {

/// A small world to compare bandits in: a graph, clusters, contexts of about unit length and rewards that depend on the
/// user. Round t is the same for everybody who asks.
struct Scenario {
  std::string name;
  Graph graph;
  std::size_t dimension = 1;
  std::size_t arms = 5;
  double context_scale = 1.0;

  [[nodiscard]] std::vector<NodeId> clusters() const {
    std::vector<NodeId> labels(graph.node_count());
    for (std::size_t user = 0; user < labels.size(); ++user) labels[user] = static_cast<NodeId>(user % 3);
    for (NodeId& label : labels) label = std::min<NodeId>(label, static_cast<NodeId>(labels.size() - 1));
    return labels;
  }
  [[nodiscard]] std::vector<NodeId> clusters_for(Policy policy) const {
    return uses_clusters(policy) ? clusters() : std::vector<NodeId>{};
  }

  struct Round {
    NodeId user = 0;
    std::vector<double> contexts;
    std::vector<double> rewards;

    [[nodiscard]] std::span<const double> context(std::size_t arm) const {
      const std::size_t size = contexts.size() / rewards.size();
      return std::span(contexts).subspan(arm * size, size);
    }
  };

  [[nodiscard]] Round round(std::uint64_t t) const {
    Random random(17, 0, t);
    Round round;
    round.user = static_cast<NodeId>(random.below(graph.node_count()));
    for (std::size_t arm = 0; arm < arms; ++arm) {
      double payoff = 0.2 * random.normal();
      for (std::size_t k = 0; k < dimension; ++k) {
        const double x = random.normal() / std::sqrt(static_cast<double>(dimension));
        round.contexts.push_back(context_scale * x);
        payoff += x * std::sin(static_cast<double>(round.user % 4 + k));
      }
      round.rewards.push_back(payoff);
    }
    return round;
  }
};

/// With these linucb.hash is as quick as the others.
inline constexpr HashOptions few_buckets = {.buckets = 32};

inline std::vector<Scenario> scenarios() {
  const auto random = [](std::size_t nodes, std::size_t edges, double low, double high) {
    return generate::random(
        {.nodes = nodes, .edges = edges, .lowest_weight = low, .highest_weight = high, .seed = nodes});
  };
  std::vector<Scenario> all;
  all.push_back({.name = "unit_weights", .graph = random(12, 30, 1.0, 1.0), .dimension = 4});
  all.push_back({.name = "weighted_edges", .graph = random(15, 30, 0.05, 6.0), .dimension = 3});
  all.push_back({.name = "isolated_users", .graph = random(14, 6, 0.5, 2.0), .dimension = 5});
  all.push_back({.name = "several_components", .graph = generate::cliques(3, 4), .dimension = 6});
  all.push_back({.name = "one_dimension", .graph = random(20, 40, 1.0, 2.0), .dimension = 1});
  all.push_back({.name = "one_user", .graph = Graph(1), .dimension = 7});
  all.push_back({.name = "more_than_eight_packs", .graph = random(4, 6, 1.0, 1.0), .dimension = 37});
  all.push_back({.name = "long_contexts", .graph = random(10, 20, 0.5, 1.0), .dimension = 3, .context_scale = 10.0});
  return all;
}

/// Those whose users stay at their nodes, whatever is learned.
inline std::vector<Policy> policies_with_fixed_nodes() {
  std::vector<Policy> all;
  for (const Policy policy : all_policies) {
    if (!finds_clusters(policy)) all.push_back(policy);
  }
  return all;
}

inline std::string test_name(Policy policy) {
  std::string name(name_of(policy));
  for (char& c : name) {
    if (c == '.' || c == '-') c = '_';
  }
  return name;
}

}  // namespace goblin
