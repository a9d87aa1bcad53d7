#pragma once

#include "goblin/bandit/bandit.hpp"

#include <cstddef>
#include <span>

namespace goblin {

/// Whether evidence is kept for each user beside that of the nodes: where users share nodes, unless the options say no.
[[nodiscard]] inline bool keeps_user_evidence(Policy policy, const BanditOptions& options) {
  return !has_node_per_user(policy) && !options.evidence_per_node;
}

/// What a bandit over this node graph takes at most, with an engine of this kind.
[[nodiscard]] std::size_t bandit_bytes(Policy policy, const Graph& users, const Graph& nodes, EngineKind kind,
                                       const BanditOptions& options);

/// Throws CapacityError, with what would fit instead, if the bytes are more than the options or the machine allow.
void check_fits(std::size_t needed, Policy policy, const Graph& users, std::span<const NodeId> clusters,
                const BanditOptions& options);

}  // namespace goblin
