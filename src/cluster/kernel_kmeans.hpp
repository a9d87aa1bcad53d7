#pragma once

#include "cluster/assignment.hpp"

namespace goblin::cluster {

/// Weighted kernel k-means for the normalized cut, as Graclus refines. A sweep sends every node to the nearest of its
/// own and its neighbours' clusters,
///
///     dist(i, c) = Q_c / S_c^2 - 2 l_ic / (v_i S_c)
///
/// with the sums of before the sweep (l_ic of the own cluster includes the node's inner weight), and stands only if it
/// raises the association. Stops at the first sweep that does not, or after `sweeps`. Clusters keep to the bounds if
/// they were within. Returns the number of sweeps that stood. A sweep costs O(n + m).
std::size_t kernel_kmeans(Assignment& assignment, const SizeBounds& bounds, std::size_t sweeps);

}  // namespace goblin::cluster
