#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/graph/graph.hpp"

#include <cstdint>
#include <string>

namespace goblin::serve {

/// What a graph is known by, whatever the order of its users and edges: "3 users and 2 edges, 0123456789abcdef".
[[nodiscard]] std::string fingerprint_of(const Graph& graph);

/// What the belief of a bandit follows from beside the log, in words and as a checksum of all of it: users and edges in
/// their order, clusters, ridges, the options of the policy, what it has learned already. Two bandits of one founding
/// that fold the same log have the same evidence to the bit. Exploration and engine are not in it: they may differ.
[[nodiscard]] std::string founding_of(const Bandit& bandit);

/// A checksum of all evidence, in the order of the users: the same where it is the same to the bit.
[[nodiscard]] std::uint64_t checksum_of_evidence(const Bandit& bandit);

}  // namespace goblin::serve
