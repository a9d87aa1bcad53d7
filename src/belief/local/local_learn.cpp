// How residuals come and are settled.

#include "belief/local/local_engine.hpp"

#include <algorithm>
#include <cmath>

namespace goblin {

std::size_t LocalEngine::slot_for(NodeId node) {
  if (const NodeId slot = nodes_.find(node); slot != none) return slot;
  queue_.add_slot(nodes_.slot_count(), barrier_.slope(node));
  return nodes_.add(node);
}

void LocalEngine::offer(std::size_t slot) { queue_.offer(slot, nodes_.squared_residual(slot)); }

/// Starts anew with what is allowed. O(slots).
void LocalEngine::offer_all() {
  constexpr double share = 0.9;  // the rest is for widths
  const double allowed = share * options_.tolerance / (length_ > 0.0 ? length_ : 1.0);
  queue_.restart(allowed * allowed);
  residual_bound_ = 0.0;
  for (std::size_t slot = 0; slot < nodes_.slot_count(); ++slot) {
    const double squared = nodes_.squared_residual(slot);
    queue_.offer(slot, squared);
    residual_bound_ = std::max(residual_bound_, std::sqrt(squared) / barrier_.slope(nodes_.node_of(slot)));
  }
}

/// After a slope of the barrier has changed.
void LocalEngine::slope_changed(NodeId node) {
  const NodeId slot = nodes_.find(node);
  if (slot == none) return;
  queue_.set_unit(slot, barrier_.slope(node));
  offer(slot);
}

/// The residual that is allowed follows the typical length of the contexts, in steps, so that all slots are rarely
/// offered again.
void LocalEngine::observe_length(double squared_length) {
  constexpr double step = 1.5;
  typical_length_.observe(squared_length);
  const double length = typical_length_.value();
  if (length <= step * length_ && step * length >= length_) return;
  length_ = length;
  offer_all();
}

/// Adds a multiple of the step to a residual.
inline void LocalEngine::pass_on(std::size_t slot, double factor) {
  double* target = nodes_.residual(slot);
  Pack total{};
  for (std::size_t k = 0; k < nodes_.stride(); k += pack_size) {
    const Pack changed = *packs(target + k) + factor * *packs(step_.data() + k);
    *packs(target + k) = changed;
    total += changed * changed;
  }
  queue_.offer(slot, sum(total));
}

/// Settles the residual of one node and passes it on. Gives the number of edges.
std::size_t LocalEngine::push(std::size_t slot) {
  const NodeId node = nodes_.node_of(slot);
  const std::size_t stride = nodes_.stride();
  double* mean = nodes_.mean(slot);
  double* residual = nodes_.residual(slot);
  nodes_.apply_inverse(node, diagonal_[node], residual, step_.data());
  const double passed_on = diagonal_[node] - prior_.ridge(node);
  for (std::size_t k = 0; k < dimension_; ++k) coarse_.residual()[k] += passed_on * step_[k] - residual[k];
  for (std::size_t k = 0; k < stride; ++k) {
    mean[k] += step_[k];
    residual[k] = 0.0;
  }
  queue_.offer(slot, 0.0);
  const auto neighbours = graph().neighbours(node);
  const auto weights = graph().weights(node);
  // What lies anywhere in memory is asked for before it is needed.
  constexpr std::size_t ahead = 8;
  slots_.resize(neighbours.size());
  for (std::size_t n = 0; n < neighbours.size(); ++n) {
    if (n + ahead < neighbours.size()) nodes_.prefetch_slot(neighbours[n + ahead]);
    slots_[n] = slot_for(neighbours[n]);
    nodes_.prefetch_residual(slots_[n]);
    queue_.prefetch(slots_[n]);
    if (n >= ahead) pass_on(slots_[n - ahead], prior_.coupling() * weights[n - ahead]);
  }
  for (std::size_t n = neighbours.size() - std::min(ahead, neighbours.size()); n < neighbours.size(); ++n) {
    pass_on(slots_[n], prior_.coupling() * weights[n]);
  }
  return neighbours.size();
}

/// Settles the residuals of a node and those around it at once, by a solve with N_SS: where an edge outweighs all
/// others, pushing would hand the residual to and fro along it. Gives the number of edges, all iterations counted.
std::size_t LocalEngine::settle_around(NodeId node) {
  constexpr double accuracy = 1e-10;
  auto work = workspaces_.take();
  work->walked_from = none;
  work->near.grow(near_prior(), std::span(&node, 1), accuracy, options_.most_nodes);
  const auto nodes = work->near.nodes();
  work->vectors.reset(nodes.size() * dimension_);
  double squared = 0.0;
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    const std::size_t slot = slot_for(nodes[j]);
    squared += nodes_.squared_residual(slot);
    for (std::size_t k = 0; k < dimension_; ++k) {
      work->vectors.residual[j * dimension_ + k].values[0] = nodes_.residual(slot)[k];
    }
  }
  solve_near(*work, dimension_, Lanes{accuracy * accuracy * squared}, true);
  std::size_t edges = 0;
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    const std::size_t slot = nodes_.find(nodes[j]);
    for (std::size_t k = 0; k < dimension_; ++k) {
      const double left = work->vectors.residual[j * dimension_ + k].values[0];
      step_[k] = work->vectors.solution[j * dimension_ + k].values[0];
      nodes_.mean(slot)[k] += step_[k];
      coarse_.residual()[k] += left - nodes_.residual(slot)[k];
      nodes_.residual(slot)[k] = left;
    }
    offer(slot);
    // Neighbours inside S have had their share in the solve.
    const auto neighbours = graph().neighbours(nodes[j]);
    const auto links = work->near.links(j);
    std::size_t inside = 0;
    for (std::size_t n = 0; n < neighbours.size(); ++n) {
      if (inside < links.size() && nodes[links[inside].to] == neighbours[n]) {
        ++inside;
        continue;
      }
      const std::size_t other = slot_for(neighbours[n]);
      const double factor = prior_.coupling() * graph().weights(nodes[j])[n];
      for (std::size_t k = 0; k < dimension_; ++k) {
        nodes_.residual(other)[k] += factor * step_[k];
        coarse_.residual()[k] += factor * step_[k];
      }
      offer(other);
    }
    edges += neighbours.size();
  }
  workspaces_.put_back(std::move(work));
  return edges;
}

double LocalEngine::largest_residual() const {
  return std::sqrt(queue_.largest_squared([this](NodeId slot) { return nodes_.squared_residual(slot); }));
}

/// Lets decisions in that wait, if some do: between two pushes the residual is true, and so are their bounds.
void LocalEngine::let_readers_in() {
  if (!access_->readers_wait(place(0))) return;
  residual_bound_ = largest_residual();
  access_->end_writing(place(0));
  access_->begin_writing(place(0));
}

SolveSummary LocalEngine::settle() {
  bool pushing = true;
  return settle(pushing);
}

/// Settles what waits, the largest residuals first: by pushes, or, where these lead nowhere, by solves, as the next
/// call is told.
SolveSummary LocalEngine::settle(bool& pushing) {
  // Where the largest residual has not fallen by half after many pushes of the same few nodes, an edge between them
  // outweighs all others, and solves around the worst node do better. Where the ridge is small, it does not fall for
  // long either, but there all nodes are pushed, and that is the best way to go on. If solves do not help, it is given
  // up: mostly, because numbers have no more digits.
  const std::size_t for_each_node = 16 + std::min<std::size_t>(options_.most_edges / 10'000, 100'000);
  const auto enough_pushes = [&] { return 256 + for_each_node * pushed_.count(); };
  const auto enough_solves = [&] { return 64 + nodes_.slot_count(); };
  std::size_t lowest_level = queue_.highest_level();
  std::size_t lowered_at = 0;  // settled nodes
  pushed_.restart();
  constexpr std::size_t edges_between_readers = 4000;  // a tenth of a millisecond
  std::size_t readers_came = 0;
  SolveSummary summary;
  while (!queue_.empty() && summary.walked_edges < options_.most_edges) {
    const std::size_t slot = queue_.take();
    const NodeId node = nodes_.node_of(slot);
    const double squared = nodes_.squared_residual(slot);
    if (queue_.allows(slot, squared)) {
      queue_.offer(slot, squared);
      continue;
    }
    ++summary.settled_nodes;
    pushed_.add(slot);
    summary.walked_edges += 1 + (pushing ? push(slot) : 8 * settle_around(node));
    if (queue_.highest_level() < lowest_level) {
      lowest_level = queue_.highest_level();
      lowered_at = summary.settled_nodes;
      pushed_.restart();
    }
    const bool in_vain = summary.settled_nodes - lowered_at > (pushing ? enough_pushes() : enough_solves());
    if (in_vain && !pushing) break;
    if (pushing && in_vain) {
      pushing = false;
      lowered_at = summary.settled_nodes;
    }
    if (access_ != nullptr && summary.walked_edges - readers_came >= edges_between_readers) {
      readers_came = summary.walked_edges;
      let_readers_in();
    }
  }
  residual_bound_ = largest_residual();
  summary.converged = queue_.empty();
  if (queue_.allowed_squared() > 0.0) summary.residual = residual_bound_ / std::sqrt(queue_.allowed_squared());
  return summary;
}

Engine::Learned LocalEngine::learn(std::size_t node, std::span<const double> context, double reward) {
  Learned result = look_at(node, context);
  const Writing writing(access_, place(node));
  take_in(node, context, reward);
  result.solve = settle();
  return result;
}

/// What is known of a context before its reward is learned.
Engine::Learned LocalEngine::look_at(std::size_t node, std::span<const double> context) const {
  Learned result;
  double expected = 0.0;
  double mean_error = 0.0;
  evaluate(node, context, {}, options_.most_nodes,
           {.means = {&expected, 1},
            .variances = {&result.variance, 1},
            .mean_errors = {&mean_error, 1},
            .variance_errors = {&result.variance_error, 1}});
  return result;
}

/// Adds a reward to the evidence and the residual of its node, which is not settled yet.
void LocalEngine::take_in(std::size_t node, std::span<const double> context, double reward) {
  double squared_length = 0.0;
  for (const double value : context) squared_length += value * value;
  observe_length(squared_length);

  const std::size_t slot = slot_for(static_cast<NodeId>(node));
  double surprise = reward;
  for (std::size_t k = 0; k < dimension_; ++k) surprise -= context[k] * nodes_.mean(slot)[k];
  for (std::size_t k = 0; k < dimension_; ++k) {
    nodes_.residual(slot)[k] += context[k] * surprise;
    coarse_.residual()[k] += context[k] * surprise;
  }
  nodes_.observe(slot, diagonal_[node], context);
  nodes_.measure(slot);
  coarse_.observe(context);
  offer(slot);
}

}  // namespace goblin
