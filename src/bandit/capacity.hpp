#pragma once

#include "goblin/bandit/bandit.hpp"

#include <cstddef>
#include <span>

namespace goblin {

/// The graph over the nodes of a policy.
[[nodiscard]] Graph node_graph(Policy policy, const Graph& users, std::span<const NodeId> clusters);

/// What a bandit over this node graph takes at most.
[[nodiscard]] std::size_t bandit_bytes(const Graph& users, const Graph& nodes, const Components& components,
                                       EngineKind kind, std::size_t dimension);

/// Throws CapacityError, with what would fit instead, if the bytes are more than the options or the machine allow.
void check_fits(std::size_t needed, Policy policy, const Graph& users, std::span<const NodeId> clusters,
                const BanditOptions& options);

/// The same for one component that an edge makes of two.
void check_join_fits(const BanditOptions& options, std::size_t nodes, std::size_t edges);

}  // namespace goblin
