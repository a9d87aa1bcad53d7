#pragma once

#include "belief/prior_matrix.hpp"
#include "belief/symmetric_matrix.hpp"

#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace goblin {

/// The columns B by which some edges change a matrix over the nodes: sqrt(weight) (e_a - e_b) (x) I_d for each edge,
/// the coupling counted in. The precision N gains or loses B B^T, and with d = 1 so does A.
class EdgeColumns {
 public:
  explicit EdgeColumns(std::vector<Edge> edges) : edges_(std::move(edges)) {}

  [[nodiscard]] std::span<const Edge> edges() const { return edges_; }
  [[nodiscard]] bool empty() const { return edges_.empty(); }
  [[nodiscard]] static double root(const Edge& edge) { return std::sqrt(edge.weight); }

  /// B^T Y, for Y with d rows a node.
  [[nodiscard]] Eigen::MatrixXd times(const Eigen::MatrixXd& solutions, Eigen::Index d) const {
    Eigen::MatrixXd result(static_cast<Eigen::Index>(edges_.size()) * d, solutions.cols());
    Eigen::Index row = 0;
    for (const Edge& edge : edges_) {
      result.middleRows(row, d) = root(edge) * (solutions.middleRows(static_cast<Eigen::Index>(edge.a) * d, d) -
                                                solutions.middleRows(static_cast<Eigen::Index>(edge.b) * d, d));
      row += d;
    }
    return result;
  }

 private:
  std::vector<Edge> edges_;  // with what they gain or lose for weights, all positive
};

/// The edges that gain and those that lose, if they get these weights in the graph of a prior matrix.
struct EdgeChanges {
  EdgeChanges(const PriorMatrix& prior, std::span<const Edge> edges) : gains({}), losses({}) {
    std::vector<Edge> more;
    std::vector<Edge> less;
    for (const Edge& edge : edges) {
      const double change = prior.coupling() * (edge.weight - prior.graph().weight(edge.a, edge.b));
      if (change != 0.0) (change > 0.0 ? more : less).push_back({edge.a, edge.b, std::abs(change)});
    }
    gains = EdgeColumns(std::move(more));
    losses = EdgeColumns(std::move(less));
  }
  EdgeColumns gains;
  EdgeColumns losses;
};

/// A few columns B, n d numbers each, that are zero but at one node. The precision N gains or loses B B^T when the
/// evidence of the node changes.
class ChangeColumns {
 public:
  struct Block {
    std::size_t node;
    Eigen::MatrixXd rows;  // d x rank
  };

  /// A node gains or loses sums of contexts (UserEvidence::contexts, not empty).
  static ChangeColumns of_contexts(std::size_t node, std::span<const double> contexts, std::size_t dimension) {
    return ChangeColumns({{node, root_of(contexts, dimension)}});
  }

  [[nodiscard]] std::span<const Block> blocks() const { return blocks_; }
  [[nodiscard]] Eigen::Index rank() const { return blocks_.front().rows.cols(); }

  /// B^T Y, Y of n d rows.
  [[nodiscard]] Eigen::MatrixXd times(const Eigen::MatrixXd& solutions) const {
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(rank(), solutions.cols());
    for (const Block& block : blocks_) {
      const Eigen::Index d = block.rows.rows();
      result += block.rows.transpose() * solutions.middleRows(static_cast<Eigen::Index>(block.node) * d, d);
    }
    return result;
  }

 private:
  explicit ChangeColumns(std::vector<Block> blocks) : blocks_(std::move(blocks)) {}

  std::vector<Block> blocks_;
};

/// What a change of N by sign B B^T does to its inverse. Given B^T Y for Y = N^{-1} B, with N as it was before, it
/// factors F = I + sign B^T Y = L L^T; then with Z = Y L^{-T}
///
///     N^{-1} changes by -sign Z Z^T,   ln|N| by ln|F|.
///
/// Where N loses much, F is close to zero and digits cancel. The way back has no such trouble: solve Y with N as it is
/// *after* the change, take sign 1, and read both formulas with the opposite sign.
class PrecisionChange {
 public:
  PrecisionChange(double sign, const Eigen::MatrixXd& inner)
      : factor_(Eigen::MatrixXd::Identity(inner.rows(), inner.rows()) + 0.5 * sign * (inner + inner.transpose())) {}

  /// How much of N is left in the direction that loses most, at most 1 where N loses: below it lie the digits that
  /// cancel.
  [[nodiscard]] double smallest_pivot() const {
    if (factor_.info() != Eigen::Success) return 0.0;
    const double root = factor_.matrixLLT().diagonal().minCoeff();
    return root * root;
  }
  /// How much more N says in the direction that gains most.
  [[nodiscard]] double largest_pivot() const {
    const double root = factor_.matrixLLT().diagonal().maxCoeff();
    return root * root;
  }
  [[nodiscard]] double log_determinant() const { return 2.0 * factor_.matrixLLT().diagonal().array().log().sum(); }

  /// Z of Y, by rows: those of one node or all of them.
  [[nodiscard]] Eigen::MatrixXd terms(const Eigen::MatrixXd& solutions) const {
    return factor_.matrixL().solve(solutions.transpose()).transpose();
  }

 private:
  Eigen::LLT<Eigen::MatrixXd> factor_;
};

}  // namespace goblin
