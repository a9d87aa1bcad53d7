#pragma once

#include "belief/packs.hpp"
#include "belief/prior_matrix.hpp"
#include "belief/sparse/elimination.hpp"
#include "belief/sparse/precision_solver.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <Eigen/Core>

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

/// Solves N u = b for sixteen right-hand sides side by side, in the lanes. What the sweeps read of the graph and of the
/// evidence is then read once for all of them.
///
/// The method is that of PrecisionSolver, with its D_j^{-1}: sweeps in single precision (Sweeps has the formulas),
/// residuals in double. An iteration passes eight times over a vector; these no longer fit into a core's cache, so
/// what counts is how many there are.
class LaneSolver {
 public:
  static constexpr std::size_t lanes = 16;

  /// Of the evidence that the solver has now. Both must outlive it.
  LaneSolver(const PriorMatrix& prior, PrecisionSolver& solver, std::size_t dimension);

  /// b is zero but at one node, and may have the opposite at another; u begins with `start` at the first.
  struct Column {
    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

    std::size_t node = 0;
    std::span<const double> right_hand_side;
    std::span<const double> start;
    double tolerance = 0.0;  // as for PrecisionSolver::solve
    std::size_t minus = nowhere;
  };
  struct Solved {
    std::size_t iterations = 0;
    double residual = 0.0;  // |b - N u| / |b|
  };

  /// What one thread works with: five vectors of n d floats a lane, two of doubles.
  class Workspace;

 private:
  const PriorMatrix& prior_;
  const PrecisionSolver& solver_;
  const ConstantMode& constant_;
  std::size_t dimension_;
};

/// A column a lane, at most sixteen.
class LaneSolver::Workspace {
 public:
  explicit Workspace(const LaneSolver& solver);

  /// Gives up where single precision does not get to the tolerance: see Solved::residual.
  std::array<Solved, lanes> solve(std::span<const Column> columns, std::size_t max_iterations);
  /// Entry r of a node, a lane for each column.
  [[nodiscard]] const DoubleLanes& solution(std::size_t node, std::size_t r) const {
    return *solution_.at(elimination_.position(node) * dimension_ + r);
  }

 private:
  using Numbers = std::array<double, lanes>;
  class EveryNode;
  class RowTotal;
  struct Stage;

  void find_residual_of_start(std::span<const Column> columns);
  [[nodiscard]] Numbers residual_norms() const;
  std::size_t correct(const Numbers& norms, const Numbers& reductions, std::size_t max_iterations);
  void reduce(Stage& stage, const FloatLanes& inverse_norm);
  void sweep_back(Stage& stage, const FloatLanes& turn);
  void sweep_forth(Stage& stage, const FloatLanes& step);
  void add_estimate(const Eigen::MatrixXd& same, const Numbers& norms);
  void add_neighbours(Elimination::Range range, const FloatLaneVector& vector, FloatLanes* __restrict sums) const;
  void apply_inverse(std::size_t position, const EveryNode& y, const FloatLanes* from, FloatLanes* to);

  const LaneSolver& solver_;
  const Elimination& elimination_;
  std::size_t dimension_;
  std::vector<float> weights_;  // as the elimination's
  FloatLaneVector buffer_;      // of one node, 4 * d
  // By position, n * d.
  DoubleLaneVector solution_;
  DoubleLaneVector residual_;
  FloatLaneVector estimate_;   // what a stage adds to the solution
  FloatLaneVector remainder_;  // z' of z = D (D + L)^{-1} r
  FloatLaneVector reduced_;    // (D + L)^{-1} r
  FloatLaneVector direction_;  // p'
  FloatLaneVector swept_;      // t, and s where the sweep forth has been
};

}  // namespace goblin
