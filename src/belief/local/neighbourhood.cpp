#include "belief/local/neighbourhood.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <tuple>

namespace goblin {
namespace {

const Lanes* lanes_at(const double* values) { return reinterpret_cast<const Lanes*>(values); }

}  // namespace

/// Settles the residual of one node, and passes it on to the neighbours.
void Neighbourhood::push(const Prior& prior, const Row& row) {
  const double step = walk_residuals_[row.at] / prior.diagonal[seen_[row.at]];
  walk_residuals_[row.at] = 0.0;
  walk_values_[row.at] += step;
  const double passed_on = prior.matrix.coupling() * step;
  for (std::size_t k = 0; k < row.neighbours.size(); ++k) {
    const std::size_t at = place_of(prior.barrier, row.neighbours[k]);
    walk_residuals_[at] += passed_on * row.weights[k];
  }
  edges_walked_ += row.neighbours.size();
}

/// Pushes the entries whose residual is above a threshold. What they need lies anywhere in memory: it is asked for
/// before it is needed.
void Neighbourhood::push_above(const Prior& prior, double threshold, std::size_t most_edges) {
  constexpr std::size_t far = 64;  // the rest of a long row comes by itself
  rows_.clear();
  for (std::size_t at = 0; at < seen_.size(); ++at) {
    if (walk_residuals_[at] * walk_weights_[at] <= threshold) continue;
    rows_.push_back({at, prior.matrix.graph().neighbours(seen_[at]), prior.matrix.graph().weights(seen_[at])});
    __builtin_prefetch(&prior.diagonal[seen_[at]]);
  }
  for (const Row& row : rows_) {
    const std::size_t end = std::min(row.neighbours.size(), far);
    for (std::size_t k = 0; k < end; k += 16) __builtin_prefetch(&row.neighbours[k]);
    for (std::size_t k = 0; k < end; k += 8) __builtin_prefetch(&row.weights[k]);
  }
  for (std::size_t k = 0; k < rows_.size() && edges_walked_ < most_edges; ++k) {
    if (k + 1 < rows_.size()) {
      const auto next = rows_[k + 1].neighbours;
      for (const NodeId node : next.first(std::min(next.size(), far))) prior.barrier.prefetch_weight(node);
    }
    push(prior, rows_[k]);
  }
}

/// Pushes from the seeds until b^T A^{-1} b is known. With value v and residual r >= 0, A v = b - r, so that
///
///     b^T A^{-1} b = b^T v + v^T r + r^T A^{-1} r,   0 <= r^T A^{-1} r <= sum of r_j^2 height_j / slope_j.
///
/// The residuals that promise most for an edge walked go first; slopes grow with the number of edges.
void Neighbourhood::walk(const Prior& prior, std::span<const NodeId> seeds, double tolerance, std::size_t enough_edges,
                         std::size_t most_edges) {
  forget_entries();
  edges_walked_ = 0;
  seed_count_ = seeds.size();
  for (const NodeId seed : seeds) {
    const std::size_t at = place_of(prior.barrier, seed);
    walk_residuals_[at] = 1.0;
  }
  for (;;) {
    Lanes inner_lanes{};
    Lanes rest_lanes{};
    Lanes largest_lanes{};
    for (std::size_t at = 0; at < seen_.size(); at += lane_count) {
      const Lanes residual = *lanes_at(&walk_residuals_[at]);
      const Lanes ratio = residual * *lanes_at(&walk_weights_[at]);
      inner_lanes += *lanes_at(&walk_values_[at]) * residual;
      rest_lanes += ratio * residual;
      largest_lanes = ratio > largest_lanes ? ratio : largest_lanes;
    }
    double inner = 0.0;
    double rest = 0.0;
    double largest = 0.0;
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      inner += inner_lanes[lane];
      rest += rest_lanes[lane];
      largest = std::max(largest, largest_lanes[lane]);
    }
    double values = 0.0;
    for (std::size_t k = 0; k < seed_count_; ++k) values += walk_values_[k];
    upper_ = values + inner + rest / prior.barrier.scale();
    energy_ = values - inner;
    const double lower = energy_ > 0.0 ? values * values / energy_ : 0.0;
    const double enough = edges_walked_ < enough_edges ? tolerance : 4.7 * tolerance;
    if (std::sqrt(upper_) - std::sqrt(lower) <= enough || edges_walked_ >= most_edges) return;
    push_above(prior, largest / 2.0, most_edges);
  }
}

void Neighbourhood::forget_entries() {
  places_.clear();
  std::fill_n(walk_values_.begin(), seen_.size(), 0.0);
  std::fill_n(walk_residuals_.begin(), seen_.size(), 0.0);
  seen_.clear();
}

/// For more entries, whole lanes of them.
void Neighbourhood::make_room() {
  const std::size_t size = std::max<std::size_t>(128 * lane_count, 2 * walk_values_.size());
  for (auto* numbers : {&walk_values_, &walk_residuals_, &walk_weights_}) numbers->resize(size);
}

/// Makes S of the first entries in order.
void Neighbourhood::choose(const PriorMatrix& matrix, std::size_t count) {
  nodes_.clear();
  links_.clear();
  link_begins_.assign(1, 0);
  for (std::size_t k = 0; k < count; ++k) nodes_.push_back(seen_[order_[k]]);
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

void Neighbourhood::gather(const Prior& prior, double tolerance, std::size_t enough_nodes, std::size_t most_nodes,
                           double times) {
  // A component that S may contain whole is known whole, wherever the walk ended.
  const std::size_t node_count = prior.matrix.node_count();
  for (NodeId node = 0; node_count <= most_nodes && node < node_count; ++node) place_of(prior.barrier, node);
  const std::size_t most = std::max(seed_count_, std::min(seen_.size(), most_nodes));
  order_.resize(seen_.size());
  std::iota(order_.begin(), order_.end(), 0);
  rank_.assign(seen_.size(), static_cast<NodeId>(-1));
  std::iota(rank_.begin(), rank_.begin() + static_cast<std::ptrdiff_t>(seed_count_), 0);
  for (std::size_t count = seed_count_;;) {
    choose(prior.matrix, count);
    solve(prior);
    const bool few = count < enough_nodes;
    const double off = std::sqrt(upper_) - std::sqrt(lower_);
    if (closed_ || count == most || off <= (few ? tolerance : times * tolerance)) return;
    if (count == seed_count_) put_in_order(most);
    count = std::min(most, few ? std::min(4 * count, enough_nodes) : 2 * count);
  }
}

/// The seeds stay first; then come the nodes with the largest values, those without one by their residual.
void Neighbourhood::put_in_order(std::size_t count) {
  const auto at = [this](std::size_t place) { return order_.begin() + static_cast<std::ptrdiff_t>(place); };
  std::partial_sort(at(seed_count_), at(count), order_.end(), [this](NodeId a, NodeId b) {
    const Entry first = entry(a);
    const Entry second = entry(b);
    return std::tuple(-first.value, -first.residual, first.node) <
           std::tuple(-second.value, -second.residual, second.node);
  });
  for (std::size_t k = 0; k < count; ++k) rank_[order_[k]] = static_cast<NodeId>(k);
}

}  // namespace goblin
