#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/bandit/policy.hpp"
#include "graph/live_graph.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace goblin {

/// Who the users are, who their friends are, and which node of the policy's graph decides for each of them: all that
/// one policy does differently from another.
class UserMap {
 public:
  /// The clusters, a label a user, are for the policies that use them and empty for the others. There are as many as
  /// the labels say, or more, which nobody is in.
  UserMap(Policy policy, const Graph& users, std::span<const NodeId> clusters, std::size_t cluster_count = 0);

  [[nodiscard]] Policy policy() const { return policy_; }
  [[nodiscard]] std::size_t user_count() const { return users_.node_count(); }
  [[nodiscard]] std::size_t node_count() const;
  [[nodiscard]] bool has_names() const { return users_.has_names(); }

  /// None if there is no such user. In a map without names, the text of a number is that number.
  [[nodiscard]] std::optional<NodeId> find(UserRef user) const;
  /// The same, but throws UnknownUser.
  [[nodiscard]] NodeId user(UserRef user) const;
  /// A user for messages: the name, or the index.
  [[nodiscard]] std::string describe(NodeId user) const;

  [[nodiscard]] NodeId node_of(NodeId user) const;
  /// Where the policy has clusters.
  [[nodiscard]] NodeId cluster_of(NodeId user) const { return clusters_[user]; }
  [[nodiscard]] std::span<const NodeId> clusters() const { return clusters_; }
  [[nodiscard]] NodeId cluster_count() const { return static_cast<NodeId>(members_.size()); }
  /// The users of a cluster, ascending.
  [[nodiscard]] std::span<const NodeId> members(NodeId cluster) const { return members_[cluster]; }

  /// visit(user) for every user that a node decides for, in ascending order.
  template <typename Visit>
  void for_each_user_of(NodeId node, Visit visit) const {
    if (has_node_per_user(policy_)) return visit(node);
    if (uses_clusters(policy_)) {
      for (const NodeId user : members_[node]) visit(user);
    } else {
      for (NodeId user = 0; user < user_count(); ++user) visit(user);
    }
  }
  /// visit(friend, weight) for every friend of a user.
  template <typename Visit>
  void for_each_friend(NodeId user, Visit visit) const {
    users_.for_each_neighbour(user, visit);
  }

  /// The weight of all of a user's edges. O(friends).
  [[nodiscard]] double degree(NodeId user) const { return users_.degree(user); }
  [[nodiscard]] Graph graph() const { return users_.snapshot(); }
  [[nodiscard]] double weight(NodeId user_a, NodeId user_b) const { return users_.weight(user_a, user_b); }

  /// An edge between nodes, and the weight it has after a change.
  struct NodeEdge {
    NodeId a;
    NodeId b;
    double weight;
  };

  /// A user without friends, in the given cluster or in a new one where the policy has clusters.
  NodeId add_user(std::string_view name, std::optional<NodeId> cluster);
  /// Gives the edge between two users this weight, 0 for none. Says which edge between nodes changes, if any.
  std::optional<NodeEdge> set_weight(NodeId user_a, NodeId user_b, double weight);
  /// Puts a user into another cluster, which may be a new one. Says which edges between nodes change.
  std::vector<NodeEdge> move_user(NodeId user, NodeId cluster);
  /// Leaves this many clusters; nobody is in those that go.
  void drop_clusters(std::size_t count) { members_.resize(count); }

  [[nodiscard]] std::size_t bytes() const;

 private:
  void add_member(NodeId user, NodeId cluster);
  [[nodiscard]] double weight_between(NodeId cluster_a, NodeId cluster_b) const;

  Policy policy_;
  LiveGraph users_;
  std::vector<NodeId> clusters_;              // a label a user
  std::vector<std::vector<NodeId>> members_;  // of each cluster
};

/// The graph over the nodes of a policy.
[[nodiscard]] Graph node_graph(Policy policy, const Graph& users, std::span<const NodeId> clusters);

}  // namespace goblin
