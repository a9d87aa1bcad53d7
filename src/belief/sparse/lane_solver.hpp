#pragma once

#include "belief/packs.hpp"
#include "belief/prior_matrix.hpp"
#include "belief/sparse/elimination.hpp"
#include "belief/sparse/precision_solver.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace goblin {

/// Sixteen floats and sixteen doubles: a number of each of sixteen right-hand sides.
using FloatLanes __attribute__((vector_size(64), aligned(64), may_alias)) = float;
using DoubleLanes __attribute__((vector_size(128), aligned(64), may_alias)) = double;

/// Many of them.
struct FloatLaneVector {
  CacheLineVector<float> numbers;

  [[nodiscard]] FloatLanes* at(std::size_t k) { return reinterpret_cast<FloatLanes*>(numbers.data() + k * 16); }
  [[nodiscard]] const FloatLanes* at(std::size_t k) const {
    return reinterpret_cast<const FloatLanes*>(numbers.data() + k * 16);
  }
};
struct DoubleLaneVector {
  CacheLineVector<double> numbers;

  [[nodiscard]] DoubleLanes* at(std::size_t k) { return reinterpret_cast<DoubleLanes*>(numbers.data() + k * 16); }
  [[nodiscard]] const DoubleLanes* at(std::size_t k) const {
    return reinterpret_cast<const DoubleLanes*>(numbers.data() + k * 16);
  }
};

/// D^{-1} = W^T W for D = pivot I + S of every node, in single precision: what LaneSolver multiplies with.
///
/// With few contexts W = (I - sum of g u u^T) / sqrt(pivot), u orthonormal; else W is the inverse of a Cholesky factor
/// of D, in blocks of rows.
class RootInverses {
 public:
  RootInverses(const Elimination& elimination, const PrecisionSolver& solver, std::size_t dimension);

  /// to = W from and to = W^T from, d lanes each; not in place.
  void apply(std::size_t position, const FloatLanes* from, FloatLanes* to) const;
  void apply_transposed(std::size_t position, const FloatLanes* from, FloatLanes* to) const;

 private:
  static constexpr std::size_t block = 13;  // rows: as many sums as registers hold, and twice that is 26

  struct Root {
    float scale = 1.0F;
    bool whole = false;
    std::size_t begin = 0;  // in numbers_
    std::size_t terms = 0;
  };
  void apply_terms(const Root& root, const FloatLanes* from, FloatLanes* to) const;

  std::size_t dimension_;
  std::vector<Root> roots_;         // by position
  CacheLineVector<float> numbers_;  // u after u, each followed by g; or blocks of rows, column after column
};

/// Solves N u = b for sixteen right-hand sides side by side, in the lanes. What the sweeps read of the graph and of the
/// evidence is then read once for all of them.
///
/// The method is that of PrecisionSolver: sweeps in single precision, residuals in double. Only the variables differ.
/// With D = W^{-1} W^{-T} and G = (D + L) W^T it is plain conjugate gradients on G^{-1} N G^{-T}: per node, with sums
/// over its neighbours,
///
///     back:   t = W^T (p + W sum over later nodes of w t)
///     forth:  q = p + W ((diagonal - pivot) t + sum over earlier nodes of w s),   s = W^T q - t,
///
/// which passes over fewer vectors.
class LaneSolver {
 public:
  static constexpr std::size_t lanes = 16;

  /// Of the evidence that the solver has now. Both must outlive it.
  LaneSolver(const PriorMatrix& prior, const PrecisionSolver& solver, std::size_t dimension);

  /// b is zero but at one node, and may have the opposite at another; u begins with `start` at the first.
  struct Column {
    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

    std::size_t node = 0;
    std::span<const double> right_hand_side;
    std::span<const double> start;
    double tolerance = 0.0;  // |b - N u| <= tolerance * |b|
    std::size_t minus = nowhere;
  };
  struct Solved {
    std::size_t iterations = 0;
    double residual = 0.0;  // |b - N u| / |b|
  };

  /// What one thread works with: six vectors of n d floats a lane, two of doubles.
  class Workspace;

 private:
  const PriorMatrix& prior_;
  const PrecisionSolver& solver_;
  std::size_t dimension_;
  RootInverses roots_;
};

/// A column a lane, at most sixteen.
class LaneSolver::Workspace {
 public:
  explicit Workspace(const LaneSolver& solver);

  /// Gives up where single precision does not get to the tolerance: see Solved::residual.
  std::array<Solved, lanes> solve(std::span<const Column> columns, std::size_t max_iterations);
  /// Entry r of a node, a lane for each column.
  [[nodiscard]] const DoubleLanes& solution(std::size_t node, std::size_t r) const {
    return *solution_.at(node * dimension_ + r);
  }

 private:
  using Numbers = std::array<double, lanes>;

  void find_residual_of_start(std::span<const Column> columns);
  void find_residual(std::span<const Column> columns);
  [[nodiscard]] Numbers residual_norms() const;
  std::size_t correct(const Numbers& norms, const Numbers& reductions, std::size_t max_iterations);
  void add_neighbours(Elimination::Range range, const FloatLaneVector& vector, FloatLanes* sums) const;

  const LaneSolver& solver_;
  const Elimination& elimination_;
  std::size_t dimension_;
  std::vector<float> weights_;  // as the elimination's
  // By node, n * d.
  DoubleLaneVector solution_;
  DoubleLaneVector residual_;
  // By position, n * d.
  FloatLaneVector estimate_;   // x
  FloatLaneVector remainder_;  // r
  FloatLaneVector direction_;  // p
  FloatLaneVector image_;      // q
  FloatLaneVector backward_;   // t
  FloatLaneVector forward_;    // s
};

}  // namespace goblin
