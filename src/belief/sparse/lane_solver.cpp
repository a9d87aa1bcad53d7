#include "belief/sparse/lane_solver.hpp"

#include "belief/low_rank_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

namespace goblin {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr std::size_t lanes = LaneSolver::lanes;

DoubleLanes widened(const FloatLanes& values) { return __builtin_convertvector(values, DoubleLanes); }

FloatLanes lanes_of(const std::array<double, lanes>& values) {
  FloatLanes result{};
  for (std::size_t lane = 0; lane < lanes; ++lane) result[lane] = static_cast<float>(values[lane]);
  return result;
}

}  // namespace

RootInverses::RootInverses(const Elimination& elimination, const PrecisionSolver& solver, std::size_t dimension)
    : dimension_(dimension), roots_(elimination.node_count()) {
  constexpr std::size_t fewest_for_whole = 5;  // times d: a term costs two products, four times an iteration
  const auto d = static_cast<Index>(dimension);
  const std::size_t stride = padded<double>(dimension);
  const std::size_t blocks = (dimension + block - 1) / block;
  for (std::size_t at = 0; at < roots_.size(); ++at) {
    const NodeSum& sum = solver.observed(elimination.node(at));
    const double pivot = elimination.pivot(at);
    const auto count = static_cast<Index>(sum.rows.size() / stride);
    const Eigen::Map<const MatrixXd, 0, Eigen::OuterStride<>> columns(sum.rows.data(), d, count,
                                                                      Eigen::OuterStride<>(static_cast<Index>(stride)));
    Root& root = roots_[at];
    root.scale = static_cast<float>(1.0 / std::sqrt(pivot));
    root.begin = numbers_.size();
    if (!sum.whole && static_cast<std::size_t>(count) * fewest_for_whole <= dimension) {
      if (count == 0) continue;
      // X X^T = sum of value u u^T with u = X v / sqrt(value), for X^T X v = value v.
      const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(columns.transpose() * columns);
      const double smallest = 1e-14 * eigen.eigenvalues().maxCoeff();
      for (Index k = 0; k < count; ++k) {
        const double value = eigen.eigenvalues()[k];
        if (!(value > smallest)) continue;
        const Eigen::VectorXd u = columns * eigen.eigenvectors().col(k) / std::sqrt(value);
        for (Index r = 0; r < d; ++r) numbers_.push_back(static_cast<float>(u[r]));
        numbers_.push_back(static_cast<float>(value / (pivot + value + std::sqrt(pivot * (pivot + value)))));
        ++root.terms;
      }
      continue;
    }
    MatrixXd precision = pivot * MatrixXd::Identity(d, d);
    if (sum.whole) {
      precision += columns;
    } else {
      precision.noalias() += columns * columns.transpose();
    }
    const MatrixXd inverse = precision.llt().matrixL().solve(MatrixXd::Identity(d, d));
    root.whole = true;
    numbers_.resize(root.begin + blocks * block * dimension, 0.0F);
    for (Index r = 0; r < d; ++r) {
      const auto row = static_cast<std::size_t>(r);
      float* const to = numbers_.data() + root.begin + row / block * block * dimension + row % block;
      for (Index c = 0; c <= r; ++c) to[static_cast<std::size_t>(c) * block] = static_cast<float>(inverse(r, c));
    }
  }
}

void RootInverses::apply_terms(const Root& root, const FloatLanes* from, FloatLanes* to) const {
  const float* u = numbers_.data() + root.begin;
  for (std::size_t r = 0; r < dimension_; ++r) to[r] = root.scale * from[r];
  for (std::size_t k = 0; k < root.terms; ++k, u += dimension_ + 1) {
    FloatLanes even{};
    FloatLanes odd{};
    std::size_t r = 0;
    for (; r + 1 < dimension_; r += 2) {
      even += u[r] * from[r];
      odd += u[r + 1] * from[r + 1];
    }
    if (r < dimension_) even += u[r] * from[r];
    const FloatLanes factor = (root.scale * u[dimension_]) * (even + odd);
    for (r = 0; r < dimension_; ++r) to[r] -= u[r] * factor;
  }
}

void RootInverses::apply(std::size_t position, const FloatLanes* from, FloatLanes* to) const {
  const Root& root = roots_[position];
  if (!root.whole) return apply_terms(root, from, to);
  const float* rows = numbers_.data() + root.begin;
  for (std::size_t first = 0; first < dimension_; first += block, rows += block * dimension_) {
    const std::size_t used = std::min(block, dimension_ - first);
    FloatLanes sums[block] = {};
    const float* entries = rows;
    for (std::size_t c = 0; c < first + used; ++c, entries += block) {
      const FloatLanes value = from[c];
      for (std::size_t k = 0; k < block; ++k) sums[k] += entries[k] * value;
    }
    for (std::size_t k = 0; k < used; ++k) to[first + k] = sums[k];
  }
}

void RootInverses::apply_transposed(std::size_t position, const FloatLanes* from, FloatLanes* to) const {
  const Root& root = roots_[position];
  if (!root.whole) return apply_terms(root, from, to);
  for (std::size_t first = 0; first < dimension_; first += block) {
    const std::size_t used = std::min(block, dimension_ - first);
    FloatLanes sums[block] = {};
    for (std::size_t r = first; r < dimension_; ++r) {
      const FloatLanes value = from[r];
      const float* const entries =
          numbers_.data() + root.begin + r / block * block * dimension_ + r % block + first * block;
      if (used == block) {
        for (std::size_t k = 0; k < block; ++k) sums[k] += entries[k * block] * value;
      } else {
        for (std::size_t k = 0; k < used; ++k) sums[k] += entries[k * block] * value;
      }
    }
    for (std::size_t k = 0; k < used; ++k) to[first + k] = sums[k];
  }
}

LaneSolver::LaneSolver(const PriorMatrix& prior, const PrecisionSolver& solver, std::size_t dimension)
    : prior_(prior), solver_(solver), dimension_(dimension), roots_(solver.elimination(), solver, dimension) {}

LaneSolver::Workspace::Workspace(const LaneSolver& solver)
    : solver_(solver),
      elimination_(solver.solver_.elimination()),
      dimension_(solver.dimension_),
      weights_(elimination_.weights().begin(), elimination_.weights().end()) {
  const std::size_t size = elimination_.node_count() * dimension_ * lanes;
  for (auto* vector : {&solution_, &residual_}) vector->numbers.resize(size);
  for (auto* vector : {&estimate_, &remainder_, &direction_, &image_, &backward_, &forward_}) {
    vector->numbers.resize(size);
  }
}

/// b - N u where u is zero but at one node a column.
void LaneSolver::Workspace::find_residual_of_start(std::span<const Column> columns) {
  const PriorMatrix& prior = solver_.prior_;
  const std::size_t stride = padded<double>(dimension_);
  std::fill(residual_.numbers.begin(), residual_.numbers.end(), 0.0);
  for (std::size_t lane = 0; lane < columns.size(); ++lane) {
    const auto& [node, right_hand_side, start, tolerance, minus] = columns[lane];
    const auto add = [&](std::size_t to, double factor, const double* row) {
      for (std::size_t r = 0; r < dimension_; ++r) (*residual_.at(to * dimension_ + r))[lane] += factor * row[r];
    };
    add(node, 1.0, right_hand_side.data());
    if (minus != Column::nowhere) add(minus, -1.0, right_hand_side.data());
    add(node, -prior.diagonal(node), start.data());
    const auto neighbours = prior.graph().neighbours(node);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      add(neighbours[k], prior.coupling() * prior.graph().weights(node)[k], start.data());
    }
    const NodeSum& sum = solver_.solver_.observed(node);
    for (std::size_t k = 0; k < sum.rows.size() / stride; ++k) {
      const double* const x = sum.rows.data() + k * stride;
      add(node, sum.whole ? -start[k] : -std::inner_product(start.begin(), start.end(), x, 0.0), x);
    }
  }
}

/// b - N u, in double precision.
void LaneSolver::Workspace::find_residual(std::span<const Column> columns) {
  const PriorMatrix& prior = solver_.prior_;
  const std::size_t stride = padded<double>(dimension_);
  std::fill(residual_.numbers.begin(), residual_.numbers.end(), 0.0);
  for (std::size_t lane = 0; lane < columns.size(); ++lane) {
    const Column& column = columns[lane];
    for (std::size_t r = 0; r < dimension_; ++r) {
      (*residual_.at(column.node * dimension_ + r))[lane] = column.right_hand_side[r];
      if (column.minus == Column::nowhere) continue;
      (*residual_.at(column.minus * dimension_ + r))[lane] = -column.right_hand_side[r];
    }
  }
  for (std::size_t j = 0; j < prior.node_count(); ++j) {
    const DoubleLanes* const u = solution_.at(j * dimension_);
    DoubleLanes* const out = residual_.at(j * dimension_);
    const auto neighbours = prior.graph().neighbours(j);
    const auto weights = prior.graph().weights(j);
    for (std::size_t r = 0; r < dimension_; ++r) out[r] -= prior.ridge(j) * u[r];
    // Differences, so that a heavy edge between two nodes that are alike takes no digits.
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      const DoubleLanes* const other = solution_.at(neighbours[k] * dimension_);
      const double weight = prior.coupling() * weights[k];
      for (std::size_t r = 0; r < dimension_; ++r) out[r] += weight * (other[r] - u[r]);
    }
    const NodeSum& sum = solver_.solver_.observed(j);
    const double* x = sum.rows.data();
    for (std::size_t k = 0; k < sum.rows.size() / stride; ++k, x += stride) {
      DoubleLanes factor{};
      if (sum.whole) {
        factor = u[k];
      } else {
        for (std::size_t r = 0; r < dimension_; ++r) factor += x[r] * u[r];
      }
      for (std::size_t r = 0; r < dimension_; ++r) out[r] -= x[r] * factor;
    }
  }
}

LaneSolver::Workspace::Numbers LaneSolver::Workspace::residual_norms() const {
  DoubleLanes total{};
  for (std::size_t k = 0; k < elimination_.node_count() * dimension_; ++k) {
    const DoubleLanes& row = *residual_.at(k);
    total += row * row;
  }
  Numbers norms{};
  for (std::size_t lane = 0; lane < lanes; ++lane) norms[lane] = std::sqrt(total[lane]);
  return norms;
}

void LaneSolver::Workspace::add_neighbours(Elimination::Range range, const FloatLaneVector& vector,
                                           FloatLanes* sums) const {
  const NodeId* const others = elimination_.positions().data();
  for (std::size_t k = range.first; k < range.last; ++k) {
    const FloatLanes* const other = vector.at(others[k] * dimension_);
    const float weight = weights_[k];
    for (std::size_t r = 0; r < dimension_; ++r) sums[r] += weight * other[r];
  }
}

/// One stage: u += the solution of N e = residual, lane by lane until its squared residual, as the sweeps measure it,
/// has fallen by the square of its reduction.
std::size_t LaneSolver::Workspace::correct(const Numbers& norms, const Numbers& reductions,
                                           std::size_t max_iterations) {
  const std::size_t d = dimension_;
  const std::size_t n = elimination_.node_count();
  const RootInverses& roots = solver_.roots_;
  FloatLaneVector buffer{.numbers = CacheLineVector<float>(3 * d * lanes)};
  FloatLanes* const v = buffer.at(0);
  FloatLanes* const a = v + d;
  FloatLanes* const b = a + d;

  FloatLanes inverse_norm{};
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    inverse_norm[lane] = norms[lane] > 0.0 ? static_cast<float>(1.0 / norms[lane]) : 0.0F;
  }
  DoubleLanes total{};
  for (std::size_t j = 0; j < n; ++j) {
    const DoubleLanes* const from = residual_.at(elimination_.node(j) * d);
    for (std::size_t r = 0; r < d; ++r) v[r] = __builtin_convertvector(from[r], FloatLanes) * inverse_norm;
    add_neighbours(elimination_.earlier(j), forward_, v);
    FloatLanes* const remainder = remainder_.at(j * d);
    roots.apply(j, v, remainder);
    roots.apply_transposed(j, remainder, forward_.at(j * d));
    FloatLanes squares{};
    for (std::size_t r = 0; r < d; ++r) squares += remainder[r] * remainder[r];
    total += widened(squares);
  }
  std::fill(estimate_.numbers.begin(), estimate_.numbers.end(), 0.0F);
  Numbers inner{};
  Numbers goal{};
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    inner[lane] = total[lane];
    goal[lane] = total[lane] * reductions[lane] * reductions[lane];
  }
  Numbers steps{};
  Numbers turns{};
  std::size_t iterations = 0;
  for (;; ++iterations) {
    bool done = true;
    for (std::size_t lane = 0; lane < lanes; ++lane) done = done && !(inner[lane] > goal[lane]);
    if (done || iterations >= max_iterations) break;
    const FloatLanes step = lanes_of(steps);
    const FloatLanes turn = lanes_of(turns);
    total = DoubleLanes{};
    for (std::size_t j = n; j-- > 0;) {
      FloatLanes* const p = direction_.at(j * d);
      FloatLanes* const remainder = remainder_.at(j * d);
      if (iterations == 0) {
        std::copy_n(remainder, d, p);
      } else {
        FloatLanes* const x = estimate_.at(j * d);
        const FloatLanes* const q = image_.at(j * d);
        FloatLanes squares{};
        for (std::size_t r = 0; r < d; ++r) {
          const FloatLanes less = remainder[r] - step * q[r];
          x[r] += step * p[r];
          p[r] = less + turn * p[r];
          remainder[r] = less;
          squares += less * less;
        }
        total += widened(squares);
      }
      std::fill_n(v, d, FloatLanes{});
      add_neighbours(elimination_.later(j), backward_, v);
      roots.apply(j, v, a);
      for (std::size_t r = 0; r < d; ++r) a[r] += p[r];
      roots.apply_transposed(j, a, backward_.at(j * d));
    }
    if (iterations > 0) {
      for (std::size_t lane = 0; lane < lanes; ++lane) inner[lane] = total[lane];
    }
    DoubleLanes curvature{};
    DoubleLanes image_norm{};
    for (std::size_t j = 0; j < n; ++j) {
      const auto shift = static_cast<float>(elimination_.diagonal(j) - elimination_.pivot(j));
      const FloatLanes* const p = direction_.at(j * d);
      const FloatLanes* const t = backward_.at(j * d);
      FloatLanes* const q = image_.at(j * d);
      FloatLanes* const s = forward_.at(j * d);
      for (std::size_t r = 0; r < d; ++r) v[r] = shift * t[r];
      add_neighbours(elimination_.earlier(j), forward_, v);
      roots.apply(j, v, a);
      FloatLanes products{};
      FloatLanes squares{};
      for (std::size_t r = 0; r < d; ++r) {
        const FloatLanes value = a[r] + p[r];
        products += p[r] * value;
        squares += value * value;
        b[r] = value;
      }
      curvature += widened(products);
      image_norm += widened(squares);
      std::copy_n(b, d, q);
      roots.apply_transposed(j, b, s);
      for (std::size_t r = 0; r < d; ++r) s[r] -= t[r];
    }
    // A lane that is done, or never had anything to do, stands still.
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      steps[lane] = turns[lane] = 0.0;
      if (!(inner[lane] > goal[lane]) || !(curvature[lane] > 0.0)) continue;
      steps[lane] = inner[lane] / curvature[lane];
      const double next = steps[lane] * steps[lane] * image_norm[lane] - inner[lane];
      turns[lane] = next / inner[lane];
      inner[lane] = next;
    }
  }
  // u = G^{-T} x.
  const FloatLanes step = lanes_of(steps);
  const DoubleLanes norm = [&] {
    DoubleLanes result{};
    for (std::size_t lane = 0; lane < lanes; ++lane) result[lane] = norms[lane];
    return result;
  }();
  for (std::size_t j = n; j-- > 0;) {
    const FloatLanes* const x = estimate_.at(j * d);
    const FloatLanes* const p = direction_.at(j * d);
    std::fill_n(v, d, FloatLanes{});
    add_neighbours(elimination_.later(j), backward_, v);
    roots.apply(j, v, a);
    for (std::size_t r = 0; r < d; ++r) a[r] += x[r] + step * p[r];
    FloatLanes* const t = backward_.at(j * d);
    roots.apply_transposed(j, a, t);
    DoubleLanes* const u = solution_.at(elimination_.node(j) * d);
    for (std::size_t r = 0; r < d; ++r) u[r] += norm * widened(t[r]);
  }
  return iterations;
}

std::array<LaneSolver::Solved, lanes> LaneSolver::Workspace::solve(std::span<const Column> columns,
                                                                   std::size_t max_iterations) {
  constexpr double most_digits_in_single = 1e-5;  // that a stage is asked for
  constexpr double least_gain = 0.1;              // of a stage, or there is no use in another
  constexpr double margin = 0.5;                  // the stages measure residuals in another norm
  std::array<Solved, lanes> solved{};
  std::fill(solution_.numbers.begin(), solution_.numbers.end(), 0.0);
  Numbers lengths{};
  for (std::size_t lane = 0; lane < columns.size(); ++lane) {
    const Column& column = columns[lane];
    for (std::size_t r = 0; r < dimension_; ++r) {
      lengths[lane] += column.right_hand_side[r] * column.right_hand_side[r];
      (*solution_.at(column.node * dimension_ + r))[lane] = column.start[r];
    }
    lengths[lane] = std::sqrt((column.minus == Column::nowhere ? 1.0 : 2.0) * lengths[lane]);
  }
  find_residual_of_start(columns);
  Numbers norms = residual_norms();
  std::size_t iterations = 0;
  while (iterations < max_iterations) {
    Numbers reductions{};
    bool done = true;
    for (std::size_t lane = 0; lane < columns.size(); ++lane) {
      const double wanted = columns[lane].tolerance * lengths[lane];
      reductions[lane] = norms[lane] > wanted ? std::max(margin * wanted / norms[lane], most_digits_in_single) : 1.0;
      done = done && norms[lane] <= wanted;
    }
    if (done) break;
    iterations += correct(norms, reductions, max_iterations - iterations);
    find_residual(columns);
    const Numbers before = norms;
    norms = residual_norms();
    bool gains = false;
    for (std::size_t lane = 0; lane < columns.size(); ++lane) {
      gains =
          gains || (norms[lane] > columns[lane].tolerance * lengths[lane] && norms[lane] <= least_gain * before[lane]);
    }
    if (!gains) break;
  }
  for (std::size_t lane = 0; lane < columns.size(); ++lane) {
    solved[lane] = {.iterations = iterations, .residual = lengths[lane] > 0.0 ? norms[lane] / lengths[lane] : 0.0};
  }
  return solved;
}

}  // namespace goblin
