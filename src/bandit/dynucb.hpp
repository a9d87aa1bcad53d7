#pragma once

#include "bandit/online_clusters.hpp"
#include "bandit/own_estimates.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace goblin {

/// DynUCB (Nguyen, Lauw 2014). Users are put into a fixed number of clusters at random. After a reward the user moves
/// to the cluster whose centroid, the mean of the members' own estimates, is nearest to the user's own estimate; of
/// equals to the lowest number. The user counts as a member of the cluster left. Clusters that nobody is in have no
/// centroid, so nobody moves there.
///
/// O(d^3 + d clusters) a reward, and for a move what it takes to sum up the cluster that is left.
class Dynucb final : public OnlineClusters {
 public:
  Dynucb(std::size_t users, const BanditOptions& options);
  Dynucb(BinaryReader& in, const BanditOptions& options, const UserMap& users, const Belief& belief);

  [[nodiscard]] std::unique_ptr<OnlineClusters> clone() const override { return std::make_unique<Dynucb>(*this); }
  [[nodiscard]] Labels first_labels() const override;
  [[nodiscard]] std::vector<UsersMove> learn(NodeId user, const UserEvidence& evidence, const UserMap& users) override;
  /// Where the user would have been put with the others.
  [[nodiscard]] NodeId add_user(const UserMap& users) override;
  [[nodiscard]] std::vector<UsersMove> remove_user(NodeId user, const UserMap& users) override;
  void keep_first(std::size_t users) override { estimates_.keep_first(users); }
  [[nodiscard]] std::size_t bytes() const override;
  void save(BinaryWriter& out) const override;

  [[nodiscard]] static double bytes_at_most(std::size_t users, const BanditOptions& options);

 private:
  [[nodiscard]] NodeId first_cluster(NodeId user) const;
  [[nodiscard]] std::span<double> sum(NodeId cluster) {
    return std::span(sums_).subspan(cluster * estimates_.dimension(), estimates_.dimension());
  }
  void sum_up(NodeId cluster, std::span<const NodeId> members, NodeId without);

  DynucbOptions options_;
  OwnEstimates estimates_;
  std::vector<double> sums_;             // of the members' estimates, d numbers for each cluster
  std::vector<std::uint64_t> followed_;  // changes that a sum has followed since it was summed up
};

}  // namespace goblin
