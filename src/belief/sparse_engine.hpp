#pragma once

#include "belief/packs.hpp"
#include "belief/precision_solver.hpp"
#include "goblin/belief/engine.hpp"

#include <array>
#include <vector>

namespace goblin {

/// Keeps w_j and C_j of every node, O(n d^2) memory, and solves N u = phi_i(x) for each reward (PrecisionSolver).
///
/// Vectors of d numbers are padded with zeros to whole packs. C_j changes wait until some are there and are then
/// applied in one pass; whoever reads C_j in between subtracts what waits.
class SparseEngine final : public Engine {
 public:
  SparseEngine(const Graph& component, std::size_t dimension, const Prior& prior, const EngineOptions& options);
  /// Two components side by side, of any kind.
  SparseEngine(const Engine& first, const Engine& second, std::span<const NodeEvidence> evidence, std::size_t dimension,
               const Prior& prior, const EngineOptions& options);
  SparseEngine(BinaryReader& in, std::size_t dimension, const Prior& prior, const EngineOptions& options);

  [[nodiscard]] EngineKind kind() const override { return EngineKind::sparse; }
  [[nodiscard]] std::size_t node_count() const override { return graph_.node_count(); }
  [[nodiscard]] std::size_t bytes() const override;
  [[nodiscard]] static std::size_t bytes(std::size_t nodes, std::size_t edges, std::size_t dimension);
  [[nodiscard]] std::unique_ptr<Engine> clone() const override { return std::make_unique<SparseEngine>(*this); }
  void mean(std::size_t node, std::span<double> out) const override;
  void covariance(std::size_t node, std::span<double> out) const override;
  void evaluate(std::size_t node, std::span<const double> contexts, std::span<double> means,
                std::span<double> variances) const override;
  Learned learn(std::size_t node, std::span<const double> context, double reward) override;
  EdgeChanged change_edge(std::size_t a, std::size_t b, double change, std::span<const NodeEvidence> evidence) override;
  [[nodiscard]] std::unique_ptr<Engine> extract(std::span<const NodeId> nodes) const override;
  [[nodiscard]] const Graph& graph() const override { return graph_; }
  void save(BinaryWriter& out) const override;

 private:
  SparseEngine(const Graph& component, std::size_t dimension, const Prior& prior, const EngineOptions& options, int);

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

  void apply_waiting();
  void copy_belief(std::size_t node, const Engine& from, std::size_t from_node);

  void start_at(std::size_t node);
  [[nodiscard]] SolveSummary solve(double tolerance);

  static constexpr std::size_t waiting_room = 8;

  std::size_t dimension_;
  std::size_t pack_count_;
  Prior prior_;
  EngineOptions options_;
  Graph graph_;

  std::vector<std::size_t> column_begins_;  // of C_j, so that entry (r, c) is at column_begins_[c] + r, r >= c
  std::size_t covariance_size_ = 0;
  std::vector<double> means_;
  std::vector<double> covariances_;
  std::vector<double> waiting_;  // node after node, waiting_room terms each
  std::size_t waiting_count_ = 0;
  PrecisionSolver solver_;
};

}  // namespace goblin
