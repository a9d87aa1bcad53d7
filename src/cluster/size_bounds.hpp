#pragma once

#include "cluster/assignment.hpp"

namespace goblin::cluster {

/// Moves nodes until every cluster keeps to the bounds, each time the move that costs the association least among
/// those to a neighbouring cluster; where there is none, out of the largest or into the smallest cluster. On the finest
/// level, where nodes have size 1, it always succeeds (smallest <= nodes / clusters <= largest); on a coarser one it
/// does what the sizes of the nodes allow.
void enforce(Assignment& assignment, const SizeBounds& bounds);

}  // namespace goblin::cluster
