#include "belief/sparse/sparse_engine.hpp"

#include "belief/byte_count.hpp"
#include "belief/evaluate_contexts.hpp"
#include "belief/precision_change.hpp"
#include "belief/sparse/prior_variances.hpp"
#include "belief/symmetric_matrix.hpp"
#include "binary.hpp"
#include "jobs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <thread>
#include <utility>

namespace goblin {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Up to so many nodes, all variances before the first reward are found when the engine is made: some tenths of a
/// second.
constexpr std::size_t quickly_found = 2000;

/// A flag beside the number of waiting updates in a file: rewards have been forgotten.
constexpr std::size_t forgets = std::size_t{1} << 40U;

/// The prior, once it is known that the means and covariances can follow in the file: nothing large is allocated for
/// nothing.
const PriorMatrix& checked(const BinaryReader& in, const PriorMatrix& prior, std::size_t dimension) {
  const double numbers = static_cast<double>(prior.node_count()) * static_cast<double>(dimension) *
                         static_cast<double>(dimension + 1) / 2.0;
  in.expect(numbers <= static_cast<double>(in.left()) / sizeof(double), "the size of a sparse component");
  return prior;
}

}  // namespace

SparseEngine::SparseEngine(Empty, PriorMatrix prior, std::size_t dimension, const EngineOptions& options)
    : dimension_(dimension),
      pack_count_(packs_for(dimension)),
      prior_(std::move(prior)),
      options_(options),
      column_begins_(dimension),
      variances_(prior_.node_count()),
      solver_(prior_, dimension),
      context_solver_(dimension) {
  // Columns of the lower triangle begin at a whole pack: column c at row c rounded down to one.
  for (std::size_t c = 0; c < dimension; ++c) {
    const std::size_t first_row = c / pack_size * pack_size;
    column_begins_[c] = covariance_size_ - first_row;  // may wrap; entry (r, c) has r >= first_row
    covariance_size_ += stride() - first_row;
  }
  strongest_coupling_ = strongest_coupling(prior_);
  means_.resize(node_count() * stride());
  covariances_.resize(node_count() * covariance_size_);
  missing_.resize(node_count());
  waiting_.resize(node_count() * waiting_room * stride());
}

SparseEngine::SparseEngine(const PriorMatrix& prior, std::size_t dimension, const EngineOptions& options)
    : SparseEngine(Empty{}, prior, dimension, options) {
  if (node_count() > quickly_found) return;
  find_missing({});
  for (std::size_t j = 0; j < node_count(); ++j) put_in_missing(j);
}

SparseEngine::SparseEngine(const Engine& first, const Engine& second, const ComponentEvidence& evidence,
                           std::size_t dimension, const EngineOptions& options)
    : SparseEngine(Empty{}, PriorMatrix::side_by_side(first.prior(), second.prior()), dimension, options) {
  for (std::size_t j = 0; j < first.node_count(); ++j) copy_belief(j, first, j);
  for (std::size_t j = 0; j < second.node_count(); ++j) copy_belief(first.node_count() + j, second, j);
  for (std::size_t j = 0; j < node_count(); ++j) solver_.set_sum(j, evidence.at(j).contexts);
}

std::unique_ptr<Engine> SparseEngine::clone() const {
  const auto lock = variances_.lock();
  return std::make_unique<SparseEngine>(*this);
}

PriorVariances::Found SparseEngine::found_variance() const {
  return [this](std::size_t node, double variance) { missing_[node] = variance; };
}

void SparseEngine::put_in_missing(std::size_t node) {
  if (!variances_.is_known(node) || missing_[node] == 0.0) return;
  for (std::size_t c = 0; c < dimension_; ++c) covariance_column(node, c)[c] += missing_[node];
  missing_[node] = 0.0;
}

void SparseEngine::find_missing(const std::function<void(double)>& progress) const {
  const std::size_t threads =
      options_.threads > 0 ? options_.threads : std::max(1U, std::thread::hardware_concurrency());
  variances_.find_all(prior_, threads, progress, found_variance());
}

/// What the other has put into its C_j already it does not tell.
void SparseEngine::take_prior_variances(const Engine& other) const {
  if (other.kind() != EngineKind::sparse) return;
  const auto& from = static_cast<const SparseEngine&>(other);
  for (std::size_t j = 0; j < node_count(); ++j) {
    if (!variances_.is_known(j) && from.missing_[j] != 0.0) variances_.take(j, from.missing_[j], found_variance());
  }
}

double SparseEngine::strongest_coupling(const PriorMatrix& prior) {
  double strongest = 0.0;
  for (std::size_t j = 0; j < prior.node_count(); ++j) {
    strongest = std::max(strongest, prior.coupling() * prior.graph().degree(j) / prior.ridge(j));
  }
  return strongest;
}

/// A context that is sqrt(q) times as long as sqrt(ridge) takes log10(q) digits of the covariance of its own node,
/// which is updated from itself. It takes as many from those of nodes that heavy edges make nearly the same, and the
/// solver's numbers hold the difference of two such nodes with fewer digits, the heavier their edge. So the product of
/// both is limited (tests/bandit/long_contexts_test.cpp measures where).
double SparseEngine::longest_context() const {
  const double longest = Engine::longest_context();
  return strongest_coupling_ * Limits::length <= Limits::in_sparse
             ? longest
             : longest * Limits::in_sparse / (strongest_coupling_ * Limits::length);
}

void SparseEngine::copy_belief(std::size_t node, const Engine& from, std::size_t from_node) {
  from.mean(from_node, std::span(means_).subspan(node * stride(), dimension_));
  if (from.kind() == EngineKind::sparse && !static_cast<const SparseEngine&>(from).variances_.is_known(from_node)) {
    const auto& sparse = static_cast<const SparseEngine&>(from);
    const auto begin = sparse.covariances_.begin() + static_cast<std::ptrdiff_t>(from_node * covariance_size_);
    std::copy_n(begin, covariance_size_, covariances_.begin() + static_cast<std::ptrdiff_t>(node * covariance_size_));
    for (std::size_t k = 0; k < sparse.waiting_count_; ++k) {
      const double* const term = sparse.waiting(from_node) + k * stride();
      const double sign = sign_of(sparse.losses_, k);
      for (std::size_t c = 0; c < dimension_; ++c) {
        for (std::size_t r = c; r < dimension_; ++r) covariance_column(node, c)[r] -= sign * term[c] * term[r];
      }
    }
    return;
  }
  MatrixXd covariance(dimension_, dimension_);
  from.covariance(from_node, {covariance.data(), dimension_ * dimension_});
  for (std::size_t c = 0; c < dimension_; ++c) {
    for (std::size_t r = c; r < dimension_; ++r) covariance_column(node, c)[r] = covariance(r, c);
  }
  variances_.set_known(node);
}

std::unique_ptr<Engine> SparseEngine::extract(std::span<const NodeId> nodes,
                                              const ComponentEvidence& /*evidence*/) const {
  auto part = std::unique_ptr<SparseEngine>(new SparseEngine(Empty{}, prior_.part(nodes), dimension_, options_));
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    part->copy_belief(j, *this, nodes[j]);
    part->solver_.set_sum(j, solver_.observed(nodes[j]));
  }
  return part;
}

std::size_t SparseEngine::bytes() const {
  const std::size_t numbers = means_.size() + covariances_.size() + waiting_.size() + missing_.size();
  return sizeof(*this) + prior_.bytes() + numbers * sizeof(double) + shown_.size() * sizeof(Shown) + solver_.bytes() +
         context_solver_.bytes() + variances_.bytes();
}

std::size_t SparseEngine::bytes(std::size_t nodes, std::size_t edges, std::size_t dimension) {
  const auto stride = static_cast<double>(packs_for(dimension) * pack_size);
  const double numbers = stride * (stride + pack_size) / 2.0 + stride * (waiting_room + 1.0);
  const double variances = nodes <= quickly_found ? 0.0 : PriorVariances::bytes(nodes, edges);
  return byte_count(sizeof(SparseEngine) + static_cast<double>(nodes) * (numbers * 8.0 + 17.0) +
                    24.0 * static_cast<double>(edges) + PrecisionSolver::bytes(nodes, edges, dimension) + variances);
}

void SparseEngine::set_access(Access* access) {
  Engine::set_access(access);
  shown_.assign(access == nullptr ? 0 : node_count(), waits());
}

void SparseEngine::mean(std::size_t node, std::span<double> out) const {
  std::copy_n(means_.data() + node * stride(), dimension_, out.data());
}

void SparseEngine::covariance(std::size_t node, std::span<double> out) const {
  const double missing = missing_variance(node);
  const Shown waits = shown(node);
  Eigen::Map<MatrixXd> target(out.data(), dimension_, dimension_);
  for (std::size_t c = 0; c < dimension_; ++c) {
    for (std::size_t r = c; r < dimension_; ++r) {
      double value = covariance_column(node, c)[r] + (r == c ? missing : 0.0);
      for (std::size_t k = 0; k < waits.count; ++k) {
        value -= sign_of(waits.losses, k) * waiting(node)[k * stride() + r] * waiting(node)[k * stride() + c];
      }
      target(r, c) = target(c, r) = value;
    }
  }
}

void SparseEngine::evaluate(std::size_t node, std::span<const double> contexts,
                            std::span<const std::uint8_t> /*allowed*/, const Evaluation& out) const {
  const double missing = missing_variance(node);
  std::fill(out.mean_errors.begin(), out.mean_errors.end(), 0.0);
  std::fill(out.variance_errors.begin(), out.variance_errors.end(), 0.0);
  evaluate_contexts(
      dimension_, means_.data() + node * stride(), [this, node](std::size_t c) { return covariance_column(node, c); },
      {.first = waiting(node), .stride = stride(), .count = shown(node).count, .losses = shown(node).losses}, contexts,
      out.means, out.variances, missing);
}

/// With a copy of the solver, since others may ask at the same time: as much memory as it has, and about as long as
/// learning a reward takes.
Influence SparseEngine::influence(std::size_t node, std::span<const double> context) const {
  Influence result;
  double largest = 0.0;
  for (const double value : context) largest = std::max(largest, std::abs(value));
  if (largest == 0.0) return result;
  MatrixXd own(dimension_, dimension_);
  covariance(node, {own.data(), dimension_ * dimension_});
  Eigen::VectorXd x(dimension_);
  for (std::size_t k = 0; k < dimension_; ++k) x[static_cast<Index>(k)] = context[k] / largest;
  const Eigen::VectorXd start = own * x;
  PrecisionSolver solver = solver_;
  solver.clear();
  std::copy(x.begin(), x.end(), solver.right_hand_side(node));
  std::copy(start.begin(), start.end(), solver.start(node));
  result.solve = summary_of(solver.solve(std::min(options_.tolerance, tight), options_.max_iterations));
  result.nodes.resize(node_count());
  std::iota(result.nodes.begin(), result.nodes.end(), NodeId{0});
  result.values.reserve(node_count() * dimension_);
  for (std::size_t j = 0; j < node_count(); ++j) {
    for (std::size_t k = 0; k < dimension_; ++k) {
      result.values.push_back(largest * solver.solution()[j * stride() + k]);
    }
  }
  double variance = 0.0;
  for (std::size_t k = 0; k < dimension_; ++k) variance += context[k] * result.values[node * dimension_ + k];
  result.energy = result.variance = std::max(0.0, variance);
  return result;
}

/// A context by its largest entry, so that nothing underflows, and how exactly to solve for it: an error e of u moves a
/// score by about |x| |e|, so the longer the context, the more exact u has to be.
struct SparseEngine::Scaled {
  Scaled(std::span<const double> context, const SparseEngine& engine) {
    constexpr double tightest = 1e-14;
    double squared_length = 0.0;
    for (const double value : context) {
      largest = std::max(largest, std::abs(value));
      squared_length += value * value;
    }
    const double length = std::sqrt(squared_length / engine.prior_.smallest_ridge());
    tolerance = std::max(tightest, 0.1 * engine.options_.tolerance / std::max(1.0, length));
  }
  double largest = 0.0;
  double tolerance = 0.0;
};

Engine::Learned SparseEngine::learn(std::size_t node, std::span<const double> context, double reward) {
  // At the node itself u_i = C_i x is known from the belief, and taken from there: a solve has errors of its own, and
  // C_i loses most of its digits where x^T C_i x is large.
  const Scaled scaled(context, *this);
  solver_.clear();
  for (std::size_t k = 0; k < dimension_; ++k) solver_.right_hand_side(node)[k] = context[k] / scaled.largest;
  const std::vector<double> own = own_solution(node);
  std::copy(own.begin(), own.end(), solver_.start(node));
  Learned result;
  result.solve = solve(scaled.tolerance);
  std::copy(own.begin(), own.end(), solver_.start(node));

  result.variance = std::max(0.0, scaled.largest * product(node, context, solver_.solution()));
  const double step = scaled.largest * (reward - product(node, context, means_)) / (1.0 + result.variance);
  change_by(node, scaled.largest, result.variance, step, false);
  solver_.observe(node, context);
  context_solver_.observe(node, context);
  return result;
}

/// C_i times the right-hand side there, with nothing missing of C_i any more: it will lose most of it if the context is
/// long, and only its own numbers cancel cleanly.
std::vector<double> SparseEngine::own_solution(std::size_t node) {
  if (missing_variance(node) != 0.0) {
    const Writing writing(access_, place(node));
    put_in_missing(node);
  }
  std::vector<double> own(dimension_);
  multiply_covariance(node, solver_.right_hand_side(node), own.data());
  return own;
}

/// x.v_i, for a vector of all nodes.
double SparseEngine::product(std::size_t node, std::span<const double> context, std::span<const double> vector) const {
  double total = 0.0;
  for (std::size_t k = 0; k < dimension_; ++k) total += context[k] * vector[node * stride() + k];
  return total;
}

/// With v the solver's solution: w gains v times a step, and N^{-1} loses (scale v) (scale v)^T / (1 + q), or gains it
/// where N loses a row.
void SparseEngine::change_by(std::size_t node, double scale, double variance, double step, bool loss) {
  const std::span<const double> solution = solver_.solution();
  const double root = scale / std::sqrt(1.0 + variance);
  const auto flag = static_cast<std::uint8_t>(loss ? 1U << waiting_count_ : 0U);
  write_nodes([&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin * stride(); k < end * stride(); ++k) means_[k] += step * solution[k];
    for (std::size_t j = begin; j < end; ++j) {
      double* term = waiting(j) + waiting_count_ * stride();
      for (std::size_t k = 0; k < stride(); ++k) term[k] = root * solution[j * stride() + k];
      if (access_ == nullptr) continue;
      ++shown_[j].count;
      shown_[j].losses |= flag;
    }
  });
  losses_ |= flag;
  if (++waiting_count_ == waiting_room) apply_waiting();
  if (log_determinant_) *log_determinant_ += (loss ? -1.0 : 1.0) * std::log1p(variance);
  if (moved_) *moved_ += std::abs(step) * largest_entry(node, solution);
}

double SparseEngine::largest_entry(std::size_t node, std::span<const double> vector) const {
  double largest = 0.0;
  for (const double value : vector.subspan(node * stride(), dimension_)) largest = std::max(largest, std::abs(value));
  return largest;
}

/// The way back: u is solved for with N as it is without the reward, so that nothing cancels. A solve, as for a reward
/// that is learned; now and then another for the means, whose errors nothing else takes out.
std::optional<Engine::Changed> SparseEngine::forget(std::size_t node, std::span<const double> context, double reward,
                                                    const ComponentEvidence& evidence) {
  // Every step leaves the error of a solve in w. That counts where the steps were large beside what is left of w_i, and
  // where the context was long.
  constexpr double long_context = 1e3;
  constexpr double large_steps = 10.0;
  constexpr double largest_error = 1e-7;
  const Scaled scaled(context, *this);
  solver_.clear();
  for (std::size_t k = 0; k < dimension_; ++k) solver_.right_hand_side(node)[k] = context[k] / scaled.largest;
  std::vector<double> own = own_solution(node);
  solver_.forget(node, context, evidence.at(node).contexts);
  context_solver_.evidence_changed();
  double known = 0.0;  // x^T C_i x, as it was with the reward
  for (std::size_t k = 0; k < dimension_; ++k) known += scaled.largest * context[k] * own[k];
  if (known < 0.9) {
    for (std::size_t k = 0; k < dimension_; ++k) solver_.start(node)[k] = own[k] / (1.0 - known);
  }
  Changed result;
  result.solve = solve(scaled.tolerance);
  const double variance = std::max(0.0, scaled.largest * product(node, context, solver_.solution()));
  // What the belief says and what was solved for are the same but for what rounding and solves have left in C_i.
  if (!(std::abs(known - variance / (1.0 + variance)) <= largest_error * variance)) return std::nullopt;
  result.log_determinant = -std::log1p(variance);
  const double step = scaled.largest * (product(node, context, means_) - reward);
  change_by(node, scaled.largest, variance, step, true);
  if (!moved_ || *moved_ > large_steps * largest_entry(node, means_) || variance > long_context) {
    result.solve.add(solve_means(evidence));
    moved_ = 0.0;
  }
  return result;
}

/// C_j -= sum of t t^T over what waits, for every node: n d^2 / 2 multiplications a term, one pass over C.
void SparseEngine::apply_waiting() {
  write_nodes([&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      put_in_missing(j);
      const double* terms = waiting(j);
      for (std::size_t c = 0; c < dimension_; ++c) {
        std::array<double, waiting_room> factors;
        for (std::size_t k = 0; k < waiting_count_; ++k) {
          factors[k] = sign_of(losses_, k) * terms[k * stride() + c];
        }
        Pack* const column = packs(covariance_column(j, c));
        for (std::size_t b = c / pack_size; b < pack_count_; ++b) {
          Pack total = column[b];
          for (std::size_t k = 0; k < waiting_count_; ++k) total -= factors[k] * packs(terms + k * stride())[b];
          column[b] = total;
        }
      }
      if (access_ != nullptr) shown_[j] = {};
    }
  });
  waiting_count_ = 0;
  losses_ = 0;
}

/// to = C_i from, where nothing of C_i is missing.
void SparseEngine::multiply_covariance(std::size_t node, const double* from, double* to) const {
  std::fill_n(to, dimension_, 0.0);
  for (std::size_t c = 0; c < dimension_; ++c) {
    const double* const column = covariance_column(node, c);
    to[c] += column[c] * from[c];
    for (std::size_t r = c + 1; r < dimension_; ++r) {
      to[r] += column[r] * from[c];
      to[c] += column[r] * from[r];
    }
  }
  for (std::size_t k = 0; k < waiting_count_; ++k) {
    const double* const term = waiting(node) + k * stride();
    double factor = 0.0;
    for (std::size_t c = 0; c < dimension_; ++c) factor += term[c] * from[c];
    factor *= sign_of(losses_, k);
    for (std::size_t c = 0; c < dimension_; ++c) to[c] -= factor * term[c];
  }
}

SolveSummary SparseEngine::solve(double tolerance) {
  return summary_of(solver_.solve(tolerance, options_.max_iterations));
}

SolveSummary SparseEngine::summary_of(const PrecisionSolver::Solved& solved) const {
  const double residual = solved.residual / options_.tolerance;
  return {.iterations = solved.iterations, .residual = residual, .converged = residual <= 1.0};
}

/// w = N^{-1} c, from the w there is.
SolveSummary SparseEngine::solve_means(const ComponentEvidence& evidence) {
  solver_.clear();
  for (std::size_t j = 0; j < node_count(); ++j) {
    const auto rewards = evidence.at(j).rewards;
    std::copy(rewards.begin(), rewards.end(), solver_.right_hand_side(j));
    std::copy_n(means_.data() + j * stride(), dimension_, solver_.start(j));
  }
  // The longer the contexts were, the smaller is the part of c that decides about what they did not tell.
  constexpr double tightest = 1e-16;
  double longest = 1.0;
  for (std::size_t j = 0; j < node_count(); ++j) {
    const UserEvidence sums = evidence.at(j);
    if (sums.count > 0) longest = std::max(longest, trace(sums.contexts, dimension_) / prior_.ridge(j));
  }
  const SolveSummary summary = solve(std::max(tightest, std::min(options_.tolerance, tight) / std::sqrt(longest)));
  const std::span<const double> solution = solver_.solution();
  write_nodes([&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin * stride(); k < end * stride(); ++k) means_[k] = solution[k];
  });
  return summary;
}

/// Changes the belief by some columns of N at one node. What N gains changes it by solutions with the old N, what N
/// loses by solutions with the new one, the way back: nothing cancels. The means are solved for anew. A solve a column,
/// one more, and another n d numbers a column while it runs. Says what became of ln|N|.
Engine::Changed SparseEngine::change(const ChangeColumns& columns, bool gains,
                                     const std::function<void()>& change_solver, const ComponentEvidence& evidence) {
  const auto d = static_cast<Index>(dimension_);
  Changed result;
  if (!gains) change_solver();
  // Y, a column at a time; row j * d + r of it is entry r of node j.
  MatrixXd solutions(static_cast<Index>(node_count()) * d, columns.rank());
  for (Index c = 0; c < columns.rank(); ++c) {
    solver_.clear();
    for (const auto& block : columns.blocks()) {
      std::copy_n(block.rows.col(c).data(), dimension_, solver_.right_hand_side(block.node));
    }
    result.solve.add(solve(std::min(options_.tolerance, tight)));
    for (std::size_t j = 0; j < node_count(); ++j) {
      for (Index r = 0; r < d; ++r) solutions(static_cast<Index>(j) * d + r, c) = solver_.solution()[j * stride() + r];
    }
  }
  const PrecisionChange change(1.0, columns.times(solutions));
  result.log_determinant = (gains ? 1.0 : -1.0) * change.log_determinant();
  if (log_determinant_) *log_determinant_ += result.log_determinant;
  subtract_terms(change.terms(solutions), gains ? 1.0 : -1.0, 1);
  if (gains) change_solver();
  result.solve.add(solve_means(evidence));
  return result;
}

/// C_j -= sign Z_j Z_j^T for every node; row j * d + r of Z is entry r of node j. Asks for no memory: whatever else has
/// changed by now, this does too.
void SparseEngine::subtract_terms(const MatrixXd& terms, double sign, std::size_t threads) noexcept {
  constexpr std::size_t together = 64;  // nodes
  run_parts(node_count(), together, threads, [&](std::size_t /*part*/, std::size_t first, std::size_t end) {
    for (std::size_t j = first; j < end; ++j) {
      for (std::size_t c = 0; c < dimension_; ++c) {
        double* const column = covariance_column(j, c);
        for (Index k = 0; k < terms.cols(); ++k) {
          const double* const term = &terms(static_cast<Index>(j * dimension_), k);
          const double factor = sign * term[c];
          for (std::size_t r = c; r < dimension_; ++r) column[r] -= factor * term[r];
        }
      }
    }
  });
}

Engine::Changed SparseEngine::change_evidence(std::size_t node, const UserEvidence& sums, int sign,
                                              const ComponentEvidence& evidence) {
  // Where the evidence comes to, nearly all of C_i cancels if the evidence says much more than what was known. There
  // C_i becomes (C_i^{-1} + S)^{-1} = L (I + L^T S L)^{-1} L^T with C_i = L L^T instead.
  const auto d = static_cast<Index>(dimension_);
  MatrixXd own(d, d);
  covariance(node, {own.data(), dimension_ * dimension_});
  Changed result = change(
      ChangeColumns::of_contexts(node, sums.contexts, dimension_), sign > 0,
      [&] {
        solver_.set_sum(node, evidence.at(node).contexts);
        context_solver_.evidence_changed();
      },
      evidence);
  if (sign < 0) return result;
  const MatrixXd lower = own.llt().matrixL();
  const MatrixXd inner = MatrixXd::Identity(d, d) + lower.transpose() * unpacked(sums.contexts, dimension_) * lower;
  const MatrixXd root = inner.llt().matrixL().solve(lower.transpose());
  set_covariance(node, root.transpose() * root);
  return result;
}

/// Makes C_i this matrix, whatever waits.
void SparseEngine::set_covariance(std::size_t node, const MatrixXd& covariance) {
  variances_.set_known(node);
  missing_[node] = 0.0;
  for (std::size_t c = 0; c < dimension_; ++c) {
    for (std::size_t r = c; r < dimension_; ++r) {
      double value = covariance(static_cast<Index>(r), static_cast<Index>(c));
      for (std::size_t k = 0; k < waiting_count_; ++k) {
        value += sign_of(losses_, k) * waiting(node)[k * stride() + r] * waiting(node)[k * stride() + c];
      }
      covariance_column(node, c)[r] = value;
    }
  }
}

void SparseEngine::save(BinaryWriter& out) const {
  find_missing(options_.progress);
  out.array(means_);
  if (std::all_of(missing_.begin(), missing_.end(), [](double value) { return value == 0.0; })) {
    out.array(covariances_);
  } else {
    std::vector<double> whole = covariances_;
    for (std::size_t j = 0; j < node_count(); ++j) {
      for (std::size_t c = 0; c < dimension_; ++c) whole[j * covariance_size_ + column_begins_[c] + c] += missing_[j];
    }
    out.array(whole);
  }
  out.size(waiting_count_ | (static_cast<std::size_t>(losses_) << 32U) | (moved_ ? forgets : 0));
  if (moved_) out.number(*moved_);
  for (std::size_t j = 0; j < node_count(); ++j) {
    out.array(std::span<const double>(waiting(j), waiting_count_ * stride()));
  }
  for (std::size_t j = 0; j < node_count(); ++j) {
    out.number(static_cast<std::uint8_t>(solver_.observed(j).whole ? 1 : 0));
    out.array(solver_.observed(j).rows);
  }
}

SparseEngine::SparseEngine(BinaryReader& in, const PriorMatrix& prior, std::size_t dimension,
                           const EngineOptions& options)
    : SparseEngine(Empty{}, checked(in, prior, dimension), dimension, options) {
  means_ = in.array<double>(means_.size(), "the means");
  covariances_ = in.array<double>(covariances_.size(), "the covariances");
  for (std::size_t j = 0; j < node_count(); ++j) variances_.set_known(j);
  const std::size_t counts = in.size();
  waiting_count_ = counts & 0xffffffffU;
  losses_ = static_cast<std::uint8_t>(counts >> 32U);
  in.expect(waiting_count_ < waiting_room && (losses_ >> waiting_count_) == 0 && (counts >> 41U) == 0,
            "the number of waiting updates");
  if ((counts & forgets) != 0) moved_ = in.number<double>();
  for (std::size_t j = 0; j < node_count(); ++j) {
    const auto terms = in.array<double>(waiting_count_ * stride(), "the waiting updates");
    std::copy(terms.begin(), terms.end(), waiting(j));
  }
  for (std::size_t j = 0; j < node_count(); ++j) {
    NodeSum sum;
    sum.whole = in.number<std::uint8_t>() != 0;
    sum.rows = in.array<double>();
    const std::size_t size = sum.rows.size();
    in.expect(sum.whole ? size == dimension_ * stride() : size % stride() == 0 && size <= dimension_ * stride(),
              "the observations of a node");
    solver_.set_sum(j, std::move(sum));
  }
}

}  // namespace goblin
