#include "bandit/user_map.hpp"

#include "goblin/error.hpp"
#include "goblin/graph/names.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace goblin {

Graph node_graph(Policy policy, const Graph& users, std::span<const NodeId> clusters) {
  switch (policy) {
    case Policy::linucb_sin:
    case Policy::linucb_hash:
      return users.single();
    case Policy::linucb_ind:
      return users.edgeless();
    case Policy::gob_lin:
      return users;
    case Policy::gob_lin_macro:
      return users.quotient(clusters);
    case Policy::gob_lin_block:
      return users.within(clusters);
  }
  return {};
}

UserMap::UserMap(Policy policy, const Graph& users, std::span<const NodeId> clusters, std::size_t cluster_count)
    : policy_(policy), users_(users), clusters_(clusters.begin(), clusters.end()), members_(cluster_count) {
  for (NodeId user = 0; user < clusters_.size(); ++user) add_member(user, clusters_[user]);
}

void UserMap::add_member(NodeId user, NodeId cluster) {
  if (cluster >= members_.size()) members_.resize(cluster + std::size_t{1});
  auto& members = members_[cluster];
  members.insert(std::lower_bound(members.begin(), members.end(), user), user);
}

std::size_t UserMap::node_count() const {
  switch (policy_) {
    case Policy::linucb_sin:
    case Policy::linucb_hash:
      return 1;
    case Policy::gob_lin_macro:
      return members_.size();
    default:
      return user_count();
  }
}

std::optional<NodeId> UserMap::find(UserRef user) const {
  std::optional<std::size_t> index;
  if (const auto* name = std::get_if<std::string_view>(&user.value())) {
    if (has_names()) return users_.find(*name);
    index = number_named(*name);
  } else {
    index = std::get<std::size_t>(user.value());
  }
  if (!index || *index >= user_count()) return std::nullopt;
  return static_cast<NodeId>(*index);
}

NodeId UserMap::user(UserRef user) const {
  if (const auto found = find(user)) return *found;
  if (const auto* name = std::get_if<std::string_view>(&user.value())) {
    throw UnknownUser(fmt::format("user: '{}' (must be a user of the bandit)", *name));
  }
  const auto shown = static_cast<std::ptrdiff_t>(std::get<std::size_t>(user.value()));
  throw UnknownUser(fmt::format("user: {} (must be below the number of users, {})", shown, user_count()));
}

std::string UserMap::describe(NodeId user) const {
  return has_names() ? fmt::format("'{}'", users_.name(user)) : fmt::format("{}", user);
}

NodeId UserMap::node_of(NodeId user) const {
  switch (policy_) {
    case Policy::linucb_sin:
    case Policy::linucb_hash:
      return 0;
    case Policy::gob_lin_macro:
      return clusters_[user];
    default:
      return user;
  }
}

NodeId UserMap::add_user(std::string_view name, std::optional<NodeId> cluster) {
  const NodeId user = users_.add_node(name);
  if (uses_clusters(policy_)) {
    clusters_.push_back(cluster.value_or(cluster_count()));
    add_member(user, clusters_.back());
  }
  return user;
}

/// Summed anew each time: a sum that edges are added to and taken from keeps what rounding left in it.
double UserMap::weight_between(NodeId cluster_a, NodeId cluster_b) const {
  if (members_[cluster_b].size() < members_[cluster_a].size()) std::swap(cluster_a, cluster_b);
  double total = 0.0;
  for (const NodeId member : members_[cluster_a]) {
    users_.for_each_neighbour(member, [&](NodeId other, double weight) {
      if (clusters_[other] == cluster_b) total += weight;
    });
  }
  return total;
}

std::optional<UserMap::NodeEdge> UserMap::set_weight(NodeId user_a, NodeId user_b, double weight) {
  users_.set_weight(user_a, user_b, weight);
  switch (policy_) {
    case Policy::gob_lin:
      return NodeEdge{user_a, user_b, weight};
    case Policy::gob_lin_macro:
      if (clusters_[user_a] == clusters_[user_b]) return std::nullopt;
      return NodeEdge{clusters_[user_a], clusters_[user_b], weight_between(clusters_[user_a], clusters_[user_b])};
    case Policy::gob_lin_block:
      if (clusters_[user_a] != clusters_[user_b]) return std::nullopt;
      return NodeEdge{user_a, user_b, weight};
    default:
      return std::nullopt;
  }
}

std::vector<UserMap::NodeEdge> UserMap::move_user(NodeId user, NodeId cluster) {
  const NodeId from = clusters_[user];
  std::erase(members_[from], user);
  clusters_[user] = cluster;
  add_member(user, cluster);
  std::vector<NodeEdge> edges;
  if (policy_ == Policy::gob_lin_block) {
    users_.for_each_neighbour(user, [&](NodeId other, double weight) {
      if (clusters_[other] == cluster) edges.push_back({user, other, weight});
      if (clusters_[other] == from) edges.push_back({user, other, 0.0});
    });
  } else {
    std::set<NodeId> others{from, cluster};
    users_.for_each_neighbour(user, [&](NodeId other, double /*weight*/) { others.insert(clusters_[other]); });
    for (const NodeId other : others) {
      if (other != cluster) edges.push_back({cluster, other, weight_between(cluster, other)});
      if (other != from && other != cluster) edges.push_back({from, other, weight_between(from, other)});
    }
  }
  // Those that stay before those that go, so that nothing is split which is joined again.
  std::stable_partition(edges.begin(), edges.end(), [](const NodeEdge& edge) { return edge.weight > 0.0; });
  return edges;
}

std::size_t UserMap::bytes() const {
  std::size_t total =
      users_.bytes() + clusters_.capacity() * sizeof(NodeId) + members_.capacity() * sizeof(std::vector<NodeId>);
  for (const auto& members : members_) total += members.capacity() * sizeof(NodeId);
  return total;
}

}  // namespace goblin
