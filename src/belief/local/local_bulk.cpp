// Many rewards at once, and the belief computed anew: one solve for all nodes instead of pushes from each.

#include "belief/local/component_solve.hpp"
#include "belief/local/local_engine.hpp"
#include "belief/local/prior_variance_bound.hpp"
#include "belief/symmetric_matrix.hpp"
#include "jobs.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

namespace goblin {

/// A bulk costs some twenty passes over all edges, a reward by itself some thousand edges. Where there are few rewards,
/// ln|M| is better known from one after the other.
bool LocalEngine::is_bulk(std::size_t rewards) const { return rewards >= 1000 && rewards >= node_count() / 32; }

Engine::Bytes LocalEngine::bulk_bytes(std::size_t rewards, std::size_t nodes, std::size_t threads) const {
  const double row = static_cast<double>(nodes_.stride()) * sizeof(double);
  // A term a context, or the whole matrix of a node.
  Bytes result;
  result.kept = row * std::min(static_cast<double>(rewards), static_cast<double>(nodes * dimension_));
  if (!is_bulk(rewards)) return result;
  const Bytes of_all = rebuild_bytes(threads);
  return {.kept = result.kept + of_all.kept, .meanwhile = of_all.meanwhile};
}

/// A place for every node, and the vectors of a solve for all of them.
Engine::Bytes LocalEngine::rebuild_bytes(std::size_t /*threads*/) const {
  const double row = static_cast<double>(nodes_.stride()) * sizeof(double);
  constexpr double bookkeeping = 64.0;  // of a node: its slot, its bound, what waits
  return {.kept = static_cast<double>(node_count() - nodes_.slot_count()) * (2.0 * row + bookkeeping),
          .meanwhile = static_cast<double>(node_count()) *
                       (static_cast<double>(ComponentSolve<float>::bytes_a_node(dimension_)) + bookkeeping)};
}

/// The rows of the ends in the graph, and what decisions around them work with.
Engine::Bytes LocalEngine::edges_bytes(std::size_t edges, std::size_t /*threads*/) const {
  constexpr double bookkeeping = 128.0;
  const double row = static_cast<double>(nodes_.stride()) * sizeof(double);
  return {.kept = static_cast<double>(edges) * 2.0 * (2.0 * row + bookkeeping), .meanwhile = 0.0};
}

Engine::Changed LocalEngine::learn_many(std::span<const NodeReward> rewards, const ComponentEvidence& evidence,
                                        const Work& work) {
  const TypicalLength typical_length = typical_length_;
  const double length = length_;
  try {
    if (is_bulk(rewards.size())) return learn_in_bulk(rewards, evidence, work);
    Changed total;
    for (std::size_t k = 0; k < rewards.size(); ++k) {
      const std::span<const double> context(rewards[k].context, dimension_);
      total.add(look_at(rewards[k].node, context).change());
      take_in(rewards[k].node, context, rewards[k].reward);
      if ((k + 1) % tell_every == 0) work.tell(static_cast<double>(k + 1) / static_cast<double>(rewards.size()));
    }
    total.solve = settle_all(rewards.size());
    return total;
  } catch (...) {
    // The rest follows from the evidence.
    typical_length_ = typical_length;
    length_ = length;
    throw;
  }
}

/// Settles until nothing waits, but walks no more edges than so many rewards might, and stops where that leads nowhere.
SolveSummary LocalEngine::settle_all(std::size_t rewards) {
  bool pushing = true;
  SolveSummary last = settle(pushing);
  SolveSummary summary = last;
  for (std::size_t k = 1; k < rewards && !last.converged && last.walked_edges >= options_.most_edges; ++k) {
    last = settle(pushing);
    summary.settled_nodes += last.settled_nodes;
    summary.walked_edges += last.walked_edges;
    summary.residual = last.residual;
    summary.converged = last.converged;
  }
  return summary;
}

/// Adds the evidence, each node's by itself, and then solves for all means together.
///
/// ln|M| gains no less than ln|B_j| does at the nodes with rewards, and no more than if every C_j were as large as the
/// evidence of its own node leaves it, (I / g_jj + S_j)^{-1} with g = A^{-1} (docs/engines.md). With t = B_j^{-1} x
/// these are log1p(x.t) and, at most, log1p(x.t + A_jj (g_jj A_jj - 1) |t|^2) for the rewards one after the other.
Engine::Changed LocalEngine::learn_in_bulk(std::span<const NodeReward> rewards, const ComponentEvidence& evidence,
                                           const Work& work) {
  const std::size_t threads = work.threads;
  std::vector<std::size_t> begins;  // of a node's rewards
  for (std::size_t k = 0; k < rewards.size(); ++k) {
    if (k == 0 || rewards[k].node != rewards[k - 1].node) begins.push_back(k);
  }
  const std::size_t touched = begins.size();
  begins.push_back(rewards.size());
  for (NodeId node = 0; node < node_count(); ++node) slot_for(node);
  for (std::size_t k = 0; k < touched; ++k) {
    const NodeId node = rewards[begins[k]].node;
    nodes_.expect(nodes_.find(node), diagonal_[node]);
  }

  prior_variances_.resize(node_count());
  constexpr std::size_t part_size = 256;
  struct Gain {
    double low = 0.0;
    double high = 0.0;
  };
  std::vector<Gain> gains(part_count(touched, part_size));
  // What a walk needs is kept by the thread, not by the part.
  std::atomic<std::size_t> next = 0;
  run_jobs(threads, threads, [&](std::size_t /*thread*/) {
    PriorVarianceBound variance_bound(prior_, diagonal_);
    for (std::size_t part = next++; part < gains.size(); part = next++) {
      for (std::size_t k = part * part_size; k < std::min(touched, (part + 1) * part_size); ++k) {
        const NodeId node = rewards[begins[k]].node;
        const std::size_t slot = nodes_.find(node);
        const double diagonal = diagonal_[node];
        double& variance = prior_variances_[node];
        if (variance == 0.0) variance = variance_bound.upper(node);
        const double slack = diagonal * std::max(0.0, variance * diagonal - 1.0);
        nodes_.reserve_contexts(slot, begins[k + 1] - begins[k]);
        for (const NodeReward& one : rewards.subspan(begins[k], begins[k + 1] - begins[k])) {
          double surprise = one.reward;
          for (std::size_t c = 0; c < dimension_; ++c) surprise -= one.context[c] * nodes_.mean(slot)[c];
          for (std::size_t c = 0; c < dimension_; ++c) nodes_.residual(slot)[c] += one.context[c] * surprise;
          const auto observed = nodes_.observe(slot, diagonal, {one.context, dimension_});
          gains[part].low += std::log1p(observed.variance);
          gains[part].high += std::log1p(observed.variance + slack * observed.squared_length);
        }
        nodes_.measure(slot);
      }
    }
    return true;
  });
  Changed result;
  double low = 0.0;
  for (const Gain& gain : gains) {
    low += gain.low;
    result.log_determinant += gain.high;
  }
  result.error = result.log_determinant - low;

  // What is typical is told from contexts all over the batch.
  constexpr std::size_t sample = 256;
  for (std::size_t k = 0; k < std::min(sample, rewards.size()); ++k) {
    const double* context = rewards[k * rewards.size() / std::min(sample, rewards.size())].context;
    typical_length_.observe(std::inner_product(context, context + dimension_, context, 0.0));
  }
  length_ = typical_length_.value();
  offer_all();
  constexpr double share_of_taking_in = 0.3;
  work.tell(share_of_taking_in);
  result.solve = solve_for_means(evidence, work.part(share_of_taking_in, 1.0));
  return result;
}

/// r = c - N w of every node that has a slot, from the evidence, and what all of them have in common.
void LocalEngine::compute_residuals(const ComponentEvidence& evidence, std::size_t threads) {
  constexpr std::size_t part_size = 1024;
  const std::size_t packed_size = dimension_ * (dimension_ + 1) / 2;
  std::vector<std::vector<double>> sums(part_count(node_count(), part_size));  // of S, then of r
  run_parts(node_count(), part_size, threads, [&](std::size_t part, std::size_t first, std::size_t end) {
    sums[part].assign(packed_size + dimension_, 0.0);
    for (std::size_t node = first; node < end; ++node) {
      const NodeId slot = nodes_.find(static_cast<NodeId>(node));
      if (slot == none) continue;
      const UserEvidence observed = evidence.at(node);
      compute_residual(static_cast<NodeId>(node), observed);
      for (std::size_t k = 0; k < observed.contexts.size(); ++k) sums[part][k] += observed.contexts[k];
      for (std::size_t k = 0; k < dimension_; ++k) sums[part][packed_size + k] += nodes_.residual(slot)[k];
    }
  });
  std::vector<double> total(packed_size + dimension_);
  for (const auto& one : sums) {
    for (std::size_t k = 0; k < total.size(); ++k) total[k] += one[k];
  }
  coarse_.set_sums(prior_.total_ridge(), unpacked(std::span(total).first(packed_size), dimension_));
  std::copy_n(total.begin() + static_cast<std::ptrdiff_t>(packed_size), dimension_, coarse_.residual().begin());
}

/// Conjugate gradients over the whole component until every residual is within what is allowed, then the true residual,
/// which is what the bounds rest on. Every node has a slot, and all have been offered. In single precision, since the
/// residual is then computed anew; in double precision where that does not get on.
SolveSummary LocalEngine::solve_for_means(const ComponentEvidence& evidence, const Work& work) {
  constexpr std::size_t most_stages = 30;
  constexpr double nearly = 0.9;  // so that the true residual is within what is allowed, too
  SolveSummary summary;
  const double allowed = std::sqrt(queue_.allowed_squared());
  bool single_precision = true;
  double told = 0.0;
  for (std::size_t stage = 0; stage < most_stages && !queue_.empty(); ++stage) {
    const double before = residual_bound_;
    const auto solve = [&]<typename Scalar>(Scalar /*kind*/) {
      return ComponentSolve<Scalar>(prior_, diagonal_, barrier_, nodes_, work.threads)
          .run(nearly * allowed, [&](double share) { work.tell(std::max(told, share)); });
    };
    try {
      summary.iterations += single_precision ? solve(float{}) : solve(double{});
    } catch (...) {
      // Whatever w is now, the bounds rest on its true residual.
      compute_residuals(evidence, work.threads);
      offer_all();
      throw;
    }
    told = 1.0;  // the first stage does nearly all
    compute_residuals(evidence, work.threads);
    offer_all();
    if (residual_bound_ <= 2.0 * allowed) break;  // pushes do the rest
    if (residual_bound_ > 0.1 * before) {
      if (!single_precision) break;
      single_precision = false;
    }
  }
  const SolveSummary rest = settle_all(1000);
  summary.settled_nodes = rest.settled_nodes;
  summary.walked_edges = rest.walked_edges;
  summary.residual = rest.residual;
  summary.converged = rest.converged;
  return summary;
}

/// Starts from the w there is: what is wrong with it shows in the residuals.
SolveSummary LocalEngine::rebuild(const ComponentEvidence& evidence, const Work& work) {
  bool anything = nodes_.slot_count() > 0;
  for (NodeId node = 0; node < node_count(); ++node) {
    if (evidence.at(node).count == 0) continue;
    anything = true;
    nodes_.expect(slot_for(node), diagonal_[node]);
  }
  if (!anything) return {};
  for (NodeId node = 0; node < node_count(); ++node) slot_for(node);
  run_parts(node_count(), 256, work.threads, [&](std::size_t /*part*/, std::size_t first, std::size_t end) {
    for (std::size_t node = first; node < end; ++node) {
      compute_inverse(static_cast<NodeId>(node), evidence.at(node));
    }
  });
  compute_residuals(evidence, work.threads);
  offer_all();
  return solve_for_means(evidence, work);
}

}  // namespace goblin
