#include "goblin/data/principal_components.hpp"

#include <Spectra/SymEigsSolver.h>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <fmt/format.h>

namespace goblin::data {
namespace {

double dot(const SparseRows& rows, std::size_t row, const double* vector) {
  const auto columns = rows.columns(row);
  const auto values = rows.values(row);
  double sum = 0.0;
  for (std::size_t k = 0; k < columns.size(); ++k) sum += values[k] * vector[columns[k]];
  return sum;
}

/// X^T X - n m m^T as an operator, in the form that Spectra wants.
class Covariance {
 public:
  using Scalar = double;  // NOLINT(readability-identifier-naming): Spectra's name

  Covariance(const SparseRows& rows, Eigen::VectorXd mean, double count)
      : rows_(rows), mean_(std::move(mean)), count_(count) {}

  [[nodiscard]] Eigen::Index rows() const { return mean_.size(); }
  [[nodiscard]] Eigen::Index cols() const { return mean_.size(); }

  void perform_op(const double* in, double* out) const {
    const Eigen::Map<const Eigen::VectorXd> x(in, rows());
    Eigen::Map<Eigen::VectorXd>(out, rows()) = -count_ * mean_.dot(x) * mean_;
    for (std::size_t row = 0; row < rows_.row_count(); ++row) {
      const auto columns = rows_.columns(row);
      const auto values = rows_.values(row);
      const double product = dot(rows_, row, in);
      for (std::size_t k = 0; k < columns.size(); ++k) out[columns[k]] += product * values[k];
    }
  }

 private:
  const SparseRows& rows_;
  Eigen::VectorXd mean_;
  double count_;
};

struct Eigenpairs {
  Eigen::VectorXd values;   // descending
  Eigen::MatrixXd vectors;  // columns
};

/// Of a matrix small enough to write down.
Eigenpairs dense_eigenpairs(const Covariance& covariance, Eigen::Index wanted) {
  const Eigen::Index n = covariance.rows();
  Eigen::MatrixXd matrix(n, n);
  for (Eigen::Index column = 0; column < n; ++column) {
    const Eigen::VectorXd unit = Eigen::VectorXd::Unit(n, column);
    covariance.perform_op(unit.data(), matrix.col(column).data());
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix);
  return {solver.eigenvalues().tail(wanted).reverse(), solver.eigenvectors().rightCols(wanted).rowwise().reverse()};
}

Eigenpairs lanczos_eigenpairs(Covariance& covariance, Eigen::Index wanted) {
  constexpr Eigen::Index restarts = 1000;
  constexpr double tolerance = 1e-10;
  Spectra::SymEigsSolver<Covariance> solver(covariance, wanted, std::min(covariance.rows(), 2 * wanted + 20));
  solver.init();
  solver.compute(Spectra::SortRule::LargestAlge, restarts, tolerance);
  if (solver.info() != Spectra::CompInfo::Successful) {
    throw std::runtime_error(fmt::format("principal components: no convergence in {} restarts", restarts));
  }
  return {solver.eigenvalues(), solver.eigenvectors()};
}

}  // namespace

Projection principal_components(const SparseRows& rows, const PrincipalComponentOptions& options) {
  const std::size_t d = options.dimension;
  const std::size_t columns = rows.column_count();
  if (d == 0 || d > columns) {
    throw std::invalid_argument(
        fmt::format("dimension: {} (must be at least 1 and at most the number of words, {})", d, columns));
  }
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(columns));
  double squares = 0.0;
  std::size_t count = 0;
  for (std::size_t row = 0; row < rows.row_count(); ++row) {
    const auto in_row = rows.columns(row);
    if (options.count_empty_rows || !in_row.empty()) ++count;
    for (std::size_t k = 0; k < in_row.size(); ++k) {
      mean[in_row[k]] += rows.values(row)[k];
      squares += rows.values(row)[k] * rows.values(row)[k];
    }
  }
  const double counted = static_cast<double>(std::max<std::size_t>(count, 1));
  mean *= options.centre ? 1.0 / counted : 0.0;
  squares -= counted * mean.squaredNorm();

  constexpr std::size_t small = 128;
  Covariance covariance(rows, mean, counted);
  const auto wanted = static_cast<Eigen::Index>(d);
  Eigenpairs pairs = columns <= std::max(small, 2 * d + 20) ? dense_eigenpairs(covariance, wanted)
                                                            : lanczos_eigenpairs(covariance, wanted);

  Projection result{.dimension = d, .rows = {}, .axes = {}, .singular_values = {}, .explained = 0.0};
  result.axes.reserve(d * columns);
  result.singular_values.reserve(d);
  for (Eigen::Index k = 0; k < wanted; ++k) {
    auto axis = pairs.vectors.col(k);
    Eigen::Index largest = 0;
    axis.cwiseAbs().maxCoeff(&largest);
    if (axis[largest] < 0.0) axis = -axis;
    result.axes.insert(result.axes.end(), axis.data(), axis.data() + axis.size());
    const double value = std::max(pairs.values[k], 0.0);
    result.singular_values.push_back(std::sqrt(value));
    if (squares > 0.0) result.explained += value / squares;
  }
  const Eigen::VectorXd offset = pairs.vectors.transpose() * mean;
  result.rows.reserve(rows.row_count() * d);
  for (std::size_t row = 0; row < rows.row_count(); ++row) {
    for (std::size_t k = 0; k < d; ++k) {
      result.rows.push_back(dot(rows, row, result.axes.data() + k * columns) - offset[static_cast<Eigen::Index>(k)]);
    }
  }
  return result;
}

}  // namespace goblin::data
