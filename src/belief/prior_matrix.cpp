#include "belief/prior_matrix.hpp"

#include "graph/remove_places.hpp"

#include <algorithm>
#include <utility>

namespace goblin {

PriorMatrix::PriorMatrix(Graph graph, std::vector<double> ridges, double coupling)
    : graph_(std::move(graph)), ridges_(std::move(ridges)), coupling_(coupling) {
  ridge_ = ridges_.front();
  smallest_ridge_ = *std::min_element(ridges_.begin(), ridges_.end());
  if (std::all_of(ridges_.begin(), ridges_.end(), [this](double ridge) { return ridge == ridge_; })) ridges_ = {};
}

double PriorMatrix::total_ridge() const {
  double total = 0.0;
  for (const double ridge : ridges_) total += ridge;
  return ridges_.empty() ? static_cast<double>(node_count()) * ridge_ : total;
}

std::vector<double> PriorMatrix::diagonals() const {
  std::vector<double> result(node_count());
  for (std::size_t node = 0; node < result.size(); ++node) result[node] = diagonal(node);
  return result;
}

void PriorMatrix::append(const PriorMatrix& other) {
  const auto shift = static_cast<NodeId>(node_count());
  const bool alike = ridges_.empty() && other.ridges_.empty() && ridge_ == other.ridge_;
  if (!alike && ridges_.empty()) ridges_.assign(node_count(), ridge_);
  for (std::size_t node = 0; !alike && node < other.node_count(); ++node) ridges_.push_back(other.ridge(node));
  smallest_ridge_ = std::min(smallest_ridge_, other.smallest_ridge_);
  graph_.add_nodes(other.node_count());
  for (const Edge& edge : other.graph_.edges()) graph_.set_weight(edge.a + shift, edge.b + shift, edge.weight);
}

void PriorMatrix::keep_first(std::size_t count, double smallest_ridge) {
  graph_.keep_first(count);
  if (!ridges_.empty()) ridges_.resize(count);
  smallest_ridge_ = smallest_ridge;
}

void PriorMatrix::remove_nodes(std::span<const NodeId> nodes) {
  graph_.remove_nodes(nodes);
  if (ridges_.empty()) return;
  remove_places(ridges_, nodes);
  if (std::find(ridges_.begin(), ridges_.end(), smallest_ridge_) == ridges_.end()) {
    smallest_ridge_ = *std::min_element(ridges_.begin(), ridges_.end());
  }
}

PriorMatrix PriorMatrix::side_by_side(const PriorMatrix& first, const PriorMatrix& second) {
  auto edges = first.graph_.edges();
  const auto shift = static_cast<NodeId>(first.node_count());
  for (const Edge& edge : second.graph_.edges()) edges.push_back({edge.a + shift, edge.b + shift, edge.weight});
  std::vector<double> ridges;
  ridges.reserve(first.node_count() + second.node_count());
  for (std::size_t node = 0; node < first.node_count(); ++node) ridges.push_back(first.ridge(node));
  for (std::size_t node = 0; node < second.node_count(); ++node) ridges.push_back(second.ridge(node));
  Graph both(ridges.size(), edges);
  return {std::move(both), std::move(ridges), first.coupling_};
}

PriorMatrix PriorMatrix::part(std::span<const NodeId> nodes) const {
  std::vector<double> ridges;
  ridges.reserve(nodes.size());
  for (const NodeId node : nodes) ridges.push_back(ridge(node));
  return {graph_.induced(nodes), std::move(ridges), coupling_};
}

}  // namespace goblin
