#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace goblin {

/// The vectors that are the same d numbers y at every node. Where the ridge is small they are the slow mode of N: what
/// is left of N on them is (sum of ridges) I + sum of S_j, d x d numbers, small for their number of nodes.
///
/// With W y the vector that has y at every node, W^T r is the sum of r over the nodes, and because A 1 = ridges
///
///     W^T N t = sum of (ridge_j I + S_j) t_j,      E = W^T N W = (sum of ridges) I + sum of S_j.
class ConstantMode {
 public:
  /// Takes nothing out: for solves without deflation.
  ConstantMode() = default;
  /// `evidence`: the sum of all S_j. O(d^3).
  ConstantMode(double total_ridge, Eigen::MatrixXd evidence) : evidence_(std::move(evidence)) {
    Eigen::MatrixXd coarse = evidence_;
    coarse.diagonal().array() += total_ridge;
    factor_.emplace(coarse);
  }

  /// E^{-1} times a sum over the nodes, or several side by side.
  template <typename Columns>
  [[nodiscard]] Columns solve(const Columns& sum) const {
    if (!factor_) return Columns::Zero(sum.rows(), sum.cols());
    return factor_->solve(sum);
  }
  /// The sum of all S_j y.
  template <typename Columns>
  [[nodiscard]] Columns evidence_times(const Columns& y) const {
    if (!factor_) return Columns::Zero(y.rows(), y.cols());
    return evidence_ * y;
  }

 private:
  Eigen::MatrixXd evidence_;
  std::optional<Eigen::LLT<Eigen::MatrixXd>> factor_;  // none: nothing is taken out
};

}  // namespace goblin
