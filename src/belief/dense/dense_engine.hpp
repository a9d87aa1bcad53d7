#pragma once

#include "belief/engine.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include <Eigen/Core>

namespace goblin {

/// Keeps all of N^{-1}, an m x m matrix with m = n d: the reference, and the fastest for small components.
///
/// Rank-one updates wait as columns u / sqrt(1 + q) beside the matrix and are applied many at once, at the speed of a
/// matrix product instead of that of memory: m^2 / 2 multiplications a reward, m (d + waiting) more for u itself.
/// A reward that is forgotten waits like the others, with the opposite sign.
/// Until the first reward, N^{-1} = A^{-1} (x) I_d and only A^{-1} is kept.
class DenseEngine final : public Engine {
 public:
  DenseEngine(const PriorMatrix& prior, std::size_t dimension);
  DenseEngine(const DenseEngine& first, const DenseEngine& second);
  DenseEngine(BinaryReader& in, const PriorMatrix& prior, std::size_t dimension);

  [[nodiscard]] EngineKind kind() const override { return EngineKind::dense; }
  [[nodiscard]] const PriorMatrix& prior() const override { return prior_; }
  [[nodiscard]] std::size_t bytes() const override;
  [[nodiscard]] static std::size_t bytes(std::size_t nodes, std::size_t edges, std::size_t dimension);
  void set_access(Access* access) override;
  [[nodiscard]] std::unique_ptr<Engine> clone() const override { return std::make_unique<DenseEngine>(*this); }
  void mean(std::size_t node, std::span<double> out) const override;
  void covariance(std::size_t node, std::span<double> out) const override;
  void evaluate(std::size_t node, std::span<const double> contexts, std::span<const std::uint8_t> allowed,
                const Evaluation& out) const override;
  [[nodiscard]] bool gather(std::size_t node, std::span<const std::uint32_t> places, std::span<double> mean,
                            std::span<double> covariance) const override;
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

 private:
  using Index = Eigen::Index;

  struct Empty {};
  DenseEngine(Empty, PriorMatrix prior, std::size_t dimension);

  /// What a decision about a node reads.
  struct Shown {
    Index waiting_count;
    std::uint32_t losses;
    bool set_aside;  // the block of N^{-1} is read in set_aside_
  };
  [[nodiscard]] Shown shown(std::size_t node) const {
    return access_ == nullptr ? Shown{waiting_count_, losses_, false} : shown_[node];
  }

  using Block = Eigen::Map<const Eigen::MatrixXd, Eigen::Unaligned, Eigen::OuterStride<>>;
  /// The block of N^{-1} that a decision about a node reads; of its lower triangle only.
  [[nodiscard]] Block shown_block(std::size_t node) const;

  [[nodiscard]] bool has_learned() const { return inverse_.size() > 0; }
  void start_learning();
  [[nodiscard]] double row_count() const { return static_cast<double>(node_count() * dimension_); }
  [[nodiscard]] bool many(std::size_t rewards) const;
  /// Both give the logarithm of the determinant, of A and of N.
  double compute_prior_inverse();
  double compute_belief(const ComponentEvidence& evidence);
  [[nodiscard]] double log_determinant(const ComponentEvidence& evidence) const;
  [[nodiscard]] Eigen::MatrixXd prior_precision() const;
  [[nodiscard]] Eigen::MatrixXd precision(const ComponentEvidence& evidence) const;
  void compute_mean(const ComponentEvidence& evidence);
  void subtract_product(const ComponentEvidence& evidence, const Eigen::VectorXd& from, Eigen::VectorXd& to) const;
  void change_by(const Eigen::VectorXd& u, double variance, double gain, bool loss);
  Changed change_edges(const class EdgeColumns& columns, double sign, const ComponentEvidence& evidence);
  [[nodiscard]] Eigen::MatrixXd solve(const EdgeColumns& columns) const;
  [[nodiscard]] Eigen::MatrixXd solve(const class ChangeColumns& columns) const;
  void apply_waiting();
  [[nodiscard]] Eigen::VectorXd column(std::size_t node, const Eigen::VectorXd& x) const;
  [[nodiscard]] Eigen::MatrixXd block(std::size_t row, std::size_t column) const;

  std::size_t dimension_;
  PriorMatrix prior_;
  Eigen::MatrixXd prior_inverse_;  // A^{-1}
  Eigen::MatrixXd inverse_;        // N^{-1} before what waits, its lower triangle; empty before the first reward
  Eigen::VectorXd mean_;           // w; empty before the first reward
  Eigen::MatrixXd waiting_;        // a column each
  Index waiting_count_ = 0;
  std::uint32_t losses_ = 0;   // a bit for each column that waits: N loses it
  std::vector<Shown> shown_;   // of each node, where there is an Access
  Eigen::MatrixXd set_aside_;  // diagonal blocks beside each other, for readers while inverse_ changes
  double digits_left_ = 1.0;   // how much of N the losses since the belief was last computed anew left, at the least
};

}  // namespace goblin
