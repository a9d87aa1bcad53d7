#include "belief/sparse/sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace goblin {

namespace {

using Eigen::VectorXd;

/// d numbers that are the same at every node, in double precision and in packs.
template <typename Scalar, std::size_t Packs>
class EveryNode {
 public:
  EveryNode(std::size_t dimension, std::size_t count)
      : exact_(VectorXd::Zero(static_cast<Eigen::Index>(dimension))), row_(count) {
    for (std::size_t b = 0; b < count; ++b) row_[b] = PackOf<Scalar>{};
  }

  void set(VectorXd values) {
    exact_ = std::move(values);
    for (Eigen::Index c = 0; c < exact_.size(); ++c) {
      row_[static_cast<std::size_t>(c) / pack_width<Scalar>][static_cast<std::size_t>(c) % pack_width<Scalar>] =
          static_cast<Scalar>(exact_[c]);
    }
  }
  [[nodiscard]] const VectorXd& exact() const { return exact_; }
  const PackOf<Scalar>& operator[](std::size_t b) const { return row_[b]; }

 private:
  VectorXd exact_;
  PackRow<Scalar, Packs> row_;
};

/// Sums of rows over the nodes: some nodes at a time as they are, and those sums in double precision.
template <typename Scalar, std::size_t Packs>
class RowTotal {
 public:
  RowTotal(std::size_t dimension, std::size_t count) : dimension_(dimension), some_(count), totals_(count) { clear(); }

  void add(std::size_t b, const PackOf<Scalar>& pack) { some_[b] += pack; }
  /// After every node.
  void next_node(std::size_t node) {
    if (node % nodes_at_a_time == 0) flush();
  }
  [[nodiscard]] VectorXd value() {
    flush();
    VectorXd result(static_cast<Eigen::Index>(dimension_));
    for (std::size_t c = 0; c < dimension_; ++c) {
      result[static_cast<Eigen::Index>(c)] = totals_[c / pack_width<Scalar>].lane(c % pack_width<Scalar>);
    }
    return result;
  }
  void clear() {
    for (std::size_t b = 0; b < totals_.size(); ++b) some_[b] = PackOf<Scalar>{};
    std::fill(totals_.begin(), totals_.end(), Total<Scalar>{});
  }

 private:
  static constexpr std::size_t nodes_at_a_time = 32;

  void flush() {
    for (std::size_t b = 0; b < totals_.size(); ++b) {
      totals_[b].add(some_[b]);
      some_[b] = PackOf<Scalar>{};
    }
  }

  std::size_t dimension_;
  PackRow<Scalar, Packs> some_;
  CacheLineVector<Total<Scalar>> totals_;
};

}  // namespace

template <typename Scalar>
Sweeps<Scalar>::Sweeps(const Elimination& elimination, std::size_t dimension)
    : dimension_(dimension),
      stride_(padded<Scalar>(dimension)),
      weights_(elimination.weights().begin(), elimination.weights().end()) {
  const std::size_t n = elimination.node_count();
  for (std::size_t at = 0; at < n; ++at) {
    nodes_.push_back({.pivot = static_cast<Scalar>(elimination.pivot(at)),
                      .shift = static_cast<Scalar>(elimination.diagonal(at) - elimination.pivot(at)),
                      .ridge = static_cast<Scalar>(elimination.ridge(at))});
    inverses_.emplace_back(elimination.pivot(at));
  }
  for (auto* vector : {&solution_, &residual_, &reduced_, &direction_, &backward_, &forward_, &image_}) {
    vector->resize(n * stride_);
  }
}

template <typename Scalar>
std::size_t Sweeps<Scalar>::solve(const Elimination& elimination, const ConstantMode& constant, double reduction,
                                  std::size_t max_iterations) {
  return with_pack_count(stride_ / pack_width<Scalar>, [&](auto count) {
    return solve_packs<decltype(count)::value>(elimination, constant, reduction, max_iterations);
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
///
/// Deflation: the start has W^T r = 0 (ConstantMode), and so has every residual if each step goes along t - W m with
/// m = E^{-1} W^T N t, for which W^T N (t - W m) = 0. N W m is (ridge_j I + S_j) m at node j: with s short for s - m,
/// both D s and D q have that much less, and q = t + s still.
///
/// A product with every S_j in every iteration would cost half as much again, but none is needed: z, p and D q are kept
/// as z', p' and g', where z_j = z'_j - S_j y for d numbers y that are the same at every node, and likewise the others.
/// D^{-1} is applied as D^{-1} (v - S y) = D^{-1} (v + pivot y) - y. Sums over the nodes know the sum of all S_j, and
/// sum of S_j t_j = sum of (D t - pivot t)_j.
template <typename Scalar>
template <std::size_t Packs>
std::size_t Sweeps<Scalar>::solve_packs(const Elimination& elimination, const ConstantMode& constant, double reduction,
                                        std::size_t max_iterations) {
  using Row = PackRow<Scalar, Packs>;
  const std::size_t count = Packs > 0 ? Packs : stride_ / pack_width<Scalar>;
  const std::size_t width = count * pack_width<Scalar>;
  const std::size_t n = elimination.node_count();
  const NodeId* const others = elimination.positions().data();
  const Scalar* const weights = weights_.data();

  // Two sums, so that none waits for itself.
  Row second(count);
  const auto add_neighbours = [&](Elimination::Range range, const Scalar* vector, Row& row)
      __attribute__((always_inline)) {
    const auto add = [&](std::size_t k, Row & to) __attribute__((always_inline)) {
      const P* const other = packs(vector + others[k] * width);
      for (std::size_t b = 0; b < count; ++b) to[b] += weights[k] * other[b];
    };
    for (std::size_t b = 0; b < count; ++b) second[b] = P{};
    std::size_t k = range.first;
    for (; k + 2 <= range.last; k += 2) {
      add(k, row);
      add(k + 1, second);
    }
    if (k < range.last) add(k, row);
    for (std::size_t b = 0; b < count; ++b) row[b] += second[b];
  };
  Row v(count);
  // to = D^{-1} (v - S y), and v stays as it is.
  const auto apply_inverse = [&](std::size_t j, const EveryNode<Scalar, Packs>& y, P* to)
      __attribute__((always_inline)) {
    Row w(v);
    for (std::size_t b = 0; b < count; ++b) w[b] += nodes_[j].pivot * y[b];
    Row x(count);
    inverses_[j].apply_packs(w, &x[0], count, dimension_);
    for (std::size_t b = 0; b < count; ++b) to[b] = x[b] - y[b];
  };
  EveryNode<Scalar, Packs> residual_y(dimension_, count);   // y of z
  EveryNode<Scalar, Packs> direction_y(dimension_, count);  // y of p
  EveryNode<Scalar, Packs> common(dimension_, count);       // m
  RowTotal<Scalar, Packs> sum(dimension_, count);
  RowTotal<Scalar, Packs> evidence_sum(dimension_, count);  // of D v - pivot v, for one v or another

  Total<Scalar> scale;
  for (std::size_t j = 0; j < n; ++j) {
    const P* const r = packs(residual_.data() + j * width);
    P square{};
    for (std::size_t b = 0; b < count; ++b) {
      sum.add(b, r[b]);
      square += r[b] * r[b];
    }
    sum.next_node(j);
    scale.add(square / nodes_[j].pivot);
  }
  residual_y.set(constant.solve(sum.value()));
  VectorXd same = residual_y.exact();  // the part of the solution that is the same at every node

  // r.z from r.z' and the sum of z' - pivot r. What the sums round away of the products with y is no use as a residual,
  // nor is what r itself has lost.
  constexpr auto epsilon = static_cast<double>(std::numeric_limits<Scalar>::epsilon());
  const double rounding_of_r = 100.0 * epsilon * epsilon * scale.value();
  double rounding = 0.0;
  const auto inner_product = [&](const Total<Scalar>& product) {
    const VectorXd& y = residual_y.exact();
    const VectorXd of_y = constant.evidence_times(y);
    rounding = std::max(rounding_of_r, 4.0 * epsilon * y.dot(of_y) / std::sqrt(static_cast<double>(n)));
    return product.value() - y.dot(evidence_sum.value() - of_y);
  };

  std::fill(solution_.begin(), solution_.end(), Scalar{0});
  Total<Scalar> start;
  for (std::size_t j = 0; j < n; ++j) {
    const Node& node = nodes_[j];
    P* const z = packs(residual_.data() + j * width);
    P* const reduced = packs(reduced_.data() + j * width);
    for (std::size_t b = 0; b < count; ++b) v[b] = z[b] - node.ridge * residual_y[b];
    add_neighbours(elimination.earlier(j), reduced_.data(), v);
    apply_inverse(j, residual_y, reduced);
    P product{};
    for (std::size_t b = 0; b < count; ++b) {
      z[b] = v[b];
      product += v[b] * reduced[b];
      evidence_sum.add(b, v[b] - node.pivot * reduced[b]);
    }
    evidence_sum.next_node(j);
    start.add(product);
  }
  double inner = inner_product(start);
  const double goal = inner * reduction * reduction;
  Scalar step = 0;
  Scalar turn = 0;
  std::size_t iterations = 0;
  while (inner > std::max(goal, rounding) && iterations < max_iterations) {
    const bool first = iterations++ == 0;
    Total<Scalar> norm;
    direction_y.set(residual_y.exact() + static_cast<double>(turn) * direction_y.exact());
    sum.clear();
    evidence_sum.clear();
    for (std::size_t j = n; j-- > 0;) {
      const Node& node = nodes_[j];
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
          evidence_sum.add(b, less - node.pivot * less_reduced);
          reduced[b] = less_reduced;
          z[b] = less;
          p[b] = less + turn * p[b];
        }
        evidence_sum.next_node(j);
        norm.add(product);
      }
      for (std::size_t b = 0; b < count; ++b) v[b] = P{};
      add_neighbours(elimination.later(j), backward_.data(), v);
      for (std::size_t b = 0; b < count; ++b) {
        image[b] = -v[b];
        v[b] += p[b];
      }
      apply_inverse(j, direction_y, t);
      for (std::size_t b = 0; b < count; ++b) sum.add(b, v[b] + (node.ridge - node.pivot) * t[b]);
      sum.next_node(j);
    }
    if (!first) inner = inner_product(norm);
    const VectorXd rest = sum.value() - constant.evidence_times(direction_y.exact());
    common.set(constant.solve(rest));
    const VectorXd image_y = direction_y.exact() + common.exact();
    Total<Scalar> curvature;
    Total<Scalar> image_norm;
    evidence_sum.clear();
    for (std::size_t j = 0; j < n; ++j) {
      const Node& node = nodes_[j];
      const P* const p = packs(direction_.data() + j * width);
      const P* const t = packs(backward_.data() + j * width);
      P* const s = packs(forward_.data() + j * width);
      P* const image = packs(image_.data() + j * width);
      for (std::size_t b = 0; b < count; ++b) v[b] = node.shift * t[b] - node.ridge * common[b];
      add_neighbours(elimination.earlier(j), forward_.data(), v);
      for (std::size_t b = 0; b < count; ++b) {
        const P both = v[b];
        v[b] += image[b];
        image[b] = p[b] + both;
      }
      apply_inverse(j, common, s);
      P product{};
      P square{};
      for (std::size_t b = 0; b < count; ++b) {
        const P q = t[b] + s[b];
        product += p[b] * q;
        square += image[b] * q;
        evidence_sum.add(b, image[b] - node.pivot * q);
      }
      evidence_sum.next_node(j);
      curvature.add(product);
      image_norm.add(square);
    }
    const VectorXd evidence = evidence_sum.value() - constant.evidence_times(image_y);  // the sum of S_j q_j
    const double alpha = inner / (curvature.value() - direction_y.exact().dot(evidence));
    step = alpha > 0.0 && std::isfinite(alpha) ? static_cast<Scalar>(alpha) : Scalar{0};
    if (step == 0) break;
    const double next = alpha * alpha * (image_norm.value() - image_y.dot(evidence)) - inner;
    turn = static_cast<Scalar>(next / inner);
    inner = next;
    same -= static_cast<double>(step) * common.exact();
    residual_y.set(residual_y.exact() - static_cast<double>(step) * image_y);
  }
  common.set(std::move(same));
  for (std::size_t j = 0; j < n; ++j) {
    P* const u = packs(solution_.data() + j * width);
    const P* const t = packs(backward_.data() + j * width);
    for (std::size_t b = 0; b < count; ++b) u[b] += step != 0 ? step * t[b] + common[b] : common[b];
  }
  return iterations;
}

template <typename Scalar>
std::size_t Sweeps<Scalar>::bytes() const {
  const std::size_t numbers = weights_.size() + 3 * nodes_.size() + 7 * solution_.size();
  std::size_t total = numbers * sizeof(Scalar) + inverses_.size() * sizeof(LowRankInverse<Scalar>);
  for (const auto& inverse : inverses_) total += inverse.bytes();
  return total;
}

template class Sweeps<float>;
template class Sweeps<double>;

}  // namespace goblin
