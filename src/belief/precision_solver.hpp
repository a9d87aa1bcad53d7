#pragma once

#include "belief/elimination.hpp"
#include "belief/packs.hpp"
#include "goblin/belief/engine.hpp"
#include "goblin/graph/graph.hpp"

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

/// Conjugate gradients on N e = r in the precision of Scalar, preconditioned with (D + L) D^{-1} (D + L)^T. L is the
/// part of N below the diagonal in the order of an Elimination, and D_j = pivot_j I + S_j: the incomplete factor of A
/// with the evidence added to its pivots.
///
/// With N = (D + L) + (D + L)^T - D + (diagonal - pivot) both the preconditioner and N cost one sweep back and one
/// forth together (Eisenstat's trick): an iteration is one pass over the edges, 2 m d multiplications, and two
/// applications of D^{-1}.
template <typename Scalar>
class Sweeps {
 public:
  Sweeps(const Elimination& elimination, std::size_t dimension);

  /// D_j^{-1} of the node at this position. O(d k^2) for k contexts, O(d^3) for a whole matrix.
  void set_sum(std::size_t position, double pivot, const NodeSum& sum, std::size_t sum_stride);

  /// Where r is to be written before solve, by position; what lies behind the dimension stays zero.
  [[nodiscard]] Scalar* residual(std::size_t position) { return residual_.data() + position * stride_; }
  [[nodiscard]] const Scalar* solution(std::size_t position) const { return solution_.data() + position * stride_; }

  /// Solves until r^T M^{-1} r has fallen by the square of `reduction`, M the preconditioner. Returns the iterations.
  std::size_t solve(const Elimination& elimination, double reduction, std::size_t max_iterations);

  [[nodiscard]] std::size_t bytes() const;

 private:
  /// D_j^{-1}: I / pivot - sum of t t^T, one t a context, or the whole matrix.
  struct NodeInverse {
    Scalar scale = 1;
    bool whole = false;
    CacheLineVector<Scalar> terms;
  };

  using P = PackOf<Scalar>;

  template <std::size_t Packs>
  std::size_t solve_packs(const Elimination& elimination, double reduction, std::size_t max_iterations);
  template <std::size_t Packs, typename Row>
  [[gnu::always_inline]] void apply_inverse(const NodeInverse& inverse, const Row& from, P* to) const;

  std::size_t dimension_;
  std::size_t stride_;
  std::vector<Scalar> weights_;  // as the elimination's
  std::vector<Scalar> shifts_;   // diagonal - pivot
  std::vector<NodeInverse> inverses_;

  // By position, all of n * stride numbers.
  CacheLineVector<Scalar> solution_;
  CacheLineVector<Scalar> residual_;   // r at first, then z = D (D + L)^{-1} r
  CacheLineVector<Scalar> reduced_;    // (D + L)^{-1} r
  CacheLineVector<Scalar> direction_;  // p
  CacheLineVector<Scalar> backward_;   // t = (D + L)^{-T} p
  CacheLineVector<Scalar> forward_;    // s: q = (D + L)^{-1} N t is t + s
  CacheLineVector<Scalar> image_;      // D q
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
  PrecisionSolver(const Graph& graph, std::size_t dimension, const Prior& prior, std::size_t stride);

  void set_graph(const Graph& graph);

  void observe(std::size_t node, std::span<const double> context);
  [[nodiscard]] const NodeSum& observed(std::size_t node) const { return sums_[node]; }
  void set_sum(std::size_t node, NodeSum sum);
  /// From S as Evidence::contexts packs it.
  void set_sum(std::size_t node, std::span<const double> packed);

  /// Zero everywhere: u to start from, and b.
  void clear();
  [[nodiscard]] double* right_hand_side(std::size_t node) { return right_hand_side_.data() + node * stride_; }
  [[nodiscard]] double* start(std::size_t node) { return solution_.data() + node * stride_; }
  [[nodiscard]] std::span<const double> solution() const { return solution_; }

  /// Until |b - N u| <= tolerance * |b|.
  [[nodiscard]] SolveSummary solve(double tolerance, std::size_t max_iterations);

  [[nodiscard]] std::size_t bytes() const;
  /// Once every node has evidence.
  [[nodiscard]] static double bytes(std::size_t nodes, std::size_t edges, std::size_t dimension);

 private:
  [[nodiscard]] double compute_residual();
  [[nodiscard]] double compute_residual_of_start();
  template <typename Scalar>
  std::size_t correct(Sweeps<Scalar>& sweeps, double norm, double reduction, std::size_t max_iterations);

  std::size_t dimension_;
  std::size_t stride_;
  Prior prior_;
  Graph graph_;
  Elimination elimination_;
  Sweeps<float> sweeps_;
  std::vector<NodeSum> sums_;
  std::vector<double> right_hand_side_;
  std::vector<double> solution_;
  std::vector<double> residual_;
};

}  // namespace goblin
