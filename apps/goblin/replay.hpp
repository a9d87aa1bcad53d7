#pragma once

#include "goblin/bandit/bandit.hpp"

#include <cstddef>
#include <iosfwd>
#include <optional>

namespace goblin::app {

/// What a replay did.
struct ReplaySummary {
  std::size_t lines = 0;
  std::size_t decisions = 0;
  std::size_t learned = 0;
  double reward = 0.0;  // of the decisions that learned
  std::size_t new_users = 0;
  /// With check: the largest difference between a score and that of the printed algorithm, relative to the larger of
  /// 1 and the score.
  std::optional<double> largest_difference;
};

/// Answers the events of a log one by one, a decision a line. A user the bandit does not know joins it without
/// friends. Throws DataError with the line of an event that is bad, after the lines before it have been answered; with
/// `check`, std::runtime_error at the first decision that is not the printed algorithm's, and std::invalid_argument if
/// that would need more than 3,000 rows. Memory does not grow with the log.
ReplaySummary replay(Bandit& bandit, std::istream& events, std::ostream& decisions, bool check);

}  // namespace goblin::app
