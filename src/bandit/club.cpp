#include "bandit/club.hpp"

#include "binary.hpp"
#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"
#include "graph/cut_off.hpp"
#include "graph/graph_binary.hpp"
#include "vectors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace goblin {
namespace {

/// 3 ln n / n, with which a random graph is likely to be connected.
double edge_probability(std::size_t users) {
  const auto n = static_cast<double>(users);
  return users < 2 ? 0.0 : std::min(1.0, 3.0 * reproducible_log(n) / n);
}

Graph first_graph(const Graph& users, const ClubOptions& options) {
  switch (options.graph) {
    case ClubGraph::social:
      return users;
    case ClubGraph::complete:
      return generate::cliques(1, users.node_count());
    case ClubGraph::random:
      return generate::random_pairs(users.node_count(), edge_probability(users.node_count()), Random(options.seed));
  }
  return {};
}

}  // namespace

Club::Club(const Graph& users, const BanditOptions& options)
    : options_(options.club),
      alike_(first_graph(users, options.club)),
      estimates_(options.weight_count(), *options.ridge, users.node_count()) {}

Club::Labels Club::first_labels() const {
  const Components components = alike_.snapshot().components();
  Labels labels{.of = std::vector<NodeId>(alike_.node_count()), .count = components.count()};
  for (NodeId user = 0; user < labels.of.size(); ++user) labels.of[user] = components.of(user);
  return labels;
}

std::vector<UsersMove> Club::learn(NodeId user, const UserEvidence& evidence, const UserMap& users) {
  estimates_.update(user, evidence);
  const auto own = estimates_.at(user);
  std::vector<NodeId> ends{user};
  for (const NodeId other : alike_.neighbours(user)) {
    const double distance = std::sqrt(squared_distance(own, estimates_.at(other)));
    const double allowed = options_.separation * (estimates_.uncertainty(user) + estimates_.uncertainty(other));
    if (distance > allowed) ends.push_back(other);
  }
  for (const NodeId other : std::span(ends).subspan(1)) alike_.set_weight(user, other, 0.0);
  return split(ends, users);
}

/// After edges from the first of these users to the others went.
std::vector<UsersMove> Club::split(std::span<const NodeId> ends, const UserMap& users) {
  std::vector<UsersMove> moves;
  if (ends.size() < 2) return moves;
  for (auto& part : cut_off(alike_, ends)) moves.push_back({.users = std::move(part), .to = take_number(users)});
  return moves;
}

/// The number of a cluster that nobody is in: the lowest, or a new one.
NodeId Club::next_number(const UserMap& users) const {
  return unused_.empty() ? std::max(numbered_, users.cluster_count()) : *unused_.begin();
}

void Club::take(NodeId number) {
  if (unused_.erase(number) == 0) numbered_ = number + 1;
}

NodeId Club::take_number(const UserMap& users) {
  const NodeId number = next_number(users);
  take(number);
  return number;
}

std::vector<UsersMove> Club::change_friends(NodeId a, NodeId b, bool are_friends, const UserMap& users) {
  if (options_.graph != ClubGraph::social) return {};
  if (!are_friends) {
    if (alike_.weight(a, b) == 0.0) return {};
    alike_.set_weight(a, b, 0.0);
    return split(std::array{a, b}, users);
  }
  alike_.set_weight(a, b, 1.0);
  NodeId larger = std::min(users.cluster_of(a), users.cluster_of(b));
  NodeId smaller = std::max(users.cluster_of(a), users.cluster_of(b));
  if (larger == smaller) return {};
  if (users.members(larger).size() < users.members(smaller).size()) std::swap(larger, smaller);
  const auto members = users.members(smaller);
  unused_.insert(smaller);
  return {{.users = {members.begin(), members.end()}, .to = larger}};
}

NodeId Club::add_user(const UserMap& users) {
  alike_.add_nodes(1);
  estimates_.add_user();
  return next_number(users);
}

void Club::keep_first(std::size_t users) {
  alike_.keep_first(users);
  estimates_.keep_first(users);
}

std::vector<UsersMove> Club::remove_user(NodeId user, const UserMap& users) {
  estimates_.clear(user);
  std::vector<NodeId> ends{user};
  ends.insert(ends.end(), alike_.neighbours(user).begin(), alike_.neighbours(user).end());
  for (const NodeId other : std::span(ends).subspan(1)) alike_.set_weight(user, other, 0.0);
  std::vector<UsersMove> moves = split(ends, users);
  // The user is alone by now, and goes.
  NodeId alone = users.cluster_of(user);
  for (const UsersMove& move : moves) {
    if (move.users.front() == user) alone = move.to;
  }
  unused_.insert(alone);
  return moves;
}

std::size_t Club::bytes() const { return sizeof(*this) + alike_.bytes() + estimates_.bytes(); }

double Club::bytes_at_most(const Graph& users, const BanditOptions& options) {
  const auto n = static_cast<double>(users.node_count());
  double edges = static_cast<double>(users.edge_count());
  if (options.club.graph == ClubGraph::complete) edges = 0.5 * n * (n - 1.0);
  if (options.club.graph == ClubGraph::random) edges = 0.5 * n * n * edge_probability(users.node_count());
  constexpr double an_edge = 48.0;  // 12 bytes at each end, in the graph and in rows that changed
  constexpr double a_user = 100.0;  // a row of the graph, and what is noted beside the estimate
  return edges * an_edge + n * a_user;
}

void Club::save(BinaryWriter& out) const { save_graph(out, Graph(alike_.node_count(), alike_.edges())); }

Club::Club(BinaryReader& in, const BanditOptions& options, const UserMap& users, const Belief& belief)
    : options_(options.club),
      alike_(load_graph(in)),
      estimates_(options.weight_count(), *options.ridge, users.user_count()),
      numbered_(users.cluster_count()) {
  in.expect(alike_.node_count() == users.user_count(), "the users of the graph of those who are alike");
  for (NodeId user = 0; user < users.user_count(); ++user) {
    for (const NodeId other : alike_.neighbours(user)) {
      in.expect(users.cluster_of(user) == users.cluster_of(other), "users who are alike, in two clusters");
    }
    estimates_.update(user, belief.evidence(user, users.node_of(user)));
  }
  for (NodeId cluster = 0; cluster < users.cluster_count(); ++cluster) {
    if (users.members(cluster).empty()) unused_.insert(cluster);
  }
  for (const NodeId user : users.removed()) in.expect(alike_.neighbours(user).empty(), "users alike to one removed");
  in.expect(alike_.snapshot().components().count() - users.removed().size() == users.cluster_count() - unused_.size(),
            "a cluster that is not connected");
}

}  // namespace goblin
