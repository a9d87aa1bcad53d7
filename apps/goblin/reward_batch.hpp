#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/error.hpp"

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

  /// The place is how far the log is learned with this reward: so many of its lines, or whatever it consists of.
  void add(NodeId user, std::span<const double> context, double reward, std::size_t place) {
    users_.push_back(user);
    contexts_.insert(contexts_.end(), context.begin(), context.end());
    rewards_.push_back(reward);
    places_.push_back(place);
  }
  void clear() {
    users_.clear();
    contexts_.clear();
    rewards_.clear();
    places_.clear();
  }

  /// Has a bandit learn them: all at once, or, where that would not fit into memory, in smaller batches. After each of
  /// these it calls learned(count, place) with the number of its rewards and the place of its last one.
  template <typename Learned>
  void learn(Bandit& bandit, const Learned& learned) const {
    learn_rows(bandit, learned, 0, size());
  }

 private:
  template <typename Learned>
  void learn_rows(Bandit& bandit, const Learned& learned, std::size_t begin, std::size_t end) const {
    if (begin == end) return;
    try {
      bandit.update(table(begin, end));
    } catch (const CapacityError&) {
      if (end - begin == 1) throw;
      const std::size_t middle = begin + (end - begin) / 2;
      learn_rows(bandit, learned, begin, middle);
      learn_rows(bandit, learned, middle, end);
      return;
    }
    learned(end - begin, places_[end - 1]);
  }

  [[nodiscard]] RewardTable table(std::size_t begin, std::size_t end) const {
    const std::size_t d = contexts_.size() / users_.size();
    return {.users = std::span(users_).subspan(begin, end - begin),
            .contexts = std::span(contexts_).subspan(begin * d, (end - begin) * d),
            .rewards = std::span(rewards_).subspan(begin, end - begin)};
  }

  std::vector<NodeId> users_;
  std::vector<double> contexts_;
  std::vector<double> rewards_;
  std::vector<std::size_t> places_;
};

}  // namespace goblin::app
