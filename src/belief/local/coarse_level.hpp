#pragma once

#include "belief/low_rank_inverse.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace goblin {

/// The whole component as one node: what all residuals have in common is estimated by the step y that would be right
/// if every node took the same one,
///
///     y = (sum of ridges I + sum of S_j)^{-1} sum of r_j.
class CoarseLevel {
 public:
  CoarseLevel(double total_ridge, std::size_t dimension) : residual_(dimension), inverse_(total_ridge) {}

  /// The sum of the residuals, to be kept up to date by whoever changes one.
  [[nodiscard]] std::vector<double>& residual() { return residual_; }
  [[nodiscard]] const std::vector<double>& residual() const { return residual_; }

  void observe(std::span<const double> context) { inverse_.observe(context); }
  /// From the sum of all S_j.
  void set_sums(double total_ridge, const Eigen::MatrixXd& sums) { inverse_ = {total_ridge, sums}; }
  /// More nodes: the sum of their ridges and of their S_j. O(d^3).
  void add_nodes(double ridges, const Eigen::MatrixXd& sums) { inverse_ = {ridges, precision() + sums}; }
  /// More evidence of the nodes there are, whose ridges are at least `least` together. O(d^3).
  void add_evidence(const Eigen::MatrixXd& sums, double least) {
    Eigen::MatrixXd rest = precision() + sums;
    rest.diagonal().array() -= 0.5 * least;
    inverse_ = {0.5 * least, rest};
  }
  /// Fewer nodes, or less evidence. False, and nothing changed, where the difference has too few digits left: those who
  /// stay have ridges of at least `least` together, so no eigenvalue may be far below.
  [[nodiscard]] bool remove_nodes(double ridges, const Eigen::MatrixXd& sums, double least) {
    Eigen::MatrixXd rest = precision() - sums;
    rest.diagonal().array() -= ridges + 0.5 * least;
    if (!rest.allFinite() || rest.llt().info() != Eigen::Success) return false;
    inverse_ = {0.5 * least, rest};
    return true;
  }
  /// y.
  void step(std::vector<double>& out) const {
    out.resize(residual_.size());
    inverse_.apply(residual_.data(), out.data(), residual_.size());
  }

  [[nodiscard]] std::size_t bytes() const { return residual_.capacity() * sizeof(double) + inverse_.bytes(); }
  void save(BinaryWriter& out) const {
    out.array(residual_);
    inverse_.save(out);
  }
  void load(BinaryReader& in) {
    residual_ = in.array<double>(residual_.size(), "the coarse residual");
    inverse_ = LowRankInverse<double>(in, residual_.size());
  }

 private:
  /// The sum of ridges I + sum of S_j, from its inverse.
  [[nodiscard]] Eigen::MatrixXd precision() const {
    const auto d = static_cast<Eigen::Index>(residual_.size());
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(d, d);
    Eigen::MatrixXd inverse(d, d);
    for (Eigen::Index k = 0; k < d; ++k) {
      inverse_.apply(identity.col(k).data(), inverse.col(k).data(), residual_.size());
    }
    const Eigen::MatrixXd precision = inverse.llt().solve(identity);
    return 0.5 * (precision + precision.transpose());
  }

  std::vector<double> residual_;
  LowRankInverse<double> inverse_;
};

}  // namespace goblin
