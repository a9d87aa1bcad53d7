#pragma once

#include "belief/prior_matrix.hpp"
#include "belief/sparse/constant_mode.hpp"
#include "belief/sparse/elimination.hpp"
#include "belief/sparse/sweeps.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace goblin {

/// What was observed at a node, for products with S = sum of x x^T: the contexts x themselves while they are fewer than
/// d / 2, and the whole matrix from then on. Rows are padded to the solver's stride.
struct NodeSum {
  std::vector<double> rows;  // x after x, or the rows of S
  bool whole = false;
};

/// Solves N u = b, N = A (x) I_d + diag(S_1, ..., S_n), to a residual that is computed in double precision.
///
/// The work is done in single precision, which halves what has to come from memory: each stage solves for the residual
/// that is left and adds to u, and the next begins with the true residual of u. A stage gains about five digits. Where
/// single precision gets nowhere (edges of weight 1e8 beside a ridge of 1), the solve is done in double precision.
///
/// Right-hand sides and solutions are by node, with rows padded to whole packs.
class PrecisionSolver {
 public:
  PrecisionSolver(const PriorMatrix& prior, std::size_t dimension);

  /// Another prior matrix over the same nodes, on so many threads. O(m log n), and O(d^3) for a node with evidence
  /// whose pivot changes.
  void set_prior(const PriorMatrix& prior, std::size_t threads);

  void observe(std::size_t node, std::span<const double> context);
  /// A context that was observed goes; `packed` is S without it.
  void forget(std::size_t node, std::span<const double> context, std::span<const double> packed);
  /// Several contexts, a column each.
  void observe(std::size_t node, const Eigen::MatrixXd& contexts);
  [[nodiscard]] const Elimination& elimination() const { return elimination_; }
  /// Of the evidence there is now: O(d^3), and O(n d^2) where sums have been set.
  const ConstantMode& constant_mode();
  /// D_j^{-1} of the node at this position.
  [[nodiscard]] const LowRankInverse<float>& inverse(std::size_t position) const { return sweeps_.inverse(position); }
  [[nodiscard]] const NodeSum& observed(std::size_t node) const { return sums_[node]; }
  void set_sum(std::size_t node, NodeSum sum);
  /// From S as UserEvidence::contexts packs it. O(d^3).
  void set_sum(std::size_t node, std::span<const double> packed);

  /// Zero everywhere: u to start from, and b.
  void clear();
  [[nodiscard]] double* right_hand_side(std::size_t node) { return right_hand_side_.data() + node * stride_; }
  [[nodiscard]] double* start(std::size_t node) { return solution_.data() + node * stride_; }
  [[nodiscard]] std::span<const double> right_hand_sides() const { return right_hand_side_; }
  [[nodiscard]] std::span<const double> solution() const { return solution_; }
  /// b - N u as the solve left it.
  [[nodiscard]] std::span<const double> residual() const { return residual_; }

  struct Solved {
    std::size_t iterations = 0;
    double residual = 0.0;  // |b - N u| / |b|
  };
  /// Until |b - N u| <= tolerance * |b|; where ridges differ, lengths are with PriorMatrix::residual_weight.
  Solved solve(double tolerance, std::size_t max_iterations);

  [[nodiscard]] std::size_t bytes() const;
  /// Once every node has evidence.
  [[nodiscard]] static double bytes(std::size_t nodes, std::size_t edges, std::size_t dimension);

 private:
  [[nodiscard]] double length_of(std::span<const double> vector) const;
  [[nodiscard]] double compute_residual();
  [[nodiscard]] double compute_residual_of_start();
  [[nodiscard]] LowRankInverse<float> inverse_of_node(std::size_t node, double pivot) const;
  template <typename Scalar>
  std::size_t correct(Sweeps<Scalar>& sweeps, double norm, double reduction, std::size_t max_iterations);

  std::size_t dimension_;
  std::size_t stride_;
  PriorMatrix prior_;
  Elimination elimination_;
  Sweeps<float> sweeps_;
  std::vector<NodeSum> sums_;
  Eigen::MatrixXd evidence_;     // the sum of all S_j,
  bool evidence_known_ = false;  // unless one has changed by more than a context
  ConstantMode constant_;
  std::vector<double> right_hand_side_;
  std::vector<double> solution_;
  std::vector<double> residual_;
};

}  // namespace goblin
