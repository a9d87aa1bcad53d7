// Who had a say in an estimate: u with N u = phi_i(x), as far as it was looked for, and how much is missing.

#include "belief/local/component_solve.hpp"
#include "belief/local/local_engine.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace goblin {

/// The nodes that matter most to a node, ascending: all of a component with at most most_nodes nodes or most_edges
/// edges, counted at both ends; else those that a walk over so many edges has settled.
std::vector<NodeId> LocalEngine::nodes_that_matter(Workspace& work, NodeId node) const {
  std::vector<NodeId> nodes;
  const std::size_t size = node_count() + 2 * graph().edge_count();
  if (node_count() <= options_.most_nodes || size <= options_.most_edges) {
    nodes.resize(node_count());
    std::iota(nodes.begin(), nodes.end(), NodeId{0});
    return nodes;
  }
  const double tolerance = 1e-9 / std::sqrt(diagonal_[node]);
  work.walked_from = none;
  work.near.walk(near_prior(), std::span(&node, 1), tolerance, options_.most_edges, options_.most_edges);
  for (std::size_t at = 0; at < work.near.entry_count(); ++at) {
    const Neighbourhood::Entry entry = work.near.entry(at);
    if (entry.value > 0.0 || entry.node == node) nodes.push_back(entry.node);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

/// N_SS u = phi_i(x) for the nodes S that matter most, by conjugate gradients, and u = 0 outside. What is left,
/// rho = phi - N u, is what the solve left in S and coupling W u just outside. With w and its residual r = c - N w,
///
///     exact mean = u.c + rho.w + rho^T N^{-1} r,     x^T C_i x = x.u_i + u.rho + rho^T N^{-1} rho,
///
/// and (1) and (1') of docs/engines.md bound what has an N^{-1} in it. The first rho.w is known: it comes from evidence
/// outside S, and from that of S by ways through the outside.
Influence LocalEngine::influence(std::size_t node, std::span<const double> context) const {
  constexpr double accuracy = 1e-12;
  const std::size_t d = dimension_;
  Influence result;
  double squared_length = 0.0;
  for (const double value : context) squared_length += value * value;
  if (squared_length == 0.0) return result;

  auto work = workspaces_.take();
  result.nodes = nodes_that_matter(*work, static_cast<NodeId>(node));
  workspaces_.put_back(std::move(work));
  const auto& nodes = result.nodes;

  // S as a component of its own, whose nodes are still held by the edges that lead out of it.
  const PriorMatrix prior = prior_.part(nodes);
  std::vector<double> diagonal(nodes.size());
  LocalNodes near(nodes.size(), d);
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    diagonal[k] = diagonal_[nodes[k]];
    const std::size_t slot = near.add(static_cast<NodeId>(k));
    if (const auto* inverse = nodes_.inverse(nodes[k])) near.set_inverse(slot, *inverse);
  }
  const Barrier barrier(prior, diagonal);
  const auto own = static_cast<std::size_t>(std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin());
  std::copy(context.begin(), context.end(), near.residual(own));
  const double goal = accuracy * std::sqrt(squared_length) / barrier.slope(own);
  result.solve.iterations =
      ComponentSolve<double>(prior, diagonal, barrier, near, 1).run(goal, [](double /*share*/) {});

  double inner = 0.0;  // u.rho
  double rest = 0.0;   // not below rho^T N^{-1} rho
  const auto leave = [&](NodeId at, const double* rho) {
    const NodeId slot = nodes_.find(at);
    double squared = 0.0;
    for (std::size_t k = 0; k < d; ++k) {
      squared += rho[k] * rho[k];
      if (slot != none) result.far_mean += rho[k] * nodes_.mean(slot)[k];
    }
    const double length = std::sqrt(squared);
    result.far_mean_error += length * barrier_.height(at) * residual_bound_;
    result.bound = std::max(result.bound, length / barrier_.slope(at));
    rest += squared * barrier_.height(at) / barrier_.slope(at);
  };
  std::unordered_map<NodeId, std::size_t> place_of;  // of the nodes just outside
  std::vector<NodeId> outside;
  std::vector<double> passed_on;
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    const double* const u = near.mean(j);
    const double* const left = near.residual(j);
    result.values.insert(result.values.end(), u, u + d);
    for (std::size_t k = 0; k < d; ++k) inner += u[k] * left[k];
    leave(nodes[j], left);
    const auto neighbours = graph().neighbours(nodes[j]);
    const auto weights = graph().weights(nodes[j]);
    for (std::size_t n = 0; n < neighbours.size(); ++n) {
      if (std::binary_search(nodes.begin(), nodes.end(), neighbours[n])) continue;
      const auto [known, is_new] = place_of.emplace(neighbours[n], outside.size());
      if (is_new) {
        outside.push_back(neighbours[n]);
        passed_on.resize(passed_on.size() + d);
      }
      double* const to = passed_on.data() + known->second * d;
      for (std::size_t k = 0; k < d; ++k) to[k] += prior_.coupling() * weights[n] * u[k];
    }
    result.solve.walked_edges += neighbours.size();
  }
  for (std::size_t k = 0; k < outside.size(); ++k) leave(outside[k], passed_on.data() + k * d);

  double value = 0.0;
  for (std::size_t k = 0; k < d; ++k) value += context[k] * near.mean(own)[k];
  result.energy = std::max(0.0, value - inner);
  result.variance = std::max(0.0, value + inner) + rest;
  result.solve.settled_nodes = nodes.size();
  return result;
}

}  // namespace goblin
