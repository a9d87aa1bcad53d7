#pragma once

#include "goblin/offline/tune.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace goblin::offline {

/// For each user with rewards, sums over the rewards: what the questions about the graph are answered from.
struct UserErrors {
  std::vector<NodeId> users;    ///< ascending
  std::vector<double> rewards;  ///< how many
  double all_rewards = 0.0;

  UserErrors(std::span<const NodeId> users_of_rewards, std::size_t user_count);

  /// Of predictions, for each user the sum of (a - prediction)^2.
  [[nodiscard]] std::vector<double> squared(const RewardTable& table, std::span<const double> predictions) const;

 private:
  std::vector<std::size_t> place_;  // of a user in `users`
};

/// Columns of sums for each user, resampled: users drawn with replacement, as many as there are, because rewards of a
/// user are not independent. Friends' are not quite either; what these intervals leave out is that. Of one user nothing
/// can be drawn: the ends of the interval are not numbers.
class Bootstrap {
 public:
  Bootstrap(std::span<const std::vector<double>> columns, std::span<const double> rewards, std::size_t resamples,
            std::uint64_t seed);

  /// Of a column's sum, a reward.
  [[nodiscard]] Gain of(std::size_t column) const;
  /// Of the mean of the columns first, ..., end - 1, which are drawn with replacement, too.
  [[nodiscard]] Gain of_mean(std::size_t first, std::size_t end) const;

 private:
  [[nodiscard]] Gain interval(double mean, std::vector<double> values) const;

  std::size_t columns_;
  std::size_t users_;
  std::uint64_t seed_;
  std::vector<double> whole_;   // of each column, a reward
  std::vector<double> totals_;  // the same of each resample, one after the other
};

/// The gain over linucb-ind for users with the same label, in the order of the labels. Those without users are left
/// out.
struct Grouping {
  std::vector<NodeId> label_of;     ///< of each place in UserErrors::users
  std::vector<std::string> labels;  ///< in words
};
[[nodiscard]] std::vector<GroupGain> gains_of(const Grouping& grouping, const UserErrors& users,
                                              std::span<const double> gains, std::size_t resamples, std::uint64_t seed);

/// "0", "1 to 2", "3 to 5", ...
[[nodiscard]] Grouping by_size(std::span<const double> sizes, std::string_view unit);

/// Whether the graph helps, into the result, which has the comparisons. `learned`: how much smaller the squared error
/// of the best policy is than that of a constant, a reward.
void judge(TuneResult& result, const Gain& learned, std::size_t rewirings_beaten);

}  // namespace goblin::offline
