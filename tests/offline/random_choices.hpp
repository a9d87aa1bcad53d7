#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/offline/tune.hpp"
#include "goblin/random.hpp"
#include "goblin/world/world.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace goblin::test {

/// What a log holds after somebody chose at random.
struct RandomChoices {
  std::size_t dimension;
  std::vector<NodeId> users;
  std::vector<double> contexts;
  std::vector<double> rewards;
  std::vector<std::vector<double>> candidates;  // of each round, one after the other
  std::vector<std::size_t> actions;             // which of them was shown

  RandomChoices(const world::World& world, std::uint64_t rounds) : dimension(world.dimension()) {
    for (std::uint64_t t = 0; t < rounds; ++t) {
      const world::Round round = world.round(t);
      const std::size_t arm = Random(world.seed(), 17, t).below(round.payoffs.size());
      const auto context = round.context(arm);
      users.push_back(round.user);
      contexts.insert(contexts.end(), context.begin(), context.end());
      rewards.push_back(round.payoffs[arm]);
      candidates.emplace_back(round.contexts.begin(), round.contexts.end());
      actions.push_back(arm);
    }
  }

  /// Some users, who may be shown the same candidates each time. What these pay, with noise, `pays(user, candidate)`
  /// says.
  template <typename Pays>
  RandomChoices(std::size_t user_count, std::size_t candidate_count, const Pays& pays, double noise,
                std::uint64_t rounds)
      : dimension(candidate_count) {
    std::vector<double> all(dimension * dimension, 0.0);
    for (std::size_t k = 0; k < dimension; ++k) all[k * dimension + k] = 1.0;
    Random random(5);
    for (std::uint64_t t = 0; t < rounds; ++t) {
      const std::size_t user = random.below(user_count);
      const std::size_t arm = random.below(dimension);
      const auto context = std::span(all).subspan(arm * dimension, dimension);
      users.push_back(static_cast<NodeId>(user));
      contexts.insert(contexts.end(), context.begin(), context.end());
      rewards.push_back(pays(user, arm) + noise * random.normal());
      candidates.push_back(all);
      actions.push_back(arm);
    }
  }

  [[nodiscard]] RewardTable table() const { return {users, contexts, rewards}; }

  /// A round as a decision that was left to chance.
  [[nodiscard]] offline::LoggedRound round(std::size_t row) const {
    return {.user = users[row],
            .contexts = candidates[row],
            .action = actions[row],
            .reward = rewards[row],
            .is_decision = true,
            .probability = static_cast<double>(dimension) / static_cast<double>(candidates[row].size()),
            .place = row};
  }
  /// All of them, each changed by a function.
  [[nodiscard]] offline::ReadRounds rounds(const std::function<void(offline::LoggedRound&)>& change = {}) const {
    return [this, change](const auto& take) {
      for (std::size_t row = 0; row < users.size(); ++row) {
        offline::LoggedRound each = round(row);
        if (change) change(each);
        take(each);
      }
    };
  }
};

}  // namespace goblin::test
