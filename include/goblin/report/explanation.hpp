#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/bandit/explanation.hpp"

#include <functional>
#include <string>

namespace goblin::report {

/// What the users (or nodes) of an explanation are called.
using NameOf = std::function<std::string(NodeId)>;

/// "cluster 3", or "everybody" where the policy has no clusters.
[[nodiscard]] std::string name_of_node(NodeId node, bool is_cluster);

/// Users by their names in the bandit, or their numbers where they have none; nodes as "cluster 3" or "everybody".
[[nodiscard]] NameOf names_in(const Bandit& bandit, const Explanation& explanation);

/// The estimate, where its uncertainty comes from, and the contributions one below the other, for a terminal.
[[nodiscard]] std::string table(const Explanation& explanation, const NameOf& name_of);

/// A drawing of who contributed, as an SVG file: the user in the middle, friends around, their friends behind them. The
/// colour of a node is its contribution, blue for more and orange for less; an edge is as thick as its weight.
[[nodiscard]] std::string svg(const Explanation& explanation, const NameOf& name_of);

}  // namespace goblin::report
