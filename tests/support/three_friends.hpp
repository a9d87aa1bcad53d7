#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/graph/edge_file.hpp"

#include <sstream>
#include <vector>

namespace goblin::test {

/// Ann knows Bob, and Bob knows Cat twice as well.
inline Graph three_friends() {
  std::istringstream in("ann\tbob\nbob\tcat\t2\n");
  return read_edges(in, "edges.tsv");
}

/// A bandit for them, of contexts of two numbers.
inline Bandit bandit_of_three(Policy policy) {
  const std::vector<NodeId> clusters = uses_clusters(policy) ? std::vector<NodeId>{0, 0, 1} : std::vector<NodeId>{};
  return Bandit::make(policy, three_friends(), clusters, {.dimension = 2, .alpha = 0.5, .hash = {.buckets = 32}});
}

}  // namespace goblin::test
