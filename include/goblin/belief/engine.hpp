#pragma once

#include "goblin/belief/evidence.hpp"
#include "goblin/graph/graph.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace goblin {

/// How the belief of a connected component is kept; see Engine.
enum class EngineKind { automatic, dense, sparse, local };

[[nodiscard]] std::string_view name_of(EngineKind kind);
/// The kind of that name; throws std::invalid_argument with the names there are.
[[nodiscard]] EngineKind engine_kind(std::string_view name);

struct LocalOptions {
  /// How far scores may be off: means, and standard deviations sqrt(x^T C x), of contexts of the usual length. Each
  /// decision says how far its own scores can be off (Decision::bounds), which the limits below may make more.
  double tolerance = 0.001;
  /// A decision looks at the evidence of at most so many nodes. Components of that size or less are exact.
  std::size_t most_nodes = 64;
  /// A reward is passed on over at most so many edges; what is left waits for the next one.
  std::size_t most_edges = 100'000;
};

struct EngineOptions {
  /// automatic picks dense for small components, sparse for larger ones and local for the largest.
  EngineKind kind = EngineKind::automatic;
  /// sparse: a solve converged when |residual| <= tolerance * |right-hand side|. It goes on to a tenth of that, and
  /// less where contexts are longer than sqrt(ridge), so that scores stay good over thousands of rewards.
  double tolerance = 1e-8;
  /// sparse: a solve gives up after so many iterations, and says so.
  std::size_t max_iterations = 1000;
  LocalOptions local = {};
  /// The bytes a bandit may take, asked when it is made and when an edge joins two components; 0: what the machine has
  /// free. Not kept in a model file.
  std::size_t memory_limit = 0;
};

/// A = ridge I + coupling L, the precision of the users' vectors before anything is observed; the paper has 1 and 1.
struct Prior {
  double ridge = 1.0;
  double coupling = 1.0;
};

/// How the linear systems behind an update went. Of several, the sum of the iterations and the worst residual.
struct SolveSummary {
  /// local: how many nodes' means changed.
  std::size_t iterations = 0;
  /// local: over how many edges the change was passed on.
  std::size_t edges = 0;
  /// |residual| / |right-hand side|; 0 where the engine solves exactly. local: the largest residual of a node that is
  /// left, in units of the one that is allowed.
  double residual = 0.0;
  bool converged = true;

  void add(const SolveSummary& other);
};

/// Keeps the belief of one connected component true to its evidence.
///
/// With N = A (x) I_d + diag(S_1, ..., S_n) and c of the evidence, the belief is w = N^{-1} c and, for every node i,
/// C_i = the i-th diagonal d x d block of N^{-1}. Learning reward a for context x at node i is a rank-one change of N:
///
///     u = N^{-1} phi_i(x),  q = x.u_i,  w += u (a - x.w_i) / (1 + q),  C_j -= u_j u_j^T / (1 + q)
///
/// and changing the weight of edge (a, b) by k is a rank-d change: with E = (e_a - e_b) (x) I_d, Y = N^{-1} E and
/// F = I + k E^T Y,
///
///     N^{-1} -= k Y F^{-1} Y^T,   w -= k Y F^{-1} (w_a - w_b),   ln|N| += ln|F|.
///
/// Nodes are numbered 0, 1, ... within the component. const calls may run at the same time; the others may not.
class Engine {
 public:
  struct Learned {
    double variance = 0.0;        // q: x^T C_i x before learning
    double variance_error = 0.0;  // q is at most this much too large, and never too small
    SolveSummary solve;
  };
  struct EdgeChanged {
    double log_determinant = 0.0;        // of N: its change
    double prior_log_determinant = 0.0;  // of A: its change
    double error = 0.0;                  // ln|N| - d ln|A| is at most this much too large, and never too small
    SolveSummary solve;
  };
  /// What was observed at one node: Evidence::contexts and Evidence::rewards.
  struct NodeEvidence {
    std::span<const double> contexts;
    std::span<const double> rewards;
  };

  virtual ~Engine() = default;

  [[nodiscard]] virtual EngineKind kind() const = 0;
  [[nodiscard]] virtual std::size_t node_count() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Engine> clone() const = 0;

  /// Writes w_i, d numbers.
  virtual void mean(std::size_t node, std::span<double> out) const = 0;

  /// Writes C_i, d x d numbers.
  virtual void covariance(std::size_t node, std::span<double> out) const = 0;

  /// For each context (d numbers each, one after the other): x.w_i and x^T C_i x. No allocation for d <= 128.
  virtual void evaluate(std::size_t node, std::span<const double> contexts, std::span<double> means,
                        std::span<double> variances) const = 0;

  /// evaluate, and how far it can be off for each context: |mean - x.w_i| <=
  /// mean_error and 0 <= variance - x^T C_i x <= variance_error. Rounding is not counted, nor are sparse's solves,
  /// which have their tolerance: both exact engines say 0.
  virtual void evaluate_with_errors(std::size_t node, std::span<const double> contexts, std::span<double> means,
                                    std::span<double> variances, std::span<double> mean_errors,
                                    std::span<double> variance_errors) const;

  virtual Learned learn(std::size_t node, std::span<const double> context, double reward) = 0;

  /// Adds `change` (positive or negative) to the weight of the edge between two nodes; an edge without weight is gone.
  /// The evidence, one entry a node, is what the belief is computed from anew where the formula above would cancel: the
  /// weight that goes is large beside what is left.
  virtual EdgeChanged change_edge(std::size_t a, std::size_t b, double change,
                                  std::span<const NodeEvidence> evidence) = 0;

  /// The nodes that can be reached from a node, ascending.
  [[nodiscard]] std::vector<NodeId> reachable(std::size_t node) const;
  /// The engine for some of the nodes only, which no edge joins to the others.
  [[nodiscard]] virtual std::unique_ptr<Engine> extract(std::span<const NodeId> nodes) const = 0;

  [[nodiscard]] virtual const Graph& graph() const = 0;

  virtual void save(BinaryWriter& out) const = 0;
};

/// The kind that `automatic` stands for in a component of this size.
[[nodiscard]] EngineKind choose_engine(EngineKind wanted, std::size_t nodes, std::size_t dimension);

/// What an engine of this kind takes for a component once every node has evidence; local without that evidence, since
/// its components are too large for everybody to come.
[[nodiscard]] std::size_t engine_bytes(EngineKind kind, std::size_t nodes, std::size_t edges, std::size_t dimension);

/// An engine without evidence.
[[nodiscard]] std::unique_ptr<Engine> make_engine(EngineKind kind, const Graph& component, std::size_t dimension,
                                                  const Prior& prior, const EngineOptions& options);

/// The engine for two components beside each other: the nodes of the first, then those of the second, and their
/// evidence. dense only joins dense, and what is joined to local becomes local.
[[nodiscard]] std::unique_ptr<Engine> join_engines(EngineKind kind, const Engine& first, const Engine& second,
                                                   std::span<const Engine::NodeEvidence> evidence,
                                                   std::size_t dimension, const Prior& prior,
                                                   const EngineOptions& options);

void save_engine(BinaryWriter& out, const Engine& engine);
[[nodiscard]] std::unique_ptr<Engine> load_engine(BinaryReader& in, std::size_t dimension, const Prior& prior,
                                                  const EngineOptions& options);

}  // namespace goblin
