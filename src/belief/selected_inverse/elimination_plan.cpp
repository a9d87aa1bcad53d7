#include "belief/selected_inverse/elimination_plan.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <queue>
#include <utility>

namespace goblin {
namespace {

/// Of the factor; the inverse takes twice as many again.
constexpr double multiplications_of_all = 3.0;

double cube(double value) { return value * value * value; }

}  // namespace

std::optional<EliminationPlan> EliminationPlan::make(const Graph& graph, std::size_t dimension,
                                                     double most_multiplications, double most_bytes) {
  EliminationPlan plan;
  plan.dimension_ = dimension;
  Lists later;
  if (!plan.choose_order(graph, later, most_multiplications, most_bytes)) return std::nullopt;
  plan.put_children_before_parents(later);
  plan.choose_panels(later);
  if (plan.factor_multiplications_ + plan.inverse_multiplications_ > most_multiplications) return std::nullopt;
  if (plan.bytes_ > most_bytes) return std::nullopt;
  return plan;
}

bool EliminationPlan::choose_order(const Graph& graph, Lists& later, double most_multiplications, double most_bytes) {
  using Candidate = std::pair<std::size_t, NodeId>;
  const std::size_t n = graph.node_count();
  const auto d = static_cast<double>(dimension_);
  Lists left(n);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  for (std::size_t node = 0; node < n; ++node) {
    const auto neighbours = graph.neighbours(node);
    left[node].assign(neighbours.begin(), neighbours.end());
    std::sort(left[node].begin(), left[node].end());
    candidates.emplace(left[node].size(), static_cast<NodeId>(node));
  }
  std::vector<bool> done(n, false);
  std::vector<NodeId> joined;
  double blocks = 0.0;
  double products = 0.0;
  std::size_t core = n;  // the position from which on everybody is joined to everybody
  while (nodes_.size() < core) {
    const std::size_t count = candidates.top().first;
    const NodeId node = candidates.top().second;
    candidates.pop();
    if (done[node] || count != left[node].size()) continue;
    done[node] = true;
    nodes_.push_back(node);
    // At the least, the neighbours are left, all joined to each other.
    const auto size = static_cast<double>(count);
    blocks += size + 1.0;
    products += (size + 1.0) * (size + 1.0);
    if (multiplications_of_all * (products + cube(size) / 3.0) * cube(d) / 2.0 > most_multiplications) return false;
    if (8.0 * d * d * (blocks + size * size / 2.0) > most_bytes) return false;
    later.push_back(std::move(left[node]));
    if (nodes_.size() + count == n) core = nodes_.size();
    for (const NodeId neighbour : later.back()) {
      if (core < n) break;
      joined.clear();
      std::set_union(left[neighbour].begin(), left[neighbour].end(), later.back().begin(), later.back().end(),
                     std::back_inserter(joined));
      std::erase_if(joined, [&](NodeId other) { return other == node || other == neighbour; });
      left[neighbour] = joined;
      candidates.emplace(joined.size(), neighbour);
    }
  }
  const std::vector<NodeId> last = later.back();
  nodes_.insert(nodes_.end(), last.begin(), last.end());
  positions_.resize(n);
  for (std::size_t at = 0; at < n; ++at) positions_[nodes_[at]] = static_cast<NodeId>(at);
  for (auto& list : later) {
    for (NodeId& other : list) other = positions_[other];
    std::sort(list.begin(), list.end());
  }
  for (std::size_t at = core; at < n; ++at) {
    later.emplace_back(n - at - 1);
    std::iota(later.back().begin(), later.back().end(), static_cast<NodeId>(at + 1));
  }
  return true;
}

/// A node's parent is the first of its later neighbours, which holds all the others. The factor stays the same if every
/// node comes right behind what hangs on it, and chains of parents come to lie in a row.
void EliminationPlan::put_children_before_parents(Lists& later) {
  const std::size_t n = nodes_.size();
  Lists children(n + 1);  // n: those without a parent
  for (std::size_t at = 0; at < n; ++at) {
    children[later[at].empty() ? n : later[at].front()].push_back(static_cast<NodeId>(at));
  }
  std::vector<NodeId> order;
  order.reserve(n);
  std::vector<std::pair<std::size_t, std::size_t>> path = {{n, 0}};
  while (!path.empty()) {
    auto& [at, next] = path.back();
    if (next < children[at].size()) {
      path.emplace_back(children[at][next++], 0);
    } else {
      if (at < n) order.push_back(static_cast<NodeId>(at));
      path.pop_back();
    }
  }
  std::vector<NodeId> new_positions(n);
  for (std::size_t at = 0; at < n; ++at) new_positions[order[at]] = static_cast<NodeId>(at);
  Lists moved(n);
  std::vector<NodeId> moved_nodes(n);
  for (std::size_t at = 0; at < n; ++at) {
    auto& list = moved[at] = std::move(later[order[at]]);
    for (NodeId& other : list) other = new_positions[other];
    std::sort(list.begin(), list.end());
    moved_nodes[at] = nodes_[order[at]];
    positions_[moved_nodes[at]] = static_cast<NodeId>(at);
  }
  nodes_ = std::move(moved_nodes);
  later = std::move(moved);
}

/// A parent joins its child's panel where the zeros that are then computed with do not cost much.
void EliminationPlan::choose_panels(Lists& later) {
  constexpr double most_zeros = 1.25;
  constexpr double overhead = 100.0;  // of a panel, in products of blocks
  constexpr std::size_t most_columns = 256;
  const std::size_t n = nodes_.size();
  const std::size_t most_nodes = std::max<std::size_t>(1, most_columns / dimension_);
  const auto square = [](std::size_t value) { return static_cast<double>(value) * static_cast<double>(value); };
  panel_of_.resize(n);
  for (std::size_t first = 0; first < n;) {
    std::size_t count = 1;
    double needed = square(later[first].size() + 1);
    while (first + count < n && count < most_nodes) {
      const std::size_t next = first + count;
      if (later[next - 1].empty() || later[next - 1].front() != next) break;
      const double with_next = needed + square(later[next].size() + 1);
      double together = 0.0;
      for (std::size_t k = 0; k <= count; ++k) together += square(later[next].size() + 1 + k);
      if (together > most_zeros * with_next + overhead) break;
      needed = with_next;
      ++count;
    }
    for (std::size_t k = 0; k < count; ++k) panel_of_[first + k] = static_cast<NodeId>(panels_.size());
    panels_.push_back({.first = first, .count = count, .rows = std::move(later[first + count - 1])});
    const double columns = static_cast<double>(count * dimension_);
    const double rows = static_cast<double>(panels_.back().rows.size() * dimension_);
    factor_multiplications_ += columns * (rows * rows + rows * columns + columns * columns / 3.0) / 2.0;
    inverse_multiplications_ += columns * (rows * rows + 1.5 * rows * columns + columns * columns);
    bytes_ += 8.0 * columns * (columns + rows);
    first += count;
  }
}

}  // namespace goblin
