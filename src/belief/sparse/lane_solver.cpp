#include "belief/sparse/lane_solver.hpp"

#include "belief/low_rank_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

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

Eigen::DiagonalMatrix<double, lanes> diagonal(const std::array<double, lanes>& values) {
  return Eigen::DiagonalMatrix<double, lanes>(Eigen::Map<const Eigen::Vector<double, lanes>>(values.data()));
}

}  // namespace

/// d numbers a lane that are the same at every node, in double and in single precision.
class LaneSolver::Workspace::EveryNode {
 public:
  explicit EveryNode(std::size_t dimension)
      : exact_(MatrixXd::Zero(static_cast<Index>(dimension), lanes)),
        row_{.numbers = CacheLineVector<float>(dimension * lanes)} {}

  void set(MatrixXd values) {
    exact_ = std::move(values);
    for (Index r = 0; r < exact_.rows(); ++r) {
      FloatLanes& row = row_.at(0)[r];
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        row[lane] = static_cast<float>(exact_(r, static_cast<Index>(lane)));
      }
    }
  }
  [[nodiscard]] const MatrixXd& exact() const { return exact_; }
  [[nodiscard]] const FloatLanes* row() const { return row_.at(0); }

 private:
  MatrixXd exact_;
  FloatLaneVector row_;
};

/// Sums of rows over the nodes: some nodes at a time as they are, and those sums in double precision.
class LaneSolver::Workspace::RowTotal {
 public:
  explicit RowTotal(std::size_t dimension)
      : dimension_(dimension),
        some_{.numbers = CacheLineVector<float>(dimension * lanes)},
        totals_{.numbers = CacheLineVector<double>(dimension * lanes)} {}

  void clear() {
    std::fill(some_.numbers.begin(), some_.numbers.end(), 0.0F);
    std::fill(totals_.numbers.begin(), totals_.numbers.end(), 0.0);
  }
  [[nodiscard]] FloatLanes* some() { return some_.at(0); }
  /// After every node.
  void next_node(std::size_t node) {
    constexpr std::size_t nodes_at_a_time = 32;
    if (node % nodes_at_a_time == 0) flush();
  }
  [[nodiscard]] MatrixXd value() {
    flush();
    return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, lanes, Eigen::RowMajor>>(
        totals_.numbers.data(), static_cast<Index>(dimension_), lanes);
  }

 private:
  void flush() {
    for (std::size_t r = 0; r < dimension_; ++r) {
      *totals_.at(r) += widened(*some_.at(r));
      *some_.at(r) = FloatLanes{};
    }
  }

  std::size_t dimension_;
  FloatLaneVector some_;
  DoubleLaneVector totals_;
};

/// See Sweeps::solve_packs.
struct LaneSolver::Workspace::Stage {
  explicit Stage(std::size_t dimension)
      : residual_y(dimension),
        direction_y(dimension),
        image_y(dimension),
        common(dimension),
        sum(dimension),
        evidence(dimension) {}

  EveryNode residual_y;   // y of z
  EveryNode direction_y;  // y of p
  EveryNode image_y;      // y of D q
  EveryNode common;       // m, and in the end the part of the estimate that is the same at every node
  RowTotal sum;
  RowTotal evidence;    // of D v - pivot v, for one v or another
  DoubleLanes total{};  // of products
  DoubleLanes squares{};
};

LaneSolver::LaneSolver(const PriorMatrix& prior, PrecisionSolver& solver, std::size_t dimension)
    : prior_(prior), solver_(solver), constant_(solver.constant_mode()), dimension_(dimension) {}

LaneSolver::Workspace::Workspace(const LaneSolver& solver)
    : solver_(solver),
      elimination_(solver.solver_.elimination()),
      dimension_(solver.dimension_),
      weights_(elimination_.weights().begin(), elimination_.weights().end()),
      buffer_{.numbers = CacheLineVector<float>(4 * dimension_ * lanes)} {
  const std::size_t size = elimination_.node_count() * dimension_ * lanes;
  for (auto* vector : {&solution_, &residual_}) vector->numbers.resize(size);
  for (auto* vector : {&estimate_, &remainder_, &reduced_, &direction_, &swept_}) vector->numbers.resize(size);
}

/// b - N u where u is zero but at one node a column.
void LaneSolver::Workspace::find_residual_of_start(std::span<const Column> columns) {
  const PriorMatrix& prior = solver_.prior_;
  const std::size_t stride = padded<double>(dimension_);
  std::fill(residual_.numbers.begin(), residual_.numbers.end(), 0.0);
  for (std::size_t lane = 0; lane < columns.size(); ++lane) {
    const auto& [node, right_hand_side, start, tolerance, minus] = columns[lane];
    const auto add = [&](std::size_t to, double factor, const double* row) {
      DoubleLanes* const rows = residual_.at(elimination_.position(to) * dimension_);
      for (std::size_t r = 0; r < dimension_; ++r) rows[r][lane] += factor * row[r];
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

LaneSolver::Workspace::Numbers LaneSolver::Workspace::residual_norms() const {
  DoubleLanes total{};
  for (std::size_t at = 0; at < elimination_.node_count(); ++at) {
    const DoubleLanes* const rows = residual_.at(at * dimension_);
    DoubleLanes of_node{};
    for (std::size_t r = 0; r < dimension_; ++r) of_node += rows[r] * rows[r];
    total += solver_.prior_.residual_weight(elimination_.node(at)) * of_node;
  }
  Numbers norms{};
  for (std::size_t lane = 0; lane < lanes; ++lane) norms[lane] = std::sqrt(total[lane]);
  return norms;
}

/// Four rows at a time: what waits for memory then waits for four.
void LaneSolver::Workspace::add_neighbours(Elimination::Range range, const FloatLaneVector& vector,
                                           FloatLanes* __restrict sums) const {
  const std::size_t d = dimension_;
  const NodeId* const others = elimination_.positions().data();
  const float* const weights = weights_.data();
  std::size_t k = range.first;
  for (; k + 4 <= range.last; k += 4) {
    const FloatLanes* const a = vector.at(others[k] * d);
    const FloatLanes* const b = vector.at(others[k + 1] * d);
    const FloatLanes* const c = vector.at(others[k + 2] * d);
    const FloatLanes* const e = vector.at(others[k + 3] * d);
    for (std::size_t r = 0; r < d; ++r) {
      sums[r] += (weights[k] * a[r] + weights[k + 1] * b[r]) + (weights[k + 2] * c[r] + weights[k + 3] * e[r]);
    }
  }
  for (; k < range.last; ++k) {
    const FloatLanes* const other = vector.at(others[k] * d);
    for (std::size_t r = 0; r < d; ++r) sums[r] += weights[k] * other[r];
  }
}

/// to = D^{-1} (from - S y).
void LaneSolver::Workspace::apply_inverse(std::size_t position, const EveryNode& y, const FloatLanes* from,
                                          FloatLanes* to) {
  FloatLanes* const shifted = buffer_.at(3 * dimension_);
  const auto pivot = static_cast<float>(elimination_.pivot(position));
  for (std::size_t r = 0; r < dimension_; ++r) shifted[r] = from[r] + pivot * y.row()[r];
  solver_.solver_.inverse(position).apply_lanes(shifted, to, dimension_);
  for (std::size_t r = 0; r < dimension_; ++r) to[r] -= y.row()[r];
}

/// The residual over its length, r, and z. The constant part of r is taken out.
void LaneSolver::Workspace::reduce(Stage& stage, const FloatLanes& inverse_norm) {
  const std::size_t d = dimension_;
  const std::size_t n = elimination_.node_count();
  stage.sum.clear();
  stage.squares = DoubleLanes{};
  for (std::size_t j = 0; j < n; ++j) {
    const DoubleLanes* const from = residual_.at(j * d);
    FloatLanes* const z = remainder_.at(j * d);
    FloatLanes* const sum = stage.sum.some();
    FloatLanes squares{};
    for (std::size_t r = 0; r < d; ++r) {
      z[r] = __builtin_convertvector(from[r], FloatLanes) * inverse_norm;
      sum[r] += z[r];
      squares += z[r] * z[r];
    }
    stage.sum.next_node(j);
    stage.squares += widened(squares / static_cast<float>(elimination_.pivot(j)));
  }
  stage.residual_y.set(solver_.constant_.solve(stage.sum.value()));
  stage.evidence.clear();
  stage.total = DoubleLanes{};
  FloatLanes* const v = buffer_.at(0);
  for (std::size_t j = 0; j < n; ++j) {
    const auto pivot = static_cast<float>(elimination_.pivot(j));
    const auto ridge = static_cast<float>(elimination_.ridge(j));
    FloatLanes* const z = remainder_.at(j * d);
    FloatLanes* const reduced = reduced_.at(j * d);
    for (std::size_t r = 0; r < d; ++r) v[r] = z[r] - ridge * stage.residual_y.row()[r];
    add_neighbours(elimination_.earlier(j), reduced_, v);
    apply_inverse(j, stage.residual_y, v, reduced);
    FloatLanes* const evidence = stage.evidence.some();
    FloatLanes products{};
    for (std::size_t r = 0; r < d; ++r) {
      z[r] = v[r];
      products += v[r] * reduced[r];
      evidence[r] += v[r] - pivot * reduced[r];
    }
    stage.evidence.next_node(j);
    stage.total += widened(products);
  }
}

/// p = z + turn p and t = (D + L)^{-T} p. The total is 2 p'.t - t.g' + (diagonal - pivot) t.t, where g' is that of D t.
void LaneSolver::Workspace::sweep_back(Stage& stage, const FloatLanes& turn) {
  const std::size_t d = dimension_;
  FloatLanes* const v = buffer_.at(0);
  FloatLanes* const direction = v + d;
  stage.sum.clear();
  stage.evidence.clear();
  stage.total = DoubleLanes{};
  for (std::size_t j = elimination_.node_count(); j-- > 0;) {
    const auto pivot = static_cast<float>(elimination_.pivot(j));
    const auto ridge = static_cast<float>(elimination_.ridge(j));
    const auto shift = static_cast<float>(elimination_.diagonal(j) - elimination_.pivot(j));
    const FloatLanes* const z = remainder_.at(j * d);
    FloatLanes* const p = direction_.at(j * d);
    FloatLanes* const t = swept_.at(j * d);
    for (std::size_t r = 0; r < d; ++r) v[r] = direction[r] = p[r] = z[r] + turn * p[r];
    add_neighbours(elimination_.later(j), swept_, v);
    apply_inverse(j, stage.direction_y, v, t);
    FloatLanes* const sum = stage.sum.some();
    FloatLanes* const evidence = stage.evidence.some();
    FloatLanes products{};
    for (std::size_t r = 0; r < d; ++r) {
      products += t[r] * (direction[r] + direction[r] - v[r] + shift * t[r]);
      evidence[r] += v[r] - pivot * t[r];
      sum[r] += ridge * t[r];
    }
    stage.sum.next_node(j);
    stage.evidence.next_node(j);
    stage.total += widened(products);
  }
}

/// D q = p + (diagonal - pivot) t - (ridge I + S) m + sum of w s; then a step along t. The total is r.z'.
void LaneSolver::Workspace::sweep_forth(Stage& stage, const FloatLanes& step) {
  const std::size_t d = dimension_;
  FloatLanes* const v = buffer_.at(0);
  FloatLanes* const q = v + d;
  stage.evidence.clear();
  stage.total = DoubleLanes{};
  for (std::size_t j = 0; j < elimination_.node_count(); ++j) {
    const auto pivot = static_cast<float>(elimination_.pivot(j));
    const auto ridge = static_cast<float>(elimination_.ridge(j));
    const auto shift = static_cast<float>(elimination_.diagonal(j) - elimination_.pivot(j));
    const FloatLanes* const p = direction_.at(j * d);
    FloatLanes* const t = swept_.at(j * d);
    FloatLanes* const u = estimate_.at(j * d);
    FloatLanes* const z = remainder_.at(j * d);
    FloatLanes* const reduced = reduced_.at(j * d);
    for (std::size_t r = 0; r < d; ++r) v[r] = p[r] + shift * t[r] - ridge * stage.common.row()[r];
    add_neighbours(elimination_.earlier(j), swept_, v);
    apply_inverse(j, stage.image_y, v, q);
    FloatLanes* const evidence = stage.evidence.some();
    FloatLanes products{};
    for (std::size_t r = 0; r < d; ++r) {
      const FloatLanes less_reduced = reduced[r] - step * q[r];
      const FloatLanes less = z[r] - step * v[r];
      products += less_reduced * less;
      evidence[r] += less - pivot * less_reduced;
      u[r] += step * t[r];
      t[r] = q[r] - t[r];
      reduced[r] = less_reduced;
      z[r] = less;
    }
    stage.evidence.next_node(j);
    stage.total += widened(products);
  }
}

/// One stage: u += the solution of N e = residual, until in every lane its squared residual, as the sweeps measure it,
/// has fallen by the square of its reduction. Then the true residual.
std::size_t LaneSolver::Workspace::correct(const Numbers& norms, const Numbers& reductions,
                                           std::size_t max_iterations) {
  const ConstantMode& constant = solver_.constant_;
  constexpr auto epsilon = static_cast<double>(std::numeric_limits<float>::epsilon());
  const auto count = static_cast<double>(elimination_.node_count());
  Stage stage(dimension_);
  Numbers inverse_norms{};
  for (std::size_t lane = 0; lane < lanes; ++lane) inverse_norms[lane] = norms[lane] > 0.0 ? 1.0 / norms[lane] : 0.0;
  reduce(stage, lanes_of(inverse_norms));
  std::fill(estimate_.numbers.begin(), estimate_.numbers.end(), 0.0F);
  MatrixXd same = stage.residual_y.exact();

  // r.z from r.z' and the sum of z' - pivot r, and what of it is rounding.
  Numbers inner{};
  Numbers rounding{};
  const auto find_inner = [&] {
    const MatrixXd& y = stage.residual_y.exact();
    const MatrixXd of_y = constant.evidence_times(y);
    const MatrixXd evidence = stage.evidence.value();
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const auto c = static_cast<Index>(lane);
      inner[lane] = stage.total[lane] - y.col(c).dot(evidence.col(c) - of_y.col(c));
      rounding[lane] = std::max(100.0 * epsilon * epsilon * stage.squares[lane],
                                4.0 * epsilon * y.col(c).dot(of_y.col(c)) / std::sqrt(count));
    }
  };
  find_inner();
  Numbers goals{};
  Numbers turns{};
  for (std::size_t lane = 0; lane < lanes; ++lane) goals[lane] = inner[lane] * reductions[lane] * reductions[lane];
  std::fill(direction_.numbers.begin(), direction_.numbers.end(), 0.0F);
  std::size_t iterations = 0;
  for (; iterations < max_iterations; ++iterations) {
    bool reached = true;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      reached = reached && !(inner[lane] > std::max(goals[lane], rounding[lane]));
    }
    if (reached) break;
    stage.direction_y.set(stage.residual_y.exact() + stage.direction_y.exact() * diagonal(turns));
    sweep_back(stage, lanes_of(turns));
    const MatrixXd& y = stage.direction_y.exact();
    const MatrixXd evidence = stage.evidence.value() - constant.evidence_times(y);  // the sum of S_j t_j
    const MatrixXd lost = stage.sum.value() + evidence;                             // W^T N t
    stage.common.set(constant.solve(lost));
    stage.image_y.set(y + stage.common.exact());
    Numbers steps{};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const auto c = static_cast<Index>(lane);
      const double curvature =
          stage.total[lane] - y.col(c).dot(evidence.col(c)) - stage.common.exact().col(c).dot(lost.col(c));
      if (inner[lane] > rounding[lane] && curvature > 0.0) {
        steps[lane] = inner[lane] / curvature;
      } else {
        goals[lane] = inner[lane];  // stands still
      }
    }
    sweep_forth(stage, lanes_of(steps));
    same -= stage.common.exact() * diagonal(steps);
    stage.residual_y.set(stage.residual_y.exact() - stage.image_y.exact() * diagonal(steps));
    const Numbers before = inner;
    find_inner();
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      turns[lane] = steps[lane] > 0.0 ? std::max(0.0, inner[lane] / before[lane]) : 0.0;
    }
  }
  add_estimate(same, norms);
  return iterations;
}

/// u += norm e and residual -= norm N e in double precision, where e is the estimate and what is the same everywhere.
void LaneSolver::Workspace::add_estimate(const MatrixXd& same, const Numbers& norms) {
  const std::size_t d = dimension_;
  const std::size_t stride = padded<double>(dimension_);
  const NodeId* const others = elimination_.positions().data();
  const double* const weights = elimination_.weights().data();
  DoubleLaneVector buffer{.numbers = CacheLineVector<double>(3 * d * lanes)};
  DoubleLanes* const everywhere = buffer.at(0);
  DoubleLanes* __restrict const e = everywhere + d;
  DoubleLanes* __restrict const image = e + d;
  DoubleLanes norm{};
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    norm[lane] = norms[lane];
    for (std::size_t r = 0; r < d; ++r) everywhere[r][lane] = same(static_cast<Index>(r), static_cast<Index>(lane));
  }
  for (std::size_t j = 0; j < elimination_.node_count(); ++j) {
    const FloatLanes* const estimate = estimate_.at(j * d);
    for (std::size_t r = 0; r < d; ++r) {
      image[r] = DoubleLanes{};
      e[r] = widened(estimate[r]);
    }
    // Differences, so that a heavy edge between two nodes that are alike takes no digits.
    std::size_t k = elimination_.earlier(j).first;
    const std::size_t last = elimination_.later(j).last;
    for (; k + 2 <= last; k += 2) {
      const FloatLanes* const a = estimate_.at(others[k] * d);
      const FloatLanes* const b = estimate_.at(others[k + 1] * d);
      for (std::size_t r = 0; r < d; ++r) {
        image[r] += weights[k] * (e[r] - widened(a[r])) + weights[k + 1] * (e[r] - widened(b[r]));
      }
    }
    if (k < last) {
      const FloatLanes* const other = estimate_.at(others[k] * d);
      for (std::size_t r = 0; r < d; ++r) image[r] += weights[k] * (e[r] - widened(other[r]));
    }
    for (std::size_t r = 0; r < d; ++r) {
      e[r] += everywhere[r];
      image[r] += elimination_.ridge(j) * e[r];
    }
    const NodeSum& sum = solver_.solver_.observed(elimination_.node(j));
    const double* x = sum.rows.data();
    for (std::size_t row = 0; row < sum.rows.size() / stride; ++row, x += stride) {
      DoubleLanes factor{};
      if (sum.whole) {
        factor = e[row];
      } else {
        for (std::size_t r = 0; r < d; ++r) factor += x[r] * e[r];
      }
      for (std::size_t r = 0; r < d; ++r) image[r] += x[r] * factor;
    }
    DoubleLanes* const u = solution_.at(j * d);
    DoubleLanes* const residual = residual_.at(j * d);
    for (std::size_t r = 0; r < d; ++r) {
      u[r] += norm * e[r];
      residual[r] -= norm * image[r];
    }
  }
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
    DoubleLanes* const u = solution_.at(elimination_.position(column.node) * dimension_);
    for (std::size_t r = 0; r < dimension_; ++r) {
      lengths[lane] += column.right_hand_side[r] * column.right_hand_side[r];
      u[r][lane] = column.start[r];
    }
    double weight = solver_.prior_.residual_weight(column.node);
    if (column.minus != Column::nowhere) weight += solver_.prior_.residual_weight(column.minus);
    lengths[lane] = std::sqrt(weight * lengths[lane]);
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
