#pragma once

#include "goblin/bandit/bandit.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace goblin {

// All of these throw std::invalid_argument with name, value and bound.

void check_options(const BanditOptions& options);

/// Options that only some policies have must be left alone for the others.
void check_policy(Policy policy, const BanditOptions& options);

/// BanditOptions::node_ridges must be empty or have a ridge for each of so many nodes, the hub not counted.
void check_node_ridges(const BanditOptions& options, std::size_t nodes);

/// The weight of the hub's edges must not be too large beside the ridges of the hub, to which so many users are joined,
/// and of a user.
void check_hub(const HubOptions& hub, std::size_t users, double largest_degree);
void check_hub_beside_user(const HubOptions& hub, double ridge);

/// The clusters must be a label a user where the policy uses them, and none where it does not.
void check_clusters(Policy policy, std::size_t users, std::span<const NodeId> clusters);

/// A policy that cannot forget must not be asked to, and a discount needs to know what a user has said.
void check_forgetting(Policy policy, const BanditOptions& options);

/// A node's degree must not be too large beside its ridge. `whose()` says whose it is: "node 3".
[[noreturn]] void refuse_degree(double degree, double largest, std::string_view whose);
template <typename Whose>
void check_degree(double degree, double largest, const Whose& whose) {
  if (!(degree <= largest)) refuse_degree(degree, largest, whose());
}

/// `longest` is the length that a context may have at most, with the 1 of the intercept where there is one.
void check_context(std::span<const double> context, const BanditOptions& options, double longest);

void check_reward(double reward);

}  // namespace goblin
