// Evidence that another belief has gathered.

#include "belief/belief.hpp"
#include "belief/memory.hpp"
#include "belief/symmetric_matrix.hpp"
#include "jobs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <fmt/format.h>

namespace goblin {
namespace {

/// Rewards that say the same as some sums: sum of x x^T = S and sum of a x = c.
struct EquivalentRewards {
  Eigen::MatrixXd contexts;  // a column each
  Eigen::VectorXd rewards;
};

/// A context of that squared length in pieces of it, none longer than allowed. The first is short enough to leave most
/// digits of a belief that knows no more than the ridge, and each may say 10,000 times as much as those before it.
std::vector<double> pieces_of(double squared_length, double ridge, double longest) {
  constexpr double gain = 1e4;
  std::vector<double> pieces;
  double most = gain * ridge;
  while (squared_length > 0.0) {
    pieces.push_back(std::min({squared_length, most, longest * longest}));
    squared_length -= pieces.back();
    most *= gain;
  }
  return pieces;
}

/// At most about d of them, and no more than 3 d and the number of rewards in the sums. `longest` is how long a context
/// at the node may be. O(d^3).
///
/// With P S P^T = L D L^T, column k of P^T L times sqrt(D_k) is a context, and the rewards follow from L y = P c.
EquivalentRewards equivalent_rewards(const UserEvidence& sums, std::size_t dimension, double ridge, double longest) {
  using Eigen::Index;
  const auto d = static_cast<Index>(dimension);
  const Eigen::LDLT<Eigen::MatrixXd> factor(unpacked(sums.contexts, dimension));
  const Eigen::MatrixXd columns = factor.transpositionsP().transpose() * Eigen::MatrixXd(factor.matrixL());
  Eigen::VectorXd left = Eigen::Map<const Eigen::VectorXd>(sums.rewards.data(), d);
  const Eigen::VectorXd shares = factor.matrixL().solve(factor.transpositionsP() * left);
  // What rounding leaves of a number.
  const double noise = 4.0 * std::numeric_limits<double>::epsilon() * static_cast<double>(d);
  const double least_seen = noise * factor.vectorD().cwiseAbs().maxCoeff();
  const double least_left = noise * left.norm();

  std::vector<Eigen::VectorXd> contexts;
  std::vector<double> rewards;
  const auto add = [&](const Eigen::VectorXd& context, double reward) {
    const double squared_length = context.squaredNorm();
    for (const double piece : pieces_of(squared_length, ridge, longest)) {
      const double share = std::sqrt(piece / squared_length);
      contexts.emplace_back(share * context);
      rewards.push_back(share * reward);
    }
    left -= reward * context;
  };
  for (Index k = 0; k < d; ++k) {
    if (factor.vectorD()[k] <= least_seen) continue;
    const double root = std::sqrt(factor.vectorD()[k]);
    add(root * columns.col(k), shares[k] / root);
  }
  // c has more digits than S, whose numbers are squares. What it says beyond S is kept by a context that hardly adds to
  // S.
  if (const double norm = left.norm(); norm > least_left) {
    const double length = 1e-6 * std::sqrt(ridge);
    add(left * (length / norm), norm / length);
  }
  EquivalentRewards result{Eigen::MatrixXd(d, static_cast<Index>(contexts.size())),
                           Eigen::VectorXd(static_cast<Index>(rewards.size()))};
  for (std::size_t k = 0; k < contexts.size(); ++k) {
    result.contexts.col(static_cast<Index>(k)) = contexts[k];
    result.rewards[static_cast<Index>(k)] = rewards[k];
  }
  return result;
}

}  // namespace

double Belief::longest_learned(NodeId node) const {
  return std::min(longest_learned_ * std::sqrt(ridge(node)),
                  std::sqrt(trace(evidence_.at(node).contexts, dimension())));
}

/// About d rewards a node, twice its sums, and those of the users.
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
      equivalent[k] =
          equivalent_rewards(other.evidence_.at(nodes[k]), dimension(), ridge(nodes[k]), longest_context(nodes[k]));
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
      rewards.push_back({.user = 0,
                         .node = nodes[k],
                         .context = equivalent[k].contexts.col(column).data(),
                         .reward = equivalent[k].rewards[column]});
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
