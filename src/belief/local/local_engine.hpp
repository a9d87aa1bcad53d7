#pragma once

#include "belief/engine.hpp"
#include "belief/local/barrier.hpp"
#include "belief/local/block_cg.hpp"
#include "belief/local/coarse_level.hpp"
#include "belief/local/distinct_slots.hpp"
#include "belief/local/kept_precisions.hpp"
#include "belief/local/local_nodes.hpp"
#include "belief/local/neighbourhood.hpp"
#include "belief/local/residual_queue.hpp"
#include "belief/local/typical_length.hpp"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace goblin {

/// Looks at the surroundings of a user only: the cost of a reward or a decision does not grow with the graph, and every
/// score comes with a bound on how far it can be off. docs/engines.md has the mathematics.
///
/// Means. Beside w there is the residual r = c - N w, true at all times. A reward changes it at one node; nodes whose
/// |r_j| is above what is allowed are settled, w_j += B_j^{-1} r_j with B_j = A_jj I + S_j, which passes
/// coupling * weight * step on to each neighbour. With the heights and slopes of a Barrier,
/// |w_i - exact| <= height_i max |r_j| / slope_j for every node.
///
/// What is left in the residuals a decision estimates: near its node as it is, and everywhere else as the same step for
/// the whole component (CoarseLevel), in which direction the equations are softest.
///
/// Variances. None are kept but those of the prior, at nodes that decisions were about. A decision takes the evidence
/// of its own node exactly and bounds what that of others can add. Only where this is too much: for the nodes S around
/// i that matter (Neighbourhood), N_SS u = phi_i(x) is solved by conjugate gradients, and with the residual that u
/// leaves outside S, x^T C_i x lies between x.u_i and x.u_i + gap * max_j (|u_j| / g_j)^2. Both are
/// given to whoever decides.
///
/// A node takes memory when a reward first reaches it: two vectors of d numbers, and B_j^{-1} once it has evidence.
/// Deciding takes a workspace for each thread that does.
///
/// local_engine.cpp has how the engine is made and changed, local_learn.cpp how residuals are settled, local_bulk.cpp
/// how many rewards are learned at once, local_evaluate.cpp what decisions ask, and local_influence.cpp who had a say.
class LocalEngine final : public Engine {
 public:
  LocalEngine(const PriorMatrix& prior, std::size_t dimension, const LocalOptions& options);
  /// Two components side by side, of any kind.
  LocalEngine(const Engine& first, const Engine& second, const ComponentEvidence& evidence, std::size_t dimension,
              const LocalOptions& options);
  LocalEngine(BinaryReader& in, const PriorMatrix& prior, std::size_t dimension, const LocalOptions& options);

  [[nodiscard]] EngineKind kind() const override { return EngineKind::local; }
  [[nodiscard]] const PriorMatrix& prior() const override { return prior_; }
  [[nodiscard]] std::size_t bytes() const override;
  [[nodiscard]] static std::size_t bytes(std::size_t nodes, std::size_t edges, std::size_t dimension);
  /// Decisions read the surroundings of their node, so there is one place for all nodes.
  [[nodiscard]] std::size_t place(std::size_t /*node*/) const override { return first_place(); }
  [[nodiscard]] std::unique_ptr<Engine> clone() const override { return std::make_unique<LocalEngine>(*this); }
  void mean(std::size_t node, std::span<double> out) const override;
  /// Not below C_i.
  void covariance(std::size_t node, std::span<double> out) const override;
  void evaluate(std::size_t node, std::span<const double> contexts, std::span<const std::uint8_t> allowed,
                const Evaluation& out) const override;
  [[nodiscard]] Influence influence(std::size_t node, std::span<const double> context) const override;
  Learned learn(std::size_t node, std::span<const double> context, double reward) override;
  Changed learn_many(std::span<const NodeReward> rewards, const ComponentEvidence& evidence, const Work& work) override;
  [[nodiscard]] Bytes bulk_bytes(std::size_t rewards, std::size_t nodes, std::size_t threads) const override;
  [[nodiscard]] Bytes edges_bytes(std::size_t edges, std::size_t threads) const override;
  [[nodiscard]] Bytes rebuild_bytes(std::size_t threads) const override;
  Changed set_edges(std::span<const Edge> edges, const ComponentEvidence& evidence, const Work& work) override;
  bool absorb(const Engine& other, const ComponentEvidence& evidence) override;
  bool release(std::span<const NodeId> nodes, const ComponentEvidence& gone, const ComponentEvidence& kept) override;
  Changed change_evidence(std::size_t node, const UserEvidence& sums, int sign,
                          const ComponentEvidence& evidence) override;
  SolveSummary rebuild(const ComponentEvidence& evidence, const Work& work) override;
  [[nodiscard]] std::unique_ptr<Engine> extract(std::span<const NodeId> nodes,
                                                const ComponentEvidence& evidence) const override;
  void save(BinaryWriter& out) const override;

 private:
  static constexpr NodeId none = LocalNodes::none;
  /// A width that can be off by so many tolerances is worth a look at more nodes.
  static constexpr double too_many_tolerances = 10.0;

  struct NearEvidence;
  /// Where a decision works.
  struct Workspace {
    Neighbourhood near;
    // What the latest walk was about: one that is asked for again is there already.
    NodeId walked_from = none;
    double walked_tolerance = 0.0;
    std::size_t walked_prior = 0;
    BlockCgVectors vectors;         // |S| d rows
    std::vector<LaneRow> contexts;  // d rows, zero where a candidate is left out
    std::vector<double> coarse_step;
    std::vector<std::pair<NodeId, Neighbourhood::Entry>> pushed;  // with their slots
    std::vector<NearEvidence> evidence;
  };
  /// Workspaces that no thread uses just now. A copy of an engine has its own.
  class Workspaces {
   public:
    Workspaces() = default;
    Workspaces(const Workspaces& /*other*/) {}
    Workspaces& operator=(const Workspaces&) = delete;
    ~Workspaces() = default;

    [[nodiscard]] std::unique_ptr<Workspace> take();
    void put_back(std::unique_ptr<Workspace> workspace);
    [[nodiscard]] std::size_t count() const;

   private:
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Workspace>> idle_;
  };

  // local_learn.cpp
  std::size_t slot_for(NodeId node);
  void offer(std::size_t slot);
  void slope_changed(NodeId node);
  void offer_all();
  void observe_length(double squared_length);
  void pass_on(std::size_t slot, double factor);
  std::size_t push(std::size_t slot);
  std::size_t settle_around(NodeId node);
  void let_readers_in();
  [[nodiscard]] double largest_residual() const;
  SolveSummary settle();
  SolveSummary settle(bool& pushing);
  [[nodiscard]] Learned look_at(std::size_t node, std::span<const double> context) const;
  void take_in(std::size_t node, std::span<const double> context, double reward);

  // local_bulk.cpp
  [[nodiscard]] bool is_bulk(std::size_t rewards) const;
  Changed learn_in_bulk(std::span<const NodeReward> rewards, const ComponentEvidence& evidence, const Work& work);
  void compute_residuals(const ComponentEvidence& evidence, std::size_t threads);
  SolveSummary solve_for_means(const ComponentEvidence& evidence, const Work& work);
  SolveSummary settle_all(std::size_t rewards);

  // local_engine.cpp
  void prior_changed();
  void learn_length_of(const UserEvidence& sums);
  void compute_residual(NodeId node, const UserEvidence& evidence);
  void compute_inverse(NodeId node, const UserEvidence& evidence);
  Changed rewire(const Edge& edge, const ComponentEvidence& evidence);
  [[nodiscard]] Changed gain_from(NodeId node, const UserEvidence& sums, const Eigen::MatrixXd& before) const;
  void append(const Engine& other, const ComponentEvidence& evidence);
  [[nodiscard]] Eigen::MatrixXd sum_of(const ComponentEvidence& evidence) const;
  void compute_coarse_level(const ComponentEvidence& evidence);
  void copy_part(const Engine& from, NodeId shift, const ComponentEvidence& evidence);
  void copy_node(NodeId node, const LocalEngine& from, NodeId from_node);

  // local_evaluate.cpp
  [[nodiscard]] Neighbourhood::Prior near_prior() const { return {prior_, diagonal_, barrier_}; }
  void walk(Workspace& work, NodeId node, double longest) const;
  [[nodiscard]] double kept_precision(Workspace& work, NodeId node) const;
  struct NodePrecision;
  [[nodiscard]] NodePrecision look_around(Workspace& work, NodeId node) const;
  /// Decisions about a node with evidence are to be within the tolerance.
  [[nodiscard]] bool is_decided_well(NodeId node, std::size_t most_nodes) const {
    return most_nodes > options_.most_nodes && nodes_.inverse(node) != nullptr;
  }
  /// The nodes that a decision may look at are all of the component, or nearly all.
  [[nodiscard]] bool is_small() const { return node_count() <= 4 * options_.most_nodes; }
  [[nodiscard]] std::size_t most_nodes_of_a_decision() const;
  [[nodiscard]] bool evaluate_alone(Workspace& work, NodeId node, std::span<const double> contexts,
                                    std::span<const std::uint8_t> allowed, double longest, std::size_t most_nodes,
                                    const Evaluation& out) const;
  void evaluate(std::size_t node, std::span<const double> contexts, std::span<const std::uint8_t> allowed,
                std::size_t most_nodes, const Evaluation& out) const;
  void grow(Workspace& work, NodeId node, double longest, std::size_t most_nodes) const;
  void evaluate_near(Workspace& work, std::span<const double> contexts, std::span<const std::uint8_t> allowed,
                     std::size_t first, const Evaluation& out) const;
  LaneRow multiply_near(const Workspace& work, std::size_t dimension, const LaneRow* p, const LaneRow* bp,
                        LaneRow* to) const;
  void guess_near(Workspace& work) const;
  void solve_near(Workspace& work, std::size_t dimension, const Lanes& goal, bool with_evidence) const;
  struct MatrixBracket;
  [[nodiscard]] MatrixBracket bracket(std::span<const NodeId> seeds, bool with_evidence, std::size_t most_nodes) const;

  // local_influence.cpp
  [[nodiscard]] std::vector<NodeId> nodes_that_matter(Workspace& work, NodeId node) const;

  std::size_t dimension_;
  PriorMatrix prior_;
  LocalOptions options_;
  std::vector<double> diagonal_;  // of A
  Barrier barrier_;
  std::size_t prior_changes_ = 0;
  KeptPrecisions kept_precisions_;  // not above 1 / (A^{-1})_jj

  LocalNodes nodes_;
  ResidualQueue queue_;          // residuals there are in units of their node's slope
  double residual_bound_ = 0.0;  // no |r_j| / slope_j is above
  TypicalLength typical_length_;
  double length_ = 0.0;  // the typical length that the allowed residual was last computed from
  CoarseLevel coarse_;
  /// Upper bounds of (A^{-1})_jj that a bulk has asked for, 0 where none has; empty before the first. Edges that come
  /// only make (A^{-1})_jj smaller.
  std::vector<double> prior_variances_;

  std::vector<double> step_;
  std::vector<std::size_t> slots_;  // of the neighbours in a push
  DistinctSlots pushed_;            // since the largest residual fell by half
  mutable Workspaces workspaces_;
};

/// What a walk tells of the precision C_i^{-1} of its node: it lies between low I + S_i and (high + others) I + S_i.
struct LocalEngine::NodePrecision {
  double low;
  double high;           // infinite after a walk of no steps
  double others;         // for the evidence of other nodes
  double near_residual;  // not below the sum of (A^{-1})_ik |r_k|
};

/// What a decision needs to know of a node with evidence near its own (evaluate_alone).
struct LocalEngine::NearEvidence {
  NodeId node;
  double weight;   // (v_k / v_i)^2 A_kk
  double first;    // 1 + 2 residual_k / (v_k A_kk)
  double at_most;  // what it adds to the precision
};

/// E^T N^{-1} E lies between lower and lower + slack I, where E = +e_a (x) I_d for the first seed and -e_b (x) I_d for
/// the second.
struct LocalEngine::MatrixBracket {
  Eigen::MatrixXd lower;
  double slack = 0.0;
};

}  // namespace goblin
