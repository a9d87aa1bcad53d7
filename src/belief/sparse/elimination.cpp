#include "belief/sparse/elimination.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace goblin {

Elimination::Elimination(const PriorMatrix& prior)
    : positions_(prior.node_count()), begins_{0}, middles_(prior.node_count()) {
  const Graph graph = prior.graph().snapshot();
  choose_order(graph);
  std::vector<std::pair<NodeId, double>> row;
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    const NodeId node = nodes_[at];
    const auto neighbours = graph.neighbours(node);
    row.clear();
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      row.emplace_back(positions_[neighbours[k]], prior.coupling() * graph.weights(node)[k]);
    }
    std::sort(row.begin(), row.end());
    for (const auto& [position, weight] : row) {
      if (position < at) ++middles_[at];
      entry_positions_.push_back(position);
      entry_weights_.push_back(weight);
    }
    middles_[at] += begins_.back();
    begins_.push_back(entry_positions_.size());
    diagonal_.push_back(prior.diagonal(node));
    ridges_.push_back(prior.ridge(node));
  }
  factorize();
}

void Elimination::choose_order(const Graph& graph) {
  using Candidate = std::pair<std::size_t, NodeId>;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  std::vector<std::size_t> left(graph.node_count());
  std::vector<bool> done(graph.node_count(), false);
  for (std::size_t node = 0; node < left.size(); ++node) {
    left[node] = graph.neighbours(node).size();
    candidates.emplace(left[node], static_cast<NodeId>(node));
  }
  while (!candidates.empty()) {
    const NodeId node = candidates.top().second;
    candidates.pop();
    if (done[node]) continue;
    done[node] = true;
    positions_[node] = static_cast<NodeId>(nodes_.size());
    nodes_.push_back(node);
    for (const NodeId neighbour : graph.neighbours(node)) {
      if (!done[neighbour]) candidates.emplace(--left[neighbour], neighbour);
    }
  }
}

void Elimination::factorize() {
  constexpr double counted = 0.8;
  pivots_ = diagonal_;
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    const Range range = later(at);
    double total = 0.0;
    for (std::size_t k = range.first; k < range.last; ++k) total += entry_weights_[k];
    pivots_[at] = std::max(pivots_[at], ridges_[at] + total);  // whatever rounding did
    for (std::size_t k = range.first; k < range.last; ++k) {
      const double weight = entry_weights_[k];
      pivots_[entry_positions_[k]] -= weight * (counted * total + (1.0 - counted) * weight) / pivots_[at];
    }
  }
}

std::size_t Elimination::bytes() const {
  return (positions_.size() + nodes_.size()) * sizeof(NodeId) +
         (diagonal_.size() + pivots_.size() + ridges_.size()) * sizeof(double) +
         (begins_.size() + middles_.size()) * sizeof(std::size_t) +
         entry_positions_.size() * (sizeof(NodeId) + sizeof(double));
}

}  // namespace goblin
