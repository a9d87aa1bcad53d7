// Evidence that another belief has gathered.

#include "belief/belief.hpp"
#include "belief/equivalent_rewards.hpp"
#include "belief/memory.hpp"
#include "belief/symmetric_matrix.hpp"
#include "jobs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <fmt/format.h>

namespace goblin {

double Belief::longest_learned(NodeId node) const {
  const double length =
      std::min(longest_learned_ * std::sqrt(ridge(node)), std::sqrt(trace(evidence_.at(node).contexts, dimension())));
  return length / lenses_.factor(node);
}

/// About d rewards a node, its sums, those of a node that had none (bulk_bytes), and those of the users.
void Belief::check_merge_fits(std::span<const NodeId> nodes) const {
  const auto d = static_cast<double>(dimension());
  double bytes = static_cast<double>(nodes.size()) * (d * (d + 1.0) * sizeof(double) + evidence_.place_bytes());
  bytes += static_cast<double>(nodes.size() * dimension() * sizeof(UserReward));
  if (user_evidence_) bytes += 2.0 * static_cast<double>(user_evidence_->bytes());
  std::map<NodeId, BulkPart> parts;
  for (const NodeId node : nodes) {
    BulkPart& part = parts[places_[node].component];
    part.component = places_[node].component;
    part.rewards += dimension();
    ++part.nodes;
    if (evidence_.at(node).count == 0) ++part.new_nodes;
  }
  std::vector<BulkPart> list;
  list.reserve(parts.size());
  for (const auto& [component, part] : parts) list.push_back(part);
  const std::size_t rewards = nodes.size() * dimension();
  if (rewards > 0) bytes += bulk_bytes(list, rewards, rewards);
  check_memory(
      fmt::format("merging what was learned at {} nodes", nodes.size()), bytes, options_,
      [this] { return this->bytes(); },
      [](std::size_t /*available*/) { return std::string("it is done at once, so nothing less fits"); });
}

/// The engines learn a few rewards a node that say as much as the other's evidence, in the way that is cheapest for
/// their number. The evidence itself becomes the sum of both.
SolveSummary Belief::merge(const Belief& other) {
  std::vector<NodeId> nodes;
  for (NodeId node = 0; node < node_count(); ++node) {
    if (other.evidence_.at(node).count > 0) nodes.push_back(node);
  }
  check_merge_fits(nodes);
  std::vector<EquivalentRewards> equivalent(nodes.size());
  constexpr std::size_t share = 256;  // nodes of one job
  run_jobs((nodes.size() + share - 1) / share, thread_count(), [&](std::size_t job) {
    for (std::size_t k = job * share; k < std::min(nodes.size(), (job + 1) * share); ++k) {
      equivalent[k] = equivalent_rewards(other.evidence_.at(nodes[k]), dimension(), ridge(nodes[k]),
                                         engine_of(nodes[k]).longest_context());
    }
    return true;
  });
  std::vector<UserReward> rewards;
  Evidence sums(dimension(), node_count());
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    evidence_.reserve(nodes[k]);
    sums.add(nodes[k], evidence_.at(nodes[k]));
    sums.add(nodes[k], other.evidence_.at(nodes[k]));
    for (Eigen::Index column = 0; column < equivalent[k].rewards.size(); ++column) {
      const double* const context = equivalent[k].contexts.col(column).data();
      rewards.push_back({.user = 0,
                         .node = nodes[k],
                         .context = context,
                         .reward = equivalent[k].rewards[column],
                         .at_node = context});
    }
  }
  const std::size_t rewards_of_both = rewards_ + other.rewards_;
  const double longest_of_both = std::max(longest_learned_, other.longest_learned_);

  // These rewards are nobody's: the users' evidence is kept out of it.
  std::optional<Evidence> users_of_both = user_evidence_;
  for (NodeId user = 0; user < user_evidence_count(); ++user) users_of_both->add(user, other.user_evidence_->at(user));
  std::optional<Evidence> of_users = std::exchange(user_evidence_, std::nullopt);
  SolveSummary summary;
  try {
    summary = learn_many(rewards);
  } catch (...) {
    user_evidence_ = std::move(of_users);
    throw;
  }
  // From here on nothing takes memory, so that nothing can go wrong.
  user_evidence_ = std::move(users_of_both);
  for (const NodeId node : nodes) {
    evidence_.clear(node);
    evidence_.add(node, sums.at(node));
  }
  rewards_ = rewards_of_both;
  longest_learned_ = longest_of_both;
  return summary;
}

}  // namespace goblin
