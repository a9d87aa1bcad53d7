// Two bandits become one.

#include "bandit/state.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/graph/names.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace goblin {
namespace {

template <typename Theirs, typename Ours>
[[noreturn]] void refuse(const Theirs& theirs, const Ours& ours) {
  throw std::invalid_argument(fmt::format("other: {} (must be {}, as here)", theirs, ours));
}

void check_same_names(const UserMap& ours, const UserMap& theirs) {
  // A user without a name goes by the digits of the index.
  const auto name = [](const UserMap& users, NodeId user) {
    return users.has_names() ? users.describe(user) : fmt::format("'{}'", user);
  };
  for (NodeId user = 0; user < ours.user_count(); ++user) {
    const std::string theirs_name = name(theirs, user);
    const std::string ours_name = name(ours, user);
    if (theirs_name != ours_name) refuse(fmt::format("user {} is {}", user, theirs_name), ours_name);
  }
}

void check_same_edges(const UserMap& ours, const UserMap& theirs) {
  const Graph our_graph = ours.graph();
  const Graph their_graph = theirs.graph();
  for (NodeId user = 0; user < our_graph.node_count(); ++user) {
    if (std::ranges::equal(our_graph.neighbours(user), their_graph.neighbours(user)) &&
        std::ranges::equal(our_graph.weights(user), their_graph.weights(user))) {
      continue;
    }
    NodeId first = std::numeric_limits<NodeId>::max();  // neighbour that differs
    for (const Graph* graph : {&our_graph, &their_graph}) {
      for (const NodeId neighbour : graph->neighbours(user)) {
        if (our_graph.weight(user, neighbour) != their_graph.weight(user, neighbour))
          first = std::min(first, neighbour);
      }
    }
    refuse(fmt::format("weight {} between the users {} and {}", their_graph.weight(user, first), ours.describe(user),
                       ours.describe(first)),
           our_graph.weight(user, first));
  }
}

void check_same_clusters(const UserMap& ours, const UserMap& theirs) {
  for (NodeId user = 0; user < ours.clusters().size(); ++user) {
    if (!ours.is_removed(user) && theirs.cluster_of(user) != ours.cluster_of(user)) {
      refuse(fmt::format("cluster {} of user {}", theirs.cluster_of(user), ours.describe(user)), ours.cluster_of(user));
    }
  }
  if (theirs.cluster_count() != ours.cluster_count()) {
    refuse(fmt::format("{} clusters", theirs.cluster_count()), ours.cluster_count());
  }
}

void check_same_ridges(const Belief& ours, const Belief& theirs) {
  for (NodeId node = 0; node < ours.node_count(); ++node) {
    if (theirs.ridge(node) != ours.ridge(node)) {
      refuse(fmt::format("ridge {} of node {}", theirs.ridge(node), node), ours.ridge(node));
    }
  }
}

/// The engine sparse has a limit of its own, which others may have passed.
void check_lengths(const Belief& ours, const Belief& theirs) {
  for (NodeId node = 0; node < ours.node_count(); ++node) {
    if (ours.engine(node) != EngineKind::sparse || theirs.engine(node) == EngineKind::sparse) continue;
    const double length = theirs.longest_learned(node);
    const double longest = ours.longest_context_at(node);
    if (length > longest) {
      throw std::invalid_argument(
          fmt::format("other: it may have learned a context of length {:g} at node {} (must be at most {:g} with the "
                      "engine sparse beside this ridge and these edges)",
                      length, node, longest));
    }
  }
}

}  // namespace

SolveSummary Bandit::merge(const Bandit& other, bool compare_names) {
  if (this == &other) return merge(Bandit(other), compare_names);
  State& ours = state();
  const State& theirs = other.state();
  if (theirs.users.policy() != ours.users.policy()) {
    refuse(fmt::format("policy {}", name_of(theirs.users.policy())), name_of(ours.users.policy()));
  }
  if (finds_clusters(ours.users.policy())) {
    throw std::invalid_argument(
        fmt::format("policy: {} (must be one whose clusters are given: those that are found depend on the order of all "
                    "rewards, which two bandits do not tell)",
                    name_of(ours.users.policy())));
  }
  for (const Forgetting& forgetting : {ours.options.forgetting, theirs.options.forgetting}) {
    if (forgetting == Forgetting{}) continue;
    throw std::invalid_argument(
        forgetting.window > 0
            ? fmt::format("window: {} (must be 0 where bandits are merged: nothing says whose rewards are "
                          "older)",
                          forgetting.window)
            : fmt::format("discount: {} (must be 1 where bandits are merged: nothing says whose rewards "
                          "are older)",
                          forgetting.discount));
  }
  const auto check_option = [](const char* name, auto their_value, auto our_value) {
    if (their_value != our_value) refuse(fmt::format("{} {}", name, their_value), our_value);
  };
  check_option("dimension", theirs.options.dimension, ours.options.dimension);
  check_option("intercept", theirs.options.intercept, ours.options.intercept);
  check_option("coupling", theirs.options.coupling, ours.options.coupling);
  check_option("laplacian", name_of(theirs.options.laplacian), name_of(ours.options.laplacian));
  if (has_hub(ours.users.policy())) {
    check_option("hub", theirs.options.hub.weight, ours.options.hub.weight);
    check_option("hub_ridge", theirs.options.hub.ridge, ours.options.hub.ridge);
  }
  if (ours.users.policy() == Policy::linucb_hash) {
    check_option("buckets", theirs.options.hash.buckets, ours.options.hash.buckets);
    check_option("hash_seed", theirs.options.hash.seed, ours.options.hash.seed);
  }
  check_option("evidence_per_node", theirs.options.evidence_per_node, ours.options.evidence_per_node);
  if (theirs.users.user_count() != ours.users.user_count()) {
    refuse(fmt::format("{} users", theirs.users.user_count()), ours.users.user_count());
  }
  for (NodeId user = 0; user < ours.users.user_count(); ++user) {
    const auto state_of = [user](const State& of) { return of.users.is_removed(user) ? "removed" : "there"; };
    if (theirs.users.is_removed(user) != ours.users.is_removed(user)) {
      refuse(fmt::format("user {} is {}", user, state_of(theirs)), state_of(ours));
    }
  }
  if (compare_names) check_same_names(ours.users, theirs.users);
  check_same_edges(ours.users, theirs.users);
  check_same_clusters(ours.users, theirs.users);
  check_same_ridges(ours.belief, theirs.belief);
  check_lengths(ours.belief, theirs.belief);
  return ours.belief.merge(theirs.belief);
}

}  // namespace goblin
