#pragma once

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

/// What a bandit over this node graph takes once every node has evidence, with engines of this kind. Not counted is
/// what grows with the users who come: the evidence in local components, and that of users who share a node.
[[nodiscard]] std::size_t bandit_bytes(Policy policy, const Graph& users, const Graph& nodes, EngineKind kind,
                                       const BanditOptions& options);

/// Throws CapacityError, with what would fit instead, if the bytes are more than the options or the machine allow.
void check_fits(std::size_t needed, Policy policy, const Graph& users, std::span<const NodeId> clusters,
                const BanditOptions& options);

}  // namespace goblin
