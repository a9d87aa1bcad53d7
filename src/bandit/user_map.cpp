#include "bandit/user_map.hpp"

#include "goblin/error.hpp"
#include "goblin/graph/names.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace goblin {

namespace {

/// The friends' edges times the coupling, and one of the given weight from the hub to everybody. Edges that come to
/// nothing are left out.
Graph with_hub(const Graph& users, double coupling, double weight) {
  std::vector<Edge> edges;
  edges.reserve(users.node_count() + users.edge_count());
  for (NodeId user = 0; user < users.node_count(); ++user) edges.push_back({hub_node, user + 1, weight});
  for (const Edge& edge : users.edges()) {
    const double product = coupling * edge.weight;
    if (product > 0.0) edges.push_back({edge.a + 1, edge.b + 1, product});
  }
  return {users.node_count() + 1, edges};
}

}  // namespace

Graph node_graph(Policy policy, const Graph& users, std::span<const NodeId> clusters, const BanditOptions& options) {
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
    case Policy::gob_lin_hub:
      return with_hub(users, options.coupling, options.hub.weight);
    case Policy::club:
      return users.edgeless();
    case Policy::dynucb:
      return Graph(options.dynucb.clusters);
  }
  return {};
}

std::vector<double> node_ridges(Policy policy, std::size_t users, const BanditOptions& options) {
  if (!has_hub(policy)) return options.node_ridges;
  std::vector<double> ridges = options.node_ridges;
  ridges.resize(users, *options.ridge);
  ridges.insert(ridges.begin() + hub_node, options.hub.ridge);
  return ridges;
}

UserMap::UserMap(Policy policy, const Graph& users, std::span<const NodeId> clusters, const BanditOptions& options,
                 std::size_t cluster_count, std::span<const NodeId> removed)
    : policy_(policy),
      coupling_(options.coupling),
      hub_weight_(options.hub.weight),
      users_(users),
      clusters_(clusters.begin(), clusters.end()),
      members_(cluster_count) {
  for (const NodeId user : removed) note_removed(user);
  for (NodeId user = 0; user < clusters_.size(); ++user) {
    if (!is_removed(user)) add_member(user, clusters_[user]);
  }
}

void UserMap::note_removed(NodeId user) {
  if (is_removed_.size() <= user) is_removed_.resize(user + std::size_t{1});
  is_removed_[user] = true;
  removed_.insert(std::lower_bound(removed_.begin(), removed_.end(), user), user);
}

void UserMap::remove_user(NodeId user) {
  if (has_clusters(policy_)) std::erase(members_[clusters_[user]], user);
  note_removed(user);
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
    case Policy::club:
    case Policy::dynucb:
      return members_.size();
    case Policy::gob_lin_hub:
      return user_count() + 1;
    default:
      return user_count();
  }
}

std::optional<NodeId> UserMap::find(UserRef user) const {
  std::optional<std::size_t> index;
  if (const auto* name = std::get_if<std::string_view>(&user.value())) {
    if (has_names()) {
      const auto named = users_.find(*name);
      return named && !is_removed(*named) ? named : std::nullopt;
    }
    index = number_named(*name);
  } else {
    index = std::get<std::size_t>(user.value());
  }
  if (!index || *index >= user_count() || is_removed(*index)) return std::nullopt;
  return static_cast<NodeId>(*index);
}

NodeId UserMap::user(UserRef user) const {
  if (const auto found = find(user)) return *found;
  if (const auto* name = std::get_if<std::string_view>(&user.value())) {
    throw UnknownUser(fmt::format("user: '{}' (must be a user of the bandit)", *name));
  }
  if (is_removed(std::get<std::size_t>(user.value()))) {
    throw UnknownUser(fmt::format("user: {} (must not be one who was removed)", std::get<std::size_t>(user.value())));
  }
  const auto shown = static_cast<std::ptrdiff_t>(std::get<std::size_t>(user.value()));
  throw UnknownUser(fmt::format("user: {} (must be below the number of users, {})", shown, user_count()));
}

std::string UserMap::name(NodeId user) const {
  return has_names() ? std::string(users_.name(user)) : std::to_string(user);
}

std::string UserMap::describe(NodeId user) const {
  return has_names() ? fmt::format("'{}'", users_.name(user)) : fmt::format("{}", user);
}

std::string UserMap::describe_node(NodeId node) const {
  if (has_hub(policy_) && node != hub_node) return "user " + describe(node - 1);
  const bool is_named = !has_hub(policy_) && has_node_per_user(policy_) && has_names();
  return is_named ? fmt::format("user {} (node {})", describe(node), node) : fmt::format("node {}", node);
}

NodeId UserMap::node_of(NodeId user) const {
  switch (policy_) {
    case Policy::linucb_sin:
    case Policy::linucb_hash:
      return 0;
    case Policy::gob_lin_macro:
    case Policy::club:
    case Policy::dynucb:
      return clusters_[user];
    case Policy::gob_lin_hub:
      return user + 1;
    default:
      return user;
  }
}

NodeId UserMap::add_user(std::string_view name, std::optional<NodeId> cluster) {
  const NodeId user = users_.add_node(name);
  if (has_clusters(policy_)) {
    clusters_.push_back(cluster.value_or(cluster_count()));
    add_member(user, clusters_.back());
  }
  return user;
}

void UserMap::keep_first(std::size_t users, std::size_t clusters) {
  for (; clusters_.size() > users; clusters_.pop_back()) {
    if (clusters_.back() < members_.size()) std::erase(members_[clusters_.back()], clusters_.size() - 1);
  }
  members_.resize(clusters);
  users_.keep_first(users);
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
    case Policy::gob_lin_hub:
      if (coupling_ == 0.0) return std::nullopt;
      return NodeEdge{node_of(user_a), node_of(user_b), coupling_ * weight};
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

void UserMap::move_back(NodeId user, NodeId cluster, std::size_t clusters) {
  for (const NodeId each : {clusters_[user], cluster}) {
    if (each < members_.size()) std::erase(members_[each], user);
  }
  clusters_[user] = cluster;
  add_member(user, cluster);  // where there is room, as the user was there before
  members_.resize(clusters);
}

void UserMap::move_users(NodeId from, std::span<const UsersMove> moves) {
  for (const auto& [who, to] : moves) {
    for (const NodeId user : who) clusters_[user] = to;
    if (to >= members_.size()) members_.resize(to + std::size_t{1});
    std::vector<NodeId> both;
    both.reserve(members_[to].size() + who.size());
    std::merge(members_[to].begin(), members_[to].end(), who.begin(), who.end(), std::back_inserter(both));
    members_[to] = std::move(both);
  }
  std::erase_if(members_[from], [&](NodeId user) { return clusters_[user] != from; });
}

std::size_t UserMap::used_cluster_count() const {
  return static_cast<std::size_t>(
      std::count_if(members_.begin(), members_.end(), [](const auto& members) { return !members.empty(); }));
}

std::size_t UserMap::bytes() const {
  std::size_t total = users_.bytes() + clusters_.capacity() * sizeof(NodeId) +
                      members_.capacity() * sizeof(std::vector<NodeId>) + removed_.capacity() * sizeof(NodeId) +
                      is_removed_.capacity() / 8;
  for (const auto& members : members_) total += members.capacity() * sizeof(NodeId);
  return total;
}

}  // namespace goblin
