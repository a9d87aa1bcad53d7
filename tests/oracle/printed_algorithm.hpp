#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/graph/graph.hpp"

#include <cstddef>
#include <span>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace goblin::oracle {

/// Figure 2 of the paper as it is printed: the dense A^{-1/2}, M and b in R^{dn}, and the paper's own updates
/// M_t = M_{t-1} + phi~ phi~^T, b_t = b_{t-1} + a_t phi~ (of the chosen candidate). It shares nothing with the engines.
/// M is kept as its Cholesky factor. O((dn)^2) a candidate.
class PrintedAlgorithm {
 public:
  /// The options' dimension, ridge, coupling and exploration count, which must be ucb or the printed bound; nodes are
  /// those of the given graph.
  PrintedAlgorithm(const Graph& nodes, const BanditOptions& options);

  [[nodiscard]] Decision select(std::size_t node, std::span<const double> contexts) const;
  void update(std::size_t node, std::span<const double> context, double reward);
  /// A node without edges.
  void add_node();

  /// ln|M_t|.
  [[nodiscard]] double log_determinant() const;
  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(bias_.size()); }

 private:
  [[nodiscard]] Eigen::VectorXd modified(std::size_t node, std::span<const double> context) const;

  BanditOptions options_;
  Eigen::MatrixXd inverse_root_;        // A^{-1/2}, n x n
  Eigen::LLT<Eigen::MatrixXd> factor_;  // of M
  Eigen::VectorXd bias_;                // b
  Eigen::VectorXd weights_;             // w = M^{-1} b
  std::size_t rewards_ = 0;
};

}  // namespace goblin::oracle
