#pragma once

#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace goblin {

/// The rank-d change of the belief when the weight of edge (a, b), times the coupling, changes by k. Given
/// Y_a - Y_b = E^T Y, it factors F = I + k E^T Y = L L^T; then with Z = Y L^{-T} sqrt|k|
///
///     N^{-1} -= sign(k) Z Z^T,   w -= sign(k) Z (L^{-1} (w_a - w_b) sqrt|k|),   ln|N| += ln|F|.
class EdgeChange {
 public:
  EdgeChange(double k, const Eigen::MatrixXd& difference_of_solutions)
      : sign_(k < 0.0 ? -1.0 : 1.0),
        root_(std::sqrt(std::abs(k))),
        factor_(Eigen::MatrixXd::Identity(difference_of_solutions.rows(), difference_of_solutions.rows()) +
                0.5 * k * (difference_of_solutions + difference_of_solutions.transpose())) {}

  [[nodiscard]] double sign() const { return sign_; }
  /// How much of N is left in the direction of the edge, at most 1 where weight goes: below it lie the digits that
  /// cancel.
  [[nodiscard]] double smallest_pivot() const {
    if (factor_.info() != Eigen::Success) return 0.0;
    const double root = factor_.matrixLLT().diagonal().minCoeff();
    return root * root;
  }
  [[nodiscard]] double log_determinant() const { return 2.0 * factor_.matrixLLT().diagonal().array().log().sum(); }

  /// Z of Y, by rows: one d x d block or all of them.
  [[nodiscard]] Eigen::MatrixXd terms(const Eigen::MatrixXd& solutions) const {
    return root_ * factor_.matrixL().solve(solutions.transpose()).transpose();
  }
  [[nodiscard]] Eigen::VectorXd mean_change(const Eigen::VectorXd& difference_of_means) const {
    return sign_ * root_ * factor_.matrixL().solve(difference_of_means);
  }

 private:
  double sign_;
  double root_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
};

}  // namespace goblin
