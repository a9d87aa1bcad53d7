#include "belief/dense_engine.hpp"

#include "belief/byte_count.hpp"
#include "belief/edge_change.hpp"
#include "belief/evaluate.hpp"
#include "belief/graph_edit.hpp"
#include "belief/unpacked.hpp"
#include "binary.hpp"
#include "graph/graph_binary.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

namespace goblin {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A copy whose place in memory is always aligned the same: Eigen's sums depend on that in their last bit, and the same
/// rewards must give the same belief wherever the caller's numbers lie.
VectorXd aligned_copy(std::span<const double> values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size()));
}

/// How many rank-one updates wait for each other: the larger the matrix, the more a pass over it costs.
Index waiting_room(Index rows) { return std::clamp<Index>(rows / 16, 1, 32); }

}  // namespace

DenseEngine::DenseEngine(const Graph& component, std::size_t dimension, const Prior& prior)
    : DenseEngine(dimension, prior) {
  graph_ = component;
  compute_prior();
}

/// A^{-1}, by Cholesky. O(n^3).
void DenseEngine::compute_prior() {
  const auto n = static_cast<Index>(node_count());
  MatrixXd precision = MatrixXd::Zero(n, n);
  const auto diagonal = prior_diagonal(graph_, prior_.ridge, prior_.coupling);
  for (Index i = 0; i < n; ++i) {
    precision(i, i) = diagonal[i];
    const auto neighbours = graph_.neighbours(i);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      precision(i, neighbours[k]) = -prior_.coupling * graph_.weights(i)[k];
    }
  }
  prior_inverse_ = precision.llt().solve(MatrixXd::Identity(n, n));
}

/// N^{-1} and w from the graph and the evidence, by Cholesky. O((n d)^3).
void DenseEngine::compute_belief(std::span<const NodeEvidence> evidence) {
  const auto d = static_cast<Index>(dimension_);
  const auto n = static_cast<Index>(node_count());
  MatrixXd precision = MatrixXd::Zero(n * d, n * d);
  VectorXd rewards = VectorXd::Zero(n * d);
  const auto diagonal = prior_diagonal(graph_, prior_.ridge, prior_.coupling);
  for (Index i = 0; i < n; ++i) {
    precision.block(i * d, i * d, d, d) = unpacked(evidence[i].contexts, dimension_);
    precision.block(i * d, i * d, d, d).diagonal().array() += diagonal[i];
    const auto neighbours = graph_.neighbours(i);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      precision.block(i * d, neighbours[k] * d, d, d).diagonal().setConstant(-prior_.coupling * graph_.weights(i)[k]);
    }
    for (std::size_t k = 0; k < evidence[i].rewards.size(); ++k) rewards[i * d + k] = evidence[i].rewards[k];
  }
  const Eigen::LLT<MatrixXd> factor(precision);
  inverse_ = factor.solve(MatrixXd::Identity(n * d, n * d));
  mean_ = factor.solve(rewards);
  waiting_count_ = 0;
}

DenseEngine::DenseEngine(const DenseEngine& first, const DenseEngine& second)
    : DenseEngine(first.dimension_, first.prior_) {
  graph_ = side_by_side(first.graph_, second.graph_);
  const auto diagonal_blocks = [](const MatrixXd& a, const MatrixXd& b) {
    MatrixXd both = MatrixXd::Zero(a.rows() + b.rows(), a.rows() + b.rows());
    both.topLeftCorner(a.rows(), a.rows()) = a;
    both.bottomRightCorner(b.rows(), b.rows()) = b;
    return both;
  };
  prior_inverse_ = diagonal_blocks(first.prior_inverse_, second.prior_inverse_);
  trust_ = first.trust_ * second.trust_;
  if (first.untouched() && second.untouched()) return;
  DenseEngine a(first);
  DenseEngine b(second);
  for (DenseEngine* engine : {&a, &b}) {
    engine->touch();
    engine->apply_waiting();
  }
  inverse_ = diagonal_blocks(a.inverse_, b.inverse_);
  mean_.resize(a.mean_.size() + b.mean_.size());
  mean_ << a.mean_, b.mean_;
  waiting_.resize(inverse_.rows(), waiting_room(inverse_.rows()));
}

std::size_t DenseEngine::bytes() const {
  return sizeof(*this) + graph_.bytes() +
         sizeof(double) * (prior_inverse_.size() + inverse_.size() + mean_.size() + waiting_.size());
}

std::size_t DenseEngine::bytes(std::size_t nodes, std::size_t edges, std::size_t dimension) {
  const double n = static_cast<double>(nodes);
  const double rows = n * static_cast<double>(dimension);
  const double waiting = std::clamp(rows / 16.0, 1.0, 32.0);
  return byte_count(sizeof(DenseEngine) + 8.0 * (n * n + rows * rows + rows * (waiting + 1.0)) +
                    24.0 * static_cast<double>(edges) + 8.0 * n);
}

/// Goes from A^{-1} to A^{-1} (x) I_d, before the first reward.
void DenseEngine::touch() {
  if (!untouched()) return;
  const auto d = static_cast<Index>(dimension_);
  const Index n = prior_inverse_.rows();
  inverse_ = MatrixXd::Zero(n * d, n * d);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) inverse_.block(i * d, j * d, d, d).diagonal().setConstant(prior_inverse_(i, j));
  }
  mean_ = VectorXd::Zero(n * d);
  waiting_.resize(n * d, waiting_room(n * d));
}

void DenseEngine::apply_waiting() {
  if (waiting_count_ == 0) return;
  if (waiting_count_ == 1) {
    inverse_.selfadjointView<Eigen::Lower>().rankUpdate(waiting_.col(0), -1.0);
  } else {
    inverse_.selfadjointView<Eigen::Lower>().rankUpdate(waiting_.leftCols(waiting_count_), -1.0);
  }
  waiting_count_ = 0;
}

void DenseEngine::mean(std::size_t node, std::span<double> out) const {
  for (std::size_t k = 0; k < dimension_; ++k) out[k] = untouched() ? 0.0 : mean_[node * dimension_ + k];
}

void DenseEngine::covariance(std::size_t node, std::span<double> out) const {
  const auto d = static_cast<Index>(dimension_);
  const Index first = static_cast<Index>(node) * d;
  MatrixXd result = MatrixXd::Identity(d, d);
  if (untouched()) {
    result *= prior_inverse_(node, node);
  } else {
    const auto terms = waiting_.block(first, 0, d, waiting_count_);
    result = block(node, node);
    result.noalias() -= terms * terms.transpose();
  }
  std::copy_n(result.data(), result.size(), out.data());
}

void DenseEngine::evaluate(std::size_t node, std::span<const double> contexts, std::span<double> means,
                           std::span<double> variances) const {
  if (untouched()) {
    for (std::size_t k = 0; k < means.size(); ++k) {
      double squared_length = 0.0;
      for (const double value : contexts.subspan(k * dimension_, dimension_)) squared_length += value * value;
      means[k] = 0.0;
      variances[k] = prior_inverse_(node, node) * squared_length;
    }
    return;
  }
  const auto rows = static_cast<std::size_t>(inverse_.rows());
  const std::size_t first = node * dimension_;
  evaluate_contexts(
      dimension_, mean_.data() + first,
      [this, rows, first](std::size_t c) { return inverse_.data() + (first + c) * rows + first; },
      {.first = waiting_.data() + first, .stride = rows, .count = static_cast<std::size_t>(waiting_count_)}, contexts,
      means, variances);
}

/// The block (row, column) of N^{-1}, of which only the lower triangle is stored; without what waits.
MatrixXd DenseEngine::block(std::size_t row, std::size_t column) const {
  const auto d = static_cast<Index>(dimension_);
  const Index r = static_cast<Index>(row) * d;
  const Index c = static_cast<Index>(column) * d;
  if (row > column) return inverse_.block(r, c, d, d);
  if (row < column) return inverse_.block(c, r, d, d).transpose();
  return inverse_.block(r, c, d, d).selfadjointView<Eigen::Lower>();
}

/// N^{-1} phi_i(x).
VectorXd DenseEngine::column(std::size_t node, const VectorXd& x) const {
  const auto d = static_cast<Index>(dimension_);
  const Index first = static_cast<Index>(node) * d;
  const Index below = inverse_.rows() - first - d;
  VectorXd u(inverse_.rows());
  u.head(first).noalias() = inverse_.block(first, 0, d, first).transpose() * x;
  u.segment(first, d).noalias() = inverse_.block(first, first, d, d).selfadjointView<Eigen::Lower>() * x;
  u.tail(below).noalias() = inverse_.block(first + d, first, below, d) * x;
  if (waiting_count_ > 0) {
    const VectorXd share = waiting_.block(first, 0, d, waiting_count_).transpose() * x;
    u.noalias() -= waiting_.leftCols(waiting_count_) * share;
  }
  return u;
}

Engine::Learned DenseEngine::learn(std::size_t node, std::span<const double> context, double reward) {
  touch();
  const auto d = static_cast<Index>(dimension_);
  const Index first = static_cast<Index>(node) * d;
  const VectorXd x = aligned_copy(context);
  const VectorXd u = column(node, x);
  const double q = std::max(0.0, x.dot(u.segment(first, d)));
  const double surprise = reward - x.dot(mean_.segment(first, d));
  mean_ += u * (surprise / (1.0 + q));
  waiting_.col(waiting_count_++) = u / std::sqrt(1.0 + q);
  if (waiting_count_ == waiting_.cols()) apply_waiting();
  return {.variance = q, .solve = {}};
}

/// Y = N^{-1} E, the block columns of a and b subtracted; nothing waits.
MatrixXd DenseEngine::edge_solutions(std::size_t a, std::size_t b) const {
  const auto d = static_cast<Index>(dimension_);
  MatrixXd solutions(inverse_.rows(), d);
  for (std::size_t j = 0; j < node_count(); ++j) solutions.middleRows(j * d, d) = block(j, a) - block(j, b);
  return solutions;
}

Engine::EdgeChanged DenseEngine::change_edge(std::size_t a, std::size_t b, double change,
                                             std::span<const NodeEvidence> evidence) {
  // Of sixteen digits, a removal leaves those of the square of what is left of N in the edge's direction.
  constexpr double least_trust = 1e-2;
  const double k = prior_.coupling * change;
  const auto d = static_cast<Index>(dimension_);
  graph_ = with_edge_changed(graph_, static_cast<NodeId>(a), static_cast<NodeId>(b), change);
  if (!untouched()) apply_waiting();

  const VectorXd column = prior_inverse_.col(a) - prior_inverse_.col(b);
  const double factor = 1.0 + k * (column[a] - column[b]);
  MatrixXd solutions = untouched() ? MatrixXd() : edge_solutions(a, b);
  const auto difference = [&](const MatrixXd& rows) -> MatrixXd {
    return rows.middleRows(a * d, d) - rows.middleRows(b * d, d);
  };
  EdgeChanged result;
  trust_ *= std::min(1.0, factor);
  if (!untouched()) {
    const EdgeChange edge(k, difference(solutions));
    trust_ *= std::min(1.0, edge.smallest_pivot());
    if (trust_ >= least_trust) {
      const MatrixXd terms = edge.terms(solutions);
      mean_ -= terms * edge.mean_change(mean_.segment(a * d, d) - mean_.segment(b * d, d));
      inverse_.selfadjointView<Eigen::Lower>().rankUpdate(terms, -edge.sign());
      result.log_determinant = edge.log_determinant();
    }
  }
  if (trust_ >= least_trust) {
    prior_inverse_ -= (k / factor) * column * column.transpose();
    result.prior_log_determinant = std::log(factor);
  } else {
    // Computed anew; the determinants by the way back, putting the weight in again, where nothing cancels.
    compute_prior();
    result.prior_log_determinant =
        -std::log1p(-k * (prior_inverse_(a, a) + prior_inverse_(b, b) - 2.0 * prior_inverse_(a, b)));
    if (!untouched()) {
      compute_belief(evidence);
      result.log_determinant = -EdgeChange(-k, difference(edge_solutions(a, b))).log_determinant();
    }
    trust_ = 1.0;
  }
  if (untouched()) result.log_determinant = static_cast<double>(dimension_) * result.prior_log_determinant;
  return result;
}

std::unique_ptr<Engine> DenseEngine::extract(std::span<const NodeId> nodes) const {
  const auto d = static_cast<Index>(dimension_);
  const auto n = static_cast<Index>(nodes.size());
  auto part = std::unique_ptr<DenseEngine>(new DenseEngine(dimension_, prior_));
  part->graph_ = graph_.induced(nodes);
  part->trust_ = trust_;
  part->prior_inverse_.resize(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) part->prior_inverse_(i, j) = prior_inverse_(nodes[i], nodes[j]);
  }
  if (untouched()) return part;
  DenseEngine whole(*this);
  whole.apply_waiting();
  part->inverse_.resize(n * d, n * d);
  part->mean_.resize(n * d);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) part->inverse_.block(i * d, j * d, d, d) = whole.block(nodes[i], nodes[j]);
    part->mean_.segment(i * d, d) = whole.mean_.segment(nodes[i] * d, d);
  }
  part->waiting_.resize(n * d, waiting_room(n * d));
  return part;
}

void DenseEngine::save(BinaryWriter& out) const {
  const auto values = [](const auto& matrix) {
    return std::span<const double>(matrix.data(), static_cast<std::size_t>(matrix.size()));
  };
  save_graph(out, graph_);
  out.array(values(prior_inverse_));
  out.number(trust_);
  out.number(static_cast<std::uint8_t>(untouched() ? 0 : 1));
  if (untouched()) return;
  for (Index c = 0; c < inverse_.cols(); ++c)
    out.array(values(inverse_).subspan(c * inverse_.rows() + c, inverse_.rows() - c));
  out.array(values(mean_));
  out.size(static_cast<std::size_t>(waiting_count_));
  out.array(values(waiting_).first(static_cast<std::size_t>(waiting_count_ * waiting_.rows())));
}

DenseEngine::DenseEngine(BinaryReader& in, std::size_t dimension, const Prior& prior) : DenseEngine(dimension, prior) {
  const auto fill = [&in](auto&& target, std::size_t size, const char* what) {
    const auto values = in.array<double>(size, what);
    std::copy(values.begin(), values.end(), target);
  };
  graph_ = load_graph(in);
  const std::size_t n = graph_.node_count();
  in.expect(n > 0 && n <= in.left() / sizeof(double) / n, "the size of a dense component");
  prior_inverse_.resize(n, n);
  fill(prior_inverse_.data(), n * n, "the inverse of a prior");
  trust_ = in.number<double>();
  if (in.number<std::uint8_t>() == 0) return;
  const std::size_t rows = n * dimension;
  in.expect(rows <= 2 * (in.left() / sizeof(double)) / rows, "the size of a dense belief");
  inverse_ = MatrixXd::Zero(rows, rows);
  for (std::size_t c = 0; c < rows; ++c) fill(inverse_.data() + c * rows + c, rows - c, "a column of a dense belief");
  mean_.resize(rows);
  fill(mean_.data(), rows, "the means");
  waiting_.resize(rows, waiting_room(rows));
  waiting_count_ = static_cast<Index>(in.size(waiting_.cols() - 1, "the number of waiting updates"));
  fill(waiting_.data(), waiting_count_ * rows, "the waiting updates");
}

}  // namespace goblin
