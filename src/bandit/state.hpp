#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/belief/engine.hpp"
#include "goblin/belief/evidence.hpp"
#include "graph/live_graph.hpp"

#include <algorithm>
#include <memory>
#include <span>
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
  SolveSummary change_edge(NodeId user_a, NodeId user_b, double change);

  Policy policy;
  BanditOptions options;
  LiveGraph users;
  std::vector<NodeId> clusters;  // a label a user, where the policy has clusters
  NodeId cluster_count = 0;      // every label is below
  Evidence evidence;             // of the nodes
  std::vector<Component> components;
  std::size_t rewards = 0;
  std::size_t unconverged_solves = 0;
  double log_determinant = 0.0;

  /// Where a node's belief is.
  struct Place {
    NodeId component = 0;
    NodeId index = 0;
  };
  std::vector<Place> places;

 private:
  void put(std::size_t component);
  void remove_component(std::size_t component);
  void join(NodeId a, NodeId b);
  void split(NodeId a, NodeId b);
};

/// Throws std::invalid_argument with name, value and bound where an option is out of range.
void check_options(const BanditOptions& options);

}  // namespace goblin
