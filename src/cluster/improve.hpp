#pragma once

#include "cluster/local_search.hpp"
#include "goblin/random.hpp"

#include <cstddef>

namespace goblin::cluster {

/// Iterated local search beyond single moves. Again and again: dissolve one cluster into its neighbours, split
/// another in two, search locally around what changed, and take it all back unless the association rose. Where sizes
/// leave no room for that, exchange two nodes instead. Stops after `steps` steps over a neighbour. Returns the number
/// of improvements. Takes 24 bytes a node beside the search.
std::size_t improve(LocalSearch& search, std::size_t steps, Random& random);

}  // namespace goblin::cluster
