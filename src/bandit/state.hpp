#pragma once

#include "bandit/choice.hpp"
#include "bandit/forgetting.hpp"
#include "bandit/online_clusters.hpp"
#include "bandit/user_map.hpp"
#include "belief/belief.hpp"
#include "cloned.hpp"
#include "goblin/bandit/bandit.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace goblin {

/// What a bandit is made of. How what is believed becomes a choice is in the options: Exploration.
struct Bandit::State {
  State(const BanditOptions& the_options, UserMap the_users, Belief the_belief,
        std::unique_ptr<OnlineClusters> the_clusters)
      : options(the_options),
        users(std::move(the_users)),
        belief(std::move(the_belief)),
        online_clusters(std::move(the_clusters)),
        smallest_ridge(*options.ridge) {
    for (const double ridge : options.node_ridges) smallest_ridge = std::min(smallest_ridge, ridge);
    set_exploration(options.exploration.value_or(Exploration::ucb(options.alpha)));
    if (options.forgetting.window > 0) window.emplace(options.weight_count(), options.forgetting.window);
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

  /// A user's reward as the node that decides for the user learns it, or forgets it: the one place where the one
  /// becomes the other.
  [[nodiscard]] UserReward at_node(const RewardWindow::Entry& one) const {
    return {one.user, users.node_of(one.user), one.context, one.reward};
  }
  [[nodiscard]] std::vector<UserReward> at_nodes(std::span<const RewardWindow::Entry> rewards) const {
    std::vector<UserReward> result;
    result.reserve(rewards.size());
    for (const auto& one : rewards) result.push_back(at_node(one));
    return result;
  }
  /// Rewards that have been checked, in their order, and what is forgotten for them; all of it or nothing.
  /// forgetting.cpp.
  SolveSummary learn(std::span<const RewardWindow::Entry> rewards);
  /// One after the other, for OnlineClusters.
  SolveSummary learn_in_order(std::span<const RewardWindow::Entry> rewards);
  SolveSummary learn_in_window(std::span<const RewardWindow::Entry> rewards);
  SolveSummary learn_discounted(std::span<const RewardWindow::Entry> rewards);
  /// Whether the window holds as many rewards of everybody as the evidence is the sum of.
  [[nodiscard]] bool window_is_what_was_observed() const;
  void check_new_hub_edge() const;
  /// The first edge between two users, the last one that goes, or one of another weight.
  SolveSummary change_edge(const EdgeChange& change);
  /// If it throws, the state means nothing any more.
  SolveSummary remove_user(NodeId user);
  /// Makes the moves that OnlineClusters wants.
  SolveSummary move(std::span<const UsersMove> moves);
  /// Many changes one after the other, all or none: they are made in a copy, which then takes the place of this.
  SolveSummary change_in_a_copy(std::size_t count,
                                const std::function<SolveSummary(State& copy, std::size_t k)>& change);

  BanditOptions options;
  UserMap users;
  Belief belief;
  Cloned<OnlineClusters> online_clusters;  // where the policy finds the clusters
  double smallest_ridge;                   // that a user's node has or may get
  std::optional<RewardWindow> window;
};

}  // namespace goblin
