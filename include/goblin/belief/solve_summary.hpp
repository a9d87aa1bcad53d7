#pragma once

#include <cstddef>

namespace goblin {

/// How much work a change of the belief was, and whether it reached the tolerance that was asked for. Of several
/// changes: the sums of the work, and the worst residual.
struct SolveSummary {
  /// sparse: iterations of conjugate gradients.
  std::size_t iterations = 0;
  /// local: how often a node's mean was corrected, and over how many edges corrections were passed on.
  std::size_t settled_nodes = 0;
  std::size_t walked_edges = 0;
  /// The residual that is left, divided by the one that the tolerance allows: at most 1 where converged. 0 for dense,
  /// which solves without iterating.
  double residual = 0.0;
  bool converged = true;

  void add(const SolveSummary& other);
};

}  // namespace goblin
