#include "belief/likelihood/block_solver.hpp"

#include "belief/symmetric_matrix.hpp"
#include "goblin/random.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Core>
#include <Eigen/Eigenvalues>

namespace goblin {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Matrix = Eigen::Map<const MatrixXd>;

/// |residual| <= 1e-5 |right-hand side| is enough: quadrature and c.w are off by about its square.
constexpr double enough = 1e-5;

/// to = M from for eight vectors, M symmetric. Four rows at a time share what they read.
void apply_matrix(const double* matrix, std::size_t dimension, const LaneRow* from, LaneRow* to) {
  std::size_t row = 0;
  for (; row + 4 <= dimension; row += 4) {
    const double* const m = matrix + row * dimension;
    Lanes total[4] = {};
    for (std::size_t k = 0; k < dimension; ++k) {
      const Lanes& x = from[k].values;
      for (std::size_t r = 0; r < 4; ++r) total[r] += m[r * dimension + k] * x;
    }
    for (std::size_t r = 0; r < 4; ++r) to[row + r].values = total[r];
  }
  for (; row < dimension; ++row) {
    Lanes total{};
    for (std::size_t k = 0; k < dimension; ++k) total += matrix[row * dimension + k] * from[k].values;
    to[row].values = total;
  }
}

/// What conjugate gradients found out about the matrix: the coefficients of each lane until it was there.
struct Coefficients {
  /// More make no difference to the quadrature that could be seen beside its standard error.
  static constexpr std::size_t most = 300;
  std::vector<double> steps[lane_count];
  std::vector<double> turns[lane_count];

  void operator()(const Lanes& step, const Lanes& turn) {
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      if (!(step[lane] > 0.0) || steps[lane].size() == most) continue;
      steps[lane].push_back(step[lane]);
      turns[lane].push_back(turn[lane]);
    }
  }

  /// g^T f(K) g / |g|^2 for the start g of a lane, f(K) = ln(I - K) + K + K^2 / 2: Gauss quadrature with Lanczos'
  /// tridiagonal matrix of I - K.
  [[nodiscard]] double quadrature(std::size_t lane) const {
    const auto& step = steps[lane];
    const auto& turn = turns[lane];
    if (step.empty()) return 0.0;
    const auto size = static_cast<Index>(step.size());
    Eigen::VectorXd diagonal(size);
    Eigen::VectorXd beside(std::max<Index>(size - 1, 0));
    for (Index k = 0; k < size; ++k) {
      const auto at = static_cast<std::size_t>(k);
      diagonal[k] = 1.0 / step[at] + (k > 0 ? turn[at - 1] / step[at - 1] : 0.0);
      if (k + 1 < size) beside[k] = std::sqrt(turn[at]) / step[at];
    }
    Eigen::SelfAdjointEigenSolver<MatrixXd> eigen;
    eigen.computeFromTridiagonal(diagonal, beside);
    double total = 0.0;
    for (Index k = 0; k < size; ++k) {
      const double value = std::max(eigen.eigenvalues()[k], 1e-300);
      const double part = 1.0 - value;
      const double first = eigen.eigenvectors()(0, k);
      total += first * first * (std::log(value) + part + 0.5 * part * part);
    }
    return total;
  }
};

/// tr(B_i^{-1} B_j^{-1}).
double trace_of_product(const DiagonalBlocks& blocks, std::size_t i, std::size_t j, std::size_t dimension) {
  const double* const first = blocks.inverse(i);
  const double* const second = blocks.inverse(j);
  const auto size = static_cast<Index>(dimension);
  if (first != nullptr && second != nullptr) {
    return Eigen::Map<const Eigen::VectorXd>(first, size * size)
        .dot(Eigen::Map<const Eigen::VectorXd>(second, size * size));
  }
  const auto trace_of = [&](const double* inverse, std::size_t node) {
    return inverse != nullptr ? Matrix(inverse, size, size).trace()
                              : static_cast<double>(dimension) / blocks.diagonal(node);
  };
  return first != nullptr ? trace_of(first, i) / blocks.diagonal(j) : trace_of(second, j) / blocks.diagonal(i);
}

/// tr(K^2).
double squared_trace(const PriorMatrix& prior, const DiagonalBlocks& blocks, std::size_t dimension) {
  double total = 0.0;
  for (std::size_t i = 0; i < prior.node_count(); ++i) {
    const auto neighbours = prior.graph().neighbours(i);
    const auto weights = prior.graph().weights(i);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      if (neighbours[k] > i) continue;
      const double entry = prior.coupling() * weights[k];
      total += 2.0 * entry * entry * trace_of_product(blocks, i, neighbours[k], dimension);
    }
  }
  return total;
}

Lanes squared_norms(const std::vector<LaneRow>& rows) {
  Lanes total{};
  for (const LaneRow& row : rows) total += row.values * row.values;
  return total;
}

}  // namespace

double* DiagonalBlocks::inverse_to_change(std::size_t node) {
  const std::size_t size = dimension_ * dimension_;
  if (at_[node] == none) {
    at_[node] = inverses_.size() / size;
    inverses_.resize(inverses_.size() + size);
    double* const inverse = inverses_.data() + at_[node] * size;
    for (std::size_t k = 0; k < dimension_; ++k) inverse[k * (dimension_ + 1)] = 1.0 / diagonal_[node];
  }
  return inverses_.data() + at_[node] * size;
}

void DiagonalBlocks::apply(const LaneRow* from, LaneRow* to) const {
  for (std::size_t node = 0; node < size(); ++node, from += dimension_, to += dimension_) {
    if (const double* matrix = inverse(node)) {
      apply_matrix(matrix, dimension_, from, to);
    } else {
      for (std::size_t k = 0; k < dimension_; ++k) to[k] = (1.0 / diagonal_[node]) * from[k];
    }
  }
}

LaneRow multiply(const PriorMatrix& prior, std::size_t dimension, const LaneRow* p, const LaneRow* bp, LaneRow* to) {
  Lanes product{};
  for (std::size_t node = 0; node < prior.node_count(); ++node) {
    LaneRow* const row = to + node * dimension;
    std::copy_n(bp + node * dimension, dimension, row);
    const auto neighbours = prior.graph().neighbours(node);
    const auto weights = prior.graph().weights(node);
    for (std::size_t n = 0; n < neighbours.size(); ++n) {
      const double factor = prior.coupling() * weights[n];
      const LaneRow* const other = p + neighbours[n] * dimension;
      for (std::size_t k = 0; k < dimension; ++k) row[k].values -= factor * other[k].values;
    }
    for (std::size_t k = 0; k < dimension; ++k) product += p[node * dimension + k].values * row[k].values;
  }
  return {product};
}

BlockLikelihoodSolver::BlockLikelihoodSolver(const Evidence& evidence)
    : dimension_(evidence.dimension()), spectra_(evidence.size()) {
  for (std::size_t node = 0; node < evidence.size(); ++node) {
    const UserEvidence sums = evidence.at(node);
    if (sums.count == 0) continue;
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(unpacked(sums.contexts, dimension_));
    const Eigen::Map<const Eigen::VectorXd> rewards(sums.rewards.data(), static_cast<Index>(dimension_));
    const Eigen::VectorXd values = eigen.eigenvalues().cwiseMax(0.0);
    const Eigen::VectorXd turned = eigen.eigenvectors().transpose() * rewards;
    Spectrum& spectrum = spectra_[node];
    spectrum.values.assign(values.begin(), values.end());
    spectrum.vectors.assign(eigen.eigenvectors().data(), eigen.eigenvectors().data() + eigen.eigenvectors().size());
    spectrum.rewards.assign(rewards.begin(), rewards.end());
    spectrum.turned_rewards.assign(turned.begin(), turned.end());
  }
}

/// B^{1/2} g, g random signs: the same ones for every prior.
void BlockLikelihoodSolver::fill_probes(const PriorMatrix& prior, std::size_t block, BlockCgVectors& vectors) const {
  constexpr std::uint64_t signs = 0x5167;  // the seed; any will do
  const auto size = static_cast<Index>(dimension_);
  MatrixXd probes(size, static_cast<Index>(lane_count));
  for (std::size_t node = 0; node < spectra_.size(); ++node) {
    Random random(signs, block, node);
    for (Index row = 0; row < size; ++row) {
      const std::uint64_t bits = random.bits();
      for (Index lane = 0; lane < probes.cols(); ++lane) probes(row, lane) = ((bits >> lane) & 1U) != 0 ? 1.0 : -1.0;
    }
    const double diagonal = prior.diagonal(node);
    const Spectrum& spectrum = spectra_[node];
    if (spectrum.values.empty()) {
      probes *= std::sqrt(diagonal);
    } else {
      const Matrix turn(spectrum.vectors.data(), size, size);
      const Eigen::Map<const Eigen::ArrayXd> values(spectrum.values.data(), size);
      const MatrixXd turned = (values + diagonal).sqrt().matrix().asDiagonal() * (turn.transpose() * probes);
      probes.noalias() = turn * turned;
    }
    for (Index row = 0; row < size; ++row) {
      for (std::size_t lane = 0; lane < lane_count; ++lane) {
        vectors.residual[node * dimension_ + static_cast<std::size_t>(row)].values[lane] =
            probes(row, static_cast<Index>(lane));
      }
    }
  }
}

PriorFit BlockLikelihoodSolver::fit(const PriorMatrix& prior, std::size_t blocks) const {
  const std::size_t d = dimension_;
  const auto size = static_cast<Index>(d);
  const std::size_t nodes = spectra_.size();
  const bool has_edges = prior.graph().edge_count() > 0 && prior.coupling() > 0.0;
  PriorFit result;
  DiagonalBlocks inverses(prior.diagonals(), d);
  for (std::size_t node = 0; node < nodes; ++node) {
    const double diagonal = inverses.diagonal(node);
    const Spectrum& spectrum = spectra_[node];
    if (spectrum.values.empty()) {
      result.log_determinant += static_cast<double>(d) * std::log(diagonal);
      continue;
    }
    const Eigen::Map<const Eigen::ArrayXd> values(spectrum.values.data(), size);
    result.log_determinant += (values + diagonal).log().sum();
    if (!has_edges) {
      const Eigen::Map<const Eigen::ArrayXd> turned(spectrum.turned_rewards.data(), size);
      result.explained += (turned.square() / (values + diagonal)).sum();
      continue;
    }
    const Matrix turn(spectrum.vectors.data(), size, size);
    Eigen::Map<MatrixXd>(inverses.inverse_to_change(node), size, size).noalias() =
        turn * (values + diagonal).inverse().matrix().asDiagonal() * turn.transpose();
  }
  if (!has_edges) return result;
  result.log_determinant -= 0.5 * squared_trace(prior, inverses, d);

  const std::size_t rows = nodes * d;
  BlockCgVectors vectors;
  for (std::size_t block = 0; block < blocks; ++block) {
    vectors.reset(rows);
    fill_probes(prior, block, vectors);
    if (block == 0) {
      for (std::size_t node = 0; node < nodes; ++node) {
        const auto& rewards = spectra_[node].rewards;
        for (std::size_t k = 0; k < d; ++k) {
          vectors.residual[node * d + k].values[0] = rewards.empty() ? 0.0 : rewards[k];
        }
      }
    }
    Coefficients found;
    block_cg(
        vectors, enough * enough * squared_norms(vectors.residual),
        [&](const LaneRow* from, LaneRow* to) { inverses.apply(from, to); },
        [&](const LaneRow* p, const LaneRow* bp, LaneRow* to) { return multiply(prior, d, p, bp, to); },
        [&](const Lanes& step, const Lanes& turn) { found(step, turn); });
    for (std::size_t lane = block == 0 ? 1 : 0; lane < lane_count; ++lane) {
      result.estimates.push_back(static_cast<double>(rows) * found.quadrature(lane));
    }
    for (const auto& steps : found.steps) result.iterations = std::max(result.iterations, steps.size());
    for (std::size_t node = 0; block == 0 && node < nodes; ++node) {
      const auto& rewards = spectra_[node].rewards;
      for (std::size_t k = 0; k < rewards.size(); ++k) {
        result.explained += rewards[k] * vectors.solution[node * d + k].values[0];
      }
    }
  }
  return result;
}

BlockProgressiveMeans::BlockProgressiveMeans(const PriorMatrix& prior, std::size_t dimension)
    : prior_(prior),
      dimension_(dimension),
      blocks_(prior.diagonals(), dimension),
      means_(prior.node_count() * dimension),
      residuals_(means_.size()),
      product_(dimension) {}

double BlockProgressiveMeans::mean(NodeId node, std::span<const double> context) const {
  const double* const mean = means_.data() + node * dimension_;
  double total = 0.0;
  for (std::size_t k = 0; k < dimension_; ++k) total += context[k] * mean[k];
  return total;
}

/// B_i^{-1} loses B_i^{-1} x x^T B_i^{-1} / (1 + x^T B_i^{-1} x), and c - N w gains x (a - x.w).
void BlockProgressiveMeans::learn(NodeId node, std::span<const double> context, double reward) {
  const auto size = static_cast<Index>(dimension_);
  const Eigen::Map<const Eigen::VectorXd> x(context.data(), size);
  Eigen::Map<MatrixXd> inverse(blocks_.inverse_to_change(node), size, size);
  Eigen::Map<Eigen::VectorXd> product(product_.data(), size);
  product.noalias() = inverse * x;
  inverse.noalias() -= product * (product.transpose() / (1.0 + x.dot(product)));
  const double surprise = reward - mean(node, context);
  Eigen::Map<Eigen::VectorXd>(residuals_.data() + node * dimension_, size) += surprise * x;
  learned_ += reward * reward * x.squaredNorm();
}

void BlockProgressiveMeans::settle(double tolerance) {
  vectors_.reset(means_.size());
  for (std::size_t k = 0; k < means_.size(); ++k) vectors_.residual[k].values[0] = residuals_[k];
  const Lanes goal = tolerance * tolerance * learned_ * Lanes{1.0};
  block_cg(
      vectors_, goal, [&](const LaneRow* from, LaneRow* to) { blocks_.apply(from, to); },
      [&](const LaneRow* p, const LaneRow* bp, LaneRow* to) { return multiply(prior_, dimension_, p, bp, to); });
  for (std::size_t k = 0; k < means_.size(); ++k) {
    means_[k] += vectors_.solution[k].values[0];
    residuals_[k] = vectors_.residual[k].values[0];
  }
}

}  // namespace goblin
