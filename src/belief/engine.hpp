#pragma once

#include "belief/access.hpp"
#include "belief/evidence.hpp"
#include "belief/prior_matrix.hpp"
#include "belief/work.hpp"
#include "goblin/belief/options.hpp"
#include "goblin/belief/solve_summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace goblin {

class BinaryReader;
class BinaryWriter;

/// How much more than the ridge contexts and edges may say, so that the belief keeps enough of its sixteen digits.
struct Limits {
  static constexpr double length = 30'000;   ///< |x| / sqrt(ridge)
  static constexpr double coupling = 2e9;    ///< coupling * degree / ridge
  static constexpr double in_sparse = 1e11;  ///< the product of both, with the engine sparse
};

/// The evidence of the nodes of one component: node k of the component is nodes[k] of the belief. While a batch is
/// learned, its rewards are not among the evidence yet, so that nothing has to be undone if something stops it; what
/// they add is added on the way.
struct ComponentEvidence {
  const Evidence& evidence;
  std::span<const NodeId> nodes;
  std::span<const NodeReward> added = {};  ///< ordered by their node, which is one of the component

  /// With `added`, valid until this thread asks again.
  [[nodiscard]] UserEvidence at(std::size_t node) const {
    if (added.empty()) return evidence.at(nodes[node]);
    const auto first = std::ranges::lower_bound(added, node, {}, &NodeReward::node);
    const auto end = std::ranges::upper_bound(first, added.end(), node, {}, &NodeReward::node);
    return evidence.with(nodes[node], {first, end});
  }
};

/// Where evaluate writes, one number a context: the mean x.w_i and the variance x^T C_i x as the engine knows them, and
/// how far they can be off: |mean - x.w_i| <= mean_error and 0 <= variance - x^T C_i x <= variance_error.
struct Evaluation {
  std::span<double> means;
  std::span<double> variances;
  std::span<double> mean_errors;
  std::span<double> variance_errors;
};

/// How much every node has to say about a context x at a node i: u with N u = phi_i(x), so that x.w_i = sum of u_j.c_j
/// and x^T C_i x = x.u_i. With a residual rho = phi_i(x) - N u that is left (local) the exact mean is u.c + far_mean,
/// to far_mean_error.
struct Influence {
  std::vector<NodeId> nodes;   ///< where u is not zero
  std::vector<double> values;  ///< u, d numbers for each of them
  double energy = 0.0;         ///< u^T N u
  double variance = 0.0;       ///< x^T C_i x, never too small
  double far_mean = 0.0;       ///< rho.w
  double far_mean_error = 0.0;
  double bound = 0.0;  ///< |u_j - exact u_j| is not above, at any node
  SolveSummary solve;
};

/// Keeps the belief about one connected component at hand: a cache over (prior matrix, evidence), which are the truth.
///
/// With N = A (x) I_d + diag(S_1, ..., S_n), the belief is w = N^{-1} c and, for every node i, C_i = the i-th diagonal
/// d x d block of N^{-1}. Learning reward a for context x at node i is a rank-one change of N:
///
///     u = N^{-1} phi_i(x),  q = x.u_i,  w += u (a - x.w_i) / (1 + q),  C_j -= u_j u_j^T / (1 + q).
///
/// Edges and whole sums of evidence change N by several columns at once (PrecisionChange).
///
/// Nodes are numbered 0, 1, ... within the component. const calls may run at the same time; the others may not. But
/// where there is an Access, mean, covariance, gather and evaluate may be called while learn runs, under a Reading of
/// the node, and while forget runs in an exact engine.
/// All other changes are made to a copy of the engine then, or while nobody reads.
class Engine {
 public:
  /// What a change of an edge or of evidence did to ln|M| = ln|N| - d ln|A|: the change is at most `error` too large,
  /// and never too small.
  struct Changed {
    double log_determinant = 0.0;
    double error = 0.0;
    SolveSummary solve;

    void add(const Changed& other) {
      log_determinant += other.log_determinant;
      error += other.error;
      solve.add(other.solve);
    }
  };
  struct Learned {
    double variance = 0.0;        // q: x^T C_i x before learning
    double variance_error = 0.0;  // q is at most this much too large, and never too small
    SolveSummary solve;

    /// N gains a row: its determinant becomes 1 + q times as large.
    [[nodiscard]] Changed change() const {
      const double upper = std::log1p(variance);
      return {.log_determinant = upper, .error = upper - std::log1p(variance - variance_error), .solve = solve};
    }
  };

  Engine() = default;
  /// Nobody reads the copy yet.
  Engine(const Engine& /*other*/) {}
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  /// Who reads while learn runs; null: nobody.
  virtual void set_access(Access* access) { access_ = access; }
  /// The place that whoever reads a node holds.
  [[nodiscard]] virtual std::size_t place(std::size_t node) const {
    return first_place() + node / Access::nodes_in_a_place;
  }

  [[nodiscard]] virtual EngineKind kind() const = 0;
  [[nodiscard]] virtual const PriorMatrix& prior() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Engine> clone() const = 0;
  [[nodiscard]] std::size_t node_count() const { return prior().node_count(); }
  [[nodiscard]] const EditableGraph& graph() const { return prior().graph(); }

  /// The longest context for which the belief stays within 1e-6 of the exact one, relatively: it keeps sixteen digits
  /// less those of |x|^2 / ridge, and in sparse of coupling * degree / ridge too.
  [[nodiscard]] virtual double longest_context() const { return Limits::length * std::sqrt(prior().smallest_ridge()); }

  /// Writes w_i, d numbers.
  virtual void mean(std::size_t node, std::span<double> out) const = 0;

  /// Writes C_i, d x d numbers.
  virtual void covariance(std::size_t node, std::span<double> out) const = 0;

  /// For each context, d numbers each, one after the other. `allowed` is empty or has a flag a context; what is written
  /// for a context with flag 0 means nothing, and it has no influence on the others. No allocation for d <= 128. The
  /// exact engines say that they are not off: rounding is not counted, nor are sparse's solves, which have their
  /// tolerance.
  virtual void evaluate(std::size_t node, std::span<const double> contexts, std::span<const std::uint8_t> allowed,
                        const Evaluation& out) const = 0;

  /// Some of the numbers of w_i, and the rows and columns of C_i that belong to them, k x k for k places (ascending).
  /// False, and nothing written, where an engine has no quicker way to them than mean and covariance.
  [[nodiscard]] virtual bool gather(std::size_t /*node*/, std::span<const std::uint32_t> /*places*/,
                                    std::span<double> /*mean*/, std::span<double> /*covariance*/) const {
    return false;
  }

  /// Not while anything changes, whatever Access there is: it looks at all nodes.
  [[nodiscard]] virtual Influence influence(std::size_t node, std::span<const double> context) const = 0;

  virtual Learned learn(std::size_t node, std::span<const double> context, double reward) = 0;

  /// Learns many rewards at once, in the way that is cheapest for their number: the belief becomes what it would be had
  /// they been learned one after the other. They are ordered by node, no context is zero, and `evidence` holds them
  /// already. If it throws, the belief means nothing until rebuild is called.
  virtual Changed learn_many(std::span<const NodeReward> rewards, const ComponentEvidence& evidence,
                             const Work& work) = 0;

  /// What a change of many things takes, beside the evidence: `kept` stays, `meanwhile` is given back at the end.
  struct Bytes {
    double kept = 0.0;
    double meanwhile = 0.0;
  };
  /// Of learn_many for so many rewards at so many nodes, on so many threads.
  [[nodiscard]] virtual Bytes bulk_bytes(std::size_t rewards, std::size_t nodes, std::size_t threads) const = 0;
  /// Of set_edges for so many edges.
  [[nodiscard]] virtual Bytes edges_bytes(std::size_t edges, std::size_t threads) const = 0;
  /// Of rebuild.
  [[nodiscard]] virtual Bytes rebuild_bytes(std::size_t threads) const = 0;

  /// Sets the weights of edges, each pair of nodes once; 0 removes one. The belief becomes that of the last graph,
  /// whatever was in between. If it throws, the belief means nothing until set_edges is called with the weights that
  /// were there before.
  virtual Changed set_edges(std::span<const Edge> edges, const ComponentEvidence& evidence, const Work& work) = 0;

  /// Takes over the nodes of another engine, after its own, and what that one believes; no edge joins the two yet.
  /// `evidence` is that of both. False, and nothing changed, where an engine cannot do this for less than it costs to
  /// make one anew (EngineFactory::join). If it throws, the nodes are what they were, and the belief means nothing
  /// until rebuild is called.
  virtual bool absorb(const Engine& /*other*/, const ComponentEvidence& /*evidence*/) { return false; }

  /// Gives up nodes (ascending) that no edge joins to the others; the last ones get their numbers, as in remove_places.
  /// `gone` is the evidence of those nodes, `kept` that of the others in their new order. False, and nothing changed,
  /// where an engine cannot do this for less than it costs to make one anew (extract). If it throws, nothing changed.
  virtual bool release(std::span<const NodeId> /*nodes*/, const ComponentEvidence& /*gone*/,
                       const ComponentEvidence& /*kept*/) {
    return false;
  }

  /// Adds sums to what was observed at a node (sign 1), or takes away sums that were added before (sign -1): a reward,
  /// several, or a share of what they say. `evidence` holds the change already. If it throws, the belief means nothing
  /// until rebuild is called.
  virtual Changed change_evidence(std::size_t node, const UserEvidence& sums, int sign,
                                  const ComponentEvidence& evidence) = 0;

  /// Forgets a reward that was learned before, at the node where `evidence` holds it no more. N loses a row: with
  /// u = N^{-1} phi_i(x), N as it is without the reward, q = x.u_i and w as it was before,
  ///
  ///     w -= u (a - x.w_i),  C_j += u_j u_j^T / (1 + q),  ln|N| -= ln(1 + q).
  ///
  /// Nothing, if this would leave too few digits of the belief: then it means nothing until rebuild is called. The
  /// context is not zero.
  [[nodiscard]] virtual std::optional<Changed> forget(std::size_t node, std::span<const double> context, double reward,
                                                      const ComponentEvidence& evidence) {
    std::vector<double> contexts;
    std::vector<double> rewards;
    for (std::size_t c = 0; c < context.size(); ++c) {
      for (std::size_t r = c; r < context.size(); ++r) contexts.push_back(context[c] * context[r]);
      rewards.push_back(reward * context[c]);
    }
    return change_evidence(
        node, {.contexts = contexts, .rewards = rewards, .count = 1, .squared_rewards = reward * reward}, -1, evidence);
  }

  /// Computes the belief anew from the prior matrix and the evidence, whatever it was before. If it throws, it can be
  /// called again.
  virtual SolveSummary rebuild(const ComponentEvidence& evidence, const Work& work) = 0;

  /// The engine for some of the nodes only, which no edge joins to the others.
  [[nodiscard]] virtual std::unique_ptr<Engine> extract(std::span<const NodeId> nodes,
                                                        const ComponentEvidence& evidence) const = 0;

  virtual void save(BinaryWriter& out) const = 0;

  /// EngineOptions::progress, for those who keep it.
  virtual void set_progress(const std::function<void(double)>& /*progress*/) {}
  /// Takes over what another engine of the same kind and prior matrix has found about that matrix. Decisions may be
  /// made meanwhile.
  virtual void take_prior_variances(const Engine& /*other*/) const {}

 protected:
  /// A number that other engines are not likely to have.
  [[nodiscard]] std::size_t first_place() const { return reinterpret_cast<std::uintptr_t>(this) / alignof(double); }

  /// Changes all nodes by change(first, end), a few of them at a time, so that those who read the others need not wait;
  /// nodes that are being read come last. `change` does not throw.
  template <typename Change>
  void write_nodes(Change change) {
    if (access_ == nullptr) return change(std::size_t{0}, node_count());
    const auto change_at = [&](std::size_t first) {
      change(first, std::min(first + Access::nodes_in_a_place, node_count()));
      access_->end_writing(place(first));
    };
    std::vector<std::size_t> read_now;
    for (std::size_t first = 0; first < node_count(); first += Access::nodes_in_a_place) {
      if (access_->try_writing(place(first))) {
        change_at(first);
      } else {
        read_now.push_back(first);
      }
    }
    for (const std::size_t first : read_now) {
      access_->begin_writing(place(first));
      change_at(first);
    }
  }

  Changed learn_one_by_one(std::span<const NodeReward> rewards, std::size_t dimension, const Work& work = {}) {
    Changed total;
    for (std::size_t k = 0; k < rewards.size(); ++k) {
      total.add(learn(rewards[k].node, {rewards[k].context, dimension}, rewards[k].reward).change());
      if ((k + 1) % tell_every == 0) work.tell(static_cast<double>(k + 1) / static_cast<double>(rewards.size()));
    }
    return total;
  }
  static constexpr std::size_t tell_every = 256;  // rewards

  /// The same at once, for what they have in common. `change` does not throw.
  template <typename Change>
  void write_all_nodes(Change change) {
    if (access_ == nullptr) return change();
    if (node_count() <= Access::nodes_in_a_place) {
      const Writing writing(access_, place(0));
      return change();
    }
    access_->begin_writing_everywhere();
    change();
    access_->end_writing_everywhere();
  }

  Access* access_ = nullptr;
};

}  // namespace goblin
