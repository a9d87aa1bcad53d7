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

/// More contexts than that are not kept: G would take more than 144 MB.
constexpr std::size_t most_contexts = 6000;
constexpr std::size_t panel_size = 64;

double cube(std::size_t count) {
  const auto value = static_cast<double>(count);
  return value * value * value;
}

/// Rows of a triangle, with factor(a, k) at a + k * stride for k <= a: to(a) becomes what L^{-1} makes of it. Four rows
/// at a time lose what those before them add.
template <typename To>
void solve_lower(const double* factor, std::size_t stride, std::size_t rows, const To& to, std::size_t width) {
  constexpr std::size_t together = 4;
  for (std::size_t first = 0; first < rows; first += together) {
    const std::size_t end = std::min(first + together, rows);
    const auto own = [&](std::size_t a) { return to(first + a); };
    subtract_products(end - first, own, {factor + first, 1, stride}, first, to, width);
    for (std::size_t a = first; a < end; ++a) {
      double* const row = to(a);
      for (std::size_t k = first; k < a; ++k) {
        const double* const other = to(k);
        const double number = factor[a + k * stride];
        for (std::size_t c = 0; c < width; ++c) row[c] -= number * other[c];
      }
      const double inverse = 1.0 / factor[a + a * stride];
      for (std::size_t c = 0; c < width; ++c) row[c] *= inverse;
    }
  }
}

/// The same with L^{-T}.
template <typename To>
void solve_upper(const double* factor, std::size_t stride, std::size_t rows, const To& to, std::size_t width) {
  constexpr std::size_t together = 4;
  for (std::size_t end = rows; end > 0;) {
    const std::size_t first = (end - 1) / together * together;
    const auto own = [&](std::size_t a) { return to(first + a); };
    const auto later = [&](std::size_t k) { return to(end + k); };
    subtract_products(end - first, own, {factor + first * stride + end, stride, 1}, rows - end, later, width);
    for (std::size_t a = end; a-- > first;) {
      double* const row = to(a);
      for (std::size_t k = a + 1; k < end; ++k) {
        const double* const other = to(k);
        const double number = factor[k + a * stride];
        for (std::size_t c = 0; c < width; ++c) row[c] -= number * other[c];
      }
      const double inverse = 1.0 / factor[a + a * stride];
      for (std::size_t c = 0; c < width; ++c) row[c] *= inverse;
    }
    end = first;
  }
}

}  // namespace

void PriorFactor::solve(WideRows& columns) const {
  const auto panels = plan_.panels();
  const std::size_t width = columns.width();
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const EliminationPlan::Panel& panel = panels[k];
    const Eigen::MatrixXd& factor = factor_.factor(k);
    const auto stride = static_cast<std::size_t>(factor.rows());
    const auto own = [&](std::size_t a) { return columns.row(panel.first + a); };
    const auto below = [&](std::size_t a) { return columns.row(panel.rows[a]); };
    solve_lower(factor.data(), stride, panel.count, own, width);
    subtract_products(panel.rows.size(), below, {factor.data() + panel.count, 1, stride}, panel.count, own, width);
  }
  for (std::size_t k = panels.size(); k-- > 0;) {
    const EliminationPlan::Panel& panel = panels[k];
    const Eigen::MatrixXd& factor = factor_.factor(k);
    const auto stride = static_cast<std::size_t>(factor.rows());
    const auto own = [&](std::size_t a) { return columns.row(panel.first + a); };
    const auto below = [&](std::size_t a) { return columns.row(panel.rows[a]); };
    subtract_products(panel.count, own, {factor.data() + panel.count, stride, 1}, panel.rows.size(), below, width);
    solve_upper(factor.data(), stride, panel.count, own, width);
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
  // A multiplication here takes about as long as one and a half of those.
  const double most = 0.67 * multiplications_elsewhere;
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

/// (A^{-1})_ij x.y for all contexts x, a row each, and some of them, y.
WideRows ContextSolver::inner_products(std::size_t first, std::size_t some, std::size_t width) const {
  const auto nodes = std::span(nodes_).subspan(first, some);
  WideRows inverse(prior_->node_count(), width);
  for (std::size_t k = 0; k < nodes.size(); ++k) inverse.row(nodes[k])[k] = 1.0;
  prior_->solve(inverse);
  const Matrix products =
      contexts().middleCols(static_cast<Index>(first), static_cast<Index>(some)).transpose() * contexts();
  WideRows result(count(), width);
  for (std::size_t c = 0; c < count(); ++c) {
    const double* const of_node = inverse.row(nodes_[c]);
    const double* const product = products.col(static_cast<Index>(c)).data();
    double* const row = result.row(c);
    for (std::size_t k = 0; k < nodes.size(); ++k) row[k] = product[k] * of_node[k];
  }
  return result;
}

/// With the factor of G and its transpose.
void ContextSolver::solve_forth(WideRows& rows) const {
  for (const auto& panel : panels_) {
    const auto count = static_cast<std::size_t>(panel->rows());
    const std::size_t first = static_cast<std::size_t>(panel->cols()) - count;
    const auto own = [&](std::size_t a) { return rows.row(first + a); };
    const auto earlier = [&](std::size_t k) { return rows.row(k); };
    subtract_products(count, own, {panel->data(), 1, count}, first, earlier, rows.width());
    solve_lower(panel->data() + first * count, count, count, own, rows.width());
  }
}

void ContextSolver::solve_back(WideRows& rows) const {
  for (std::size_t k = panels_.size(); k-- > 0;) {
    const Matrix& panel = *panels_[k];
    const auto count = static_cast<std::size_t>(panel.rows());
    const std::size_t first = static_cast<std::size_t>(panel.cols()) - count;
    const auto own = [&](std::size_t a) { return rows.row(first + a); };
    const auto earlier = [&](std::size_t a) { return rows.row(a); };
    solve_upper(panel.data() + first * count, count, count, own, rows.width());
    subtract_products(first, earlier, {panel.data(), count, 1}, count, own, rows.width());
  }
}

/// The next rows of the factor, of contexts whose products with those before, solved forth, and among each other these
/// are.
bool ContextSolver::append(std::span<const Slab> slabs) {
  const std::size_t before = factored_;
  std::size_t some = 0;
  for (const Slab& slab : slabs) some += slab.count;
  auto panel = std::make_shared<Matrix>(static_cast<Index>(some), static_cast<Index>(before + some));
  Matrix rest(static_cast<Index>(some), static_cast<Index>(some));
  for (const Slab& slab : slabs) {
    for (std::size_t c = 0; c < before; ++c) {
      std::copy_n(slab.forth.row(c), slab.count, panel->col(static_cast<Index>(c)).data() + slab.first);
    }
    for (std::size_t c = 0; c < some; ++c) {
      std::copy_n(slab.inner.row(before + c), slab.count, rest.col(static_cast<Index>(c)).data() + slab.first);
    }
  }
  rest.diagonal().array() += 1.0;
  const auto known = panel->leftCols(static_cast<Index>(before));
  rest.noalias() -= known * known.transpose();
  const Eigen::LLT<Matrix> factor(rest);
  if (factor.info() != Eigen::Success) return false;
  panel->rightCols(static_cast<Index>(some)) = factor.matrixL();
  panels_.push_back(std::move(panel));
  factored_ += some;
  return true;
}

/// The contexts from `first` on, `some` of them, and what the factor of G makes of their products with those that it
/// has: K^2 / 2 multiplications each.
std::vector<ContextSolver::Slab> ContextSolver::slabs_of(std::size_t first, std::size_t some,
                                                         std::size_t threads) const {
  const std::size_t width = WideRows::width_for(some);
  std::vector<Slab> slabs(part_count(some, width));
  run_parts(some, width, threads, [&](std::size_t part, std::size_t begin, std::size_t end) {
    Slab& slab = slabs[part];
    slab.first = begin;
    slab.count = end - begin;
    slab.inner = inner_products(first + begin, end - begin, width);
    slab.forth = slab.inner;
    solve_forth(slab.forth);
  });
  return slabs;
}

/// What has been observed without being solved for here.
bool ContextSolver::factor_observed(std::size_t threads) {
  while (factored_ < count()) {
    const std::size_t some = std::min(panel_size, count() - factored_);
    if (!append(slabs_of(factored_, some, threads))) return false;
  }
  return true;
}

std::vector<double> ContextSolver::solve(std::span<const Column> columns, const PriorMatrix& prior, Rows& solutions,
                                         const Work& work) {
  if (!factor_observed(work.threads)) {
    prior_changed();
    is_too_large_ = true;
    return {};
  }
  const std::size_t known = count();
  for (const Column& column : columns) observe(column.node, column.context);
  std::vector<Slab> slabs = slabs_of(known, columns.size(), work.threads);
  run_jobs(slabs.size(), work.threads, [&](std::size_t k) {
    slabs[k].factors = slabs[k].forth;
    solve_back(slabs[k].factors);
    return true;
  });
  work.tell(0.5);
  std::vector<double> squares(columns.size() * dimension_);  // of the residuals, of a coordinate after the other
  run_jobs(slabs.size() * dimension_, work.threads, [&](std::size_t job) {
    const std::size_t r = job % dimension_;
    const Slab& slab = slabs[job / dimension_];
    solve_coordinate(slab, r, prior, known, solutions,
                     std::span(squares).subspan(r * columns.size() + slab.first, slab.count));
    return true;
  });
  std::vector<double> residuals(columns.size());
  for (const Slab& slab : slabs) {
    const std::vector<double> of_evidence = evidence_residuals(slab, prior, known, solutions);
    for (std::size_t k = 0; k < slab.count; ++k) {
      const std::size_t at = slab.first + k;
      double of_prior = 0.0;
      for (std::size_t r = 0; r < dimension_; ++r) of_prior += squares[r * columns.size() + at];
      const Eigen::Map<const Eigen::VectorXd> context(columns[at].context.data(), static_cast<Index>(dimension_));
      const double length = std::sqrt(prior.residual_weight(columns[at].node)) * context.norm();
      residuals[at] = length > 0.0 ? (std::sqrt(of_prior) + std::sqrt(of_evidence[k])) / length : 0.0;
    }
  }
  if (!append(slabs)) {
    prior_changed();
    is_too_large_ = true;
  }
  return residuals;
}

/// One coordinate of u = A^{-1} (b - Phi f), f the factors, and the squares of b - Phi f - A u, summed over the nodes:
/// twice the numbers of A's factor in multiplications for each column.
void ContextSolver::solve_coordinate(const Slab& slab, std::size_t r, const PriorMatrix& prior, std::size_t known,
                                     Rows& solutions, std::span<double> squares) const {
  const std::size_t width = slab.factors.width();
  WideRows u(prior.node_count(), width);
  for (std::size_t c = 0; c < known; ++c) {
    const double number = numbers_[c * dimension_ + r];
    const double* const factors = slab.factors.row(c);
    double* const row = u.row(nodes_[c]);
    for (std::size_t k = 0; k < width; ++k) row[k] -= number * factors[k];
  }
  for (std::size_t k = 0; k < slab.count; ++k) {
    const std::size_t c = known + slab.first + k;
    u.row(nodes_[c])[k] += numbers_[c * dimension_ + r];
  }
  const WideRows right_hand_side = u;
  prior_->solve(u);
  WideRows totals(1, width);
  for (std::size_t node = 0; node < prior.node_count(); ++node) {
    const std::size_t position = prior_->position(node);
    add_squares(u, position, right_hand_side.row(position), prior, node, totals.row(0));
    std::copy_n(u.row(position), width,
                &solutions(static_cast<Index>(node * dimension_ + r), static_cast<Index>(slab.first)));
  }
  std::copy_n(totals.row(0), squares.size(), squares.begin());
}

/// Of b - A u at a node. Differences, so that a heavy edge between two nodes that are alike takes no digits.
void ContextSolver::add_squares(const WideRows& u, std::size_t position, const double* right_hand_side,
                                const PriorMatrix& prior, std::size_t node, double* squares) const {
  using Numbers = row_products::Registers::Numbers;
  const auto neighbours = prior.graph().neighbours(node);
  const auto weights = prior.graph().weights(node);
  for_registers(u.width(), [&]<std::size_t Count>(std::size_t at, std::integral_constant<std::size_t, Count>) {
    const auto row = [at](const double* numbers) { return reinterpret_cast<const Numbers*>(numbers + at); };
    Numbers own[Count];
    Numbers sums[Count] = {};
    for (std::size_t v = 0; v < Count; ++v) own[v] = row(u.row(position))[v];
    for (std::size_t e = 0; e < neighbours.size(); ++e) {
      const Numbers* const other = row(u.row(prior_->position(neighbours[e])));
      const double weight = weights[e];
      for (std::size_t v = 0; v < Count; ++v) sums[v] += weight * (other[v] - own[v]);
    }
    auto* const totals = reinterpret_cast<Numbers*>(squares + at);
    for (std::size_t v = 0; v < Count; ++v) {
      const Numbers left = row(right_hand_side)[v] + prior.coupling() * sums[v] - prior.ridge(node) * own[v];
      totals[v] += prior.residual_weight(node) * left * left;
    }
  });
}

/// With the residuals of all coordinates, b - N u still lacks Phi (f - Phi^T u): of each column, the sum over the nodes
/// of (the sum of |x| |f - x.u|)^2, which is no less than its square.
std::vector<double> ContextSolver::evidence_residuals(const Slab& slab, const PriorMatrix& prior, std::size_t known,
                                                      const Rows& solutions) const {
  const std::size_t width = slab.factors.width();
  WideRows lengths(prior.node_count(), width);
  WideRows missed(1, width);
  double* const miss = missed.row(0);
  for (std::size_t c = 0; c < known; ++c) {
    const std::size_t node = prior_->node(nodes_[c]);
    const double* const context = &numbers_[c * dimension_];
    std::copy_n(slab.factors.row(c), width, miss);
    const auto coordinate = [&](std::size_t r) {
      return &solutions(static_cast<Index>(node * dimension_ + r), static_cast<Index>(slab.first));
    };
    subtract_products(
        1, [&](std::size_t /*row*/) { return miss; }, {context, 0, 1}, dimension_, coordinate, width);
    const double length = Eigen::Map<const Eigen::VectorXd>(context, static_cast<Index>(dimension_)).norm();
    double* const row = lengths.row(node);
    for (std::size_t k = 0; k < width; ++k) row[k] += length * std::abs(miss[k]);
  }
  std::vector<double> squares(width);
  for (std::size_t node = 0; node < prior.node_count(); ++node) {
    const double* const row = lengths.row(node);
    for (std::size_t k = 0; k < width; ++k) squares[k] += prior.residual_weight(node) * row[k] * row[k];
  }
  return squares;
}

std::size_t ContextSolver::bytes() const {
  std::size_t numbers = numbers_.capacity() + nodes_.capacity();
  for (const auto& panel : panels_) numbers += static_cast<std::size_t>(panel->size());
  return numbers * sizeof(double) + (prior_ ? static_cast<std::size_t>(prior_->numbers()) * sizeof(double) : 0);
}

}  // namespace goblin
