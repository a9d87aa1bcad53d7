#include "belief/sparse_engine.hpp"

#include "belief/byte_count.hpp"
#include "belief/edge_change.hpp"
#include "belief/evaluate.hpp"
#include "belief/graph_edit.hpp"
#include "belief/prior_solver.hpp"
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

/// The graph of a component, whose means and covariances are known to follow: nothing large is allocated for nothing.
Graph load_component(BinaryReader& in, std::size_t dimension) {
  Graph graph = load_graph(in);
  const double numbers = static_cast<double>(graph.node_count()) * static_cast<double>(dimension) *
                         static_cast<double>(dimension + 1) / 2.0;
  in.expect(graph.node_count() > 0 && numbers <= static_cast<double>(in.left()) / sizeof(double),
            "the size of a sparse component");
  return graph;
}

}  // namespace

/// Everything but the belief itself.
SparseEngine::SparseEngine(const Graph& component, std::size_t dimension, const Prior& prior,
                           const EngineOptions& options, int)
    : dimension_(dimension),
      pack_count_(packs_for(dimension)),
      prior_(prior),
      options_(options),
      graph_(component),
      column_begins_(dimension),
      solver_(component, dimension, prior, packs_for(dimension) * pack_size) {
  // Columns of the lower triangle begin at a whole pack: column c at row c rounded down to one.
  for (std::size_t c = 0; c < dimension; ++c) {
    const std::size_t first_row = c / pack_size * pack_size;
    column_begins_[c] = covariance_size_ - first_row;  // may wrap; entry (r, c) has r >= first_row
    covariance_size_ += stride() - first_row;
  }
  const std::size_t n = component.node_count();
  means_.resize(n * stride());
  covariances_.resize(n * covariance_size_);
  waiting_.resize(n * waiting_room * stride());
}

SparseEngine::SparseEngine(const Graph& component, std::size_t dimension, const Prior& prior,
                           const EngineOptions& options)
    : SparseEngine(component, dimension, prior, options, 0) {
  const auto variances = prior_variances(component, prior);
  for (std::size_t j = 0; j < node_count(); ++j) {
    for (std::size_t c = 0; c < dimension_; ++c) covariance_column(j, c)[c] = variances[j];
  }
}

SparseEngine::SparseEngine(const Engine& first, const Engine& second, std::span<const NodeEvidence> evidence,
                           std::size_t dimension, const Prior& prior, const EngineOptions& options)
    : SparseEngine(side_by_side(first.graph(), second.graph()), dimension, prior, options, 0) {
  for (std::size_t j = 0; j < first.node_count(); ++j) copy_belief(j, first, j);
  for (std::size_t j = 0; j < second.node_count(); ++j) copy_belief(first.node_count() + j, second, j);
  for (std::size_t j = 0; j < node_count(); ++j) solver_.set_sum(j, evidence[j].contexts);
}

void SparseEngine::copy_belief(std::size_t node, const Engine& from, std::size_t from_node) {
  from.mean(from_node, std::span(means_).subspan(node * stride(), dimension_));
  MatrixXd covariance(dimension_, dimension_);
  from.covariance(from_node, {covariance.data(), dimension_ * dimension_});
  for (std::size_t c = 0; c < dimension_; ++c) {
    for (std::size_t r = c; r < dimension_; ++r) covariance_column(node, c)[r] = covariance(r, c);
  }
}

std::unique_ptr<Engine> SparseEngine::extract(std::span<const NodeId> nodes) const {
  auto part = std::unique_ptr<SparseEngine>(new SparseEngine(graph_.induced(nodes), dimension_, prior_, options_, 0));
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    part->copy_belief(j, *this, nodes[j]);
    part->solver_.set_sum(j, solver_.observed(nodes[j]));
  }
  return part;
}

std::size_t SparseEngine::bytes() const {
  const std::size_t numbers = means_.size() + covariances_.size() + waiting_.size();
  return sizeof(*this) + graph_.bytes() + numbers * sizeof(double) + solver_.bytes();
}

std::size_t SparseEngine::bytes(std::size_t nodes, std::size_t edges, std::size_t dimension) {
  const auto stride = static_cast<double>(packs_for(dimension) * pack_size);
  const double numbers = stride * (stride + pack_size) / 2.0 + stride * (waiting_room + 1.0);
  return byte_count(sizeof(SparseEngine) + static_cast<double>(nodes) * (numbers * 8.0 + 8.0) +
                    24.0 * static_cast<double>(edges) + PrecisionSolver::bytes(nodes, edges, dimension));
}

void SparseEngine::mean(std::size_t node, std::span<double> out) const {
  std::copy_n(means_.data() + node * stride(), dimension_, out.data());
}

void SparseEngine::covariance(std::size_t node, std::span<double> out) const {
  Eigen::Map<MatrixXd> target(out.data(), dimension_, dimension_);
  for (std::size_t c = 0; c < dimension_; ++c) {
    for (std::size_t r = c; r < dimension_; ++r) {
      double value = covariance_column(node, c)[r];
      for (std::size_t k = 0; k < waiting_count_; ++k) {
        value -= waiting(node)[k * stride() + r] * waiting(node)[k * stride() + c];
      }
      target(r, c) = target(c, r) = value;
    }
  }
}

void SparseEngine::evaluate(std::size_t node, std::span<const double> contexts, std::span<double> means,
                            std::span<double> variances) const {
  evaluate_contexts(
      dimension_, means_.data() + node * stride(), [this, node](std::size_t c) { return covariance_column(node, c); },
      {.first = waiting(node), .stride = stride(), .count = waiting_count_}, contexts, means, variances);
}

Engine::Learned SparseEngine::learn(std::size_t node, std::span<const double> context, double reward) {
  // Solved for a context whose largest entry is 1, so that nothing underflows. An error e of u moves a score by about
  // |x| |e|: the longer the context, the more exact u has to be.
  constexpr double tightest = 1e-14;
  double largest = 0.0;
  double squared_length = 0.0;
  for (const double value : context) {
    largest = std::max(largest, std::abs(value));
    squared_length += value * value;
  }
  solver_.clear();
  for (std::size_t k = 0; k < dimension_; ++k) solver_.right_hand_side(node)[k] = context[k] / largest;
  start_at(node);
  Learned result;
  const double wanted = 0.1 * options_.tolerance / std::max(1.0, std::sqrt(squared_length / prior_.ridge));
  result.solve = solve(std::max(tightest, wanted));

  const std::span<const double> solution = solver_.solution();
  const auto inner = [&](std::span<const double> vector) {
    double total = 0.0;
    for (std::size_t k = 0; k < dimension_; ++k) total += context[k] * vector[node * stride() + k];
    return total;
  };
  result.variance = std::max(0.0, largest * inner(solution));
  const double gain = largest * (reward - inner(means_)) / (1.0 + result.variance);
  const double root = largest / std::sqrt(1.0 + result.variance);
  for (std::size_t k = 0; k < means_.size(); ++k) means_[k] += gain * solution[k];
  for (std::size_t j = 0; j < node_count(); ++j) {
    double* term = waiting(j) + waiting_count_ * stride();
    for (std::size_t k = 0; k < stride(); ++k) term[k] = root * solution[j * stride() + k];
  }
  if (++waiting_count_ == waiting_room) apply_waiting();
  solver_.observe(node, context);
  return result;
}

/// C_j -= sum of t t^T over what waits, for every node: n d^2 / 2 multiplications a term, one pass over C.
void SparseEngine::apply_waiting() {
  for (std::size_t j = 0; j < node_count(); ++j) {
    const double* terms = waiting(j);
    for (std::size_t c = 0; c < dimension_; ++c) {
      const std::size_t first = c / pack_size;
      Pack* column = packs(covariance_column(j, c) + first * pack_size);
      for (std::size_t k = 0; k < waiting_count_; ++k) {
        const double* term = terms + k * stride();
        const double factor = term[c];
        const Pack* rows = packs(term) + first;
        for (std::size_t b = 0; b < pack_count_ - first; ++b) column[b] -= factor * rows[b];
      }
    }
  }
  waiting_count_ = 0;
}

/// u_i = C_i b_i is known before the solve, as well as C_i is.
void SparseEngine::start_at(std::size_t node) {
  const double* const b = solver_.right_hand_side(node);
  double* const u = solver_.start(node);
  for (std::size_t c = 0; c < dimension_; ++c) {
    const double* const column = covariance_column(node, c);
    u[c] += column[c] * b[c];
    for (std::size_t r = c + 1; r < dimension_; ++r) {
      u[r] += column[r] * b[c];
      u[c] += column[r] * b[r];
    }
  }
  for (std::size_t k = 0; k < waiting_count_; ++k) {
    const double* const term = waiting(node) + k * stride();
    double factor = 0.0;
    for (std::size_t c = 0; c < dimension_; ++c) factor += term[c] * b[c];
    for (std::size_t c = 0; c < dimension_; ++c) u[c] -= factor * term[c];
  }
}

SolveSummary SparseEngine::solve(double tolerance) {
  SolveSummary summary = solver_.solve(tolerance, options_.max_iterations);
  summary.converged = summary.residual <= options_.tolerance;
  return summary;
}

/// An edge that gains weight changes the belief by solutions with the old graph, one that loses weight by solutions
/// with the new graph, as N_old^{-1} = N_new^{-1} - |k| Y F^{-1} Y^T read backwards: either way F >= I, and nothing
/// cancels. The means are solved for anew where weight goes, since w_a - w_b then has lost digits. O(d) solves, and
/// another n d^2 numbers while it runs.
Engine::EdgeChanged SparseEngine::change_edge(std::size_t a, std::size_t b, double change,
                                              std::span<const NodeEvidence> evidence) {
  constexpr double tight = 1e-13;
  const bool gains = change > 0.0;
  const double k = prior_.coupling * std::abs(change);
  const double tolerance = std::min(options_.tolerance, tight);
  const auto d = static_cast<Index>(dimension_);
  const auto rewire = [&] {
    graph_ = with_edge_changed(graph_, static_cast<NodeId>(a), static_cast<NodeId>(b), change);
    solver_.set_graph(graph_);
  };
  if (!gains) rewire();

  EdgeChanged result;
  const double sign = gains ? 1.0 : -1.0;
  result.prior_log_determinant = sign * std::log1p(k * prior_resistance(graph_, prior_, a, b));
  // Y, a column at a time; row j * d + r of it is entry r of node j.
  MatrixXd solutions(static_cast<Index>(node_count()) * d, d);
  for (Index c = 0; c < d; ++c) {
    solver_.clear();
    solver_.right_hand_side(a)[c] = 1.0;
    solver_.right_hand_side(b)[c] = -1.0;
    result.solve.add(solve(tolerance));
    for (std::size_t j = 0; j < node_count(); ++j) {
      for (Index r = 0; r < d; ++r) solutions(static_cast<Index>(j) * d + r, c) = solver_.solution()[j * stride() + r];
    }
  }
  const EdgeChange edge(k, solutions.middleRows(a * d, d) - solutions.middleRows(b * d, d));
  result.log_determinant = sign * edge.log_determinant();
  VectorXd difference(d);
  for (Index r = 0; r < d; ++r) difference[r] = means_[a * stride() + r] - means_[b * stride() + r];
  const VectorXd mean_change = edge.mean_change(difference);
  for (std::size_t j = 0; j < node_count(); ++j) {
    const MatrixXd terms = edge.terms(solutions.middleRows(static_cast<Index>(j) * d, d));
    const VectorXd shift = terms * mean_change;
    const MatrixXd outer = sign * (terms * terms.transpose());
    for (Index c = 0; c < d; ++c) {
      if (gains) means_[j * stride() + c] -= shift[c];
      for (Index r = c; r < d; ++r) covariance_column(j, c)[r] -= outer(r, c);
    }
  }
  if (gains) {
    rewire();
  } else {
    solver_.clear();
    for (std::size_t j = 0; j < node_count(); ++j) {
      std::copy(evidence[j].rewards.begin(), evidence[j].rewards.end(), solver_.right_hand_side(j));
    }
    result.solve.add(solve(tolerance));
    means_.assign(solver_.solution().begin(), solver_.solution().end());
  }
  return result;
}

void SparseEngine::save(BinaryWriter& out) const {
  save_graph(out, graph_);
  out.array(means_);
  out.array(covariances_);
  out.size(waiting_count_);
  for (std::size_t j = 0; j < node_count(); ++j) {
    out.array(std::span<const double>(waiting(j), waiting_count_ * stride()));
  }
  for (std::size_t j = 0; j < node_count(); ++j) {
    out.number(static_cast<std::uint8_t>(solver_.observed(j).whole ? 1 : 0));
    out.array(solver_.observed(j).rows);
  }
}

SparseEngine::SparseEngine(BinaryReader& in, std::size_t dimension, const Prior& prior, const EngineOptions& options)
    : SparseEngine(load_component(in, dimension), dimension, prior, options, 0) {
  means_ = in.array<double>(means_.size(), "the means");
  covariances_ = in.array<double>(covariances_.size(), "the covariances");
  waiting_count_ = in.size(waiting_room - 1, "the number of waiting updates");
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
