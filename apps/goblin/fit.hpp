#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/shard.hpp"
#include "reward_log.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace goblin::app {

struct FitOptions {
  /// How many rewards are learned at once; 0 stands for default_batch.
  std::size_t batch = 0;
  /// How many threads read the log; 0 stands for as many as the machine has.
  std::size_t threads = 0;
  /// The size of the log, where it is known: a batch is no larger than the log.
  std::size_t log_bytes = 0;
  /// Which part of the log is learned, so that several processes learn all of it: where users have clusters, each part
  /// has whole clusters, and otherwise every so-manieth user. New users join in all parts, so that what was learned can
  /// be merged.
  Shard shard = {};
  /// Asked before each batch; false stops.
  std::function<bool()> keep_going = {};
  /// Told how many bytes of the log have been learned.
  std::function<void(std::size_t)> progress = {};
};

/// What was learned.
struct FitSummary {
  std::size_t count = 0;        ///< how many lines of the log, or rewards where it has no lines
  std::string unit = "line";    ///< which of them
  std::size_t learned = 0;      ///< rewards
  std::size_t passed_over = 0;  ///< lines that only ask for a decision
  std::size_t others = 0;       ///< rewards of the other shards
  std::size_t new_users = 0;
};

/// Throws std::invalid_argument if what shards of a log taught this bandit could not be merged, or if there is no such
/// shard.
void check_shard(const Bandit& bandit, const Shard& shard);

/// Learns the rewards of a log, batch by batch, while threads read ahead. A user the bandit does not know joins it, as
/// in replay.
///
/// The summary is up to date at every moment: the bandit has learned the first summary.count lines, and nothing of
/// those after them. Throws DataError with the line that is bad, after all before it have been learned. Memory does not
/// grow with the log; throws CapacityError, before it reads anything, if a batch would not fit.
void fit(Bandit& bandit, std::unique_ptr<RewardFormat> log, const std::string& name, const FitOptions& options,
         FitSummary& summary);

}  // namespace goblin::app
