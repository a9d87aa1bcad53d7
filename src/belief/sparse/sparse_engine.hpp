#pragma once

#include "belief/engine.hpp"
#include "belief/packs.hpp"
#include "belief/selected_inverse/elimination_plan.hpp"
#include "belief/sparse/context_solver.hpp"
#include "belief/sparse/lane_solver.hpp"
#include "belief/sparse/precision_solver.hpp"
#include "belief/sparse/prior_variances.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace goblin {

class ChangeColumns;
class EdgeColumns;
class SelectedInverse;
struct NodeLesson;

/// Keeps w_j and C_j of every node, O(n d^2) memory, and solves N u = phi_i(x) for each reward (PrecisionSolver).
///
/// Vectors of d numbers are padded with zeros to whole packs. C_j changes wait until some are there and are then
/// applied in one pass; whoever reads C_j in between subtracts what waits.
///
/// In large components the variances before the first reward, (A^{-1})_jj, take long to find. There C_j lacks
/// (A^{-1})_jj I until somebody asks for it: what is learned meanwhile is subtracted from zero.
class SparseEngine final : public Engine {
 public:
  SparseEngine(const PriorMatrix& prior, std::size_t dimension, const EngineOptions& options);
  /// Two components side by side, of any kind.
  SparseEngine(const Engine& first, const Engine& second, const ComponentEvidence& evidence, std::size_t dimension,
               const EngineOptions& options);
  SparseEngine(BinaryReader& in, const PriorMatrix& prior, std::size_t dimension, const EngineOptions& options);

  [[nodiscard]] EngineKind kind() const override { return EngineKind::sparse; }
  [[nodiscard]] const PriorMatrix& prior() const override { return prior_; }
  [[nodiscard]] double longest_context() const override;
  [[nodiscard]] std::size_t bytes() const override;
  [[nodiscard]] static std::size_t bytes(std::size_t nodes, std::size_t edges, std::size_t dimension);
  void set_access(Access* access) override;
  [[nodiscard]] std::unique_ptr<Engine> clone() const override;
  void mean(std::size_t node, std::span<double> out) const override;
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
  Changed change_evidence(std::size_t node, const UserEvidence& sums, int sign,
                          const ComponentEvidence& evidence) override;
  [[nodiscard]] std::optional<Changed> forget(std::size_t node, std::span<const double> context, double reward,
                                              const ComponentEvidence& evidence) override;
  SolveSummary rebuild(const ComponentEvidence& evidence, const Work& work) override;
  [[nodiscard]] std::unique_ptr<Engine> extract(std::span<const NodeId> nodes,
                                                const ComponentEvidence& evidence) const override;
  void save(BinaryWriter& out) const override;
  void set_progress(const std::function<void(double)>& progress) override { options_.progress = progress; }
  void take_prior_variances(const Engine& other) const override;

 private:
  struct Empty {};
  /// Everything but the belief itself.
  SparseEngine(Empty, PriorMatrix prior, std::size_t dimension, const EngineOptions& options);

  [[nodiscard]] std::size_t stride() const { return pack_count_ * pack_size; }
  [[nodiscard]] const double* covariance_column(std::size_t node, std::size_t c) const {
    return covariances_.data() + node * covariance_size_ + column_begins_[c];
  }
  [[nodiscard]] double* covariance_column(std::size_t node, std::size_t c) {
    return covariances_.data() + node * covariance_size_ + column_begins_[c];
  }
  /// What waits, for those who read a node.
  struct Shown {
    std::uint8_t count = 0;   // of the terms
    std::uint8_t losses = 0;  // a bit for each term: N loses it
  };
  [[nodiscard]] Shown waits() const { return {static_cast<std::uint8_t>(waiting_count_), losses_}; }
  [[nodiscard]] Shown shown(std::size_t node) const { return access_ == nullptr ? waits() : shown_[node]; }
  [[nodiscard]] double* waiting(std::size_t node) { return waiting_.data() + node * waiting_room * stride(); }
  [[nodiscard]] const double* waiting(std::size_t node) const {
    return waiting_.data() + node * waiting_room * stride();
  }

  /// What is missing in covariances_ at the diagonal of C_j, for those who read it. A solve if nobody has asked for
  /// this node or one of its group before.
  [[nodiscard]] double missing_variance(std::size_t node) const {
    if (!variances_.is_known(node)) variances_.find(node, prior_, found_variance());
    return missing_[node];
  }
  /// Finds what is missing of all nodes.
  void find_missing(const std::function<void(double)>& progress) const;
  [[nodiscard]] PriorVariances::Found found_variance() const;
  /// Nothing is missing of this node any more, if it was found; for whoever may write the node.
  void put_in_missing(std::size_t node);

  /// The largest coupling * degree / ridge of a node.
  [[nodiscard]] static double strongest_coupling(const PriorMatrix& prior);
  void apply_waiting();
  struct Scaled;
  [[nodiscard]] std::vector<double> own_solution(std::size_t node);
  [[nodiscard]] double largest_entry(std::size_t node, std::span<const double> vector) const;
  [[nodiscard]] double product(std::size_t node, std::span<const double> context, std::span<const double> vector) const;
  void change_by(std::size_t node, double scale, double variance, double step, bool loss);
  void set_covariance(std::size_t node, const Eigen::MatrixXd& covariance);
  void copy_belief(std::size_t node, const Engine& from, std::size_t from_node);

  void multiply_covariance(std::size_t node, const double* from, double* to) const;
  SolveSummary solve(double tolerance);
  [[nodiscard]] SolveSummary summary_of(const PrecisionSolver::Solved& solved) const;
  SolveSummary solve_means(const ComponentEvidence& evidence);
  Changed change(const ChangeColumns& columns, bool gains, const std::function<void()>& change_solver,
                 const ComponentEvidence& evidence);
  void subtract_terms(const Eigen::MatrixXd& terms, double sign, std::size_t threads) noexcept;

  /// Where solutions go: entry r of node j of the k-th is at (j * d + r) * row_step + k * step.
  struct SolutionRows {
    double* numbers;
    std::size_t row_step;
    std::size_t step;

    [[nodiscard]] SolutionRows column(std::size_t k) const { return {numbers + k * step, row_step, step}; }
  };

  // Edges: sparse_edges.cpp.
  [[nodiscard]] bool has_evidence() const;
  [[nodiscard]] std::size_t edges_in_a_step() const;
  [[nodiscard]] bool side_by_side_pays() const;
  SolveSummary solve_in_turn(std::span<const LaneSolver::Column> systems, std::span<const double> sizes,
                             const SolutionRows& solutions, const Work& work);
  Changed change_edges(std::span<const Edge> edges, bool gains, const ComponentEvidence& evidence, const Work& work);
  void change_prior_variances(const EdgeColumns& columns, bool gains, PriorMatrix changed);
  std::optional<Changed> invert_with_edges(std::span<const Edge> edges, const ComponentEvidence& evidence,
                                           const Work& work);

  // Many rewards at once: sparse_bulk.cpp.
  class Chunk;
  SolveSummary solve_chunk(std::span<const LaneSolver::Column> systems, std::span<const NodeLesson> lessons,
                           std::span<const double> sizes, ContextSolver::Rows& solutions, const Work& work);
  SolveSummary solve_side_by_side(std::span<const LaneSolver::Column> systems, std::span<const double> sizes,
                                  const SolutionRows& solutions, const Work& work);
  SolveSummary solve_alone(const LaneSolver::Column& system, double size, const SolutionRows& solution);
  void learn_chunk(std::span<const NodeLesson> lessons, const Work& work, Changed& total);
  [[nodiscard]] double chunk_bytes(std::size_t columns, std::size_t threads) const;
  [[nodiscard]] double gain_of(const NodeLesson& lesson) const;
  [[nodiscard]] bool may_invert(const ComponentEvidence& evidence) const;
  [[nodiscard]] double multiplications_of_solves(double columns) const;
  [[nodiscard]] std::optional<EliminationPlan> plan_inverse(double solves, const ComponentEvidence& evidence,
                                                            const Work& work) const;
  [[nodiscard]] std::optional<double> find_log_determinant(const EliminationPlan& plan, const Work& work) const;
  [[nodiscard]] std::optional<double> find_prior_log_determinant(const PriorMatrix& prior, const EliminationPlan& plan,
                                                                 const Work& work) const;
  void take_over(SelectedInverse& inverse, const ComponentEvidence& evidence);
  bool invert(const EliminationPlan& plan, const ComponentEvidence& evidence, const Work& work);

  static constexpr std::size_t waiting_room = 8;
  /// The relative residual for solves that nothing corrects later: edges, evidence that moves, rebuilds.
  static constexpr double tight = 1e-13;

  std::size_t dimension_;
  std::size_t pack_count_;
  PriorMatrix prior_;
  static constexpr double heaviest_to_invert = 1e6;  // coupling * degree / ridge: beyond, inverting N loses digits
  double strongest_coupling_ = 0.0;
  EngineOptions options_;

  std::vector<std::size_t> column_begins_;  // of C_j, so that entry (r, c) is at column_begins_[c] + r, r >= c
  std::size_t covariance_size_ = 0;
  std::vector<double> means_;
  std::vector<double> covariances_;  // of nodes whose prior variance is not known or still missing, without it
  PriorVariances variances_;
  // What decisions found, whoever asked, and the next who may write the node will put in. 0 where nothing is missing.
  mutable std::vector<double> missing_;
  std::vector<double> waiting_;  // node after node, waiting_room terms each
  std::size_t waiting_count_ = 0;
  std::uint8_t losses_ = 0;   // of what waits
  std::vector<Shown> shown_;  // of each node, where there is an Access: learn goes through the nodes
  // How far rewards have moved the means of their own nodes since all were solved for, once one has been forgotten.
  std::optional<double> moved_;
  std::optional<double> log_determinant_;  // ln|N|, where something has needed it
  /// Limits that inverting N did not keep to, of this graph: nothing is planned again within them.
  struct InverseLimits {
    double multiplications = 0.0;
    double bytes = 0.0;
  };
  mutable InverseLimits too_little_;
  PrecisionSolver solver_;
  ContextSolver context_solver_;
};

}  // namespace goblin
