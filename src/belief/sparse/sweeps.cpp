#include "belief/sparse/sweeps.hpp"

#include <algorithm>

namespace goblin {

template <typename Scalar>
Sweeps<Scalar>::Sweeps(const Elimination& elimination, std::size_t dimension)
    : dimension_(dimension),
      stride_(padded<Scalar>(dimension)),
      weights_(elimination.weights().begin(), elimination.weights().end()) {
  const std::size_t n = elimination.node_count();
  for (std::size_t at = 0; at < n; ++at) {
    shifts_.push_back(static_cast<Scalar>(elimination.diagonal(at) - elimination.pivot(at)));
    inverses_.emplace_back(elimination.pivot(at));
  }
  for (auto* vector : {&solution_, &residual_, &reduced_, &direction_, &backward_, &forward_, &image_}) {
    vector->resize(n * stride_);
  }
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
  using Row = PackRow<Scalar, Packs>;
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
    inverses_[j].apply_packs(v, reduced, count, dimension_);
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
      inverses_[j].apply_packs(v, t, count, dimension_);
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
      inverses_[j].apply_packs(v, s, count, dimension_);
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
  const std::size_t numbers = weights_.size() + shifts_.size() + 7 * solution_.size();
  std::size_t total = numbers * sizeof(Scalar) + inverses_.size() * sizeof(LowRankInverse<Scalar>);
  for (const auto& inverse : inverses_) total += inverse.bytes();
  return total;
}

template class Sweeps<float>;
template class Sweeps<double>;

}  // namespace goblin
