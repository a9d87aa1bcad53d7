// Many rewards at once. Rewards of one node are one change of N by at most d columns, whatever their number, and nodes
// go together in chunks; if there are so many that all of this costs more than to invert N, N is inverted.

#include "belief/node_lesson.hpp"
#include "belief/row_products.hpp"
#include "belief/selected_inverse/selected_inverse.hpp"
#include "belief/sparse/lane_solver.hpp"
#include "belief/sparse/sparse_engine.hpp"
#include "belief/symmetric_matrix.hpp"
#include "jobs.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <utility>

#include <Eigen/Cholesky>

namespace goblin {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Fewer rewards are learned one by one.
constexpr std::size_t few = 8;
/// The columns of a chunk: enough for the speed of matrix products, few enough that F stays cheap.
constexpr Index most_columns = 64;
/// Contexts that say so much more than is known (x^T C_i x, times coupling * degree / ridge) are learned one by one:
/// solutions with N as it was before them would lose as many digits at the other nodes.
constexpr double most_gain = 1e6;

/// Z_j and Z_j Z_j^T of one node after the other, from Y_j and -L^{-1}. All of them transposed: a row for each column.
class NodeChange {
 public:
  NodeChange(const MatrixXd& minus_inverse, std::size_t dimension)
      : minus_inverse_(minus_inverse),
        dimension_(dimension),
        columns_(static_cast<std::size_t>(minus_inverse.cols())),
        solutions_(columns_, WideRows::padded(dimension)),
        terms_(columns_, WideRows::padded(dimension)),
        products_(dimension, WideRows::padded(dimension)) {}

  /// Of a node's rows of Y.
  template <typename Rows>
  void find_terms(const Rows& solutions) {
    constexpr std::size_t together = 4;
    for (std::size_t r = 0; r < dimension_; ++r) {
      const double* const row = &solutions(static_cast<Index>(r), 0);
      for (std::size_t k = 0; k < columns_; ++k) solutions_.row(k)[r] = row[k];
    }
    terms_.clear();
    const auto from = [&](std::size_t k) { return solutions_.row(k); };
    for (std::size_t first = 0; first < columns_; first += together) {
      const std::size_t count = std::min(together, columns_ - first);
      const auto to = [&](std::size_t a) { return terms_.row(first + a); };
      subtract_products(count, to, {minus_inverse_.data() + first, 1, columns_}, first + count, from, terms_.width());
    }
  }
  /// Z_j.
  [[nodiscard]] auto terms() const {
    return Eigen::Map<const MatrixXd>(terms_.row(0), static_cast<Index>(terms_.width()), static_cast<Index>(columns_))
        .topRows(static_cast<Index>(dimension_));
  }
  /// -Z_j Z_j^T, its numbers from the diagonal on: row c has column c.
  [[nodiscard]] const WideRows& find_products() {
    constexpr std::size_t together = 4;
    products_.clear();
    for (std::size_t first = 0; first < dimension_; first += together) {
      const std::size_t at = first / WideRows::step * WideRows::step;
      const auto to = [&](std::size_t a) { return products_.row(first + a) + at; };
      const auto from = [&](std::size_t k) { return terms_.row(k) + at; };
      subtract_products(std::min(together, dimension_ - first), to, {terms_.row(0) + first, 1, terms_.width()},
                        columns_, from, terms_.width() - at);
    }
    return products_;
  }

 private:
  const MatrixXd& minus_inverse_;
  std::size_t dimension_;
  std::size_t columns_;
  WideRows solutions_;
  WideRows terms_;
  WideRows products_;
};

}  // namespace

/// N gains B B^T, B the contexts of some lessons, each at a node of its own. With Y = N^{-1} B, N as it was before, and
/// F = I + B^T Y = L L^T, N^{-1} loses Z Z^T for Z = Y L^{-T}, and w gains Z L^{-1} (a - B^T w).
///
/// F is factored lesson by lesson. At a lesson's own node Y is C_i X, with C_i as the lessons before it leave it: a
/// solve has errors of its own, and where contexts are long C_i loses nearly all of itself, which only its own numbers
/// cancel cleanly. So everything is as exact as it is one reward at a time.
class SparseEngine::Chunk {
 public:
  Chunk(SparseEngine& engine, std::span<const NodeLesson> lessons) : engine_(engine), lessons_(lessons) {
    Index columns = 0;
    for (const NodeLesson& lesson : lessons) {
      begins_.push_back(columns);
      columns += lesson.contexts.cols();
    }
    begins_.push_back(columns);
    const std::size_t width = WideRows::width_for(static_cast<std::size_t>(columns));
    const std::size_t padded_columns = part_count(static_cast<std::size_t>(columns), width) * width;
    solutions_.resize(static_cast<Index>(engine.node_count()) * dimension(), static_cast<Index>(padded_columns));
    factor_ = MatrixXd::Zero(columns, columns);
  }

  [[nodiscard]] double log_determinant() const { return 2.0 * factor_.diagonal().array().log().sum(); }

  /// Y, a solve a column, sixteen of them side by side.
  SolveSummary solve(const Work& work) {
    constexpr double tightest = 1e-14;
    MatrixXd right_hand_sides(dimension(), factor_.cols());
    MatrixXd starts(dimension(), factor_.cols());
    std::vector<LaneSolver::Column> systems;
    std::vector<double> sizes;
    for (std::size_t k = 0; k < lessons_.size(); ++k) {
      const NodeLesson& lesson = lessons_[k];
      MatrixXd own(dimension(), dimension());
      engine_.covariance(lesson.node, {own.data(), static_cast<std::size_t>(own.size())});
      for (Index c = 0; c < lesson.contexts.cols(); ++c) {
        // For a context whose largest entry is 1, so that nothing underflows, and the more exactly the longer it is.
        const auto context = lesson.contexts.col(c);
        sizes.push_back(context.cwiseAbs().maxCoeff());
        const Index at = begins_[k] + c;
        right_hand_sides.col(at) = context / (sizes.back() > 0.0 ? sizes.back() : 1.0);
        starts.col(at) = own * right_hand_sides.col(at);
        const double length = context.norm() / std::sqrt(engine_.prior_.smallest_ridge());
        systems.push_back({.node = lesson.node,
                           .right_hand_side = {right_hand_sides.col(at).data(), engine_.dimension_},
                           .start = {starts.col(at).data(), engine_.dimension_},
                           .tolerance = std::max(tightest, 0.1 * engine_.options_.tolerance / std::max(1.0, length))});
      }
    }
    return engine_.solve_chunk(systems, lessons_, sizes, solutions_, work);
  }

  /// L, and Z at the lessons' own nodes.
  void factor() {
    const std::size_t count = lessons_.size();
    covariances_.resize(count);
    own_.resize(row_of(count), factor_.cols());
    for (std::size_t k = 0; k < count; ++k) {
      rows(k) = solutions_.block(row_of(lessons_[k].node), 0, dimension(), factor_.cols());
    }
    for (std::size_t k = 0; k < count; ++k) {
      const NodeLesson& lesson = lessons_[k];
      const Index first = begins_[k];
      const Index width = lesson.contexts.cols();
      MatrixXd& own = covariances_[k];
      own.resize(dimension(), dimension());
      engine_.covariance(lesson.node, {own.data(), static_cast<std::size_t>(own.size())});
      const auto before = rows(k).leftCols(first);
      own.noalias() -= before * before.transpose();
      rows(k).middleCols(first, width).noalias() = own * lesson.contexts;

      MatrixXd inner = MatrixXd::Identity(width, width);
      inner.noalias() += lesson.contexts.transpose() * rows(k).middleCols(first, width);
      const MatrixXd lower = (0.5 * (inner + inner.transpose())).llt().matrixL();
      factor_.block(first, first, width, width) = lower;
      auto part = own_.middleCols(first, width);
      lower.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(part);
      for (std::size_t later = k + 1; later < count; ++later) {
        factor_.block(begins_[later], first, lessons_[later].contexts.cols(), width).noalias() =
            lessons_[later].contexts.transpose() * rows(later).middleCols(first, width);
      }
      const Index rest = own_.cols() - begins_[k + 1];
      own_.rightCols(rest).noalias() -= part * factor_.block(begins_[k + 1], first, rest, width).transpose();
      // C_i becomes (C_i^{-1} + X X^T)^{-1} = R (I + R^T X X^T R)^{-1} R^T with C_i = R R^T: nothing cancels.
      const MatrixXd root = own.llt().matrixL();
      const MatrixXd seen = lesson.contexts.transpose() * root;
      const MatrixXd gained = MatrixXd::Identity(dimension(), dimension()) + seen.transpose() * seen;
      const MatrixXd left = gained.llt().matrixL().solve(root.transpose());
      own.noalias() = left.transpose() * left;
    }
  }

  /// Changes w and C of all nodes: k^2 d / 2 multiplications a node for Z, and k d^2 / 2 for C.
  void apply(std::size_t threads) {
    VectorXd steps(factor_.rows());
    for (std::size_t k = 0; k < lessons_.size(); ++k) {
      const Eigen::Map<const VectorXd> mean(engine_.means_.data() + lessons_[k].node * engine_.stride(), dimension());
      steps.segment(begins_[k], lessons_[k].contexts.cols()) =
          lessons_[k].rewards - lessons_[k].contexts.transpose() * mean;
    }
    factor_.triangularView<Eigen::Lower>().solveInPlace(steps);

    std::vector<std::size_t> lesson_of(engine_.node_count(), lessons_.size());
    for (std::size_t k = 0; k < lessons_.size(); ++k) lesson_of[lessons_[k].node] = k;
    const MatrixXd minus_inverse =
        factor_.triangularView<Eigen::Lower>().solve(-MatrixXd::Identity(factor_.rows(), factor_.cols()));
    constexpr std::size_t together = 64;  // nodes
    run_parts(engine_.node_count(), together, threads, [&](std::size_t /*part*/, std::size_t first, std::size_t end) {
      NodeChange change(minus_inverse, engine_.dimension_);
      for (std::size_t j = first; j < end; ++j) {
        Eigen::Map<VectorXd> mean(engine_.means_.data() + j * engine_.stride(), dimension());
        const std::size_t k = lesson_of[j];
        if (k < lessons_.size()) {
          mean.noalias() += rows(k) * steps;
          const auto later = rows(k).rightCols(factor_.cols() - begins_[k + 1]);
          engine_.set_covariance(j, covariances_[k] - later * later.transpose());
          continue;
        }
        change.find_terms(solutions_.middleRows(row_of(j), dimension()));
        mean.noalias() += change.terms() * steps;
        const WideRows& products = change.find_products();
        for (std::size_t c = 0; c < engine_.dimension_; ++c) {
          double* const column = engine_.covariance_column(j, c);
          for (std::size_t r = c; r < engine_.dimension_; ++r) column[r] += products.row(c)[r];
        }
      }
    });
  }

 private:
  [[nodiscard]] Index dimension() const { return static_cast<Index>(engine_.dimension_); }
  [[nodiscard]] Index row_of(std::size_t node) const { return static_cast<Index>(node) * dimension(); }
  /// The rows of a lesson's node.
  [[nodiscard]] Eigen::Block<MatrixXd> rows(std::size_t lesson) {
    return own_.block(row_of(lesson), 0, dimension(), own_.cols());
  }

  SparseEngine& engine_;
  std::span<const NodeLesson> lessons_;
  std::vector<Index> begins_;          // of the lessons' columns
  ContextSolver::Rows solutions_;      // Y; row j * d + r is entry r of node j
  MatrixXd own_;                       // Y, and then Z, of the lessons' nodes, one below the other
  MatrixXd factor_;                    // L
  std::vector<MatrixXd> covariances_;  // of the lessons' nodes, each as its own lesson leaves it
};

/// Y of a chunk: without iterating while that is cheaper, and else side by side.
SolveSummary SparseEngine::solve_chunk(std::span<const LaneSolver::Column> systems, std::span<const NodeLesson> lessons,
                                       std::span<const double> sizes, ContextSolver::Rows& solutions,
                                       const Work& work) {
  const SolutionRows rows{solutions.data(), static_cast<std::size_t>(solutions.cols()), 1};
  const bool keeps_digits = strongest_coupling_ <= heaviest_to_invert;
  if (!keeps_digits || !context_solver_.pays(systems.size(), multiplications_of_solves(1.0), prior_, solver_, work)) {
    for (const NodeLesson& lesson : lessons) {
      for (Index c = 0; c < lesson.contexts.cols(); ++c) {
        context_solver_.observe(lesson.node, {lesson.contexts.col(c).data(), dimension_});
      }
    }
    return solve_side_by_side(systems, sizes, rows, work);
  }
  std::vector<ContextSolver::Column> columns;
  for (const NodeLesson& lesson : lessons) {
    for (Index c = 0; c < lesson.contexts.cols(); ++c) {
      columns.push_back({.node = lesson.node, .context = {lesson.contexts.col(c).data(), dimension_}});
    }
  }
  const std::vector<double> residuals = context_solver_.solve(columns, prior_, solutions, work);
  if (residuals.empty()) return solve_side_by_side(systems, sizes, rows, work);
  SolveSummary summary;
  for (std::size_t k = 0; k < systems.size(); ++k) {
    if (residuals[k] <= systems[k].tolerance) {
      const double residual = residuals[k] / options_.tolerance;
      summary.add({.iterations = 0, .residual = residual, .converged = residual <= 1.0});
    } else {
      summary.add(solve_alone(systems[k], sizes[k], rows.column(k)));
    }
  }
  work.tell(1.0);
  return summary;
}

/// Column k of the solutions is sizes[k] times that of the k-th system; row j * d + r is entry r of node j. Sixteen
/// side by side, on all threads; where single precision is not enough, alone.
SolveSummary SparseEngine::solve_side_by_side(std::span<const LaneSolver::Column> systems,
                                              std::span<const double> sizes, const SolutionRows& solutions,
                                              const Work& work) {
  const LaneSolver solver(prior_, solver_, dimension_);
  const std::size_t columns = systems.size();
  const std::size_t groups = part_count(columns, LaneSolver::lanes);
  std::vector<LaneSolver::Solved> solved(columns);
  const std::size_t workers = std::min(work.threads, groups);
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> stopped = false;
  run_jobs(workers, workers, [&](std::size_t worker) {
    LaneSolver::Workspace workspace(solver);
    for (std::size_t group = worker; group < groups && !stopped; group += workers) {
      const std::size_t first = group * LaneSolver::lanes;
      const std::size_t count = std::min(LaneSolver::lanes, columns - first);
      const auto results = workspace.solve(systems.subspan(first, count), options_.max_iterations);
      std::copy_n(results.begin(), count, solved.begin() + static_cast<std::ptrdiff_t>(first));
      for (std::size_t row = 0; row < node_count() * dimension_; ++row) {
        const DoubleLanes& values = workspace.solution(row / dimension_, row % dimension_);
        double* const to = solutions.numbers + row * solutions.row_step + first * solutions.step;
        for (std::size_t k = 0; k < count; ++k) to[k * solutions.step] = sizes[first + k] * values[k];
      }
      if (std::this_thread::get_id() != caller) continue;
      try {
        work.tell(static_cast<double>(std::min(group + workers, groups)) / static_cast<double>(groups));
      } catch (...) {
        stopped = true;
        throw;
      }
    }
    return true;
  });
  SolveSummary summary;
  for (std::size_t k = 0; k < columns; ++k) {
    const double residual = solved[k].residual / options_.tolerance;
    if (solved[k].residual <= systems[k].tolerance) {
      summary.add({.iterations = solved[k].iterations, .residual = residual, .converged = residual <= 1.0});
      continue;
    }
    summary.add(solve_alone(systems[k], sizes[k], solutions.column(k)));
  }
  return summary;
}

/// The solution is `size` times that of the system.
SolveSummary SparseEngine::solve_alone(const LaneSolver::Column& system, double size, const SolutionRows& solution) {
  solver_.clear();
  for (std::size_t r = 0; r < dimension_; ++r) {
    solver_.right_hand_side(system.node)[r] = system.right_hand_side[r];
    if (system.minus != LaneSolver::Column::nowhere) {
      solver_.right_hand_side(system.minus)[r] = -system.right_hand_side[r];
    }
  }
  std::copy(system.start.begin(), system.start.end(), solver_.start(system.node));
  const SolveSummary summary = solve(system.tolerance);
  for (std::size_t row = 0; row < node_count() * dimension_; ++row) {
    solution.numbers[row * solution.row_step] = size * solver_.start(row / dimension_)[row % dimension_];
  }
  return summary;
}

void SparseEngine::learn_chunk(std::span<const NodeLesson> lessons, const Work& work, Changed& total) {
  if (lessons.empty()) return;
  apply_waiting();
  Chunk chunk(*this, lessons);
  total.solve.add(chunk.solve(work));
  chunk.factor();
  chunk.apply(work.threads);
  total.log_determinant += chunk.log_determinant();
  if (log_determinant_) *log_determinant_ += chunk.log_determinant();
  for (const NodeLesson& lesson : lessons) solver_.observe(lesson.node, lesson.contexts);
}

/// The largest x^T C_i x of a context.
double SparseEngine::gain_of(const NodeLesson& lesson) const {
  MatrixXd own(dimension_, dimension_);
  covariance(lesson.node, {own.data(), dimension_ * dimension_});
  return (lesson.contexts.transpose() * own * lesson.contexts).diagonal().maxCoeff();
}

/// Y of a chunk, and what sixteen solves side by side take: seven vectors a thread.
double SparseEngine::chunk_bytes(std::size_t columns, std::size_t threads) const {
  const auto d = static_cast<double>(dimension_);
  const double rows = static_cast<double>(node_count()) * d;
  const std::size_t groups = (columns + LaneSolver::lanes - 1) / LaneSolver::lanes;
  const auto workers = static_cast<double>(std::min(threads, groups));
  constexpr double of_a_row = LaneSolver::lanes * (2.0 * sizeof(double) + 5.0 * sizeof(float));
  const std::size_t width = WideRows::width_for(columns);
  const auto padded_columns = static_cast<double>(part_count(columns, width) * width);
  return rows * (padded_columns * sizeof(double) + workers * of_a_row) +
         workers * 2.0 * static_cast<double>(graph().edge_count()) * sizeof(float);
}

/// Inverting N is only done if there is memory to spare: it does not count here.
Engine::Bytes SparseEngine::bulk_bytes(std::size_t rewards, std::size_t nodes, std::size_t threads) const {
  const auto d = static_cast<double>(dimension_);
  Bytes result;
  // What the solver keeps of a node with evidence: S and D^{-1}.
  result.kept = static_cast<double>(std::min(rewards, nodes * dimension_)) * static_cast<double>(stride()) *
                (sizeof(double) + sizeof(float));
  if (rewards < few) return result;
  const std::size_t columns =
      std::min({rewards, nodes * dimension_, static_cast<std::size_t>(most_columns) + dimension_});
  const double contexts = std::min(static_cast<double>(columns), static_cast<double>(nodes)) * d * d;
  result.meanwhile = chunk_bytes(columns, threads) + 8.0 * (3.0 * contexts + static_cast<double>(columns * columns));
  return result;
}

/// A solve after the other; inverting N is only done if there is memory to spare.
Engine::Bytes SparseEngine::rebuild_bytes(std::size_t /*threads*/) const {
  return {.kept = static_cast<double>(node_count() * dimension_ * stride()) * (sizeof(double) + sizeof(float)),
          .meanwhile = 0.0};
}

Engine::Changed SparseEngine::learn_many(std::span<const NodeReward> rewards, const ComponentEvidence& evidence,
                                         const Work& work) {
  if (rewards.size() < few) return learn_one_by_one(rewards, dimension_);
  const auto by_node = cut_by_node(rewards);
  double columns = 0.0;
  for (const auto& some : by_node) columns += static_cast<double>(std::min(some.size(), dimension_));
  Changed total;
  if (const auto plan = plan_inverse(columns, evidence, work)) {
    // The inverse takes about twice as long as a factor.
    const bool is_known = log_determinant_.has_value();
    const auto before = is_known ? log_determinant_ : find_log_determinant(*plan, work.part(0.0, 0.25));
    if (before && invert(*plan, evidence, work.part(is_known ? 0.0 : 0.25, 1.0))) {
      total.log_determinant = *log_determinant_ - *before;
      total.solve = solve_means(evidence);
      return total;
    }
  }
  std::vector<NodeLesson> lessons;
  Index width = 0;
  double done = 0.0;
  const auto learn_lessons = [&] {
    const double after = done + static_cast<double>(width) / columns;
    learn_chunk(lessons, work.part(done, after), total);
    done = after;
    lessons.clear();
    width = 0;
  };
  for (const auto& some : by_node) {
    NodeLesson lesson(some, dimension_);
    if (gain_of(lesson) * std::max(1.0, strongest_coupling_) > most_gain) {
      const double after = done + static_cast<double>(lesson.contexts.cols()) / columns;
      total.add(learn_one_by_one(some, dimension_, work.part(done, after)));
      done = after;
      continue;
    }
    if (width + lesson.contexts.cols() > most_columns) learn_lessons();
    width += lesson.contexts.cols();
    lessons.push_back(std::move(lesson));
  }
  learn_lessons();
  return total;
}

/// Whether a factor of N in double precision keeps eight digits of every C_j. Edges that are much heavier than the
/// ridge and contexts that are much longer take as many digits of it, solves with true residuals do not lose them.
bool SparseEngine::may_invert(const ComponentEvidence& evidence) const {
  constexpr double longest = 1e8;
  if (strongest_coupling_ > heaviest_to_invert) return false;
  for (std::size_t j = 0; j < node_count(); ++j) {
    if (trace(evidence.at(j).contexts, dimension_) > longest * prior_.ridge(j)) return false;
  }
  return true;
}

/// What so many solves cost, in multiplications of a matrix product that take as long.
double SparseEngine::multiplications_of_solves(double columns) const {
  constexpr double iterations = 16.0;
  const auto n = static_cast<double>(node_count());
  const auto d = static_cast<double>(dimension_);
  const auto entries = 2.0 * static_cast<double>(graph().edge_count());
  return columns * iterations * (4.0 * entries * d + 2.0 * n * d * (d + 8.0));
}

/// The plan for inverting N, if that is cheaper than so many solves and half of the memory to spare is enough.
std::optional<EliminationPlan> SparseEngine::plan_inverse(double solves, const ComponentEvidence& evidence,
                                                          const Work& work) const {
  if (!work.spare_bytes || !may_invert(evidence)) return std::nullopt;
  const double most_bytes = 0.5 * work.spare_bytes();
  const double most = multiplications_of_solves(solves);
  constexpr double about_as_much = 1.1;  // what is free is a little more now, a little less then
  if (most <= too_little_.multiplications && most_bytes <= about_as_much * too_little_.bytes) return std::nullopt;
  auto plan = EliminationPlan::make(graph().snapshot(), dimension_, most, most_bytes);
  if (!plan) too_little_ = {.multiplications = most, .bytes = most_bytes};
  return plan;
}

/// ln|N| of the evidence that the solver has so far.
std::optional<double> SparseEngine::find_log_determinant(const EliminationPlan& plan, const Work& work) const {
  const auto d = static_cast<Index>(dimension_);
  if (!has_evidence()) {
    const auto of_prior = find_prior_log_determinant(prior_, plan, work);
    if (!of_prior) return std::nullopt;
    return static_cast<double>(dimension_) * *of_prior;
  }
  const auto add_observed = [&](std::size_t node, Eigen::Ref<MatrixXd> block) {
    const NodeSum& sum = solver_.observed(node);
    const auto count = static_cast<Index>(sum.rows.size() / stride());
    const Eigen::Map<const MatrixXd, 0, Eigen::OuterStride<>> columns(
        sum.rows.data(), d, count, Eigen::OuterStride<>(static_cast<Index>(stride())));
    if (sum.whole) {
      block += columns;
    } else {
      block.noalias() += columns * columns.transpose();
    }
  };
  return SelectedInverse(plan, prior_, add_observed, work).log_determinant();
}

/// ln|A|; the plan's own limits suffice for it.
std::optional<double> SparseEngine::find_prior_log_determinant(const PriorMatrix& prior, const EliminationPlan& plan,
                                                               const Work& work) const {
  const auto scalar = EliminationPlan::make(
      prior.graph().snapshot(), 1, plan.factor_multiplications() + plan.inverse_multiplications(), plan.bytes());
  if (!scalar) return std::nullopt;
  return SelectedInverse(*scalar, prior, {}, work).log_determinant();
}

/// All C_j, and ln|N|, from the evidence; the solver learns it too. False if rounding did not let it: then nothing of
/// the belief has changed.
bool SparseEngine::invert(const EliminationPlan& plan, const ComponentEvidence& evidence, const Work& work) {
  const auto add_sum = [&](std::size_t node, Eigen::Ref<MatrixXd> block) {
    block += unpacked(evidence.at(node).contexts, dimension_);
  };
  SelectedInverse inverse(plan, prior_, add_sum, work.part(0.0, 1.0 / 3.0));
  if (!inverse.log_determinant()) return false;
  inverse.invert(work.part(1.0 / 3.0, 1.0));
  take_over(inverse, evidence);
  return true;
}

void SparseEngine::take_over(SelectedInverse& inverse, const ComponentEvidence& evidence) {
  log_determinant_ = inverse.log_determinant();
  waiting_count_ = 0;
  losses_ = 0;
  context_solver_.evidence_changed();
  for (std::size_t j = 0; j < node_count(); ++j) {
    set_covariance(j, inverse.block(j));
    solver_.set_sum(j, evidence.at(j).contexts);
  }
}

/// By inverting N or, where that does not fit, by n d solves, a column of N^{-1} each.
SolveSummary SparseEngine::rebuild(const ComponentEvidence& evidence, const Work& work) {
  const double columns = static_cast<double>(node_count() * dimension_);
  if (const auto plan = plan_inverse(columns, evidence, work)) {
    if (invert(*plan, evidence, work)) return solve_means(evidence);
  }
  context_solver_.evidence_changed();
  for (std::size_t j = 0; j < node_count(); ++j) solver_.set_sum(j, evidence.at(j).contexts);
  log_determinant_.reset();
  waiting_count_ = 0;
  losses_ = 0;
  SolveSummary summary;
  for (std::size_t j = 0; j < node_count(); ++j) {
    for (std::size_t c = 0; c < dimension_; ++c) {
      solver_.clear();
      solver_.right_hand_side(j)[c] = 1.0;
      summary.add(solve(std::min(options_.tolerance, tight)));
      for (std::size_t r = c; r < dimension_; ++r) covariance_column(j, c)[r] = solver_.solution()[j * stride() + r];
    }
    variances_.set_known(j);
    missing_[j] = 0.0;
    work.tell(static_cast<double>(j + 1) / static_cast<double>(node_count()));
  }
  summary.add(solve_means(evidence));
  return summary;
}

}  // namespace goblin
