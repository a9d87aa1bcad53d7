#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/data/own_files.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>

namespace goblin::app {

struct ReplayOptions {
  /// Compare every decision with the algorithm as the paper prints it.
  bool check = false;
  /// The chance in decision k of the log, counted from 0, is that of Draw{seed, first_decision + k}.
  std::uint64_t seed = 0;
  std::uint64_t first_decision = 0;
  /// What the items are that events name.
  std::shared_ptr<const data::Items> items = {};
  /// Asked before each event; false stops.
  std::function<bool()> keep_going = {};
};

/// What a replay did.
struct ReplaySummary {
  std::size_t lines = 0;   ///< that were read, answered and learned
  std::size_t events = 0;  ///< the lines that are not empty
  std::size_t decisions = 0;
  std::size_t learned = 0;
  double reward = 0.0;  ///< of the decisions whose own reward the log knows: not of logged decisions
  std::size_t new_users = 0;
  /// With check: the largest difference between a score and that of the printed algorithm, relative to the larger of
  /// 1 and the score.
  std::optional<double> largest_difference;
};

/// Answers the events of a log one by one, a decision a line. Of a logged decision it learns the reward of what was
/// shown, after it has decided. A user the bandit does not know joins it without
/// friends. In a bandit without names the users are 0, 1, ..., n - 1, and only n can join.
///
/// The summary is up to date at every moment, so that the caller knows after an exception how far it came: the bandit
/// has learned the first summary.lines lines, and nothing of those after them. Throws DataError with the line of an
/// event that is bad, after the lines before it have been answered; std::system_error if a decision cannot be written,
/// whose line has then been learned; with `check`, std::runtime_error at the first decision that is not the printed
/// algorithm's, and std::invalid_argument if that would need more than 3,000 rows. Memory does not grow with the log.
void replay(Bandit& bandit, std::istream& events, std::ostream& decisions, const ReplayOptions& options,
            ReplaySummary& summary);

}  // namespace goblin::app
