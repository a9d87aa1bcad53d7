#pragma once

#include "goblin/belief/evidence.hpp"

#include <cstddef>

#include <Eigen/Core>

namespace goblin {

/// Rewards that say the same as some sums: sum of x x^T = S and sum of a x = c.
struct EquivalentRewards {
  Eigen::MatrixXd contexts;  // a column each
  Eigen::VectorXd rewards;
};

/// At most about d of them, and no more than 3 d and the number of rewards in the sums. `longest` is how long a context
/// at the node may be. O(d^3).
[[nodiscard]] EquivalentRewards equivalent_rewards(const UserEvidence& sums, std::size_t dimension, double ridge,
                                                   double longest);

}  // namespace goblin
