#include "oracle/inverse.hpp"

#include <Eigen/Cholesky>

namespace goblin::oracle {
namespace {

template <typename Any>
Any inverse(const Any& matrix) {
  return matrix.llt().solve(Any::Identity(matrix.rows(), matrix.cols()));
}

template <typename Any>
typename Any::Scalar log_determinant(const Any& matrix) {
  return 2 * matrix.llt().matrixLLT().diagonal().array().log().sum();
}

}  // namespace

Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& matrix) { return inverse(matrix); }
Matrix inverse_of(const Matrix& matrix) { return inverse(matrix); }

double log_determinant_of(const Eigen::MatrixXd& matrix) { return log_determinant(matrix); }
long double log_determinant_of(const Matrix& matrix) { return log_determinant(matrix); }

}  // namespace goblin::oracle
