#pragma once

#include "bandit/exploration.hpp"
#include "bandit/user_map.hpp"
#include "belief/belief.hpp"
#include "goblin/bandit/bandit.hpp"

#include <algorithm>
#include <utility>

namespace goblin {

/// What a bandit is made of. The third part, how scores become a choice, is Exploration, which follows from the
/// options.
struct Bandit::State {
  State(const BanditOptions& the_options, UserMap the_users, Belief the_belief)
      : options(the_options),
        users(std::move(the_users)),
        belief(std::move(the_belief)),
        smallest_ridge(options.ridge) {
    for (const double ridge : options.node_ridges) smallest_ridge = std::min(smallest_ridge, ridge);
  }

  [[nodiscard]] Exploration::Knowledge knowledge() const {
    return {.rewards = belief.rewards(),
            .log_determinant = belief.log_determinant(),
            .log_determinant_error = belief.log_determinant_error()};
  }
  /// Bandit::select, with what is known of the rewards.
  void decide(UserRef user, Contexts contexts, Mask allowed, const Exploration::Knowledge& known,
              Decision& decision) const;

  BanditOptions options;
  UserMap users;
  Belief belief;
  double smallest_ridge;  // that a node has or may get
};

}  // namespace goblin
