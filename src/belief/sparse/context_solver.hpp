#pragma once

#include "belief/prior_matrix.hpp"
#include "belief/selected_inverse/elimination_plan.hpp"
#include "belief/selected_inverse/selected_inverse.hpp"
#include "belief/sparse/precision_solver.hpp"
#include "belief/work.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <Eigen/Core>

namespace goblin {

/// A = L L^T with all the fill that elimination brings, and solves with it for many right-hand sides at once.
class PriorFactor {
 public:
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  PriorFactor(const PriorMatrix& prior, EliminationPlan plan) : plan_(std::move(plan)), factor_(plan_, prior, {}, {}) {}

  /// False if rounding left A without a factor.
  [[nodiscard]] bool is_whole() const { return factor_.log_determinant().has_value(); }
  [[nodiscard]] std::size_t position(std::size_t node) const { return plan_.position(node); }
  [[nodiscard]] Eigen::Index node_count() const { return static_cast<Eigen::Index>(plan_.node_count()); }
  /// Of L.
  [[nodiscard]] double numbers() const { return plan_.bytes() / sizeof(double); }
  /// A^{-1} times the columns, whose rows are by position.
  void solve(Rows& columns) const;

 private:
  EliminationPlan plan_;
  SelectedInverse factor_;
};

/// Solves N u = b without iterating, while few contexts have been observed. With Phi these contexts, K columns of n d
/// numbers, N = A (x) I + Phi Phi^T, and with A short for A (x) I
///
///     N^{-1} = A^{-1} - A^{-1} Phi G^{-1} Phi^T A^{-1},    G = I + Phi^T A^{-1} Phi.
///
/// G has K x K numbers, (A^{-1})_ij x.y for contexts x at node i and y at node j. A solve is one with the factor of G,
/// K^2 multiplications, and one with that of A for each of d coordinates. Contexts that were solved for and then
/// observed lengthen the factor of G by what the solve has computed.
///
/// A copy shares what has been factored.
class ContextSolver {
 public:
  explicit ContextSolver(std::size_t dimension) : dimension_(dimension) {}

  /// The contexts are others now, and maybe the prior matrix too.
  void evidence_changed();
  void prior_changed();
  /// One more context has been observed.
  void observe(std::size_t node, std::span<const double> context);

  /// A right-hand side: a context at its node.
  struct Column {
    std::size_t node;
    std::span<const double> context;
  };
  /// Whether it pays to solve for so many columns here, where iterating takes `multiplications_elsewhere` for each. The
  /// contexts are those of the solver.
  bool pays(std::size_t columns, double multiplications_elsewhere, const PriorMatrix& prior,
            const PrecisionSolver& solver, const Work& work);
  /// If it pays: column k of the solutions; row j * d + r is entry r of node j. Then all columns count as observed.
  /// Gives |b - N u| / |b| of each, with the lengths of PrecisionSolver::solve; none where rounding left G without a
  /// factor, and nothing is known then.
  std::vector<double> solve(std::span<const Column> columns, const PriorMatrix& prior, Eigen::MatrixXd& solutions,
                            const Work& work);

  [[nodiscard]] std::size_t bytes() const;

 private:
  using Matrix = Eigen::MatrixXd;
  using Rows = PriorFactor::Rows;

  [[nodiscard]] std::size_t count() const { return nodes_.size(); }
  [[nodiscard]] Eigen::Map<const Matrix> contexts() const;
  void collect(const PrecisionSolver& solver);
  [[nodiscard]] Matrix inner_products(std::span<const std::size_t> nodes, const Matrix& contexts) const;
  void solve_forth(Eigen::Ref<Matrix> columns) const;
  void solve_back(Eigen::Ref<Matrix> columns) const;
  bool append(const Matrix& forth, const Matrix& inner);
  bool factor_observed();
  void find_residuals(const Rows& solutions, std::span<const Column> columns, const PriorMatrix& prior,
                      std::size_t known, std::span<double> residuals) const;

  std::size_t dimension_;
  bool is_known_ = false;             // the contexts below are those that have been observed
  bool is_too_large_ = false;         // the factor of A
  std::size_t solved_elsewhere_ = 0;  // columns, of late
  std::shared_ptr<const PriorFactor> prior_;
  std::vector<std::size_t> nodes_;                     // of the contexts, by position in the factor of A
  std::vector<double> numbers_;                        // d of each context
  std::size_t factored_ = 0;                           // contexts that the factor of G has
  std::vector<std::shared_ptr<const Matrix>> panels_;  // some rows each of that factor, as far as its diagonal
};

}  // namespace goblin
