#pragma once

#include "goblin/bandit/bandit.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace goblin::app {

/// How many rewards are learned at once if nobody says: many, because a large batch costs less a reward, but no more
/// than a gigabyte of contexts.
[[nodiscard]] inline std::size_t default_batch(std::size_t dimension) {
  constexpr std::size_t most_numbers = std::size_t{1} << 27U;
  return std::clamp<std::size_t>(most_numbers / dimension, 1, 1'000'000);
}

/// Rewards that wait to be learned together.
class RewardBatch {
 public:
  [[nodiscard]] std::size_t size() const { return users_.size(); }
  [[nodiscard]] RewardTable table() const { return table(0, size()); }
  /// Some of them.
  [[nodiscard]] RewardTable table(std::size_t begin, std::size_t end) const {
    const std::size_t d = users_.empty() ? 0 : contexts_.size() / users_.size();
    return {.users = std::span(users_).subspan(begin, end - begin),
            .contexts = std::span(contexts_).subspan(begin * d, (end - begin) * d),
            .rewards = std::span(rewards_).subspan(begin, end - begin)};
  }

  void add(NodeId user, std::span<const double> context, double reward) {
    users_.push_back(user);
    contexts_.insert(contexts_.end(), context.begin(), context.end());
    rewards_.push_back(reward);
  }
  void clear() {
    users_.clear();
    contexts_.clear();
    rewards_.clear();
  }

 private:
  std::vector<NodeId> users_;
  std::vector<double> contexts_;
  std::vector<double> rewards_;
};

}  // namespace goblin::app
