// Whose rewards an estimate came from.

#include "bandit/checks.hpp"
#include "bandit/choice.hpp"
#include "bandit/complete_contexts.hpp"
#include "bandit/state.hpp"
#include "goblin/bandit/explanation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace goblin {
namespace {

double product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// u^T S u, S packed as UserEvidence has it. O(d^2).
double energy(std::span<const double> packed, std::span<const double> u) {
  double total = 0.0;
  const double* entry = packed.data();
  for (std::size_t c = 0; c < u.size(); ++c) {
    double column = *entry++ * u[c];
    for (std::size_t r = c + 1; r < u.size(); ++r) column += 2.0 * *entry++ * u[r];
    total += column * u[c];
  }
  return total;
}

/// The edges among one node, some others, and those on a shortest way from it to them. Ways that are long, or not found
/// within many edges, are left out. `for_each_neighbour(node, visit)` calls visit(neighbour, weight).
template <typename ForEachNeighbour>
std::vector<Edge> edges_among(NodeId from, std::span<const Contribution> others, ForEachNeighbour for_each_neighbour) {
  constexpr std::size_t most_edges = 100'000;
  constexpr std::size_t longest_way = 8;
  std::unordered_set<NodeId> wanted;
  for (const Contribution& one : others) wanted.insert(one.user);
  wanted.erase(from);
  std::unordered_map<NodeId, NodeId> reached_from{{from, from}};
  std::unordered_set<NodeId> shown{from};
  std::vector<NodeId> ring{from};
  std::size_t walked = 0;
  for (std::size_t length = 1; length <= longest_way && !wanted.empty() && walked < most_edges; ++length) {
    std::vector<NodeId> next_ring;
    for (const NodeId node : ring) {
      if (walked >= most_edges) break;
      for_each_neighbour(node, [&](NodeId next, double /*weight*/) {
        ++walked;
        if (!reached_from.emplace(next, node).second) return;
        next_ring.push_back(next);
        if (wanted.erase(next) == 0) return;
        for (NodeId way = next; shown.insert(way).second;) way = reached_from[way];
      });
    }
    ring = std::move(next_ring);
  }
  shown.insert(wanted.begin(), wanted.end());
  std::vector<Edge> edges;
  for (const NodeId node : shown) {
    for_each_neighbour(node, [&](NodeId next, double weight) {
      if (node < next && shown.contains(next)) edges.push_back({node, next, weight});
    });
  }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return std::tuple(a.a, a.b) < std::tuple(b.a, b.b); });
  return edges;
}

/// Leaves the k largest; the sum of the others and their number go into the rest.
void keep_largest(std::size_t k, Explanation& explanation) {
  auto& all = explanation.contributions;
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(k, all.size()));
  std::partial_sort(all.begin(), end, all.end(), [](const Contribution& a, const Contribution& b) {
    return std::tuple(-std::abs(a.value), a.user) < std::tuple(-std::abs(b.value), b.user);
  });
  for (auto one = end; one != all.end(); ++one) explanation.rest += one->value;
  explanation.rest_count = static_cast<std::size_t>(all.end() - end);
  all.erase(end, all.end());
}

}  // namespace

Explanation Bandit::explain(UserRef user, std::span<const double> context, std::size_t k) const {
  const State& state = this->state();
  const Belief& belief = state.belief;
  const UserMap& users = state.users;
  const std::size_t d = state.options.weight_count();
  const NodeId who = users.user(user);
  const NodeId node = users.node_of(who);
  check_context(context, state.options, belief.longest_context(who, node));
  if (k == 0) throw std::invalid_argument("k: 0 (must be at least 1)");

  Explanation result;
  result.user = who;
  result.per_node = !has_node_per_user(users.policy()) && !belief.has_user_evidence();
  result.own = result.per_node ? node : who;
  result.engine = belief.engine(node);

  CompleteContexts room(state.options, 1);
  const Influence influence = belief.influence(who, node, room.complete(context));
  result.solve = influence.solve;
  double own_noise = 0.0;
  double other_noise = 0.0;
  for (std::size_t at = 0; at < influence.nodes.size(); ++at) {
    const auto of_node = std::span(influence.values).subspan(at * belief.dimension(), belief.dimension());
    const auto add = [&](NodeId from, const UserEvidence& evidence, std::span<const double> u, double stretch) {
      if (evidence.count == 0) return;
      (from == result.own ? own_noise : other_noise) += energy(evidence.contexts, u);
      result.contributions.push_back(
          {.user = from,
           .value = product(u, evidence.rewards),
           .rewards = evidence.count,
           .bound = stretch * influence.bound * std::sqrt(product(evidence.rewards, evidence.rewards))});
    };
    const NodeId there = influence.nodes[at];
    if (result.per_node) {
      add(there, belief.evidence(there, there), of_node, 1.0);
    } else {
      // A user's c counts at the node as P c: it meets P^T u.
      std::vector<double> u(d);
      users.for_each_user_of(there, [&](NodeId from) {
        const Lens lens = belief.lenses().of(from, there);
        lens.to_user(of_node, u);
        add(from, belief.evidence(from, there), u, lens.stretch());
      });
    }
  }
  result.mean = influence.far_mean;
  for (const Contribution& one : result.contributions) result.mean += one.value;
  result.unexplained = std::abs(influence.far_mean) + influence.far_mean_error;
  keep_largest(k, result);

  if (influence.variance > 0.0) {
    const double prior = std::max(0.0, influence.energy - own_noise - other_noise);
    result.width_shares.own = own_noise / influence.variance;
    result.width_shares.others = other_noise / influence.variance;
    result.width_shares.prior = prior / influence.variance;
    result.width_shares.unexplained =
        std::max(0.0, influence.variance - own_noise - other_noise - prior) / influence.variance;
  }
  result.width = width_of(*state.options.exploration, state.knowledge(), influence.variance);

  const bool by_node = has_node_per_user(users.policy()) && !has_hub(users.policy());
  if (by_node || result.per_node) {
    result.edges = edges_among(result.own, result.contributions,
                               [&](NodeId from, const auto& visit) { belief.for_each_neighbour(from, visit); });
  } else {
    result.edges = edges_among(result.own, result.contributions,
                               [&](NodeId from, const auto& visit) { users.for_each_friend(from, visit); });
  }
  return result;
}

}  // namespace goblin
