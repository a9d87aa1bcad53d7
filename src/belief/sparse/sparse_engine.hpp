#pragma once

#include "belief/engine.hpp"
#include "belief/packs.hpp"
#include "belief/sparse/precision_solver.hpp"

#include <functional>
#include <vector>

namespace goblin {

class ChangeColumns;

/// Keeps w_j and C_j of every node, O(n d^2) memory, and solves N u = phi_i(x) for each reward (PrecisionSolver).
///
/// Vectors of d numbers are padded with zeros to whole packs. C_j changes wait until some are there and are then
/// applied in one pass; whoever reads C_j in between subtracts what waits.
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
  [[nodiscard]] std::unique_ptr<Engine> clone() const override { return std::make_unique<SparseEngine>(*this); }
  void mean(std::size_t node, std::span<double> out) const override;
  void covariance(std::size_t node, std::span<double> out) const override;
  void evaluate(std::size_t node, std::span<const double> contexts, std::span<const std::uint8_t> allowed,
                const Evaluation& out) const override;
  Learned learn(std::size_t node, std::span<const double> context, double reward) override;
  Changed learn_many(std::span<const NodeReward> rewards, const ComponentEvidence& evidence,
                     std::size_t threads) override;
  Changed set_edge(NodeId a, NodeId b, double weight, const ComponentEvidence& evidence) override;
  Changed change_evidence(std::size_t node, const UserEvidence& sums, int sign,
                          const ComponentEvidence& evidence) override;
  SolveSummary rebuild(const ComponentEvidence& evidence, std::size_t threads) override;
  [[nodiscard]] std::unique_ptr<Engine> extract(std::span<const NodeId> nodes,
                                                const ComponentEvidence& evidence) const override;
  void save(BinaryWriter& out) const override;

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
  [[nodiscard]] double* waiting(std::size_t node) { return waiting_.data() + node * waiting_room * stride(); }
  [[nodiscard]] const double* waiting(std::size_t node) const {
    return waiting_.data() + node * waiting_room * stride();
  }

  void find_strongest_coupling();
  void apply_waiting();
  void set_covariance(std::size_t node, const Eigen::MatrixXd& covariance);
  void copy_belief(std::size_t node, const Engine& from, std::size_t from_node);

  void multiply_covariance(std::size_t node, const double* from, double* to) const;
  SolveSummary solve(double tolerance);
  SolveSummary solve_means(const ComponentEvidence& evidence);
  Changed change(const ChangeColumns& columns, bool gains, const std::function<void()>& change_solver,
                 const ComponentEvidence& evidence);

  static constexpr std::size_t waiting_room = 8;

  std::size_t dimension_;
  std::size_t pack_count_;
  PriorMatrix prior_;
  double strongest_coupling_ = 0.0;  // the largest coupling * degree / ridge of a node
  EngineOptions options_;

  std::vector<std::size_t> column_begins_;  // of C_j, so that entry (r, c) is at column_begins_[c] + r, r >= c
  std::size_t covariance_size_ = 0;
  std::vector<double> means_;
  std::vector<double> covariances_;
  std::vector<double> waiting_;  // node after node, waiting_room terms each
  std::size_t waiting_count_ = 0;
  PrecisionSolver solver_;
};

}  // namespace goblin
