#include "belief/precision_solver.hpp"

#include "belief/packs.hpp"
#include "belief/unpacked.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

namespace goblin {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

template <typename Scalar>
std::size_t padded(std::size_t dimension) {
  return (dimension + pack_width<Scalar> - 1) / pack_width<Scalar> * pack_width<Scalar>;
}

/// x becomes what D^{-1} makes of it, D^{-1} = I / pivot - sum of t t^T over the terms.
void apply_terms(std::span<double> x, double pivot, std::span<const double> terms) {
  const std::size_t d = x.size();
  std::vector<double> factors;
  for (std::size_t k = 0; k < terms.size(); k += d) {
    double product = 0.0;
    for (std::size_t c = 0; c < d; ++c) product += terms[k + c] * x[c];
    factors.push_back(product);
  }
  for (double& value : x) value /= pivot;
  for (std::size_t k = 0; k < factors.size(); ++k) {
    for (std::size_t c = 0; c < d; ++c) x[c] -= factors[k] * terms[k * d + c];
  }
}

double length_of(std::span<const double> vector) {
  return std::sqrt(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0));
}

/// Sums of packs, kept in double precision.
template <typename Scalar>
class Total {
 public:
  void add(const PackOf<Scalar>& pack) { lanes_ += __builtin_convertvector(pack, typename PackTypes<Scalar>::Totals); }
  [[nodiscard]] double value() const {
    double total = 0.0;
    for (std::size_t lane = 0; lane < pack_width<Scalar>; ++lane) total += lanes_[lane];
    return total;
  }

 private:
  typename PackTypes<Scalar>::Totals lanes_{};
};

/// The packs of a row: in registers if their number is known, and else in memory.
template <typename Scalar, std::size_t Packs>
struct PackArray {
  PackOf<Scalar> values[Packs];

  explicit PackArray(std::size_t /*count*/) {}
  PackOf<Scalar>& operator[](std::size_t b) { return values[b]; }
  const PackOf<Scalar>& operator[](std::size_t b) const { return values[b]; }
};
template <typename Scalar>
struct PackVector {
  CacheLineVector<Scalar> values;

  explicit PackVector(std::size_t count) : values(count * pack_width<Scalar>) {}
  PackOf<Scalar>& operator[](std::size_t b) { return packs(values.data())[b]; }
  const PackOf<Scalar>& operator[](std::size_t b) const { return packs(values.data())[b]; }
};

}  // namespace

template <typename Scalar>
Sweeps<Scalar>::Sweeps(const Elimination& elimination, std::size_t dimension)
    : dimension_(dimension),
      stride_(padded<Scalar>(dimension)),
      weights_(elimination.weights().begin(), elimination.weights().end()),
      inverses_(elimination.node_count()) {
  const std::size_t n = elimination.node_count();
  for (std::size_t at = 0; at < n; ++at) {
    shifts_.push_back(static_cast<Scalar>(elimination.diagonal(at) - elimination.pivot(at)));
    inverses_[at].scale = static_cast<Scalar>(1.0 / elimination.pivot(at));
  }
  for (auto* vector : {&solution_, &residual_, &reduced_, &direction_, &backward_, &forward_, &image_}) {
    vector->resize(n * stride_);
  }
}

template <typename Scalar>
void Sweeps<Scalar>::set_sum(std::size_t position, double pivot, const NodeSum& sum, std::size_t sum_stride) {
  NodeInverse& inverse = inverses_[position];
  const std::size_t count = sum.rows.size() / sum_stride;
  inverse.whole = sum.whole;
  inverse.terms.assign(count * stride_, Scalar{0});
  if (sum.whole) {
    const auto d = static_cast<Index>(dimension_);
    const Eigen::Map<const MatrixXd, 0, Eigen::OuterStride<>> matrix(
        sum.rows.data(), d, d, Eigen::OuterStride<>(static_cast<Index>(sum_stride)));
    MatrixXd block = matrix;
    block.diagonal().array() += pivot;
    const MatrixXd inverted = block.llt().solve(MatrixXd::Identity(d, d));
    for (std::size_t c = 0; c < dimension_; ++c) {
      for (std::size_t r = 0; r < dimension_; ++r) {
        inverse.terms[c * stride_ + r] = static_cast<Scalar>(0.5 * (inverted(r, c) + inverted(c, r)));
      }
    }
    return;
  }
  // D += x x^T, so D^{-1} -= t t^T with t = D^{-1} x / sqrt(1 + x^T D^{-1} x).
  std::vector<double> terms;
  for (std::size_t k = 0; k < count; ++k) {
    const std::span<const double> x(sum.rows.data() + k * sum_stride, dimension_);
    std::vector<double> term(x.begin(), x.end());
    apply_terms(term, pivot, terms);
    double q = 0.0;
    for (std::size_t c = 0; c < dimension_; ++c) q += x[c] * term[c];
    for (double& value : term) value /= std::sqrt(1.0 + std::max(0.0, q));
    for (std::size_t c = 0; c < dimension_; ++c) inverse.terms[k * stride_ + c] = static_cast<Scalar>(term[c]);
    terms.insert(terms.end(), term.begin(), term.end());
  }
}

template <typename Scalar>
template <std::size_t Packs, typename Row>
inline void Sweeps<Scalar>::apply_inverse(const NodeInverse& inverse, const Row& from, P* to) const {
  const std::size_t count = Packs > 0 ? Packs : stride_ / pack_width<Scalar>;
  const P* at = packs(inverse.terms.data());
  const P* const end = at + inverse.terms.size() / pack_width<Scalar>;
  if (inverse.whole) {
    Row total(from);
    for (std::size_t b = 0; b < count; ++b) to[b] = from[b];
    const auto* const numbers = reinterpret_cast<const Scalar*>(to);
    for (std::size_t b = 0; b < count; ++b) total[b] = numbers[0] * at[b];
    for (std::size_t c = 1; c < dimension_; ++c) {
      at += count;
      for (std::size_t b = 0; b < count; ++b) total[b] += numbers[c] * at[b];
    }
    for (std::size_t b = 0; b < count; ++b) to[b] = total[b];
    return;
  }
  Row total(from);
  for (std::size_t b = 0; b < count; ++b) total[b] = inverse.scale * from[b];
  const auto subtract = [&]<std::size_t Terms>(std::integral_constant<std::size_t, Terms>) {
    P products[Terms] = {};
    for (std::size_t b = 0; b < count; ++b) {
      for (std::size_t k = 0; k < Terms; ++k) products[k] += at[k * count + b] * from[b];
    }
    Scalar factors[Terms];
    sums(products, factors);
    for (std::size_t b = 0; b < count; ++b) {
      for (std::size_t k = 0; k < Terms; ++k) total[b] -= factors[k] * at[k * count + b];
    }
    at += Terms * count;
  };
  for (auto left = static_cast<std::size_t>(end - at) / count; left >= 4; left -= 4) {
    subtract(std::integral_constant<std::size_t, 4>{});
  }
  while (at != end) subtract(std::integral_constant<std::size_t, 1>{});
  for (std::size_t b = 0; b < count; ++b) to[b] = total[b];
}

template <typename Scalar>
std::size_t Sweeps<Scalar>::solve(const Elimination& elimination, double reduction, std::size_t max_iterations) {
  return with_pack_count(stride_ / pack_width<Scalar>, [&](auto count) {
    return solve_packs<decltype(count)::value>(elimination, reduction, max_iterations);
  });
}

/// In the variables of (D + L)^{-1} N (D + L)^{-T}, preconditioned with D^{-1}. Per node, with sums over its
/// neighbours:
///
///     back:   D t = p + sum over later nodes of w t
///     forth:  D s = (diagonal - pivot) t - sum over later of w t + sum over earlier nodes of w s
///     then    q = t + s,  D q = p + (diagonal - pivot) t + sum over earlier of w s.
///
/// A step moves r by q and z by D q, and the direction after it needs r.z as it then is. By conjugacy that is
/// step^2 q.Dq - r.z, known before anything has moved: so the sweep back moves each node on its way, and there is no
/// third pass. r.z itself is summed anew on that way; only from one iteration to the next is it told in advance.
template <typename Scalar>
template <std::size_t Packs>
std::size_t Sweeps<Scalar>::solve_packs(const Elimination& elimination, double reduction, std::size_t max_iterations) {
  using Row = std::conditional_t<(Packs > 0), PackArray<Scalar, Packs>, PackVector<Scalar>>;
  const std::size_t count = Packs > 0 ? Packs : stride_ / pack_width<Scalar>;
  const std::size_t width = count * pack_width<Scalar>;
  const std::size_t n = elimination.node_count();
  const NodeId* const others = elimination.positions().data();
  const Scalar* const weights = weights_.data();

  const auto add_neighbours = [&](Elimination::Range range, const Scalar* vector, Row& row) {
    for (std::size_t k = range.first; k < range.last; ++k) {
      const P* const other = packs(vector + others[k] * width);
      for (std::size_t b = 0; b < count; ++b) row[b] += weights[k] * other[b];
    }
  };

  Row v(count);
  std::fill(solution_.begin(), solution_.end(), Scalar{0});
  Total<Scalar> start;
  for (std::size_t j = 0; j < n; ++j) {
    P* const z = packs(residual_.data() + j * width);
    P* const reduced = packs(reduced_.data() + j * width);
    for (std::size_t b = 0; b < count; ++b) v[b] = z[b];
    add_neighbours(elimination.earlier(j), reduced_.data(), v);
    apply_inverse<Packs>(inverses_[j], v, reduced);
    P product{};
    for (std::size_t b = 0; b < count; ++b) {
      z[b] = v[b];
      product += v[b] * reduced[b];
    }
    start.add(product);
  }
  double inner = start.value();
  const double goal = inner * reduction * reduction;
  Scalar step = 0;
  Scalar turn = 0;
  std::size_t iterations = 0;
  while (inner > goal && iterations < max_iterations) {
    const bool first = iterations++ == 0;
    Total<Scalar> norm;
    for (std::size_t j = n; j-- > 0;) {
      P* const z = packs(residual_.data() + j * width);
      P* const reduced = packs(reduced_.data() + j * width);
      P* const u = packs(solution_.data() + j * width);
      P* const p = packs(direction_.data() + j * width);
      P* const t = packs(backward_.data() + j * width);
      const P* const s = packs(forward_.data() + j * width);
      P* const image = packs(image_.data() + j * width);
      if (first) {
        for (std::size_t b = 0; b < count; ++b) p[b] = z[b];
      } else {
        P product{};
        for (std::size_t b = 0; b < count; ++b) {
          u[b] += step * t[b];
          const P less_reduced = reduced[b] - step * (t[b] + s[b]);
          const P less = z[b] - step * image[b];
          product += less_reduced * less;
          reduced[b] = less_reduced;
          z[b] = less;
          p[b] = less + turn * p[b];
        }
        norm.add(product);
      }
      for (std::size_t b = 0; b < count; ++b) v[b] = P{};
      add_neighbours(elimination.later(j), backward_.data(), v);
      for (std::size_t b = 0; b < count; ++b) {
        image[b] = -v[b];
        v[b] += p[b];
      }
      apply_inverse<Packs>(inverses_[j], v, t);
    }
    if (!first) inner = norm.value();
    Total<Scalar> curvature;
    Total<Scalar> image_norm;
    for (std::size_t j = 0; j < n; ++j) {
      const P* const p = packs(direction_.data() + j * width);
      const P* const t = packs(backward_.data() + j * width);
      P* const s = packs(forward_.data() + j * width);
      P* const image = packs(image_.data() + j * width);
      const Scalar shift = shifts_[j];
      for (std::size_t b = 0; b < count; ++b) v[b] = shift * t[b];
      add_neighbours(elimination.earlier(j), forward_.data(), v);
      for (std::size_t b = 0; b < count; ++b) {
        const P both = v[b];
        v[b] += image[b];
        image[b] = p[b] + both;
      }
      apply_inverse<Packs>(inverses_[j], v, s);
      P product{};
      P square{};
      for (std::size_t b = 0; b < count; ++b) {
        const P q = t[b] + s[b];
        product += p[b] * q;
        square += image[b] * q;
      }
      curvature.add(product);
      image_norm.add(square);
    }
    const double alpha = inner / curvature.value();
    step = alpha > 0.0 ? static_cast<Scalar>(alpha) : Scalar{0};
    if (step == 0) break;
    const double next = alpha * alpha * image_norm.value() - inner;
    turn = static_cast<Scalar>(next / inner);
    inner = next;
  }
  if (step != 0) {
    for (std::size_t k = 0; k < solution_.size(); ++k) solution_[k] += step * backward_[k];
  }
  return iterations;
}

template <typename Scalar>
std::size_t Sweeps<Scalar>::bytes() const {
  std::size_t numbers = weights_.size() + shifts_.size() + 7 * solution_.size();
  for (const NodeInverse& inverse : inverses_) numbers += inverse.terms.capacity();
  return numbers * sizeof(Scalar) + inverses_.size() * sizeof(NodeInverse);
}

PrecisionSolver::PrecisionSolver(const Graph& graph, std::size_t dimension, const Prior& prior, std::size_t stride)
    : dimension_(dimension),
      stride_(stride),
      prior_(prior),
      graph_(graph),
      elimination_(graph, prior),
      sweeps_(elimination_, dimension),
      sums_(graph.node_count()),
      right_hand_side_(graph.node_count() * stride),
      solution_(graph.node_count() * stride),
      residual_(graph.node_count() * stride) {}

void PrecisionSolver::set_graph(const Graph& graph) {
  graph_ = graph;
  elimination_ = Elimination(graph, prior_);
  sweeps_ = Sweeps<float>(elimination_, dimension_);
  for (std::size_t node = 0; node < sums_.size(); ++node) {
    if (!sums_[node].rows.empty()) set_sum(node, std::move(sums_[node]));
  }
}

void PrecisionSolver::set_sum(std::size_t node, NodeSum sum) {
  sums_[node] = std::move(sum);
  const std::size_t at = elimination_.position(node);
  sweeps_.set_sum(at, elimination_.pivot(at), sums_[node], stride_);
}

void PrecisionSolver::observe(std::size_t node, std::span<const double> context) {
  NodeSum sum = std::move(sums_[node]);
  const auto add_product = [&](std::vector<double>& matrix, const double* x) {
    for (std::size_t r = 0; r < dimension_; ++r) {
      for (std::size_t c = 0; c < dimension_; ++c) matrix[r * stride_ + c] += x[r] * x[c];
    }
  };
  // A context costs two products of length d, the whole matrix d of them.
  if (!sum.whole && 2 * (sum.rows.size() / stride_ + 1) > dimension_) {
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
  set_sum(node, std::move(sum));
}

/// S = sum of l q q^T has the contexts q sqrt(l).
void PrecisionSolver::set_sum(std::size_t node, std::span<const double> packed) {
  if (packed.empty()) return set_sum(node, NodeSum{});
  const MatrixXd matrix = unpacked(packed, dimension_);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(matrix);
  const double smallest = 1e-15 * eigen.eigenvalues().cwiseAbs().maxCoeff();
  const auto rank = static_cast<std::size_t>((eigen.eigenvalues().array() > smallest).count());
  NodeSum sum{.rows = {}, .whole = 2 * rank > dimension_};
  sum.rows.assign((sum.whole ? dimension_ : rank) * stride_, 0.0);
  for (std::size_t k = 0; k < sum.rows.size() / stride_; ++k) {
    const auto column = static_cast<Index>(dimension_ - 1 - k);  // eigenvalues ascend
    for (std::size_t r = 0; r < dimension_; ++r) {
      sum.rows[k * stride_ + r] =
          sum.whole ? matrix(static_cast<Index>(k), static_cast<Index>(r))
                    : std::sqrt(eigen.eigenvalues()[column]) * eigen.eigenvectors()(static_cast<Index>(r), column);
    }
  }
  set_sum(node, std::move(sum));
}

void PrecisionSolver::clear() {
  std::fill(right_hand_side_.begin(), right_hand_side_.end(), 0.0);
  std::fill(solution_.begin(), solution_.end(), 0.0);
}

/// b - N u into residual_; returns its length. One pass over the edges and over the evidence.
double PrecisionSolver::compute_residual() {
  return with_pack_count(stride_ / pack_size, [&](auto known) {
    constexpr std::size_t Packs = decltype(known)::value;
    using Row = std::conditional_t<(Packs > 0), PackArray<double, Packs>, PackVector<double>>;
    const std::size_t count = Packs > 0 ? Packs : stride_ / pack_size;
    const std::size_t width = count * pack_size;
    Row r(count);
    Pack squared_length{};
    for (std::size_t j = 0; j < sums_.size(); ++j) {
      const double* const numbers = solution_.data() + j * width;
      const Pack* const u = packs(numbers);
      const Pack* const b = packs(right_hand_side_.data() + j * width);
      const double diagonal = elimination_.diagonal(elimination_.position(j));
      const auto neighbours = graph_.neighbours(j);
      const auto weights = graph_.weights(j);
      for (std::size_t c = 0; c < count; ++c) r[c] = Pack{};
      for (std::size_t k = 0; k < neighbours.size(); ++k) {
        const Pack* const other = packs(solution_.data() + neighbours[k] * width);
        for (std::size_t c = 0; c < count; ++c) r[c] += weights[k] * other[c];
      }
      for (std::size_t c = 0; c < count; ++c) r[c] = b[c] - diagonal * u[c] + prior_.coupling * r[c];
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
      for (std::size_t c = 0; c < count; ++c) {
        residual[c] = r[c];
        squared_length += r[c] * r[c];
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
    const auto neighbours = graph_.neighbours(j);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      add(neighbours[k], prior_.coupling * graph_.weights(j)[k], u.data());
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
  const std::size_t iterations = sweeps.solve(elimination_, reduction, max_iterations);
  for (std::size_t at = 0; at < sums_.size(); ++at) {
    const Scalar* const from = sweeps.solution(at);
    double* const to = solution_.data() + elimination_.node(at) * stride_;
    for (std::size_t c = 0; c < dimension_; ++c) to[c] += norm * static_cast<double>(from[c]);
  }
  return iterations;
}

SolveSummary PrecisionSolver::solve(double tolerance, std::size_t max_iterations) {
  constexpr double most_digits_in_single = 1e-5;  // that a stage is asked for
  constexpr double most_digits = 1e-12;
  constexpr double least_gain = 0.1;  // of a stage, or there is no use in another
  constexpr double margin = 0.5;      // the stages measure residuals in another norm
  const double length = length_of(right_hand_side_);
  SolveSummary summary;
  if (length == 0.0) return summary;
  const double goal = tolerance * length;
  double norm = compute_residual_of_start();
  const std::size_t most_in_single = max_iterations / 2;
  bool in_single = true;
  while (in_single && norm > goal && summary.iterations < most_in_single) {
    const double before = norm;
    summary.iterations += correct(sweeps_, norm, std::max(margin * goal / norm, most_digits_in_single),
                                  most_in_single - summary.iterations);
    norm = compute_residual();
    in_single = norm <= least_gain * before;
  }
  if (norm <= goal) {
    summary.residual = norm / length;
    return summary;
  }
  // From zero, whatever single precision arrived at.
  std::fill(solution_.begin(), solution_.end(), 0.0);
  norm = compute_residual_of_start();
  Sweeps<double> sweeps(elimination_, dimension_);
  for (std::size_t at = 0; at < sums_.size(); ++at) {
    const NodeSum& node_sum = sums_[elimination_.node(at)];
    if (!node_sum.rows.empty()) sweeps.set_sum(at, elimination_.pivot(at), node_sum, stride_);
  }
  double before = 0.0;
  do {
    before = norm;
    summary.iterations +=
        correct(sweeps, norm, std::max(margin * goal / norm, most_digits), max_iterations - summary.iterations);
    norm = compute_residual();
  } while (norm > goal && norm <= least_gain * before && summary.iterations < max_iterations);
  summary.residual = norm / length;
  return summary;
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
  const double per_node = 8.0 * (3.0 + d) * doubles + 4.0 * (7.0 + d) * floats + sizeof(NodeSum) + 96.0;
  return static_cast<double>(nodes) * per_node + 32.0 * static_cast<double>(edges);
}

}  // namespace goblin
