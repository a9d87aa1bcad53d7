#pragma once

#include "belief/belief.hpp"
#include "goblin/bandit/bandit.hpp"

#include <cstddef>
#include <vector>

namespace goblin {

/// What a node's degree makes of its ridge, and of the contexts that its user sees: with the normalized Laplacian both
/// grow, ridge * degree and sqrt(degree). With w_i = sqrt(degree_i) v_i, for the users' vectors w and those of the
/// nodes v, w^T (ridge I + coupling (I - D^(-1/2) W D^(-1/2))) w = v^T (ridge D + coupling (D - W)) v. Throws
/// std::invalid_argument if the ridge would be out of range.
[[nodiscard]] NodePrior node_prior(const BanditOptions& options, NodeId node, double degree);

/// The ridges of all nodes with the normalized Laplacian. Throws std::invalid_argument if the coupling is too large
/// beside them.
[[nodiscard]] std::vector<double> normalized_ridges(const BanditOptions& options, const Graph& nodes);

/// How users look at these nodes.
[[nodiscard]] Lenses lenses_for(Policy policy, const BanditOptions& options, const Graph& nodes);

/// How many numbers a node has.
[[nodiscard]] std::size_t node_dimension(Policy policy, const BanditOptions& options);

}  // namespace goblin
