#include "belief/local/neighbourhood.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <tuple>

namespace goblin {
/// Settles the residual of one node, and passes it on to the neighbours.
void Neighbourhood::push(const Prior& prior, std::size_t at) {
  const NodeId node = entries_[at].node;
  const double step = entries_[at].residual / prior.diagonal[node];
  entries_[at].residual = 0.0;
  entries_[at].value += step;
  const auto neighbours = prior.matrix.graph().neighbours(node);
  const auto weights = prior.matrix.graph().weights(node);
  const double passed_on = prior.matrix.coupling() * step;
  for (std::size_t k = 0; k < neighbours.size(); ++k) {
    entries_[place_of(prior.barrier, neighbours[k])].residual += passed_on * weights[k];
  }
  edges_walked_ += neighbours.size();
}

/// Pushes from the seeds until b^T A^{-1} b is known. With value v and residual r >= 0, A v = b - r, so that
///
///     b^T A^{-1} b = b^T v + v^T r + r^T A^{-1} r,   0 <= r^T A^{-1} r <= sum of r_j^2 height_j / slope_j.
///
/// The residuals that promise most for an edge walked go first; slopes grow with the number of edges.
void Neighbourhood::walk(const Prior& prior, std::span<const NodeId> seeds, double tolerance, std::size_t enough_edges,
                         std::size_t most_edges) {
  places_.clear();
  entries_.clear();
  edges_walked_ = 0;
  seed_count_ = seeds.size();
  for (const NodeId seed : seeds) entries_[place_of(prior.barrier, seed)].residual = 1.0;
  for (;;) {
    double inner = 0.0;
    double rest = 0.0;
    double largest = 0.0;
    for (const Entry& entry : entries_) {
      const double ratio = entry.residual * entry.weight;
      inner += entry.value * entry.residual;
      rest += ratio * entry.residual;
      largest = std::max(largest, ratio);
    }
    double values = 0.0;
    for (std::size_t k = 0; k < seed_count_; ++k) values += entries_[k].value;
    upper_ = values + inner + rest / prior.barrier.scale();
    energy_ = values - inner;
    const double lower = energy_ > 0.0 ? values * values / energy_ : 0.0;
    const double enough = edges_walked_ < enough_edges ? tolerance : 5.0 * tolerance;
    if (std::sqrt(upper_) - std::sqrt(lower) <= enough || edges_walked_ >= most_edges) return;
    const double threshold = largest / 2.0;
    const std::size_t known = entries_.size();
    for (std::size_t at = 0; at < known && edges_walked_ < most_edges; ++at) {
      if (entries_[at].residual * entries_[at].weight > threshold) push(prior, at);
    }
  }
}

/// Makes S of the first entries in order.
void Neighbourhood::choose(const PriorMatrix& matrix, std::size_t count) {
  nodes_.clear();
  links_.clear();
  link_begins_.assign(1, 0);
  for (std::size_t k = 0; k < count; ++k) nodes_.push_back(entries_[order_[k]].node);
  closed_ = true;
  for (const NodeId node : nodes_) {
    const auto neighbours = matrix.graph().neighbours(node);
    const auto weights = matrix.graph().weights(node);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      const NodeId at = places_.find(neighbours[k]);
      if (at != Places::none && rank_[at] < count) {
        links_.push_back({rank_[at], weights[k]});
      } else {
        closed_ = false;
      }
    }
    link_begins_.push_back(links_.size());
  }
}

/// values = A_SS^{-1} b by Gauss-Seidel, from below: residuals never fall under 0.
void Neighbourhood::solve(const Prior& prior) {
  constexpr std::size_t most_sweeps = 200;
  constexpr double accuracy = 1e-6;
  const std::size_t count = nodes_.size();
  values_.assign(count, 0.0);
  residuals_.assign(count, 0.0);
  std::fill_n(residuals_.begin(), seed_count_, 1.0);
  for (std::size_t sweep = 0; sweep < most_sweeps; ++sweep) {
    for (std::size_t k = 0; k < count; ++k) {
      const double step = residuals_[k] / prior.diagonal[nodes_[k]];
      residuals_[k] = 0.0;
      values_[k] += step;
      for (const Link& link : links(k)) residuals_[link.to] += prior.matrix.coupling() * link.weight * step;
    }
    double rest = 0.0;
    lower_ = 0.0;
    for (std::size_t k = 0; k < count; ++k) {
      rest += residuals_[k] * residuals_[k] * prior.barrier.height(nodes_[k]) / prior.barrier.slope(nodes_[k]);
      lower_ += values_[k] * residuals_[k];
    }
    for (std::size_t k = 0; k < seed_count_; ++k) lower_ += values_[k];
    if (rest <= accuracy * lower_) break;
  }
  double heights = 0.0;
  for (std::size_t k = 0; k < seed_count_; ++k) heights += prior.barrier.height(nodes_[k]);
  double kept = 0.0;
  for (std::size_t k = 0; k < count; ++k) kept += prior.barrier.slope(nodes_[k]) * values_[k];
  gap_ = closed_ ? 0.0 : std::max(0.0, upper_ - lower_);
  leak_ = closed_ ? 0.0 : std::max(0.0, heights - kept);
}

void Neighbourhood::gather(const Prior& prior, double tolerance, std::size_t most_nodes) {
  // A component that S may contain whole is known whole, wherever the walk ended.
  const std::size_t node_count = prior.matrix.node_count();
  for (NodeId node = 0; node_count <= most_nodes && node < node_count; ++node) place_of(prior.barrier, node);
  const std::size_t most = std::max(seed_count_, std::min(entries_.size(), most_nodes));
  order_.resize(entries_.size());
  std::iota(order_.begin(), order_.end(), 0);
  rank_.assign(entries_.size(), static_cast<NodeId>(-1));
  std::iota(rank_.begin(), rank_.begin() + static_cast<std::ptrdiff_t>(seed_count_), 0);
  for (std::size_t count = seed_count_;; count = std::min(4 * count, most)) {
    choose(prior.matrix, count);
    solve(prior);
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
