#pragma once

#include "bandit/online_clusters.hpp"
#include "bandit/own_estimates.hpp"
#include "graph/editable_graph.hpp"

#include <memory>
#include <set>
#include <span>
#include <vector>

namespace goblin {

/// CLUB (Gentile, Li, Zappella 2014). A graph of its own joins users who may be alike. After a reward at i, its edge to
/// j goes if
///
///     |w_i - w_j| > separation (F(T_i) + F(T_j)),   F(T) = sqrt((1 + ln(1 + T)) / (1 + T)),
///
/// w the users' own estimates and T their numbers of rewards. The clusters are the connected components of what is
/// left: O(d^3 + d edges of i) a reward, and where a cluster falls apart that of the smaller parts.
///
/// The part that a search from both ends of what was cut sees last keeps the number; the others take the lowest numbers
/// that nobody has.
class Club final : public OnlineClusters {
 public:
  /// Every pair of users is an edge there, and takes 24 bytes, or 48 after a change: 400 MB.
  static constexpr std::size_t most_in_complete_graph = 4000;

  Club(const Graph& users, const BanditOptions& options);
  Club(BinaryReader& in, const BanditOptions& options, const UserMap& users, const Belief& belief);

  [[nodiscard]] std::unique_ptr<OnlineClusters> clone() const override { return std::make_unique<Club>(*this); }
  [[nodiscard]] Labels first_labels() const override;
  [[nodiscard]] std::vector<UsersMove> learn(NodeId user, const UserEvidence& evidence, const UserMap& users) override;
  /// Where the graph was the social one at first, friends may be alike, until rewards say otherwise: the first edge
  /// between two users is one here, too, and joins their clusters. One that goes there goes here. The other graphs have
  /// nothing to do with friends.
  [[nodiscard]] std::vector<UsersMove> change_friends(NodeId a, NodeId b, bool are_friends,
                                                      const UserMap& users) override;
  /// A cluster of one, whatever the graph was at first: edges to users of several clusters would join them.
  [[nodiscard]] NodeId add_user(const UserMap& users) override;
  /// Users whom only this one held together are in one cluster no more.
  [[nodiscard]] std::vector<UsersMove> remove_user(NodeId user, const UserMap& users) override;
  void joined(NodeId cluster) override { take(cluster); }
  void keep_first(std::size_t users) override;
  [[nodiscard]] std::size_t bytes() const override;
  void save(BinaryWriter& out) const override;

  [[nodiscard]] static double bytes_at_most(const Graph& users, const BanditOptions& options);

 private:
  [[nodiscard]] std::vector<UsersMove> split(std::span<const NodeId> ends, const UserMap& users);
  [[nodiscard]] NodeId next_number(const UserMap& users) const;
  void take(NodeId number);
  NodeId take_number(const UserMap& users);

  ClubOptions options_;
  EditableGraph alike_;
  OwnEstimates estimates_;
  std::set<NodeId> unused_;  // numbers of clusters that nobody is in
  NodeId numbered_ = 0;      // clusters, with those
};

}  // namespace goblin
