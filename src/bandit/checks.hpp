#pragma once

#include "goblin/bandit/bandit.hpp"

#include <cstddef>
#include <span>

namespace goblin {

// All of these throw std::invalid_argument with name, value and bound.

void check_options(const BanditOptions& options);

/// Options that only some policies have must be left alone for the others.
void check_policy(Policy policy, const BanditOptions& options);

/// BanditOptions::node_ridges must be empty or have a ridge for each node.
void check_node_ridges(const BanditOptions& options, std::size_t nodes);

/// The clusters must be a label a user where the policy uses them, and none where it does not.
void check_clusters(Policy policy, std::size_t users, std::span<const NodeId> clusters);

/// A node's degree must not be too large beside its ridge.
void check_degree(double degree, double largest, NodeId node);

/// `longest` is the length that a context may have at most.
void check_context(std::span<const double> context, std::size_t dimension, double longest);

void check_reward(double reward);

}  // namespace goblin
