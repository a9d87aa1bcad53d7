#pragma once

#include "bandit/choice.hpp"
#include "bandit/user_map.hpp"
#include "belief/belief.hpp"
#include "goblin/bandit/bandit.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace goblin {

/// What a bandit is made of. The third part, how what is believed becomes a choice, is in the options: Exploration.
struct Bandit::State {
  State(const BanditOptions& the_options, UserMap the_users, Belief the_belief)
      : options(the_options),
        users(std::move(the_users)),
        belief(std::move(the_belief)),
        smallest_ridge(options.ridge) {
    for (const double ridge : options.node_ridges) smallest_ridge = std::min(smallest_ridge, ridge);
    set_exploration(options.exploration.value_or(Exploration::ucb(options.alpha)));
  }

  void set_exploration(const Exploration& exploration) {
    options.exploration = exploration;
    if (const auto* ucb = std::get_if<Ucb>(&exploration.rule)) options.alpha = ucb->alpha;
  }

  [[nodiscard]] Knowledge knowledge() const {
    return {.rewards = belief.rewards(),
            .log_determinant = belief.log_determinant(),
            .log_determinant_error = belief.log_determinant_error()};
  }
  /// All of a decision but the choice: what is believed of the candidates, with what is known of the rewards. Throws
  /// what Bandit::select throws.
  [[nodiscard]] Choice judge(UserRef user, Contexts contexts, Mask allowed, const Knowledge& known,
                             const std::optional<Draw>& draw, Decision& decision) const;

  void check_new_hub_edge() const;

  BanditOptions options;
  UserMap users;
  Belief belief;
  double smallest_ridge;  // that a user's node has or may get
};

}  // namespace goblin
