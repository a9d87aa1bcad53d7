#pragma once

#include <Eigen/Core>

/// Symmetric positive definite matrices, whole and slow: what beliefs are compared with. Apart from the tests that need
/// it, because factoring a matrix is most of what such a test takes to compile.
namespace goblin::oracle {

/// With more digits than a double has.
using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

[[nodiscard]] Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& matrix);
[[nodiscard]] Matrix inverse_of(const Matrix& matrix);

/// ln of the determinant.
[[nodiscard]] double log_determinant_of(const Eigen::MatrixXd& matrix);
[[nodiscard]] long double log_determinant_of(const Matrix& matrix);

}  // namespace goblin::oracle
