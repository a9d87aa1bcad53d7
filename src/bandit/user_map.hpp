#pragma once

#include "belief/belief.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/bandit/policy.hpp"
#include "graph/live_graph.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace goblin {

/// Comes before the users, so that new ones can come after them.
constexpr NodeId hub_node = 0;

/// Who the users are, who their friends are, and which node of the policy's graph decides for each of them: all that
/// one policy does differently from another.
class UserMap {
 public:
  /// The clusters, a label a user, are for the policies that have them and empty for the others. There are as many as
  /// the labels say, or more, which nobody is in. Of the options, those of the policy count. `removed`: users of the
  /// graph who are there no more, ascending.
  UserMap(Policy policy, const Graph& users, std::span<const NodeId> clusters, const BanditOptions& options,
          std::size_t cluster_count = 0, std::span<const NodeId> removed = {});

  [[nodiscard]] Policy policy() const { return policy_; }
  /// How many indices users have had; those of users who were removed stay theirs.
  [[nodiscard]] std::size_t user_count() const { return users_.node_count(); }
  [[nodiscard]] std::span<const NodeId> removed() const { return removed_; }  // ascending
  [[nodiscard]] bool is_removed(std::size_t user) const { return user < is_removed_.size() && is_removed_[user]; }
  [[nodiscard]] std::size_t present_count() const { return user_count() - removed_.size(); }
  [[nodiscard]] std::size_t node_count() const;
  [[nodiscard]] bool has_names() const { return users_.has_names(); }

  /// None if there is no such user. In a map without names, the text of a number is that number.
  [[nodiscard]] std::optional<NodeId> find(UserRef user) const;
  /// The same, but throws UnknownUser.
  [[nodiscard]] NodeId user(UserRef user) const;
  /// The name; the index as text where users have none.
  [[nodiscard]] std::string name(NodeId user) const;
  /// A user for messages: the name, or the index.
  [[nodiscard]] std::string describe(NodeId user) const;
  /// A node for messages: "node 3", or, where the hub makes the numbers differ, "user 'ann'".
  [[nodiscard]] std::string describe_node(NodeId node) const;

  [[nodiscard]] NodeId node_of(NodeId user) const;
  /// The edge that joins a user to the hub, where there is one.
  [[nodiscard]] std::optional<Edge> hub_edge(NodeId user) const {
    if (!has_hub(policy_)) return std::nullopt;
    return Edge{hub_node, node_of(user), hub_weight_};
  }
  /// The degree of a node's user among friends, if this is the degree of the node.
  [[nodiscard]] double degree_among_friends(double node_degree) const {
    return has_hub(policy_) ? (node_degree - hub_weight_) / coupling_ : node_degree;
  }
  /// Where the policy has clusters.
  [[nodiscard]] NodeId cluster_of(NodeId user) const { return clusters_[user]; }
  [[nodiscard]] std::span<const NodeId> clusters() const { return clusters_; }
  [[nodiscard]] NodeId cluster_count() const { return static_cast<NodeId>(members_.size()); }
  /// The users of a cluster, ascending; nobody who was removed.
  [[nodiscard]] std::span<const NodeId> members(NodeId cluster) const { return members_[cluster]; }

  /// visit(user) for every user that a node decides for, in ascending order.
  template <typename Visit>
  void for_each_user_of(NodeId node, Visit visit) const {
    if (has_hub(policy_)) {
      if (node != hub_node) visit(node - 1);
      return;
    }
    if (has_node_per_user(policy_)) return visit(node);
    if (has_clusters(policy_)) {
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
  [[nodiscard]] std::size_t edge_count() const { return users_.edge_count(); }
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
  /// Takes away a user who has no friends any more.
  void remove_user(NodeId user);
  /// The names of users who were removed are free from then on. O(n + m).
  void free_names() { users_.remove_names(removed_); }
  /// Takes away the users and clusters that were added after so many, also one that memory ran out for. Nobody has
  /// moved since. Takes no memory.
  void keep_first(std::size_t users, std::size_t clusters);
  /// Gives the edge between two users this weight, 0 for none. Says which edge between nodes changes, if any.
  std::optional<NodeEdge> set_weight(NodeId user_a, NodeId user_b, double weight);
  /// Puts a user into another cluster, which may be a new one. Says which edges between nodes change.
  std::vector<NodeEdge> move_user(NodeId user, NodeId cluster);
  /// Puts some users of a cluster into others, which may be new, where no edges join the nodes of clusters. O(users of
  /// all these clusters).
  void move_users(NodeId from, std::span<const UsersMove> moves);
  /// The way back to where the user was when there were so many clusters, also if memory ran out half way. Takes no
  /// memory.
  void move_back(NodeId user, NodeId cluster, std::size_t clusters);

  /// Clusters that somebody is in.
  [[nodiscard]] std::size_t used_cluster_count() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  void add_member(NodeId user, NodeId cluster);
  void note_removed(NodeId user);
  [[nodiscard]] double weight_between(NodeId cluster_a, NodeId cluster_b) const;

  Policy policy_;
  double coupling_;    // with a hub: what makes a weight between friends one between nodes
  double hub_weight_;  // and the weight of the hub's edges
  LiveGraph users_;
  std::vector<NodeId> clusters_;              // a label a user
  std::vector<std::vector<NodeId>> members_;  // of each cluster
  std::vector<NodeId> removed_;               // ascending
  std::vector<bool> is_removed_;              // by user, as far as the last of them
};

/// The graph over the nodes of a policy. Where it finds the clusters, as many as there can be.
[[nodiscard]] Graph node_graph(Policy policy, const Graph& users, std::span<const NodeId> clusters,
                               const BanditOptions& options);

/// What the weights of that graph are multiplied by in A. It is 1 where there is a hub, as the graph has the products
/// then: the coupling is for friends alone.
[[nodiscard]] inline double node_coupling(Policy policy, const BanditOptions& options) {
  return has_hub(policy) ? 1.0 : options.coupling;
}

/// The ridges of the nodes: empty where all have BanditOptions::ridge.
[[nodiscard]] std::vector<double> node_ridges(Policy policy, std::size_t users, const BanditOptions& options);

}  // namespace goblin
