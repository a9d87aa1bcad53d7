#pragma once

#include "goblin/belief/engine.hpp"

#include <Eigen/Core>

namespace goblin {

/// Keeps all of N^{-1}, an m x m matrix with m = n d: the reference, and the fastest for small components.
///
/// Rank-one updates wait as columns u / sqrt(1 + q) beside the matrix and are applied many at once, at the speed of a
/// matrix product instead of that of memory: m^2 / 2 multiplications a reward, m (d + waiting) more for u itself.
/// Until the first reward, N^{-1} = A^{-1} (x) I_d and only A^{-1} is kept.
class DenseEngine final : public Engine {
 public:
  DenseEngine(const Graph& component, std::size_t dimension, const Prior& prior);
  DenseEngine(const DenseEngine& first, const DenseEngine& second);
  DenseEngine(BinaryReader& in, std::size_t dimension, const Prior& prior);

  [[nodiscard]] EngineKind kind() const override { return EngineKind::dense; }
  [[nodiscard]] std::size_t node_count() const override { return graph_.node_count(); }
  [[nodiscard]] std::size_t bytes() const override;
  [[nodiscard]] static std::size_t bytes(std::size_t nodes, std::size_t edges, std::size_t dimension);
  [[nodiscard]] std::unique_ptr<Engine> clone() const override { return std::make_unique<DenseEngine>(*this); }
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
  using Index = Eigen::Index;

  explicit DenseEngine(std::size_t dimension, const Prior& prior) : dimension_(dimension), prior_(prior) {}

  [[nodiscard]] bool untouched() const { return inverse_.size() == 0; }
  void touch();
  void compute_prior();
  void compute_belief(std::span<const NodeEvidence> evidence);
  [[nodiscard]] Eigen::MatrixXd edge_solutions(std::size_t a, std::size_t b) const;
  void apply_waiting();
  [[nodiscard]] Eigen::VectorXd column(std::size_t node, const Eigen::VectorXd& x) const;
  [[nodiscard]] Eigen::MatrixXd block(std::size_t row, std::size_t column) const;

  std::size_t dimension_;
  Prior prior_;
  Graph graph_;
  Eigen::MatrixXd prior_inverse_;  // A^{-1}
  Eigen::MatrixXd inverse_;        // N^{-1} before what waits, its lower triangle; empty while untouched
  Eigen::VectorXd mean_;           // w; empty while untouched
  Eigen::MatrixXd waiting_;        // a column each
  Index waiting_count_ = 0;
  double trust_ = 1.0;  // the product of the pivots of edges that lost weight since the belief was last computed anew
};

}  // namespace goblin
