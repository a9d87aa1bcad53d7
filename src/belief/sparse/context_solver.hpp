#pragma once

#include "belief/prior_matrix.hpp"
#include "belief/row_products.hpp"
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
  PriorFactor(const PriorMatrix& prior, EliminationPlan plan) : plan_(std::move(plan)), factor_(plan_, prior, {}, {}) {}

  /// False if rounding left A without a factor.
  [[nodiscard]] bool is_whole() const { return factor_.log_determinant().has_value(); }
  [[nodiscard]] std::size_t position(std::size_t node) const { return plan_.position(node); }
  [[nodiscard]] std::size_t node(std::size_t position) const { return plan_.node(position); }
  [[nodiscard]] std::size_t node_count() const { return plan_.node_count(); }
  /// Of L.
  [[nodiscard]] double numbers() const { return plan_.bytes() / sizeof(double); }
  /// A^{-1} times the columns, whose rows are by position.
  void solve(WideRows& columns) const;

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

  /// Solutions, a column each: row j * d + r is entry r of node j. Padded to whole WideRows.
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// A right-hand side: a context at its node.
  struct Column {
    std::size_t node;
    std::span<const double> context;
  };
  /// Whether it pays to solve for so many columns here, where iterating takes `multiplications_elsewhere` for each. The
  /// contexts are those of the solver.
  bool pays(std::size_t columns, double multiplications_elsewhere, const PriorMatrix& prior,
            const PrecisionSolver& solver, const Work& work);
  /// If it pays: column k of the solutions, which are padded. Then all columns count as observed. Gives
  /// |b - N u| / |b| of each, or a little more, with the lengths of PrecisionSolver::solve; none where rounding left G
  /// without a factor, and nothing is known then.
  std::vector<double> solve(std::span<const Column> columns, const PriorMatrix& prior, Rows& solutions,
                            const Work& work);

  [[nodiscard]] std::size_t bytes() const;

 private:
  using Matrix = Eigen::MatrixXd;
  /// Some columns, and for each context a row: its products with them, that solved forth, and back.
  struct Slab {
    std::size_t first = 0;
    std::size_t count = 0;
    WideRows inner;
    WideRows forth;
    WideRows factors;
  };

  [[nodiscard]] std::size_t count() const { return nodes_.size(); }
  [[nodiscard]] Eigen::Map<const Matrix> contexts() const;
  void collect(const PrecisionSolver& solver);
  [[nodiscard]] WideRows inner_products(std::size_t first, std::size_t some, std::size_t width) const;
  [[nodiscard]] std::vector<Slab> slabs_of(std::size_t first, std::size_t some, std::size_t threads) const;
  void solve_forth(WideRows& rows) const;
  void solve_back(WideRows& rows) const;
  bool append(std::span<const Slab> slabs);
  bool factor_observed(std::size_t threads);
  void solve_coordinate(const Slab& slab, std::size_t r, const PriorMatrix& prior, std::size_t known, Rows& solutions,
                        std::span<double> squares) const;
  void add_squares(const WideRows& u, std::size_t position, const double* right_hand_side, const PriorMatrix& prior,
                   std::size_t node, double* squares) const;
  [[nodiscard]] std::vector<double> evidence_residuals(const Slab& slab, const PriorMatrix& prior, std::size_t known,
                                                       const Rows& solutions) const;

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
