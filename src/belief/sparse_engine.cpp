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
#include <Eigen/Eigenvalues>

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
      inverses_(component.node_count()) {
  // Columns of the lower triangle begin at a whole pack: column c at row c rounded down to one.
  for (std::size_t c = 0; c < dimension; ++c) {
    const std::size_t first_row = c / pack_size * pack_size;
    column_begins_[c] = covariance_size_ - first_row;  // may wrap; entry (r, c) has r >= first_row
    covariance_size_ += stride() - first_row;
  }
  const std::size_t n = component.node_count();
  const auto diagonal = prior_diagonal(component, prior.ridge, prior.coupling);
  for (std::size_t j = 0; j < n; ++j) inverses_[j].diagonal = diagonal[j];
  means_.resize(n * stride());
  covariances_.resize(n * covariance_size_);
  waiting_.resize(n * waiting_room * stride());
  for (auto* vector : {&solution_, &residual_, &direction_, &diagonal_direction_, &image_})
    vector->resize(n * stride());
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
  for (std::size_t j = 0; j < node_count(); ++j) rebuild_inverse(j, evidence[j].contexts);
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
    part->inverses_[j] = inverses_[nodes[j]];
  }
  return part;
}

std::size_t SparseEngine::bytes() const {
  std::size_t numbers = means_.size() + covariances_.size() + waiting_.size() + solution_.size() + residual_.size() +
                        direction_.size() + diagonal_direction_.size() + image_.size();
  for (const NodeInverse& inverse : inverses_) numbers += inverse.terms.capacity();
  return sizeof(*this) + graph_.bytes() + numbers * sizeof(double) + inverses_.size() * sizeof(NodeInverse);
}

std::size_t SparseEngine::bytes(std::size_t nodes, std::size_t edges, std::size_t dimension) {
  const auto d = static_cast<double>(dimension);
  const auto stride = static_cast<double>(packs_for(dimension) * pack_size);
  const double numbers = stride * (stride + pack_size) / 2.0 + stride * (waiting_room + 6.0) + d * stride;
  return byte_count(sizeof(SparseEngine) + static_cast<double>(nodes) * (numbers * 8.0 + sizeof(NodeInverse) + 8.0) +
                    24.0 * static_cast<double>(edges));
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
  start_from_zero();
  for (std::size_t k = 0; k < dimension_; ++k) residual_[node * stride() + k] = context[k] / largest;
  Learned result;
  const double wanted = 0.1 * options_.tolerance / std::max(1.0, std::sqrt(squared_length / prior_.ridge));
  result.solve = solve(std::max(tightest, wanted));
  for (double& value : solution_) value *= largest;

  const auto inner = [&](const std::vector<double>& vector) {
    double total = 0.0;
    for (std::size_t k = 0; k < dimension_; ++k) total += context[k] * vector[node * stride() + k];
    return total;
  };
  result.variance = std::max(0.0, inner(solution_));
  const double gain = (reward - inner(means_)) / (1.0 + result.variance);
  const double root = 1.0 / std::sqrt(1.0 + result.variance);
  for (std::size_t k = 0; k < means_.size(); ++k) means_[k] += gain * solution_[k];
  for (std::size_t j = 0; j < node_count(); ++j) {
    double* term = waiting(j) + waiting_count_ * stride();
    for (std::size_t k = 0; k < stride(); ++k) term[k] = root * solution_[j * stride() + k];
  }
  if (++waiting_count_ == waiting_room) apply_waiting();
  observe(node, context);
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

/// B_j += x x^T, so B_j^{-1} -= t t^T with t = B_j^{-1} x / sqrt(1 + x^T B_j^{-1} x).
void SparseEngine::observe(std::size_t node, std::span<const double> context) {
  NodeInverse& inverse = inverses_[node];
  std::vector<double> x(stride(), 0.0);
  std::vector<double> term(stride(), 0.0);
  std::copy(context.begin(), context.end(), x.begin());
  apply_inverse<0>(inverse, x.data(), term.data());
  double q = 0.0;
  for (std::size_t k = 0; k < dimension_; ++k) q += x[k] * term[k];
  for (double& value : term) value /= std::sqrt(1.0 + std::max(0.0, q));

  // A term costs two products of length d, the whole matrix d of them.
  if (!inverse.whole && 2 * (inverse.terms.size() / stride() + 1) > dimension_) {
    std::vector<double> matrix(dimension_ * stride(), 0.0);
    for (std::size_t c = 0; c < dimension_; ++c) matrix[c * stride() + c] = 1.0 / inverse.diagonal;
    for (std::size_t t = 0; t < inverse.terms.size(); t += stride()) {
      for (std::size_t c = 0; c < dimension_; ++c) {
        for (std::size_t r = 0; r < dimension_; ++r) {
          matrix[c * stride() + r] -= inverse.terms[t + c] * inverse.terms[t + r];
        }
      }
    }
    inverse.terms = std::move(matrix);
    inverse.whole = true;
  }
  if (inverse.whole) {
    for (std::size_t c = 0; c < dimension_; ++c) {
      for (std::size_t r = 0; r < dimension_; ++r) inverse.terms[c * stride() + r] -= term[c] * term[r];
    }
  } else {
    inverse.terms.insert(inverse.terms.end(), term.begin(), term.end());
  }
}

/// B_j^{-1} from S_j, after its diagonal changed: with S = sum of l q q^T, a term is q sqrt(l / (b (b + l))).
void SparseEngine::rebuild_inverse(std::size_t node, std::span<const double> contexts) {
  NodeInverse& inverse = inverses_[node];
  inverse.terms.clear();
  inverse.whole = false;
  if (contexts.empty()) return;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(unpacked(contexts, dimension_));
  const double smallest = 1e-15 * eigen.eigenvalues().cwiseAbs().maxCoeff();
  const auto rank = static_cast<std::size_t>((eigen.eigenvalues().array() > smallest).count());
  inverse.whole = 2 * rank > dimension_;
  if (inverse.whole) {
    const VectorXd scales = (eigen.eigenvalues().cwiseMax(0.0).array() + inverse.diagonal).inverse();
    const MatrixXd matrix = eigen.eigenvectors() * scales.asDiagonal() * eigen.eigenvectors().transpose();
    inverse.terms.assign(dimension_ * stride(), 0.0);
    for (std::size_t c = 0; c < dimension_; ++c) {
      for (std::size_t r = 0; r < dimension_; ++r) inverse.terms[c * stride() + r] = matrix(r, c);
    }
    return;
  }
  inverse.terms.assign(rank * stride(), 0.0);
  for (std::size_t k = 0; k < rank; ++k) {
    const auto column = static_cast<Index>(dimension_ - 1 - k);  // eigenvalues ascend
    const double value = eigen.eigenvalues()[column];
    const double scale = std::sqrt(value / (inverse.diagonal * (inverse.diagonal + value)));
    for (std::size_t r = 0; r < dimension_; ++r) {
      inverse.terms[k * stride() + r] = scale * eigen.eigenvectors()(static_cast<Index>(r), column);
    }
  }
}

void SparseEngine::start_from_zero() {
  std::fill(solution_.begin(), solution_.end(), 0.0);
  std::fill(residual_.begin(), residual_.end(), 0.0);
}

template <std::size_t Packs>
void SparseEngine::apply_inverse(const NodeInverse& inverse, const double* from, double* to) const {
  const std::size_t count = Packs > 0 ? Packs : pack_count_;
  const Pack* r = packs(from);
  Pack* z = packs(to);
  if (inverse.whole) {
    for (std::size_t b = 0; b < count; ++b) z[b] = Pack{};
    for (std::size_t c = 0; c < dimension_; ++c) {
      const Pack* column = packs(inverse.terms.data() + c * stride());
      for (std::size_t b = 0; b < count; ++b) z[b] += from[c] * column[b];
    }
    return;
  }
  const double scale = 1.0 / inverse.diagonal;
  for (std::size_t b = 0; b < count; ++b) z[b] = scale * r[b];
  const double* const end = inverse.terms.data() + inverse.terms.size();
  for (const double* at = inverse.terms.data(); at != end; at += count * pack_size) {
    const Pack* term = packs(at);
    Pack product{};
    for (std::size_t b = 0; b < count; ++b) product += term[b] * r[b];
    const double factor = sum(product);
    for (std::size_t b = 0; b < count; ++b) z[b] -= factor * term[b];
  }
}

SolveSummary SparseEngine::solve(double tolerance) {
  return with_pack_count(pack_count_, [&](auto count) { return solve_packs<decltype(count)::value>(tolerance); });
}

/// Solves N u = residual_ by conjugate gradients, u into solution_, which starts as zero.
template <std::size_t Packs>
SolveSummary SparseEngine::solve_packs(double tolerance) {
  const std::size_t count = Packs > 0 ? Packs : pack_count_;
  const std::size_t width = count * pack_size;
  const std::size_t n = node_count();
  const auto at = [this](std::vector<double>& vector, std::size_t j) {
    return packs(vector.data() + j * (Packs > 0 ? Packs : pack_count_) * pack_size);
  };
  // Registers for a row of packs, or as many at a time as there are.
  constexpr std::size_t chunk = Packs > 0 ? Packs : 8;

  Pack rr{};
  Pack rz{};
  for (std::size_t j = 0; j < n; ++j) {
    const Pack* r = at(residual_, j);
    Pack* p = at(direction_, j);
    Pack* bp = at(diagonal_direction_, j);
    apply_inverse<Packs>(inverses_[j], residual_.data() + j * width, direction_.data() + j * width);
    for (std::size_t b = 0; b < count; ++b) {
      bp[b] = r[b];
      rr += r[b] * r[b];
      rz += r[b] * p[b];
    }
  }
  double squared_residual = sum(rr);
  const double start = squared_residual;
  double inner = sum(rz);
  SolveSummary summary;
  if (start == 0.0) return summary;
  const double goal = tolerance * tolerance * start;
  while (squared_residual > goal && summary.iterations < options_.max_iterations) {
    ++summary.iterations;
    Pack curvature{};
    for (std::size_t j = 0; j < n; ++j) {
      const auto neighbours = graph_.neighbours(j);
      const auto weights = graph_.weights(j);
      const Pack* p = at(direction_, j);
      const Pack* bp = at(diagonal_direction_, j);
      Pack* np = at(image_, j);
      for (std::size_t begin = 0; begin < count; begin += chunk) {
        const std::size_t used = Packs > 0 ? Packs : std::min(chunk, count - begin);
        Pack others[chunk] = {};
        for (std::size_t k = 0; k < neighbours.size(); ++k) {
          const Pack* other = at(direction_, neighbours[k]) + begin;
          for (std::size_t b = 0; b < used; ++b) others[b] += weights[k] * other[b];
        }
        for (std::size_t b = 0; b < used; ++b) {
          const Pack image = bp[begin + b] - prior_.coupling * others[b];
          np[begin + b] = image;
          curvature += p[begin + b] * image;
        }
      }
    }
    const double step = inner / sum(curvature);
    rr = Pack{};
    rz = Pack{};
    for (std::size_t j = 0; j < n; ++j) {
      Pack* u = at(solution_, j);
      Pack* r = at(residual_, j);
      const Pack* p = at(direction_, j);
      Pack* z = at(image_, j);
      for (std::size_t b = 0; b < count; ++b) {
        u[b] += step * p[b];
        r[b] -= step * z[b];
        rr += r[b] * r[b];
      }
      apply_inverse<Packs>(inverses_[j], residual_.data() + j * width, image_.data() + j * width);
      for (std::size_t b = 0; b < count; ++b) rz += r[b] * z[b];
    }
    squared_residual = sum(rr);
    const double next_inner = sum(rz);
    const double turn = next_inner / inner;
    inner = next_inner;
    for (std::size_t k = 0; k < direction_.size(); ++k) {
      direction_[k] = image_[k] + turn * direction_[k];
      diagonal_direction_[k] = residual_[k] + turn * diagonal_direction_[k];
    }
  }
  summary.residual = std::sqrt(squared_residual / start);
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
    for (const std::size_t node : {a, b}) {
      inverses_[node].diagonal = prior_.ridge + prior_.coupling * graph_.degree(node);
      rebuild_inverse(node, evidence[node].contexts);
    }
  };
  if (!gains) rewire();

  EdgeChanged result;
  const double sign = gains ? 1.0 : -1.0;
  result.prior_log_determinant = sign * std::log1p(k * prior_resistance(graph_, prior_, a, b));
  // Y, a column at a time; row j * d + r of it is entry r of node j.
  MatrixXd solutions(static_cast<Index>(node_count()) * d, d);
  for (Index c = 0; c < d; ++c) {
    start_from_zero();
    residual_[a * stride() + c] = 1.0;
    residual_[b * stride() + c] = -1.0;
    result.solve.add(solve(tolerance));
    for (std::size_t j = 0; j < node_count(); ++j) {
      for (Index r = 0; r < d; ++r) solutions(static_cast<Index>(j) * d + r, c) = solution_[j * stride() + r];
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
    start_from_zero();
    for (std::size_t j = 0; j < node_count(); ++j) {
      std::copy(evidence[j].rewards.begin(), evidence[j].rewards.end(), residual_.begin() + j * stride());
    }
    result.solve.add(solve(tolerance));
    means_ = solution_;
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
  for (const NodeInverse& inverse : inverses_) {
    out.number(static_cast<std::uint8_t>(inverse.whole ? 1 : 0));
    out.array(inverse.terms);
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
  for (NodeInverse& inverse : inverses_) {
    inverse.whole = in.number<std::uint8_t>() != 0;
    inverse.terms = in.array<double>();
    const std::size_t size = inverse.terms.size();
    in.expect(inverse.whole ? size == dimension_ * stride() : size % stride() == 0, "the terms of a node");
  }
}

}  // namespace goblin
