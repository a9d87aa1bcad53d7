#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/belief/engine.hpp"
#include "goblin/belief/evidence.hpp"
#include "graph/live_graph.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace goblin {

/// Nodes whose belief one engine keeps; nodes[k] is node k of the engine.
struct Component {
  std::vector<NodeId> nodes;
  std::unique_ptr<Engine> engine;
};

/// Everything a bandit is.
struct Bandit::State {
  State(Policy the_policy, const BanditOptions& the_options, LiveGraph the_users, std::vector<NodeId> the_clusters,
        Evidence the_evidence)
      : policy(the_policy),
        options(the_options),
        users(std::move(the_users)),
        clusters(std::move(the_clusters)),
        evidence(std::move(the_evidence)) {
    for (const NodeId label : clusters) cluster_count = std::max(cluster_count, label + 1);
    if (policy != Policy::gob_lin_macro) return;
    for (const Edge& edge : users.snapshot().edges()) {
      if (const auto nodes = nodes_joined(edge.a, edge.b)) ++edges_between[edge_key(nodes->first, nodes->second)];
    }
  }
  State(const State& other);

  [[nodiscard]] Prior prior() const { return {.ridge = options.ridge, .coupling = options.coupling}; }
  [[nodiscard]] NodeId find_user(UserRef user) const;
  [[nodiscard]] NodeId node_of(NodeId user) const;
  [[nodiscard]] const Component& component_of(NodeId node) const { return components[places[node].component]; }
  [[nodiscard]] Component& component_of(NodeId node) { return components[places[node].component]; }
  [[nodiscard]] std::size_t index_of(NodeId node) const { return places[node].index; }
  [[nodiscard]] std::size_t bytes() const;

  void add_component(std::vector<NodeId> nodes, std::unique_ptr<Engine> engine);
  void check_context(std::span<const double> context) const;
  void check_reward(double reward) const;
  SolveSummary learn(NodeId node, std::span<const double> context, double reward);
  /// The nodes that an edge between two users joins; none where the policy does not see the edge.
  [[nodiscard]] std::optional<std::pair<NodeId, NodeId>> nodes_joined(NodeId user_a, NodeId user_b) const;
  SolveSummary add_edge(NodeId user_a, NodeId user_b, double weight);
  SolveSummary remove_edge(NodeId user_a, NodeId user_b);

  Policy policy;
  BanditOptions options;
  LiveGraph users;
  std::vector<NodeId> clusters;  // a label a user, where the policy has clusters
  NodeId cluster_count = 0;      // every label is below
  Evidence evidence;             // of the nodes
  std::vector<Component> components;
  /// For gob.lin.macro: how many edges between users an edge between two nodes stands for.
  std::unordered_map<std::uint64_t, std::size_t> edges_between;
  std::size_t rewards = 0;
  std::size_t unconverged_solves = 0;
  double log_determinant = 0.0;
  double log_determinant_error = 0.0;  // it is at most this much too large, and never too small

  /// Where a node's belief is.
  struct Place {
    NodeId component = 0;
    NodeId index = 0;
  };
  std::vector<Place> places;

 private:
  SolveSummary change_edge(NodeId a, NodeId b, double change);
  [[nodiscard]] std::vector<Engine::NodeEvidence> evidence_of(std::span<const NodeId> nodes) const;
  void put(std::size_t component);
  void remove_component(std::size_t component);
  void join(NodeId a, NodeId b);
  void split(NodeId a, NodeId b);
};

/// Throw std::invalid_argument with name, value and bound where an option, or the degree of a node, is out of range.
void check_options(const BanditOptions& options);
void check_degree(const BanditOptions& options, double degree, NodeId node);

}  // namespace goblin
