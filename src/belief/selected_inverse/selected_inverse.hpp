#pragma once

#include "belief/prior_matrix.hpp"
#include "belief/selected_inverse/elimination_plan.hpp"
#include "belief/work.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <Eigen/Core>

namespace goblin {

/// The blocks of N^{-1} at the diagonal, for N = A (x) I_d + diag(S_1, ..., S_n), without the rest of N^{-1}.
///
/// N = L L^T by the plan's panels. From the last panel to the first, with rows J below the columns c of a panel and
/// K = L_Jc L_cc^{-1}, the blocks of Z = N^{-1} where L has some follow from those of the later panels alone:
///
///     Z_Jc = -Z_JJ K,   Z_cc = L_cc^{-T} L_cc^{-1} - K^T Z_Jc
///
/// (Takahashi's equations). They take the place of L. All work is products of dense matrices: the plan's
/// multiplications say how many. Several threads share the panels' rows; the result does not depend on how many.
class SelectedInverse {
 public:
  /// Factors N. The prior matrix is that of the plan's graph; `add_evidence(node, block)` adds S of a node to a d x d
  /// block, and may be empty where there is no evidence. The work is told after every panel.
  SelectedInverse(const EliminationPlan& plan, const PriorMatrix& prior,
                  const std::function<void(std::size_t, Eigen::Ref<Eigen::MatrixXd>)>& add_evidence, const Work& work);

  /// ln|N|; nothing if rounding left N without a factor. Then there is no inverse either.
  [[nodiscard]] std::optional<double> log_determinant() const { return log_determinant_; }

  /// The numbers of a panel of L, before invert: those of its columns in a triangle, and its rows below.
  [[nodiscard]] const Eigen::MatrixXd& factor(std::size_t panel) const { return panels_[panel]; }
  /// Computes the inverse's blocks, once.
  void invert(const Work& work = {});
  /// The block of a node, after invert. Symmetric.
  [[nodiscard]] Eigen::MatrixXd block(std::size_t node) const;

 private:
  using Index = Eigen::Index;
  using Matrix = Eigen::MatrixXd;
  /// The rows of a panel that are columns of one later panel: rows[begin], ..., rows[end - 1].
  struct Segment {
    std::size_t panel;
    std::size_t begin;
    std::size_t end;
  };

  [[nodiscard]] Index rows_of(std::size_t nodes) const { return static_cast<Index>(nodes * plan_.dimension()); }
  [[nodiscard]] std::size_t row_in(const EliminationPlan::Panel& panel, std::size_t position) const;
  [[nodiscard]] std::vector<Segment> segments_of(const EliminationPlan::Panel& panel) const;
  template <typename Job>
  void for_runs(const EliminationPlan::Panel& panel, const NodeId* first, const NodeId* last, Job job) const;

  bool factor_panel(std::size_t panel);
  void update_later_panels(std::size_t panel);
  void invert_panel(std::size_t panel);
  void divide_rows(std::size_t panel, bool transposed);
  [[nodiscard]] std::size_t threads_for(double multiplications) const;
  [[nodiscard]] double share_of(std::size_t panel) const;

  const EliminationPlan& plan_;
  std::size_t threads_;
  double total_work_ = 0.0;
  std::vector<Matrix> panels_;  // the columns' rows, then the plan's rows: of L, after invert of N^{-1}
  std::optional<double> log_determinant_;
};

/// The diagonal of A^{-1}, and ln|A|, by the same elimination with d = 1; nothing where it does not fit the limits,
/// which are those of EliminationPlan::make.
struct PriorInverse {
  std::vector<double> variances;
  double log_determinant = 0.0;
};
[[nodiscard]] std::optional<PriorInverse> prior_inverse(const PriorMatrix& prior, double most_multiplications,
                                                        double most_bytes, std::size_t threads);

}  // namespace goblin
