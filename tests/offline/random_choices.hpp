#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/random.hpp"
#include "goblin/world/world.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace goblin::test {

/// What a log holds after somebody chose at random.
struct RandomChoices {
  std::size_t dimension;
  std::vector<NodeId> users;
  std::vector<double> contexts;
  std::vector<double> rewards;

  RandomChoices(const world::World& world, std::uint64_t rounds) : dimension(world.dimension()) {
    for (std::uint64_t t = 0; t < rounds; ++t) {
      const world::Round round = world.round(t);
      const std::size_t arm = Random(world.seed(), 17, t).below(round.payoffs.size());
      const auto context = round.context(arm);
      users.push_back(round.user);
      contexts.insert(contexts.end(), context.begin(), context.end());
      rewards.push_back(round.payoffs[arm]);
    }
  }

  [[nodiscard]] RewardTable table() const { return {users, contexts, rewards}; }
};

}  // namespace goblin::test
