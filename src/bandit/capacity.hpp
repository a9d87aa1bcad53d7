#pragma once

#include "belief/belief.hpp"
#include "goblin/bandit/bandit.hpp"

#include <cstddef>
#include <span>

namespace goblin {

/// Whether evidence is kept for each user beside that of the nodes: where users share nodes, unless the options say no,
/// and where the nodes' follows from it by factors that edges change.
[[nodiscard]] inline bool keeps_user_evidence(Policy policy, const BanditOptions& options) {
  if (has_node_per_user(policy)) return options.laplacian != Laplacian::combinatorial;
  return !options.evidence_per_node;
}

/// Which sums of the evidence something is taken from again, because the bandit forgets. A discount multiplies a user's
/// own sums, but of a node's, where others share it, it takes some away.
[[nodiscard]] inline TakenFrom taken_from(Policy policy, const BanditOptions& options) {
  const bool window = options.forgetting.window > 0;
  const bool discounts = options.forgetting.discount < 1.0;
  return {.nodes = window || (discounts && !has_node_per_user(policy)), .users = window};
}

/// What a bandit takes once every node has evidence, with as many nodes as there can be. Not counted is what grows with
/// the users who come: the evidence in local components, and that of users who share a node. A window
/// counts as it is once it is full.
[[nodiscard]] std::size_t bandit_bytes(Policy policy, const Graph& users, std::span<const NodeId> clusters,
                                       const BanditOptions& options);

/// Throws CapacityError, with what would fit instead, if the bandit needs more than the options or the machine allow.
void check_fits(Policy policy, const Graph& users, std::span<const NodeId> clusters, const BanditOptions& options);

}  // namespace goblin
