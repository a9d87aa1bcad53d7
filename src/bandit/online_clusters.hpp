#pragma once

#include "bandit/user_map.hpp"
#include "belief/belief.hpp"
#include "goblin/bandit/bandit.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace goblin {

class BinaryReader;
class BinaryWriter;

/// How a policy finds clusters of users while it learns: after every reward it says who moves where. What it says
/// depends on the rewards and their order, so what it needs for that is saved with the bandit.
///
/// Whoever asks makes the moves before the next question. All moves of an answer lead from one cluster. They may lead
/// to clusters that are not there yet, whose numbers follow those that are.
class OnlineClusters {
 public:
  OnlineClusters() = default;
  OnlineClusters& operator=(const OnlineClusters&) = delete;
  OnlineClusters(OnlineClusters&&) = delete;
  OnlineClusters& operator=(OnlineClusters&&) = delete;
  virtual ~OnlineClusters() = default;
  [[nodiscard]] virtual std::unique_ptr<OnlineClusters> clone() const = 0;

  /// The clusters of all users before the first reward.
  struct Labels {
    std::vector<NodeId> of;
    std::size_t count = 0;  // of clusters
  };
  [[nodiscard]] virtual Labels first_labels() const = 0;

  /// After a reward: `evidence` is all that was learned from the user's rewards, with this one.
  [[nodiscard]] virtual std::vector<UsersMove> learn(NodeId user, const UserEvidence& evidence,
                                                     const UserMap& users) = 0;
  /// Two users have become friends, or are friends no more.
  [[nodiscard]] virtual std::vector<UsersMove> change_friends(NodeId /*a*/, NodeId /*b*/, bool /*are_friends*/,
                                                              const UserMap& /*users*/) {
    return {};
  }
  /// One more user, without friends or rewards. Says the cluster, which may be a new one. Then comes joined, or
  /// keep_first if somebody else has no memory for the user, or there was none for this.
  [[nodiscard]] virtual NodeId add_user(const UserMap& users) = 0;
  virtual void joined(NodeId /*cluster*/) {}
  virtual void keep_first(std::size_t users) = 0;
  /// A user without friends or rewards goes. Says who moves for that, before the user is taken away.
  [[nodiscard]] virtual std::vector<UsersMove> remove_user(NodeId user, const UserMap& users) = 0;

  [[nodiscard]] virtual std::size_t bytes() const = 0;
  virtual void save(BinaryWriter& out) const = 0;

 protected:
  OnlineClusters(const OnlineClusters&) = default;
};

/// Throws std::invalid_argument if the policy finds clusters, and the options or the number of users do not allow that.
void check_online_clusters(Policy policy, const BanditOptions& options, std::size_t users);

/// None for the policies whose clusters stay as they are.
[[nodiscard]] std::unique_ptr<OnlineClusters> make_online_clusters(Policy policy, const Graph& users,
                                                                   const BanditOptions& options);
/// Of a model file whose users and belief were read.
[[nodiscard]] std::unique_ptr<OnlineClusters> load_online_clusters(BinaryReader& in, Policy policy,
                                                                   const BanditOptions& options, const UserMap& users,
                                                                   const Belief& belief);
/// What make_online_clusters takes at most, without what grows with the users who get rewards.
[[nodiscard]] double online_clusters_bytes(Policy policy, const Graph& users, const BanditOptions& options);

}  // namespace goblin
