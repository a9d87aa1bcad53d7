#include "belief/sparse/context_solver.hpp"

#include "belief/packs.hpp"
#include "belief/symmetric_matrix.hpp"
#include "jobs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Cholesky>

namespace goblin {
namespace {

using Eigen::Index;

/// More contexts than that are not kept: G would take more than 64 MB.
constexpr std::size_t most_contexts = 4000;
constexpr std::size_t panel_size = 64;

double cube(std::size_t count) {
  const auto value = static_cast<double>(count);
  return value * value * value;
}

}  // namespace

void PriorFactor::solve(Rows& columns) const {
  constexpr std::size_t few = 4;  // columns of a panel, for which a matrix product does not pay
  const auto panels = plan_.panels();
  Rows part;
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const EliminationPlan::Panel& panel = panels[k];
    const auto count = static_cast<Index>(panel.count);
    const auto square = factor_.factor(k).topRows(count).triangularView<Eigen::Lower>();
    const auto below = factor_.factor(k).bottomRows(static_cast<Index>(panel.rows.size()));
    auto own = columns.middleRows(static_cast<Index>(panel.first), count);
    square.solveInPlace(own);
    if (panel.count < few) {
      for (Index r = 0; r < below.rows(); ++r) {
        for (Index c = 0; c < count; ++c)
          columns.row(panel.rows[static_cast<std::size_t>(r)]) -= below(r, c) * own.row(c);
      }
      continue;
    }
    part.noalias() = below * own;
    for (Index r = 0; r < below.rows(); ++r) columns.row(panel.rows[static_cast<std::size_t>(r)]) -= part.row(r);
  }
  for (std::size_t k = panels.size(); k-- > 0;) {
    const EliminationPlan::Panel& panel = panels[k];
    const auto count = static_cast<Index>(panel.count);
    const auto square = factor_.factor(k).topRows(count).triangularView<Eigen::Lower>();
    const auto below = factor_.factor(k).bottomRows(static_cast<Index>(panel.rows.size()));
    auto own = columns.middleRows(static_cast<Index>(panel.first), count);
    if (panel.count < few) {
      for (Index r = 0; r < below.rows(); ++r) {
        for (Index c = 0; c < count; ++c)
          own.row(c) -= below(r, c) * columns.row(panel.rows[static_cast<std::size_t>(r)]);
      }
    } else {
      part.resize(below.rows(), columns.cols());
      for (Index r = 0; r < below.rows(); ++r) part.row(r) = columns.row(panel.rows[static_cast<std::size_t>(r)]);
      own.noalias() -= below.transpose() * part;
    }
    square.transpose().solveInPlace(own);
  }
}

void ContextSolver::evidence_changed() {
  is_known_ = false;
  solved_elsewhere_ = 0;
  nodes_.clear();
  numbers_.clear();
  factored_ = 0;
  panels_.clear();
}

void ContextSolver::prior_changed() {
  evidence_changed();
  prior_.reset();
  is_too_large_ = false;
}

void ContextSolver::observe(std::size_t node, std::span<const double> context) {
  if (!is_known_) return;
  if (count() >= most_contexts) {
    evidence_changed();
    return;
  }
  numbers_.insert(numbers_.end(), context.begin(), context.end());
  nodes_.push_back(prior_->position(node));
}

Eigen::Map<const Eigen::MatrixXd> ContextSolver::contexts() const {
  return {numbers_.data(), static_cast<Index>(dimension_), static_cast<Index>(count())};
}

/// The contexts that the solver keeps, and where it keeps S, some that say the same.
void ContextSolver::collect(const PrecisionSolver& solver) {
  is_known_ = true;
  const std::size_t stride = padded<double>(dimension_);
  for (std::size_t node = 0; node < solver.elimination().node_count(); ++node) {
    const NodeSum& sum = solver.observed(node);
    const auto at = [&](std::size_t row) { return std::span(sum.rows).subspan(row * stride, dimension_); };
    if (!sum.whole) {
      for (std::size_t row = 0; row < sum.rows.size() / stride; ++row) observe(node, at(row));
      continue;
    }
    std::vector<double> packed;
    for (std::size_t c = 0; c < dimension_; ++c) {
      packed.insert(packed.end(), at(c).begin() + static_cast<std::ptrdiff_t>(c), at(c).end());
    }
    const Matrix root = root_of(packed, dimension_);
    for (Index c = 0; c < root.cols(); ++c) observe(node, {root.col(c).data(), dimension_});
  }
}

bool ContextSolver::pays(std::size_t columns, double multiplications_elsewhere, const PriorMatrix& prior,
                         const PrecisionSolver& solver, const Work& work) {
  if (is_too_large_) return false;
  std::size_t observed = count();
  if (!is_known_) {
    for (std::size_t node = 0; node < prior.node_count(); ++node) {
      observed += solver.observed(node).rows.size() / padded<double>(dimension_);
    }
  }
  // A multiplication here takes about twice as long as one of those.
  const double most = 0.5 * multiplications_elsewhere;
  const double most_bytes = work.spare_bytes ? 0.5 * work.spare_bytes() : 0.0;
  const auto wanted = static_cast<double>(observed + columns);
  if (observed + columns > most_contexts || wanted * wanted > most || 4.0 * wanted * wanted > most_bytes) return false;
  // Factoring A, and what has been observed meanwhile, is worth what has been lost by not doing so.
  constexpr double factoring_prior = 45.0;
  const double factoring = (cube(observed) - cube(factored_)) / 6.0 + (prior_ ? 0.0 : factoring_prior * most);
  solved_elsewhere_ += columns;
  if (factoring > 0.7 * most * static_cast<double>(solved_elsewhere_)) return false;
  const auto d = static_cast<double>(dimension_);
  if (!prior_) {
    constexpr double most_planned = 2e8;  // multiplications: planning alone takes as many steps
    auto plan = EliminationPlan::make(prior.graph().snapshot(), 1, std::min(2.0 * most, most_planned),
                                      std::min(most_bytes, sizeof(double) * most / (2.0 * d)));
    if (plan) prior_ = std::make_shared<const PriorFactor>(prior, *std::move(plan));
    is_too_large_ = !prior_ || !prior_->is_whole();
    if (is_too_large_) return false;
  }
  if (wanted * wanted + 2.0 * d * prior_->numbers() > most) return false;
  if (!is_known_) collect(solver);
  solved_elsewhere_ = 0;
  return true;
}

/// (A^{-1})_ij x.y for all contexts x and these y, which are at these positions.
Eigen::MatrixXd ContextSolver::inner_products(std::span<const std::size_t> nodes, const Matrix& contexts) const {
  Rows inverse = Rows::Zero(prior_->node_count(), contexts.cols());
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    inverse(static_cast<Index>(nodes[k]), static_cast<Index>(k)) = 1.0;
  }
  prior_->solve(inverse);
  Matrix result = this->contexts().transpose() * contexts;
  for (Index c = 0; c < result.cols(); ++c) {
    for (Index r = 0; r < result.rows(); ++r) {
      result(r, c) *= inverse(static_cast<Index>(nodes_[static_cast<std::size_t>(r)]), c);
    }
  }
  return result;
}

/// With the factor of G and its transpose.
void ContextSolver::solve_forth(Eigen::Ref<Matrix> columns) const {
  for (const auto& panel : panels_) {
    const Index count = panel->rows();
    const Index first = panel->cols() - count;
    auto own = columns.middleRows(first, count);
    own.noalias() -= panel->leftCols(first) * columns.topRows(first);
    panel->rightCols(count).triangularView<Eigen::Lower>().solveInPlace(own);
  }
}

void ContextSolver::solve_back(Eigen::Ref<Matrix> columns) const {
  for (std::size_t k = panels_.size(); k-- > 0;) {
    const Matrix& panel = *panels_[k];
    const Index count = panel.rows();
    const Index first = panel.cols() - count;
    auto own = columns.middleRows(first, count);
    panel.rightCols(count).triangularView<Eigen::Lower>().transpose().solveInPlace(own);
    columns.topRows(first).noalias() -= panel.leftCols(first).transpose() * own;
  }
}

/// The next rows of the factor, of contexts whose products with those before, solved forth, and among each other these
/// are.
bool ContextSolver::append(const Matrix& forth, const Matrix& inner) {
  Matrix rest = inner;
  rest.diagonal().array() += 1.0;
  rest.noalias() -= forth.transpose() * forth;
  const Eigen::LLT<Matrix> factor(rest);
  if (factor.info() != Eigen::Success) return false;
  auto panel = std::make_shared<Matrix>(forth.cols(), forth.rows() + forth.cols());
  panel->leftCols(forth.rows()) = forth.transpose();
  panel->rightCols(forth.cols()) = factor.matrixL();
  panels_.push_back(std::move(panel));
  factored_ += static_cast<std::size_t>(forth.cols());
  return true;
}

/// What has been observed without being solved for here.
bool ContextSolver::factor_observed() {
  while (factored_ < count()) {
    const std::size_t some = std::min(panel_size, count() - factored_);
    const auto first = static_cast<Index>(factored_);
    const Matrix inner = inner_products(std::span(nodes_).subspan(factored_, some),
                                        contexts().middleCols(first, static_cast<Index>(some)));
    Matrix forth = inner.topRows(first);
    solve_forth(forth);
    if (!append(forth, inner.middleRows(first, static_cast<Index>(some)))) return false;
  }
  return true;
}

std::vector<double> ContextSolver::solve(std::span<const Column> columns, const PriorMatrix& prior, Matrix& solutions,
                                         const Work& work) {
  constexpr std::size_t together = 4;  // columns: what they take of A's factor fits into a core's cache
  const auto d = static_cast<Index>(dimension_);
  if (!factor_observed()) {
    prior_changed();
    is_too_large_ = true;
    return {};
  }
  const std::size_t known = count();
  for (const Column& column : columns) observe(column.node, column.context);
  const Matrix inner =
      inner_products(std::span(nodes_).subspan(known), contexts().rightCols(static_cast<Index>(columns.size())));
  Matrix forth = inner.topRows(static_cast<Index>(known));
  solve_forth(forth);
  Matrix factors = forth;
  solve_back(factors);
  work.tell(0.5);
  std::vector<double> residuals(columns.size());
  run_parts(columns.size(), together, work.threads, [&](std::size_t /*part*/, std::size_t first, std::size_t end) {
    const auto some = columns.subspan(first, end - first);
    Rows rows = Rows::Zero(static_cast<Index>(prior.node_count()), static_cast<Index>(some.size()) * d);
    for (std::size_t k = 0; k < some.size(); ++k) {
      const auto own = static_cast<Index>(k) * d;
      rows.row(static_cast<Index>(nodes_[known + first + k])).segment(own, d) =
          contexts().col(static_cast<Index>(known + first + k)).transpose();
      for (std::size_t c = 0; c < known; ++c) {
        rows.row(static_cast<Index>(nodes_[c])).segment(own, d) -=
            factors(static_cast<Index>(c), static_cast<Index>(first + k)) *
            contexts().col(static_cast<Index>(c)).transpose();
      }
    }
    prior_->solve(rows);
    find_residuals(rows, some, prior, known, std::span(residuals).subspan(first, end - first));
    for (std::size_t k = 0; k < some.size(); ++k) {
      double* to = &solutions(0, static_cast<Index>(first + k));
      for (std::size_t node = 0; node < prior.node_count(); ++node, to += d) {
        std::copy_n(&rows(static_cast<Index>(prior_->position(node)), static_cast<Index>(k) * d), d, to);
      }
    }
  });
  if (!append(forth, inner.bottomRows(static_cast<Index>(columns.size())))) {
    prior_changed();
    is_too_large_ = true;
  }
  return residuals;
}

/// |b - N u| / |b|, as sums over differences, with the lengths of PrecisionSolver::solve.
void ContextSolver::find_residuals(const Rows& solutions, std::span<const Column> columns, const PriorMatrix& prior,
                                   std::size_t known, std::span<double> residuals) const {
  const auto d = static_cast<Index>(dimension_);
  Rows left(solutions.rows(), solutions.cols());
  for (std::size_t node = 0; node < prior.node_count(); ++node) {
    const auto at = static_cast<Index>(prior_->position(node));
    const auto neighbours = prior.graph().neighbours(node);
    const auto weights = prior.graph().weights(node);
    const auto u = solutions.row(at);
    auto row = left.row(at);
    row.setZero();
    const auto other = [&](std::size_t k) {
      return solutions.row(static_cast<Index>(prior_->position(neighbours[k])));
    };
    std::size_t k = 0;
    for (; k + 4 <= neighbours.size(); k += 4) {
      row += (weights[k] * (other(k) - u) + weights[k + 1] * (other(k + 1) - u)) +
             (weights[k + 2] * (other(k + 2) - u) + weights[k + 3] * (other(k + 3) - u));
    }
    for (; k < neighbours.size(); ++k) row += weights[k] * (other(k) - u);
    row = prior.coupling() * row - prior.ridge(node) * u;
  }
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const auto own = static_cast<Index>(k) * d;
    const Eigen::Map<const Eigen::VectorXd> context(columns[k].context.data(), d);
    left.row(static_cast<Index>(prior_->position(columns[k].node))).segment(own, d) += context.transpose();
    for (std::size_t c = 0; c < known; ++c) {
      const auto at = static_cast<Index>(nodes_[c]);
      const auto x = contexts().col(static_cast<Index>(c));
      left.row(at).segment(own, d) -= solutions.row(at).segment(own, d).dot(x) * x.transpose();
    }
    const double length = std::sqrt(prior.residual_weight(columns[k].node)) * context.norm();
    double squares = 0.0;
    for (std::size_t node = 0; node < prior.node_count(); ++node) {
      squares += prior.residual_weight(node) *
                 left.row(static_cast<Index>(prior_->position(node))).segment(own, d).squaredNorm();
    }
    residuals[k] = length > 0.0 ? std::sqrt(squares) / length : 0.0;
  }
}

std::size_t ContextSolver::bytes() const {
  std::size_t numbers = numbers_.capacity() + nodes_.capacity();
  for (const auto& panel : panels_) numbers += static_cast<std::size_t>(panel->size());
  return numbers * sizeof(double) + (prior_ ? static_cast<std::size_t>(prior_->numbers()) * sizeof(double) : 0);
}

}  // namespace goblin
