#include "oracle/printed_algorithm.hpp"

#include <cmath>

#include <Eigen/Eigenvalues>

namespace goblin::oracle {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

PrintedAlgorithm::PrintedAlgorithm(const Graph& nodes, const BanditOptions& options) : options_(options) {
  const auto n = static_cast<Index>(nodes.node_count());
  const Index size = n * static_cast<Index>(options.dimension);
  MatrixXd laplacian = MatrixXd::Zero(n, n);
  for (const Edge& edge : nodes.edges()) {
    laplacian(edge.a, edge.a) += edge.weight;
    laplacian(edge.b, edge.b) += edge.weight;
    laplacian(edge.a, edge.b) -= edge.weight;
    laplacian(edge.b, edge.a) -= edge.weight;
  }
  MatrixXd a = options.ridge.value_or(1.0) * MatrixXd::Identity(n, n) + options.coupling * laplacian;
  for (std::size_t node = 0; node < options.node_ridges.size(); ++node) {
    a(static_cast<Index>(node), static_cast<Index>(node)) += options.node_ridges[node] - options.ridge.value_or(1.0);
  }
  inverse_root_ = n > 0 ? Eigen::SelfAdjointEigenSolver<MatrixXd>(a).operatorInverseSqrt() : a;
  factor_.compute(MatrixXd::Identity(size, size));
  bias_ = VectorXd::Zero(size);
  weights_ = VectorXd::Zero(size);
}

/// phi~ = A_x^{-1/2} phi_i(x): block j is (A^{-1/2})_{ji} x.
VectorXd PrintedAlgorithm::modified(std::size_t node, std::span<const double> context) const {
  const auto d = static_cast<Index>(options_.dimension);
  const Eigen::Map<const VectorXd> x(context.data(), d);
  VectorXd phi(bias_.size());
  for (Index j = 0; j < inverse_root_.rows(); ++j) {
    phi.segment(j * d, d) = inverse_root_(j, static_cast<Index>(node)) * x;
  }
  return phi;
}

Decision PrintedAlgorithm::select(std::size_t node, std::span<const double> contexts) const {
  const std::size_t d = options_.dimension;
  const double t = static_cast<double>(rewards_) + 1.0;
  Decision decision;
  const Exploration exploration = options_.exploration.value_or(Exploration::ucb(options_.alpha));
  for (std::size_t k = 0; k < contexts.size() / d; ++k) {
    const VectorXd phi = modified(node, contexts.subspan(k * d, d));
    const double quadratic = factor_.matrixL().solve(phi).squaredNorm();
    double width = 0.0;
    if (const auto* bound = std::get_if<PrintedBound>(&exploration.rule)) {
      const double log_next = log_determinant() + std::log(1.0 + quadratic);
      width = std::sqrt(quadratic) * (bound->noise * std::sqrt(log_next - std::log(bound->delta)) + bound->norm);
    } else {
      width = std::get<Ucb>(exploration.rule).alpha * std::sqrt(quadratic * std::log(t + 1.0));
    }
    decision.means.push_back(weights_.dot(phi));
    decision.widths.push_back(width);
    decision.scores.push_back(decision.means.back() + width);
    if (decision.scores[k] > decision.scores[decision.arm]) decision.arm = k;
  }
  return decision;
}

void PrintedAlgorithm::update(std::size_t node, std::span<const double> context, double reward) {
  const VectorXd phi = modified(node, context);
  factor_.rankUpdate(phi, 1.0);
  bias_ += reward * phi;
  weights_ = factor_.solve(bias_);
  ++rewards_;
}

void PrintedAlgorithm::add_node() {
  const auto d = static_cast<Index>(options_.dimension);
  const Index n = inverse_root_.rows();
  MatrixXd root = MatrixXd::Zero(n + 1, n + 1);
  root.topLeftCorner(n, n) = inverse_root_;
  root(n, n) = 1.0 / std::sqrt(options_.ridge.value_or(1.0));
  MatrixXd matrix = MatrixXd::Identity((n + 1) * d, (n + 1) * d);
  if (n > 0) matrix.topLeftCorner(n * d, n * d) = factor_.reconstructedMatrix();
  inverse_root_ = root;
  factor_.compute(matrix);
  bias_.conservativeResizeLike(VectorXd::Zero((n + 1) * d));
  weights_.conservativeResizeLike(VectorXd::Zero((n + 1) * d));
}

double PrintedAlgorithm::log_determinant() const { return 2.0 * factor_.matrixLLT().diagonal().array().log().sum(); }

}  // namespace goblin::oracle
