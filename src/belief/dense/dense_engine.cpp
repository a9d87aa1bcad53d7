#include "belief/dense/dense_engine.hpp"

#include "belief/byte_count.hpp"
#include "belief/evaluate_contexts.hpp"
#include "belief/node_lesson.hpp"
#include "belief/precision_change.hpp"
#include "belief/symmetric_matrix.hpp"
#include "binary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

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

/// Of sixteen digits, a loss leaves those of the square of what is left of N where it loses most. Below this, the
/// belief is computed anew.
constexpr double fewest_digits_left = 1e-2;

/// Sums that are taken away leave at least so much of N where it loses most, or the belief is computed anew,
constexpr double least_left = 1e-4;
/// and so it is if a variance that grows by that is off by more than this, relatively.
constexpr double largest_error = 1e-9;

/// How many rank-one updates wait for each other: the larger the matrix, the more a pass over it costs.
Index waiting_room(Index rows) { return std::clamp<Index>(rows / 16, 1, 32); }

double log_determinant_of(const Eigen::LLT<MatrixXd>& factor) {
  return 2.0 * factor.matrixLLT().diagonal().array().log().sum();
}

/// c, node after node.
VectorXd rewards_of(const ComponentEvidence& evidence, Index nodes, std::size_t dimension) {
  VectorXd result = VectorXd::Zero(nodes * static_cast<Index>(dimension));
  for (Index i = 0; i < nodes; ++i) {
    const auto rewards = evidence.at(i).rewards;
    for (std::size_t k = 0; k < rewards.size(); ++k) result[i * static_cast<Index>(dimension) + k] = rewards[k];
  }
  return result;
}

}  // namespace

DenseEngine::DenseEngine(Empty, PriorMatrix prior, std::size_t dimension)
    : dimension_(dimension), prior_(std::move(prior)) {}

DenseEngine::DenseEngine(const PriorMatrix& prior, std::size_t dimension) : DenseEngine(Empty{}, prior, dimension) {
  compute_prior_inverse();
}

MatrixXd DenseEngine::prior_precision() const {
  const auto n = static_cast<Index>(node_count());
  MatrixXd precision = MatrixXd::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    precision(i, i) = prior_.diagonal(i);
    const auto neighbours = graph().neighbours(i);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      precision(i, neighbours[k]) = -prior_.coupling() * graph().weights(i)[k];
    }
  }
  return precision;
}

MatrixXd DenseEngine::precision(const ComponentEvidence& evidence) const {
  const auto d = static_cast<Index>(dimension_);
  const auto n = static_cast<Index>(node_count());
  MatrixXd precision = MatrixXd::Zero(n * d, n * d);
  for (Index i = 0; i < n; ++i) {
    precision.block(i * d, i * d, d, d) = unpacked(evidence.at(i).contexts, dimension_);
    precision.block(i * d, i * d, d, d).diagonal().array() += prior_.diagonal(i);
    const auto neighbours = graph().neighbours(i);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      precision.block(i * d, neighbours[k] * d, d, d)
          .diagonal()
          .setConstant(-prior_.coupling() * graph().weights(i)[k]);
    }
  }
  return precision;
}

/// A^{-1}, by Cholesky. O(n^3).
double DenseEngine::compute_prior_inverse() {
  const Eigen::LLT<MatrixXd> factor(prior_precision());
  prior_inverse_ = factor.solve(MatrixXd::Identity(factor.rows(), factor.rows()));
  return log_determinant_of(factor);
}

/// N^{-1} and w from the prior matrix and the evidence, by Cholesky. O((n d)^3).
double DenseEngine::compute_belief(const ComponentEvidence& evidence) {
  const Eigen::LLT<MatrixXd> factor(precision(evidence));
  inverse_ = factor.solve(MatrixXd::Identity(factor.rows(), factor.rows()));
  waiting_.resize(factor.rows(), waiting_room(factor.rows()));
  waiting_count_ = 0;
  losses_ = 0;
  mean_ = factor.solve(rewards_of(evidence, static_cast<Index>(node_count()), dimension_));
  return log_determinant_of(factor);
}

/// ln|M| = ln|N| - d ln|A|.
double DenseEngine::log_determinant(const ComponentEvidence& evidence) const {
  return log_determinant_of(Eigen::LLT<MatrixXd>(precision(evidence))) -
         static_cast<double>(dimension_) * log_determinant_of(Eigen::LLT<MatrixXd>(prior_precision()));
}

/// w = N^{-1} c; nothing waits.
void DenseEngine::compute_mean(const ComponentEvidence& evidence) {
  mean_ = inverse_.selfadjointView<Eigen::Lower>() * rewards_of(evidence, static_cast<Index>(node_count()), dimension_);
}

SolveSummary DenseEngine::rebuild(const ComponentEvidence& evidence, const Work& /*work*/) {
  compute_prior_inverse();
  if (has_learned()) compute_belief(evidence);
  for (std::size_t node = 0; !has_learned() && node < node_count(); ++node) {
    if (evidence.at(node).count > 0) compute_belief(evidence);
  }
  digits_left_ = 1.0;
  return {};
}

DenseEngine::DenseEngine(const DenseEngine& first, const DenseEngine& second)
    : DenseEngine(Empty{}, PriorMatrix::side_by_side(first.prior_, second.prior_), first.dimension_) {
  const auto diagonal_blocks = [](const MatrixXd& a, const MatrixXd& b) {
    MatrixXd both = MatrixXd::Zero(a.rows() + b.rows(), a.rows() + b.rows());
    both.topLeftCorner(a.rows(), a.rows()) = a;
    both.bottomRightCorner(b.rows(), b.rows()) = b;
    return both;
  };
  prior_inverse_ = diagonal_blocks(first.prior_inverse_, second.prior_inverse_);
  digits_left_ = first.digits_left_ * second.digits_left_;
  if (!first.has_learned() && !second.has_learned()) return;
  DenseEngine a(first);
  DenseEngine b(second);
  for (DenseEngine* engine : {&a, &b}) {
    engine->start_learning();
    engine->apply_waiting();
  }
  inverse_ = diagonal_blocks(a.inverse_, b.inverse_);
  mean_.resize(a.mean_.size() + b.mean_.size());
  mean_ << a.mean_, b.mean_;
  waiting_.resize(inverse_.rows(), waiting_room(inverse_.rows()));
}

std::size_t DenseEngine::bytes() const {
  return sizeof(*this) + prior_.bytes() +
         sizeof(double) *
             (prior_inverse_.size() + inverse_.size() + mean_.size() + waiting_.size() + set_aside_.size());
}

std::size_t DenseEngine::bytes(std::size_t nodes, std::size_t edges, std::size_t dimension) {
  const double n = static_cast<double>(nodes);
  const double rows = n * static_cast<double>(dimension);
  const double waiting = std::clamp(rows / 16.0, 1.0, 32.0);
  return byte_count(sizeof(DenseEngine) + 8.0 * (n * n + rows * rows + rows * (waiting + 1.0)) +
                    24.0 * static_cast<double>(edges) + 8.0 * n);
}

/// Goes from A^{-1} to A^{-1} (x) I_d, before the first reward.
void DenseEngine::start_learning() {
  if (has_learned()) return;
  const auto d = static_cast<Index>(dimension_);
  const Index n = prior_inverse_.rows();
  MatrixXd inverse = MatrixXd::Zero(n * d, n * d);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) inverse.block(i * d, j * d, d, d).diagonal().setConstant(prior_inverse_(i, j));
  }
  VectorXd mean = VectorXd::Zero(n * d);
  waiting_.resize(n * d, waiting_room(n * d));
  write_all_nodes([&] {
    inverse_.swap(inverse);
    mean_.swap(mean);
  });
}

void DenseEngine::set_access(Access* access) {
  Engine::set_access(access);
  shown_.assign(access == nullptr ? 0 : node_count(), {waiting_count_, losses_, false});
}

DenseEngine::Block DenseEngine::shown_block(std::size_t node) const {
  const auto d = static_cast<Index>(dimension_);
  const Index first = static_cast<Index>(node) * d;
  return shown(node).set_aside ? Block(&set_aside_(0, first), d, d, Eigen::OuterStride<>(d))
                               : Block(&inverse_(first, first), d, d, Eigen::OuterStride<>(inverse_.rows()));
}

void DenseEngine::apply_waiting() {
  if (waiting_count_ == 0) return;
  const auto multiply = [this] {
    const auto terms = waiting_.leftCols(waiting_count_);
    if (losses_ != 0) {
      MatrixXd signed_terms = terms;
      for (Index k = 0; k < waiting_count_; ++k) signed_terms.col(k) *= sign_of(losses_, static_cast<std::size_t>(k));
      inverse_.triangularView<Eigen::Lower>() -= signed_terms * terms.transpose();
    } else if (waiting_count_ == 1) {
      inverse_.selfadjointView<Eigen::Lower>().rankUpdate(waiting_.col(0), -1.0);
    } else {
      inverse_.selfadjointView<Eigen::Lower>().rankUpdate(terms, -1.0);
    }
    waiting_count_ = 0;
    losses_ = 0;
  };
  if (access_ == nullptr) return multiply();
  const Shown nothing_waits{0, 0, false};
  if (node_count() == 1) {
    return write_all_nodes([&] {
      multiply();
      shown_[0] = nothing_waits;
    });
  }
  // The product changes all of N^{-1} at once, and takes a while. Until it is done, decisions read copies of the
  // diagonal blocks, n d^2 numbers.
  const auto d = static_cast<Index>(dimension_);
  set_aside_.resize(d, inverse_.cols());
  for (Index first = 0; first < inverse_.cols(); first += d) {
    set_aside_.middleCols(first, d) = inverse_.block(first, first, d, d);
  }
  write_nodes([&](std::size_t begin, std::size_t end) {
    for (std::size_t node = begin; node < end; ++node) shown_[node].set_aside = true;
  });
  multiply();
  write_nodes([&](std::size_t begin, std::size_t end) {
    std::fill(shown_.begin() + static_cast<Index>(begin), shown_.begin() + static_cast<Index>(end), nothing_waits);
  });
}

void DenseEngine::mean(std::size_t node, std::span<double> out) const {
  for (std::size_t k = 0; k < dimension_; ++k) out[k] = has_learned() ? mean_[node * dimension_ + k] : 0.0;
}

void DenseEngine::covariance(std::size_t node, std::span<double> out) const {
  const auto d = static_cast<Index>(dimension_);
  const Index first = static_cast<Index>(node) * d;
  MatrixXd result = MatrixXd::Identity(d, d);
  if (!has_learned()) {
    result *= prior_inverse_(node, node);
  } else {
    const auto terms = waiting_.block(first, 0, d, shown(node).waiting_count);
    result = shown_block(node).selfadjointView<Eigen::Lower>();
    const std::uint32_t losses = shown(node).losses;
    if (losses == 0) result.noalias() -= terms * terms.transpose();
    for (Index k = 0; losses != 0 && k < terms.cols(); ++k) {
      result.noalias() -= sign_of(losses, static_cast<std::size_t>(k)) * terms.col(k) * terms.col(k).transpose();
    }
  }
  std::copy_n(result.data(), result.size(), out.data());
}

void DenseEngine::evaluate(std::size_t node, std::span<const double> contexts,
                           std::span<const std::uint8_t> /*allowed*/, const Evaluation& out) const {
  std::fill(out.mean_errors.begin(), out.mean_errors.end(), 0.0);
  std::fill(out.variance_errors.begin(), out.variance_errors.end(), 0.0);
  if (!has_learned()) {
    for (std::size_t k = 0; k < out.means.size(); ++k) {
      double squared_length = 0.0;
      for (const double value : contexts.subspan(k * dimension_, dimension_)) squared_length += value * value;
      out.means[k] = 0.0;
      out.variances[k] = prior_inverse_(node, node) * squared_length;
    }
    return;
  }
  const std::size_t first = node * dimension_;
  const std::size_t rows = inverse_.rows();
  const Block block = shown_block(node);
  const double* const entries = block.data();
  const auto stride = static_cast<std::size_t>(block.outerStride());
  evaluate_contexts(
      dimension_, mean_.data() + first, [&](std::size_t c) { return entries + c * stride; },
      {.first = waiting_.data() + first,
       .stride = rows,
       .count = static_cast<std::size_t>(shown(node).waiting_count),
       .losses = shown(node).losses},
      contexts, out.means, out.variances);
}

/// k^2 (1 + waiting) multiplications.
bool DenseEngine::gather(std::size_t node, std::span<const std::uint32_t> places, std::span<double> mean,
                         std::span<double> covariance) const {
  const std::size_t k = places.size();
  if (!has_learned()) {
    std::fill(mean.begin(), mean.end(), 0.0);
    std::fill(covariance.begin(), covariance.end(), 0.0);
    for (std::size_t c = 0; c < k; ++c) covariance[c * k + c] = prior_inverse_(node, node);
    return true;
  }
  const auto first = static_cast<Index>(node * dimension_);
  const Block block = shown_block(node);
  MatrixXd terms(static_cast<Index>(k), shown(node).waiting_count);
  for (std::size_t r = 0; r < k; ++r) {
    mean[r] = mean_[first + places[r]];
    terms.row(r) = waiting_.row(first + places[r]).head(terms.cols());
  }
  Eigen::Map<MatrixXd> result(covariance.data(), static_cast<Index>(k), static_cast<Index>(k));
  for (std::size_t c = 0; c < k; ++c) {
    for (std::size_t r = c; r < k; ++r) result(r, c) = result(c, r) = block(places[r], places[c]);
  }
  MatrixXd with_signs = terms;
  for (Index c = 0; c < terms.cols(); ++c) {
    with_signs.col(c) *= sign_of(shown(node).losses, static_cast<std::size_t>(c));
  }
  result.noalias() -= with_signs * terms.transpose();
  return true;
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
    VectorXd share = waiting_.block(first, 0, d, waiting_count_).transpose() * x;
    for (Index k = 0; k < waiting_count_; ++k) share[k] *= sign_of(losses_, static_cast<std::size_t>(k));
    u.noalias() -= waiting_.leftCols(waiting_count_) * share;
  }
  return u;
}

Influence DenseEngine::influence(std::size_t node, std::span<const double> context) const {
  const auto d = static_cast<Index>(dimension_);
  const auto i = static_cast<Index>(node);
  const VectorXd x = aligned_copy(context);
  VectorXd u;
  if (has_learned()) {
    u = column(node, x);
  } else {
    u.resize(prior_inverse_.rows() * d);
    for (Index j = 0; j < prior_inverse_.rows(); ++j) u.segment(j * d, d) = prior_inverse_(i, j) * x;
  }
  Influence result;
  result.nodes.resize(node_count());
  std::iota(result.nodes.begin(), result.nodes.end(), NodeId{0});
  result.values.assign(u.begin(), u.end());
  result.energy = result.variance = std::max(0.0, x.dot(u.segment(i * d, d)));
  return result;
}

Engine::Learned DenseEngine::learn(std::size_t node, std::span<const double> context, double reward) {
  start_learning();
  const auto d = static_cast<Index>(dimension_);
  const Index first = static_cast<Index>(node) * d;
  const VectorXd x = aligned_copy(context);
  const VectorXd u = column(node, x);
  const double q = std::max(0.0, x.dot(u.segment(first, d)));
  const double surprise = reward - x.dot(mean_.segment(first, d));
  const double gain = surprise / (1.0 + q);
  change_by(u, q, gain, false);
  return {.variance = q, .solve = {}};
}

/// w gains u times a factor, and N^{-1} loses u u^T / (1 + q), or gains it where N loses a row.
void DenseEngine::change_by(const VectorXd& u, double q, double gain, bool loss) {
  const auto d = static_cast<Index>(dimension_);
  const std::uint32_t flag = loss ? 1U << static_cast<unsigned>(waiting_count_) : 0U;
  write_nodes([&](std::size_t begin, std::size_t end) {
    const Index row = static_cast<Index>(begin) * d;
    const Index rows = static_cast<Index>(end - begin) * d;
    mean_.segment(row, rows) += u.segment(row, rows) * gain;
    waiting_.col(waiting_count_).segment(row, rows) = u.segment(row, rows) / std::sqrt(1.0 + q);
    for (std::size_t j = begin; j < end && access_ != nullptr; ++j) {
      ++shown_[j].waiting_count;
      shown_[j].losses |= flag;
    }
  });
  losses_ |= flag;
  if (++waiting_count_ == waiting_.cols()) apply_waiting();
}

/// to -= N from, with the graph and the evidence as they are now. O(n d^2) and d an edge.
void DenseEngine::subtract_product(const ComponentEvidence& evidence, const VectorXd& from, VectorXd& to) const {
  const auto d = static_cast<Index>(dimension_);
  for (std::size_t i = 0; i < node_count(); ++i) {
    const Index row = static_cast<Index>(i) * d;
    to.segment(row, d) -= prior_.ridge(i) * from.segment(row, d);
    // Differences, so that a heavy edge between two nodes that are alike takes no digits.
    const auto neighbours = graph().neighbours(i);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      to.segment(row, d) += prior_.coupling() * graph().weights(i)[k] *
                            (from.segment(static_cast<Index>(neighbours[k]) * d, d) - from.segment(row, d));
    }
    const auto contexts = evidence.at(i).contexts;
    if (!contexts.empty()) goblin::subtract_product(contexts, from.data() + row, to.data() + row, dimension_);
  }
}

/// By u = N^{-1} phi_i(x) with N as it was before, divided by 1 - x.u_i. Digits cancel there, and rounding that did not
/// matter while N was large does now: how much is seen in what N u, with the true N, leaves of phi_i(x).
std::optional<Engine::Changed> DenseEngine::forget(std::size_t node, std::span<const double> context, double reward,
                                                   const ComponentEvidence& evidence) {
  if (!has_learned()) return std::nullopt;
  const auto d = static_cast<Index>(dimension_);
  const Index first = static_cast<Index>(node) * d;
  const VectorXd x = aligned_copy(context);
  VectorXd u = column(node, x);
  const double left = 1.0 - x.dot(u.segment(first, d));
  if (!(left >= least_left)) return std::nullopt;
  u /= left;
  const double q = x.dot(u.segment(first, d));
  VectorXd residual = VectorXd::Zero(u.size());
  residual.segment(first, d) = x;
  subtract_product(evidence, u, residual);
  if (!(std::abs(u.dot(residual)) <= largest_error * q)) return std::nullopt;
  double gain = x.dot(mean_.segment(first, d)) - reward;
  // What x.w_i is off by then is known in the same way.
  const VectorXd mean = mean_ + gain * u;
  residual = rewards_of(evidence, static_cast<Index>(node_count()), dimension_);
  subtract_product(evidence, mean, residual);
  gain += u.dot(residual) / q;
  change_by(u, q, gain, true);
  Changed result;
  result.log_determinant = -std::log1p(q);
  return result;
}

/// Y = N^{-1} B; nothing waits.
MatrixXd DenseEngine::solve(const ChangeColumns& columns) const {
  const auto d = static_cast<Index>(dimension_);
  MatrixXd solutions = MatrixXd::Zero(inverse_.rows(), columns.rank());
  for (const auto& part : columns.blocks()) {
    for (std::size_t j = 0; j < node_count(); ++j) {
      solutions.middleRows(static_cast<Index>(j) * d, d).noalias() += block(j, part.node) * part.rows;
    }
  }
  return solutions;
}

bool DenseEngine::many(std::size_t rewards) const {
  constexpr double rewards_per_row = 2.0;
  return static_cast<double>(rewards) > rewards_per_row * row_count();
}

Engine::Bytes DenseEngine::bulk_bytes(std::size_t rewards, std::size_t nodes, std::size_t /*threads*/) const {
  const double rows = row_count();
  Bytes result;
  if (!has_learned())
    result.kept = 8.0 * rows * (rows + static_cast<double>(waiting_room(static_cast<Index>(rows))) + 1.0);
  if (!many(rewards)) return result;
  // The contexts, and then what rebuild takes or, for ln|N|, three matrices with a row for each of at most d contexts a
  // node.
  const double columns = static_cast<double>(nodes * dimension_);
  result.meanwhile = 8.0 * (columns * static_cast<double>(dimension_ + 1) + 3.0 * std::max(rows, columns) * rows);
  return result;
}

/// N, its factor and the new inverse.
Engine::Bytes DenseEngine::rebuild_bytes(std::size_t /*threads*/) const {
  const double rows = row_count();
  const auto n = static_cast<double>(node_count());
  return {.kept = 0.0, .meanwhile = 24.0 * (has_learned() ? rows * rows : n * n)};
}

/// Two matrices with a column for each dimension of an edge, and one with a row as well; or as rebuild, if less.
Engine::Bytes DenseEngine::edges_bytes(std::size_t edges, std::size_t threads) const {
  const double rows = has_learned() ? row_count() : static_cast<double>(node_count());
  const double columns = static_cast<double>(edges) * (has_learned() ? static_cast<double>(dimension_) : 1.0);
  if (columns > rows) return rebuild_bytes(threads);
  return {.kept = 0.0, .meanwhile = 8.0 * (2.0 * rows * columns + 2.0 * columns * columns)};
}

/// (n d)^2 multiplications a reward or, if there are more than some rewards a row, (n d)^3 for all of them.
Engine::Changed DenseEngine::learn_many(std::span<const NodeReward> rewards, const ComponentEvidence& evidence,
                                        const Work& work) {
  if (!many(rewards.size())) return learn_one_by_one(rewards, dimension_, work);
  start_learning();
  apply_waiting();
  // ln|N| gains ln|I + B^T N^{-1} B|, B the contexts.
  std::vector<NodeLesson> lessons;
  std::vector<Index> begins = {0};
  for (const auto& some : cut_by_node(rewards)) {
    const NodeLesson& lesson = lessons.emplace_back(some, dimension_);
    begins.push_back(begins.back() + lesson.contexts.cols());
  }
  MatrixXd inner(begins.back(), begins.back());
  for (std::size_t a = 0; a < lessons.size(); ++a) {
    for (std::size_t b = 0; b < lessons.size(); ++b) {
      inner.block(begins[a], begins[b], begins[a + 1] - begins[a], begins[b + 1] - begins[b]).noalias() =
          lessons[a].contexts.transpose() * block(lessons[a].node, lessons[b].node) * lessons[b].contexts;
    }
  }
  Changed result;
  result.log_determinant = PrecisionChange(1.0, inner).log_determinant();
  compute_belief(evidence);
  return result;
}

/// Y = N^{-1} B; nothing waits.
MatrixXd DenseEngine::solve(const EdgeColumns& columns) const {
  const auto d = static_cast<Index>(dimension_);
  MatrixXd solutions(inverse_.rows(), static_cast<Index>(columns.edges().size()) * d);
  const auto add = [&](NodeId node, Index at, double factor, bool first) {
    for (std::size_t j = 0; j < node_count(); ++j) {
      auto target = solutions.block(static_cast<Index>(j) * d, at, d, d);
      if (first) target.setZero();
      target += factor * block(j, node);
    }
  };
  Index at = 0;
  for (const Edge& edge : columns.edges()) {
    add(edge.a, at, EdgeColumns::root(edge), true);
    add(edge.b, at, -EdgeColumns::root(edge), false);
    at += d;
  }
  return solutions;
}

/// The edges that gain weight are one change of A and of N, those that lose some another, of d columns an edge; so many
/// that there are more columns than rows are (n d)^3, for any number of them.
Engine::Changed DenseEngine::set_edges(std::span<const Edge> edges, const ComponentEvidence& evidence,
                                       const Work& /*work*/) {
  const EdgeChanges changes(prior_, edges);
  const auto set_weights = [&](bool gaining) {
    for (const Edge& edge : edges) {
      if ((edge.weight > graph().weight(edge.a, edge.b)) == gaining) prior_.set_edge(edge.a, edge.b, edge.weight);
    }
  };
  Changed total;
  if (edges.size() > node_count()) {
    const double before = has_learned() ? log_determinant(evidence) : 0.0;
    set_weights(true);
    set_weights(false);
    const double of_prior = compute_prior_inverse();
    if (has_learned()) {
      total.log_determinant = compute_belief(evidence) - static_cast<double>(dimension_) * of_prior - before;
    }
    digits_left_ = 1.0;
    return total;
  }
  apply_waiting();
  set_weights(true);
  total.add(change_edges(changes.gains, 1.0, evidence));
  set_weights(false);
  total.add(change_edges(changes.losses, -1.0, evidence));
  return total;
}

/// Nothing waits, and the prior matrix has the change already.
Engine::Changed DenseEngine::change_edges(const EdgeColumns& columns, double sign, const ComponentEvidence& evidence) {
  if (columns.empty()) return {};
  const auto d = static_cast<Index>(dimension_);
  const MatrixXd prior_solutions = columns.times(prior_inverse_, 1).transpose();
  const PrecisionChange prior_change(sign, columns.times(prior_solutions, 1));
  std::optional<PrecisionChange> change;
  MatrixXd solutions;
  if (has_learned()) {
    solutions = solve(columns);
    change.emplace(sign, columns.times(solutions, d));
  }
  if (sign < 0.0) {
    digits_left_ *= std::min(prior_change.smallest_pivot(), change ? change->smallest_pivot() : 1.0);
  }
  double change_of_prior = 0.0;
  Changed result;
  if (sign > 0.0 || digits_left_ >= fewest_digits_left) {
    const MatrixXd prior_terms = prior_change.terms(prior_solutions);
    prior_inverse_ -= sign * prior_terms * prior_terms.transpose();
    change_of_prior = prior_change.log_determinant();
    if (change) {
      const MatrixXd terms = change->terms(solutions);
      const VectorXd difference = columns.times(mean_, d);
      mean_ -= sign * terms * change->terms(difference.transpose()).transpose();
      inverse_.selfadjointView<Eigen::Lower>().rankUpdate(terms, -sign);
      result.log_determinant = change->log_determinant();
    }
  } else {
    // Computed anew; the determinants by the way back, putting the weights in again, where nothing cancels.
    compute_prior_inverse();
    const auto way_back = [&columns](const MatrixXd& solved, Index rows) {
      return -PrecisionChange(1.0, columns.times(solved, rows)).log_determinant();
    };
    change_of_prior = way_back(columns.times(prior_inverse_, 1).transpose(), 1);
    if (has_learned()) {
      compute_belief(evidence);
      result.log_determinant = way_back(solve(columns), d);
    }
    digits_left_ = 1.0;
  }
  // Before the first reward N is A (x) I_d, and ln|M| stays 0.
  if (has_learned()) result.log_determinant -= static_cast<double>(dimension_) * change_of_prior;
  return result;
}

Engine::Changed DenseEngine::change_evidence(std::size_t node, const UserEvidence& sums, int sign,
                                             const ComponentEvidence& evidence) {
  // Evidence that says so much more than what was known takes that many digits of N^{-1}.
  constexpr double largest_gain = 1e6;
  start_learning();
  apply_waiting();
  const auto columns = ChangeColumns::of_contexts(node, sums.contexts, dimension_);
  Changed result;
  if (columns.rank() == 0) {
    compute_mean(evidence);
    return result;
  }
  const MatrixXd solutions = solve(columns);
  const PrecisionChange change(sign, columns.times(solutions));
  // What N loses shows what rounding had left in N^{-1}, as in forget.
  const auto is_exact = [&] {
    if (!(change.smallest_pivot() >= least_left)) return false;
    const MatrixXd terms = change.terms(solutions);
    const MatrixXd inner = columns.times(terms);
    const MatrixXd after = solutions + terms * inner.transpose();  // N^{-1} B without the sums
    for (Index k = 0; k < after.cols(); ++k) {
      const VectorXd solution = after.col(k);
      VectorXd residual = VectorXd::Zero(after.rows());
      for (const auto& block : columns.blocks()) {
        residual.segment(static_cast<Index>(block.node * dimension_), block.rows.rows()) = block.rows.col(k);
      }
      const double variance = residual.dot(solution);
      subtract_product(evidence, solution, residual);
      if (!(std::abs(solution.dot(residual)) <= largest_error * variance)) return false;
    }
    return true;
  };
  if (sign > 0 ? change.largest_pivot() <= largest_gain : is_exact()) {
    inverse_.selfadjointView<Eigen::Lower>().rankUpdate(change.terms(solutions), -static_cast<double>(sign));
    result.log_determinant = change.log_determinant();
    compute_mean(evidence);
    return result;
  }
  compute_belief(evidence);
  result.log_determinant =
      sign > 0 ? change.log_determinant() : -PrecisionChange(1.0, columns.times(solve(columns))).log_determinant();
  return result;
}

std::unique_ptr<Engine> DenseEngine::extract(std::span<const NodeId> nodes,
                                             const ComponentEvidence& /*evidence*/) const {
  const auto d = static_cast<Index>(dimension_);
  const auto n = static_cast<Index>(nodes.size());
  auto part = std::unique_ptr<DenseEngine>(new DenseEngine(Empty{}, prior_.part(nodes), dimension_));
  part->digits_left_ = digits_left_;
  part->prior_inverse_.resize(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) part->prior_inverse_(i, j) = prior_inverse_(nodes[i], nodes[j]);
  }
  if (!has_learned()) return part;
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
  out.array(values(prior_inverse_));
  out.number(digits_left_);
  out.number(static_cast<std::uint8_t>(has_learned() ? 1 : 0));
  if (!has_learned()) return;
  for (Index c = 0; c < inverse_.cols(); ++c)
    out.array(values(inverse_).subspan(c * inverse_.rows() + c, inverse_.rows() - c));
  out.array(values(mean_));
  out.size(static_cast<std::size_t>(waiting_count_) | (static_cast<std::size_t>(losses_) << 32U));
  out.array(values(waiting_).first(static_cast<std::size_t>(waiting_count_ * waiting_.rows())));
}

DenseEngine::DenseEngine(BinaryReader& in, const PriorMatrix& prior, std::size_t dimension)
    : DenseEngine(Empty{}, prior, dimension) {
  const auto fill = [&in](auto&& target, std::size_t size, const char* what) {
    const auto values = in.array<double>(size, what);
    std::copy(values.begin(), values.end(), target);
  };
  const std::size_t n = node_count();
  in.expect(n <= in.left() / sizeof(double) / n, "the size of a dense component");
  prior_inverse_.resize(n, n);
  fill(prior_inverse_.data(), n * n, "the inverse of a prior");
  digits_left_ = in.number<double>();
  if (in.number<std::uint8_t>() == 0) return;
  const std::size_t rows = n * dimension;
  in.expect(rows <= 2 * (in.left() / sizeof(double)) / rows, "the size of a dense belief");
  inverse_ = MatrixXd::Zero(rows, rows);
  for (std::size_t c = 0; c < rows; ++c) fill(inverse_.data() + c * rows + c, rows - c, "a column of a dense belief");
  mean_.resize(rows);
  fill(mean_.data(), rows, "the means");
  waiting_.resize(rows, waiting_room(rows));
  const std::size_t waiting = in.size();
  losses_ = static_cast<std::uint32_t>(waiting >> 32U);
  waiting_count_ = static_cast<Index>(waiting & 0xffffffffU);
  in.expect(waiting_count_ < waiting_.cols() && (losses_ >> static_cast<unsigned>(waiting_count_)) == 0,
            "the number of waiting updates");
  fill(waiting_.data(), waiting_count_ * rows, "the waiting updates");
}

}  // namespace goblin
