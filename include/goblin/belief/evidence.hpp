#pragma once

#include <cstddef>
#include <span>

namespace goblin {

/// Everything that was learned about a user, as sums over the rewards a for contexts x. Sums do not depend on the order
/// of arrival, and all that a bandit believes follows from them and the graph.
///
/// It looks at numbers that the bandit holds: they change with the next update, and go with the bandit.
struct UserEvidence {
  /// S = sum of x x^T: its lower triangle column by column, (0,0), (1,0), ..., (d-1,0), (1,1), ... Empty where nothing
  /// was observed.
  std::span<const double> contexts;
  /// c = sum of a x. Empty where nothing was observed.
  std::span<const double> rewards;
  /// The number of rewards: those in the window where there is one, with a discount all.
  std::size_t count = 0;
  /// The sum of a^2.
  double squared_rewards = 0.0;
};

}  // namespace goblin
