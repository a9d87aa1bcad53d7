#pragma once

#include "cluster/level.hpp"
#include "goblin/random.hpp"

#include <cstddef>
#include <vector>

namespace goblin::cluster {

/// Pairs the nodes of a level and returns for each node the number of its pair (0, 1, ...; some pairs have one node).
///
/// Nodes take their turn by degree, lowest first within powers of two, in random order within. A node takes the free
/// neighbour with the largest w_ij (1/vol_i + 1/vol_j), what merging the two saves of the normalized cut. A node with
/// no free neighbour waits at its heaviest one for the next such node and pairs with that (the leaves of a star have no
/// other way to pair). No pair has more than `largest_size` nodes of the finest level. O(n + m).
[[nodiscard]] std::vector<NodeId> match(const Level& level, std::size_t largest_size, Random& random);

/// The level whose nodes are the pairs.
[[nodiscard]] Level contract(const Level& level, const std::vector<NodeId>& pair_of);

}  // namespace goblin::cluster
