#include "bandit/dynucb.hpp"

#include "binary.hpp"
#include "goblin/random.hpp"
#include "vectors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace goblin {
namespace {

constexpr NodeId nobody = std::numeric_limits<NodeId>::max();

}  // namespace

Dynucb::Dynucb(std::size_t users, const BanditOptions& options)
    : options_(options.dynucb),
      estimates_(options.weight_count(), *options.ridge, users),
      sums_(options_.clusters * options.weight_count(), 0.0),
      followed_(options_.clusters, 0) {}

/// Keyed by the user, so that it does not matter who else there is.
NodeId Dynucb::first_cluster(NodeId user) const {
  return static_cast<NodeId>(Random(options_.seed, 0, user).below(options_.clusters));
}

Dynucb::Labels Dynucb::first_labels() const {
  Labels labels{.of = std::vector<NodeId>(estimates_.user_count()), .count = options_.clusters};
  for (NodeId user = 0; user < labels.of.size(); ++user) labels.of[user] = first_cluster(user);
  return labels;
}

void Dynucb::sum_up(NodeId cluster, std::span<const NodeId> members, NodeId without) {
  const auto total = sum(cluster);
  std::fill(total.begin(), total.end(), 0.0);
  for (const NodeId member : members) {
    const auto estimate = estimates_.at(member);
    for (std::size_t k = 0; member != without && k < total.size(); ++k) total[k] += estimate[k];
  }
  followed_[cluster] = 0;
}

std::vector<UsersMove> Dynucb::learn(NodeId user, const UserEvidence& evidence, const UserMap& users) {
  const NodeId from = users.cluster_of(user);
  const auto total = sum(from);
  const std::vector<double> before(estimates_.at(user).begin(), estimates_.at(user).end());
  estimates_.update(user, evidence);
  const auto own = estimates_.at(user);
  // A sum follows as many changes as it has members; then it is summed up anew, so that rounding does not add up.
  if (++followed_[from] >= users.members(from).size()) {
    sum_up(from, users.members(from), nobody);
  } else {
    for (std::size_t k = 0; k < total.size(); ++k) total[k] = total[k] - before[k] + own[k];
  }

  NodeId nearest = from;
  double smallest = std::numeric_limits<double>::infinity();
  std::vector<double> centroid(own.size());
  for (NodeId cluster = 0; cluster < users.cluster_count(); ++cluster) {
    const std::size_t members = users.members(cluster).size();
    if (members == 0) continue;
    const auto of_cluster = sum(cluster);
    for (std::size_t k = 0; k < own.size(); ++k) centroid[k] = of_cluster[k] / static_cast<double>(members);
    const double distance = squared_distance(own, centroid);
    if (distance >= smallest) continue;
    smallest = distance;
    nearest = cluster;
  }
  if (nearest == from) return {};
  sum_up(from, users.members(from), user);
  const auto joined = sum(nearest);
  for (std::size_t k = 0; k < own.size(); ++k) joined[k] += own[k];
  ++followed_[nearest];
  return {{.users = {user}, .to = nearest}};
}

NodeId Dynucb::add_user(const UserMap& users) {
  estimates_.add_user();
  return first_cluster(static_cast<NodeId>(users.user_count()));
}

std::vector<UsersMove> Dynucb::remove_user(NodeId user, const UserMap& users) {
  estimates_.clear(user);
  const NodeId cluster = users.cluster_of(user);
  sum_up(cluster, users.members(cluster), user);
  return {};
}

std::size_t Dynucb::bytes() const {
  return sizeof(*this) + estimates_.bytes() + (sums_.capacity() + followed_.capacity()) * sizeof(double);
}

double Dynucb::bytes_at_most(std::size_t users, const BanditOptions& options) {
  constexpr double a_user = 24.0;  // what is noted beside the estimate
  return a_user * static_cast<double>(users) +
         8.0 * static_cast<double>(options.dynucb.clusters) * static_cast<double>(options.weight_count() + 1);
}

void Dynucb::save(BinaryWriter& out) const {
  out.array(sums_);
  out.array(followed_);
}

Dynucb::Dynucb(BinaryReader& in, const BanditOptions& options, const UserMap& users, const Belief& belief)
    : options_(options.dynucb), estimates_(options.weight_count(), *options.ridge, users.user_count()) {
  in.expect(users.cluster_count() == options_.clusters, "the number of clusters");
  sums_ = in.array<double>(options_.clusters * options.weight_count(), "the sums of estimates");
  followed_ = in.array<std::uint64_t>(options_.clusters, "what the sums have followed");
  for (const double value : sums_) in.expect(std::isfinite(value), "a sum of estimates");
  for (NodeId user = 0; user < users.user_count(); ++user) {
    estimates_.update(user, belief.evidence(user, users.node_of(user)));
  }
}

}  // namespace goblin
