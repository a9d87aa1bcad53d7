#include "belief/sparse/precision_solver.hpp"

#include "belief/packs.hpp"
#include "belief/symmetric_matrix.hpp"
#include "jobs.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <numeric>
#include <utility>

namespace goblin {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// D^{-1} = (pivot I + S)^{-1}. O(d k^2) for k contexts, O(d^3) for a whole matrix.
LowRankInverse<double> inverse_of(double pivot, const NodeSum& sum, std::size_t dimension, std::size_t stride) {
  if (sum.whole) {
    const auto d = static_cast<Index>(dimension);
    const Eigen::Map<const MatrixXd, 0, Eigen::OuterStride<>> matrix(sum.rows.data(), d, d,
                                                                     Eigen::OuterStride<>(static_cast<Index>(stride)));
    return {pivot, matrix};
  }
  LowRankInverse<double> inverse(pivot);
  for (std::size_t k = 0; k < sum.rows.size(); k += stride) inverse.observe({sum.rows.data() + k, dimension});
  return inverse;
}

}  // namespace

PrecisionSolver::PrecisionSolver(const PriorMatrix& prior, std::size_t dimension)
    : dimension_(dimension),
      stride_(padded<double>(dimension)),
      prior_(prior),
      elimination_(prior),
      sweeps_(elimination_, dimension),
      sums_(prior.node_count()),
      right_hand_side_(prior.node_count() * stride_),
      solution_(prior.node_count() * stride_),
      residual_(prior.node_count() * stride_) {}

void PrecisionSolver::set_prior(const PriorMatrix& prior, std::size_t threads) {
  PriorMatrix new_prior = prior;
  Elimination elimination(prior);
  Sweeps<float> sweeps(elimination, dimension_);
  run_parts(sums_.size(), 64, threads, [&](std::size_t /*part*/, std::size_t first, std::size_t end) {
    for (std::size_t node = first; node < end; ++node) {
      if (sums_[node].rows.empty()) continue;
      const std::size_t before = elimination_.position(node);
      const std::size_t at = elimination.position(node);
      sweeps.set_inverse(at, elimination.pivot(at) == elimination_.pivot(before)
                                 ? sweeps_.inverse(before)
                                 : inverse_of_node(node, elimination.pivot(at)));
    }
  });
  prior_ = std::move(new_prior);
  elimination_ = std::move(elimination);
  sweeps_ = std::move(sweeps);
}

LowRankInverse<float> PrecisionSolver::inverse_of_node(std::size_t node, double pivot) const {
  return {inverse_of(pivot, sums_[node], dimension_, stride_), dimension_};
}

void PrecisionSolver::set_sum(std::size_t node, NodeSum sum) {
  sums_[node] = std::move(sum);
  evidence_known_ = false;
  const std::size_t at = elimination_.position(node);
  sweeps_.set_inverse(at, inverse_of_node(node, elimination_.pivot(at)));
}

void PrecisionSolver::observe(std::size_t node, std::span<const double> context) {
  NodeSum sum = std::move(sums_[node]);
  const auto add_product = [&](std::vector<double>& matrix, const double* x) {
    for (std::size_t r = 0; r < dimension_; ++r) {
      for (std::size_t c = 0; c < dimension_; ++c) matrix[r * stride_ + c] += x[r] * x[c];
    }
  };
  if (!sum.whole && LowRankInverse<double>::is_whole(sum.rows.size() / stride_ + 1, dimension_)) {
    std::vector<double> matrix(dimension_ * stride_, 0.0);
    for (std::size_t k = 0; k < sum.rows.size(); k += stride_) add_product(matrix, sum.rows.data() + k);
    sum = {.rows = std::move(matrix), .whole = true};
  }
  if (sum.whole) {
    add_product(sum.rows, context.data());
  } else {
    sum.rows.insert(sum.rows.end(), context.begin(), context.end());
    sum.rows.resize(sum.rows.size() + stride_ - dimension_);
  }
  const bool known = evidence_known_;
  set_sum(node, std::move(sum));
  const Eigen::Map<const Eigen::VectorXd> x(context.data(), static_cast<Index>(dimension_));
  if (known) evidence_ += x * x.transpose();
  evidence_known_ = known;
}

void PrecisionSolver::forget(std::size_t node, std::span<const double> context, std::span<const double> packed) {
  const auto d = static_cast<Index>(dimension_);
  const Eigen::Map<const Eigen::VectorXd> x(context.data(), d);
  // The sum over all nodes only helps the solves along, so it may lose some digits.
  constexpr double small = 1e-3;
  const bool known = evidence_known_ && x.squaredNorm() < small * evidence_.trace();
  NodeSum sum = std::move(sums_[node]);
  if (packed.empty()) {
    set_sum(node, NodeSum{});
  } else if (sum.whole) {
    const MatrixXd matrix = unpacked(packed, dimension_);
    for (std::size_t r = 0; r < dimension_; ++r) {
      for (std::size_t c = 0; c < dimension_; ++c) sum.rows[r * stride_ + c] = matrix(r, c);
    }
    set_sum(node, std::move(sum));
  } else {
    auto row = sum.rows.begin();
    while (row != sum.rows.end() && !std::equal(context.begin(), context.end(), row)) row += stride_;
    if (row == sum.rows.end()) {
      set_sum(node, packed);
    } else {
      sum.rows.erase(row, row + static_cast<std::ptrdiff_t>(stride_));
      set_sum(node, std::move(sum));
    }
  }
  if (known) evidence_ -= x * x.transpose();
  evidence_known_ = known;
}

void PrecisionSolver::observe(std::size_t node, const MatrixXd& contexts) {
  NodeSum sum = sums_[node];
  const auto count = static_cast<Index>(sum.rows.size() / stride_);
  MatrixXd columns = MatrixXd::Zero(static_cast<Index>(stride_), count + contexts.cols());
  columns.leftCols(count) = Eigen::Map<const MatrixXd>(sum.rows.data(), columns.rows(), count);
  columns.rightCols(contexts.cols()).topRows(contexts.rows()) = contexts;
  if (sum.whole) {
    columns.leftCols(count).noalias() += columns.rightCols(contexts.cols()) * contexts.transpose();
    columns.conservativeResize(Eigen::NoChange, count);
  } else if (LowRankInverse<double>::is_whole(static_cast<std::size_t>(columns.cols()), dimension_)) {
    columns = columns * columns.topRows(contexts.rows()).transpose();
    sum.whole = true;
  }
  sum.rows.assign(columns.data(), columns.data() + columns.size());
  const bool known = evidence_known_;
  set_sum(node, std::move(sum));
  if (known) evidence_.noalias() += contexts * contexts.transpose();
  evidence_known_ = known;
}

void PrecisionSolver::set_sum(std::size_t node, std::span<const double> packed) {
  NodeSum sum;
  if (!packed.empty()) {
    const MatrixXd root = root_of(packed, dimension_);
    sum.whole = LowRankInverse<double>::is_whole(static_cast<std::size_t>(root.cols()), dimension_);
    const MatrixXd columns = sum.whole ? unpacked(packed, dimension_) : root;
    sum.rows.assign(static_cast<std::size_t>(columns.cols()) * stride_, 0.0);
    for (Index k = 0; k < columns.cols(); ++k) {
      for (Index r = 0; r < columns.rows(); ++r) sum.rows[static_cast<std::size_t>(k) * stride_ + r] = columns(r, k);
    }
  }
  set_sum(node, std::move(sum));
}

const ConstantMode& PrecisionSolver::constant_mode() {
  const auto d = static_cast<Index>(dimension_);
  if (!evidence_known_) {
    evidence_ = MatrixXd::Zero(d, d);
    for (const NodeSum& sum : sums_) {
      const Eigen::Map<const MatrixXd, 0, Eigen::OuterStride<>> rows(sum.rows.data(), d,
                                                                     static_cast<Index>(sum.rows.size() / stride_),
                                                                     Eigen::OuterStride<>(static_cast<Index>(stride_)));
      if (sum.whole) {
        evidence_ += rows;
      } else {
        evidence_ += rows * rows.transpose();
      }
    }
    evidence_known_ = true;
  }
  constant_ = ConstantMode(prior_.total_ridge(), evidence_);
  return constant_;
}

void PrecisionSolver::clear() {
  std::fill(right_hand_side_.begin(), right_hand_side_.end(), 0.0);
  std::fill(solution_.begin(), solution_.end(), 0.0);
}

double PrecisionSolver::length_of(std::span<const double> vector) const {
  double squared_length = 0.0;
  for (std::size_t j = 0; j < sums_.size(); ++j) {
    const auto row = vector.subspan(j * stride_, stride_);
    squared_length += prior_.residual_weight(j) * std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
  }
  return std::sqrt(squared_length);
}

/// b - N u into residual_; returns its length. One pass over the edges and over the evidence.
double PrecisionSolver::compute_residual() {
  return with_pack_count(stride_ / pack_size, [&](auto known) {
    constexpr std::size_t Packs = decltype(known)::value;
    using Row = PackRow<double, Packs>;
    const std::size_t count = Packs > 0 ? Packs : stride_ / pack_size;
    const std::size_t width = count * pack_size;
    Row r(count);
    Pack squared_length{};
    for (std::size_t j = 0; j < sums_.size(); ++j) {
      const double* const numbers = solution_.data() + j * width;
      const Pack* const u = packs(numbers);
      const Pack* const b = packs(right_hand_side_.data() + j * width);
      const double ridge = prior_.ridge(j);
      const auto neighbours = prior_.graph().neighbours(j);
      const auto weights = prior_.graph().weights(j);
      for (std::size_t c = 0; c < count; ++c) r[c] = Pack{};
      // Differences, so that a heavy edge between two nodes that are alike takes no digits.
      for (std::size_t k = 0; k < neighbours.size(); ++k) {
        const Pack* const other = packs(solution_.data() + neighbours[k] * width);
        for (std::size_t c = 0; c < count; ++c) r[c] += weights[k] * (other[c] - u[c]);
      }
      for (std::size_t c = 0; c < count; ++c) r[c] = b[c] - ridge * u[c] + prior_.coupling() * r[c];
      const NodeSum& node_sum = sums_[j];
      const Pack* x = packs(node_sum.rows.data());
      for (std::size_t k = 0; k < node_sum.rows.size() / width; ++k, x += count) {
        double factor = 0.0;
        if (node_sum.whole) {
          factor = numbers[k];
        } else {
          Pack product{};
          for (std::size_t c = 0; c < count; ++c) product += x[c] * u[c];
          factor = sum(product);
        }
        for (std::size_t c = 0; c < count; ++c) r[c] -= factor * x[c];
      }
      Pack* const residual = packs(residual_.data() + j * width);
      const double weight = prior_.residual_weight(j);
      for (std::size_t c = 0; c < count; ++c) {
        residual[c] = r[c];
        squared_length += weight * r[c] * r[c];
      }
    }
    return std::sqrt(sum(squared_length));
  });
}

/// The same where few rows of u are not zero: only these are multiplied.
double PrecisionSolver::compute_residual_of_start() {
  residual_ = right_hand_side_;
  for (std::size_t j = 0; j < sums_.size(); ++j) {
    const std::span<const double> u(solution_.data() + j * stride_, dimension_);
    if (std::all_of(u.begin(), u.end(), [](double value) { return value == 0.0; })) continue;
    const auto add = [&](std::size_t node, double factor, const double* row) {
      for (std::size_t c = 0; c < dimension_; ++c) residual_[node * stride_ + c] += factor * row[c];
    };
    add(j, -elimination_.diagonal(elimination_.position(j)), u.data());
    const auto neighbours = prior_.graph().neighbours(j);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      add(neighbours[k], prior_.coupling() * prior_.graph().weights(j)[k], u.data());
    }
    const NodeSum& node_sum = sums_[j];
    for (std::size_t k = 0; k < node_sum.rows.size() / stride_; ++k) {
      const double* const x = node_sum.rows.data() + k * stride_;
      add(j, node_sum.whole ? -u[k] : -std::inner_product(u.begin(), u.end(), x, 0.0), x);
    }
  }
  return length_of(residual_);
}

/// One stage: u += the solution of N e = residual_, which is `norm` long.
template <typename Scalar>
std::size_t PrecisionSolver::correct(Sweeps<Scalar>& sweeps, double norm, double reduction,
                                     std::size_t max_iterations) {
  for (std::size_t at = 0; at < sums_.size(); ++at) {
    const double* const from = residual_.data() + elimination_.node(at) * stride_;
    Scalar* const to = sweeps.residual(at);
    for (std::size_t c = 0; c < dimension_; ++c) to[c] = static_cast<Scalar>(from[c] / norm);
  }
  // Double precision is for what single precision fails at: edges so heavy that they leave no digits to the products
  // with the constant vectors.
  const std::size_t iterations =
      sweeps.solve(elimination_, std::same_as<Scalar, float> ? constant_ : ConstantMode{}, reduction, max_iterations);
  for (std::size_t at = 0; at < sums_.size(); ++at) {
    const Scalar* const from = sweeps.solution(at);
    double* const to = solution_.data() + elimination_.node(at) * stride_;
    for (std::size_t c = 0; c < dimension_; ++c) to[c] += norm * static_cast<double>(from[c]);
  }
  return iterations;
}

PrecisionSolver::Solved PrecisionSolver::solve(double tolerance, std::size_t max_iterations) {
  constexpr double most_digits_in_single = 1e-5;  // that a stage is asked for
  constexpr double most_digits = 1e-12;
  constexpr double least_gain = 0.1;  // of a stage, or there is no use in another
  constexpr double margin = 0.5;      // the stages measure residuals in another norm
  const double length = length_of(right_hand_side_);
  Solved solved;
  if (length == 0.0) {
    std::fill(solution_.begin(), solution_.end(), 0.0);
    std::fill(residual_.begin(), residual_.end(), 0.0);
    return solved;
  }
  const double goal = tolerance * length;
  constant_mode();
  double norm = compute_residual_of_start();
  const std::size_t most_in_single = max_iterations / 2;
  bool in_single = true;
  while (in_single && norm > goal && solved.iterations < most_in_single) {
    const double before = norm;
    solved.iterations += correct(sweeps_, norm, std::max(margin * goal / norm, most_digits_in_single),
                                 most_in_single - solved.iterations);
    norm = compute_residual();
    in_single = norm <= least_gain * before;
  }
  if (norm <= goal) {
    solved.residual = norm / length;
    return solved;
  }
  // From zero, whatever single precision arrived at.
  std::fill(solution_.begin(), solution_.end(), 0.0);
  norm = compute_residual_of_start();
  Sweeps<double> sweeps(elimination_, dimension_);
  for (std::size_t at = 0; at < sums_.size(); ++at) {
    const NodeSum& node_sum = sums_[elimination_.node(at)];
    if (node_sum.rows.empty()) continue;
    sweeps.set_inverse(at, inverse_of(elimination_.pivot(at), node_sum, dimension_, stride_));
  }
  double before = 0.0;
  do {
    before = norm;
    solved.iterations +=
        correct(sweeps, norm, std::max(margin * goal / norm, most_digits), max_iterations - solved.iterations);
    norm = compute_residual();
  } while (norm > goal && norm <= least_gain * before && solved.iterations < max_iterations);
  solved.residual = norm / length;
  return solved;
}

std::size_t PrecisionSolver::bytes() const {
  std::size_t numbers = right_hand_side_.size() + solution_.size() + residual_.size();
  for (const NodeSum& sum : sums_) numbers += sum.rows.capacity();
  return elimination_.bytes() + sweeps_.bytes() + numbers * sizeof(double) + sums_.size() * sizeof(NodeSum);
}

double PrecisionSolver::bytes(std::size_t nodes, std::size_t edges, std::size_t dimension) {
  const auto d = static_cast<double>(dimension);
  const auto doubles = static_cast<double>(padded<double>(dimension));
  const auto floats = static_cast<double>(padded<float>(dimension));
  const double per_node = 8.0 * (3.0 + d) * doubles + 4.0 * (7.0 + d) * floats + sizeof(NodeSum) + 112.0;
  return static_cast<double>(nodes) * per_node + 32.0 * static_cast<double>(edges);
}

}  // namespace goblin
