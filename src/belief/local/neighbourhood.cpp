#include "belief/local/neighbourhood.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <tuple>

namespace goblin {
namespace {

/// A walk ends after so many edges for each node that S may have.
constexpr std::size_t edges_a_node = 64;

}  // namespace

Neighbourhood::Entry& Neighbourhood::entry(NodeId node) {
  const NodeId at = place_[node];
  if (at < entries_.size() && entries_[at].node == node) return entries_[at];
  place_[node] = static_cast<NodeId>(entries_.size());
  return entries_.emplace_back(Entry{node, 0.0, 0.0});
}

/// Settles the residual of one node, and passes it on to the neighbours.
void Neighbourhood::push(const PriorMatrix& prior, double diagonal, std::size_t at) {
  const NodeId node = entries_[at].node;
  const double step = entries_[at].residual / diagonal;
  entries_[at].residual = 0.0;
  entries_[at].value += step;
  const auto neighbours = prior.graph().neighbours(node);
  const auto weights = prior.graph().weights(node);
  const double passed_on = prior.coupling() * step;
  for (std::size_t k = 0; k < neighbours.size(); ++k) entry(neighbours[k]).residual += passed_on * weights[k];
  edges_walked_ += neighbours.size();
}

/// Pushes from the seeds until b^T A^{-1} b is known. With value g and residual r >= 0, A g = b - r, so that
///
///     b^T A^{-1} b = b^T g + g^T r + r^T A^{-1} r,   0 <= r^T A^{-1} r <= sum of r_j^2 / ridge_j.
///
/// The residuals that promise most for an edge walked go first.
void Neighbourhood::walk(const PriorMatrix& prior, std::span<const double> diagonal, double tolerance,
                         std::size_t longest_walk) {
  for (;;) {
    double inner = 0.0;
    double energy = 0.0;
    double largest = 0.0;
    for (const Entry& entry : entries_) {
      inner += entry.value * entry.residual;
      energy += entry.residual * entry.residual / prior.ridge(entry.node);
      largest = std::max(largest, entry.residual * entry.residual / diagonal[entry.node]);
    }
    double values = 0.0;
    for (std::size_t k = 0; k < seed_count_; ++k) values += entries_[k].value;
    upper_ = values + inner + energy;
    if (std::sqrt(upper_) - std::sqrt(values + inner) <= tolerance || edges_walked_ >= longest_walk) return;
    const double threshold = largest / 8.0;
    const std::size_t known = entries_.size();
    for (std::size_t at = 0; at < known && edges_walked_ < longest_walk; ++at) {
      const double node_diagonal = diagonal[entries_[at].node];
      if (entries_[at].residual * entries_[at].residual > threshold * node_diagonal) {
        push(prior, node_diagonal, at);
      }
    }
  }
}

/// Makes S of the first entries in order.
void Neighbourhood::choose(const EditableGraph& graph, std::size_t count) {
  nodes_.clear();
  links_.clear();
  link_begins_.assign(1, 0);
  for (std::size_t k = 0; k < count; ++k) nodes_.push_back(entries_[order_[k]].node);
  closed_ = true;
  for (const NodeId node : nodes_) {
    const auto neighbours = graph.neighbours(node);
    const auto weights = graph.weights(node);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      const NodeId at = place_[neighbours[k]];
      const bool known = at < entries_.size() && entries_[at].node == neighbours[k];
      if (known && rank_[at] < count) {
        links_.push_back({rank_[at], weights[k]});
      } else {
        closed_ = false;
      }
    }
    link_begins_.push_back(links_.size());
  }
}

/// values = A_SS^{-1} b by Gauss-Seidel, from below: residuals never fall under 0.
void Neighbourhood::solve(const PriorMatrix& prior, std::span<const double> diagonal) {
  constexpr std::size_t most_sweeps = 200;
  constexpr double accuracy = 1e-6;
  const std::size_t count = nodes_.size();
  values_.assign(count, 0.0);
  residuals_.assign(count, 0.0);
  std::fill_n(residuals_.begin(), seed_count_, 1.0);
  for (std::size_t sweep = 0; sweep < most_sweeps; ++sweep) {
    for (std::size_t k = 0; k < count; ++k) {
      const double step = residuals_[k] / diagonal[nodes_[k]];
      residuals_[k] = 0.0;
      values_[k] += step;
      for (const Link& link : links(k)) residuals_[link.to] += prior.coupling() * link.weight * step;
    }
    double energy = 0.0;
    lower_ = 0.0;
    for (std::size_t k = 0; k < count; ++k) {
      energy += residuals_[k] * residuals_[k] / prior.ridge(nodes_[k]);
      lower_ += values_[k] * residuals_[k];
    }
    for (std::size_t k = 0; k < seed_count_; ++k) lower_ += values_[k];
    if (energy <= accuracy * lower_) break;
  }
  double kept = 0.0;
  for (std::size_t k = 0; k < count; ++k) kept += prior.ridge(nodes_[k]) * values_[k];
  gap_ = closed_ ? 0.0 : std::max(0.0, upper_ - lower_);
  leak_ = closed_ ? 0.0 : std::max(0.0, static_cast<double>(seed_count_) - kept);
}

void Neighbourhood::grow(const PriorMatrix& prior, std::span<const double> diagonal, std::span<const NodeId> seeds,
                         double tolerance, std::size_t most_nodes) {
  entries_.clear();
  edges_walked_ = 0;
  seed_count_ = seeds.size();
  for (const NodeId seed : seeds) entry(seed).residual = 1.0;
  walk(prior, diagonal, 0.5 * tolerance, edges_a_node * most_nodes);

  // A component that S may contain whole is known whole, wherever the walk ended.
  for (NodeId node = 0; place_.size() <= most_nodes && node < place_.size(); ++node) entry(node);
  const std::size_t most = std::max(seed_count_, std::min(entries_.size(), most_nodes));
  order_.resize(entries_.size());
  std::iota(order_.begin(), order_.end(), 0);
  rank_.assign(entries_.size(), static_cast<NodeId>(-1));
  std::iota(rank_.begin(), rank_.begin() + static_cast<std::ptrdiff_t>(seed_count_), 0);
  for (std::size_t count = seed_count_;; count = std::min(4 * count, most)) {
    choose(prior.graph(), count);
    solve(prior, diagonal);
    if (closed_ || count == most || std::sqrt(upper_) - std::sqrt(lower_) <= tolerance) return;
    if (count == seed_count_) put_in_order(most);
  }
}

/// The seeds stay first; then come the nodes with the largest values, those without one by their residual.
void Neighbourhood::put_in_order(std::size_t count) {
  const auto at = [this](std::size_t place) { return order_.begin() + static_cast<std::ptrdiff_t>(place); };
  std::partial_sort(at(seed_count_), at(count), order_.end(), [this](NodeId a, NodeId b) {
    const Entry& first = entries_[a];
    const Entry& second = entries_[b];
    return std::tuple(-first.value, -first.residual, first.node) <
           std::tuple(-second.value, -second.residual, second.node);
  });
  for (std::size_t k = 0; k < count; ++k) rank_[order_[k]] = static_cast<NodeId>(k);
}

}  // namespace goblin
