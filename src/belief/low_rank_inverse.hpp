#pragma once

#include "belief/packs.hpp"
#include "binary.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace goblin {

/// D^{-1} for D = diagonal I + S, S the sum of x x^T over the contexts x observed at one node.
///
/// While there are few contexts it is I / diagonal - sum of t t^T, one term t a context: two products of length d each
/// when it is applied. From d / 2 contexts on it is a whole matrix. Rows are padded with zeros to whole packs.
///
/// Computed in double precision, kept as Scalars.
template <typename Scalar>
class LowRankInverse {
 public:
  explicit LowRankInverse(double diagonal = 1.0) : diagonal_(diagonal), scale_(static_cast<Scalar>(1.0 / diagonal)) {}

  /// From sums. O(d^3).
  LowRankInverse(double diagonal, const Eigen::MatrixXd& sums) : LowRankInverse(diagonal) {
    const auto d = static_cast<std::size_t>(sums.rows());
    Eigen::MatrixXd precision = sums;
    precision.diagonal().array() += diagonal;
    const Eigen::MatrixXd inverse = precision.llt().solve(Eigen::MatrixXd::Identity(sums.rows(), sums.cols()));
    whole_ = true;
    terms_.assign(d * stride(d), Scalar{0});
    for (std::size_t c = 0; c < d; ++c) {
      for (std::size_t r = 0; r < d; ++r) {
        terms_[c * stride(d) + r] = static_cast<Scalar>(0.5 * (inverse(r, c) + inverse(c, r)));
      }
    }
  }

  /// The same numbers with fewer digits.
  LowRankInverse(const LowRankInverse<double>& exact, std::size_t dimension) requires std::same_as<Scalar, float>
      : LowRankInverse(exact.diagonal_) {
    const std::size_t count = exact.terms_.size() / exact.stride(dimension);
    whole_ = exact.whole_;
    terms_.assign(count * stride(dimension), Scalar{0});
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t r = 0; r < dimension; ++r) {
        terms_[k * stride(dimension) + r] = static_cast<Scalar>(exact.terms_[k * exact.stride(dimension) + r]);
      }
    }
  }

  /// x^T D^{-1} x and |D^{-1} x|^2 of a context, with D as it was before the context was added.
  struct Observed {
    double variance = 0.0;
    double squared_length = 0.0;
  };

  /// S += x x^T, so D^{-1} -= t t^T with t = D^{-1} x / sqrt(1 + x^T D^{-1} x). O(d^2).
  Observed observe(std::span<const double> context) requires std::same_as<Scalar, double> {
    const std::size_t d = context.size();
    std::vector<double> term(stride(d), 0.0);
    apply(context.data(), term.data(), d);
    double q = 0.0;
    double squared_length = 0.0;
    for (std::size_t k = 0; k < d; ++k) {
      q += context[k] * term[k];
      squared_length += term[k] * term[k];
    }
    const double scale = 1.0 / std::sqrt(1.0 + std::max(0.0, q));
    for (double& value : term) value *= scale;
    if (!whole_ && is_whole(terms_.size() / stride(d) + 1, d)) make_whole(d);
    if (whole_) {
      for (std::size_t c = 0; c < d; ++c) {
        for (std::size_t r = 0; r < d; ++r) terms_[c * stride(d) + r] -= term[c] * term[r];
      }
    } else {
      terms_.reserve(terms_.size() + stride(d));  // no more than asked for: most nodes have few
      terms_.insert(terms_.end(), term.begin(), term.end());
    }
    return {.variance = q, .squared_length = squared_length};
  }
  /// Makes room for so many contexts more, where they are kept one by one.
  void reserve(std::size_t contexts, std::size_t dimension) {
    const std::size_t size = terms_.size() + contexts * stride(dimension);
    if (!whole_ && !is_whole(size / stride(dimension), dimension)) terms_.reserve(size);
  }

  /// Whether so many contexts are kept as a whole matrix: a context costs two products of length d, the matrix d.
  [[nodiscard]] static bool is_whole(std::size_t contexts, std::size_t dimension) { return 2 * contexts > dimension; }

  /// to = D^{-1} from, for d numbers or, number by number, for several vectors beside each other.
  template <typename Number>
  void apply(const Number* from, Number* to, std::size_t dimension) const {
    if (whole_) {
      for (std::size_t r = 0; r < dimension; ++r) to[r] = Number{};
      for (std::size_t c = 0; c < dimension; ++c) {
        const Scalar* column = terms_.data() + c * stride(dimension);
        const Number factor = from[c];
        for (std::size_t r = 0; r < dimension; ++r) to[r] += column[r] * factor;
      }
      return;
    }
    for (std::size_t r = 0; r < dimension; ++r) to[r] = scale_ * from[r];
    for (std::size_t t = 0; t < terms_.size(); t += stride(dimension)) {
      const Scalar* term = terms_.data() + t;
      Number product{};
      for (std::size_t r = 0; r < dimension; ++r) product += term[r] * from[r];
      for (std::size_t r = 0; r < dimension; ++r) to[r] -= term[r] * product;
    }
  }

  /// The same where a Number fills a register. Several sums at a time stay in registers, none waits for itself.
  template <typename Number>
  void apply_lanes(const Number* __restrict from, Number* __restrict to, std::size_t dimension) const {
    const std::size_t step = stride(dimension);
    if (!whole_) {
      for (std::size_t r = 0; r < dimension; ++r) to[r] = scale_ * from[r];
      const auto subtract = [&]<std::size_t Terms>(const Scalar* term, std::integral_constant<std::size_t, Terms>) {
        Number even[Terms] = {};
        Number odd[Terms] = {};
        std::size_t r = 0;
        for (; r + 2 <= dimension; r += 2) {
          for (std::size_t k = 0; k < Terms; ++k) even[k] += term[k * step + r] * from[r];
          for (std::size_t k = 0; k < Terms; ++k) odd[k] += term[k * step + r + 1] * from[r + 1];
        }
        if (r < dimension) {
          for (std::size_t k = 0; k < Terms; ++k) even[k] += term[k * step + r] * from[r];
        }
        for (std::size_t k = 0; k < Terms; ++k) even[k] += odd[k];
        for (r = 0; r < dimension; ++r) {
          Number total = term[r] * even[0];
          for (std::size_t k = 1; k < Terms; ++k) total += term[k * step + r] * even[k];
          to[r] -= total;
        }
      };
      const Scalar* term = terms_.data();
      std::size_t left = terms_.size() / step;
      for (; left >= 3; left -= 3, term += 3 * step) subtract(term, std::integral_constant<std::size_t, 3>{});
      if (left == 2) subtract(term, std::integral_constant<std::size_t, 2>{});
      if (left == 1) subtract(term, std::integral_constant<std::size_t, 1>{});
      return;
    }
    const auto add_rows = [&]<std::size_t Rows>(std::size_t first, std::integral_constant<std::size_t, Rows>) {
      Number totals[Rows] = {};
      const Scalar* entries = terms_.data() + first;
      for (std::size_t c = 0; c < dimension; ++c, entries += step) {
        for (std::size_t k = 0; k < Rows; ++k) totals[k] += entries[k] * from[c];
      }
      for (std::size_t k = 0; k < Rows; ++k) to[first + k] = totals[k];
    };
    constexpr std::size_t rows = 5;
    std::size_t r = 0;
    for (; r + rows <= dimension; r += rows) add_rows(r, std::integral_constant<std::size_t, rows>{});
    for (; r < dimension; ++r) add_rows(r, std::integral_constant<std::size_t, 1>{});
  }

  /// The same for one vector in packs, `count` of them, where Row keeps packs at hand. Four terms at once: the sums
  /// over a term's numbers are most of the work.
  template <typename Row>
  [[gnu::always_inline]] void apply_packs(const Row& from, PackOf<Scalar>* to, std::size_t count,
                                          std::size_t dimension) const {
    using P = PackOf<Scalar>;
    const P* at = packs(terms_.data());
    const P* const end = at + terms_.size() / pack_width<Scalar>;
    Row total(from);
    if (whole_) {
      for (std::size_t b = 0; b < count; ++b) to[b] = from[b];
      const auto* const numbers = reinterpret_cast<const Scalar*>(to);
      for (std::size_t b = 0; b < count; ++b) total[b] = numbers[0] * at[b];
      for (std::size_t c = 1; c < dimension; ++c) {
        at += count;
        for (std::size_t b = 0; b < count; ++b) total[b] += numbers[c] * at[b];
      }
      for (std::size_t b = 0; b < count; ++b) to[b] = total[b];
      return;
    }
    for (std::size_t b = 0; b < count; ++b) total[b] = scale_ * from[b];
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

  /// An upper bound of the eigenvalues of I - diagonal D^{-1}, the share that S has in D: from the squares of the
  /// matrix's entries. O(d contexts^2), or O(d^2).
  [[nodiscard]] double share_of_terms(std::size_t dimension) const requires std::same_as<Scalar, double> {
    const std::size_t step = stride(dimension);
    double squares = 0.0;
    for (std::size_t a = 0; a < terms_.size(); a += step) {
      if (whole_) {
        for (std::size_t r = 0; r < dimension; ++r) {
          const double entry = (a == r * step ? 1.0 / diagonal_ : 0.0) - terms_[a + r];
          squares += entry * entry;
        }
        continue;
      }
      for (std::size_t b = 0; b <= a; b += step) {
        Pack total{};
        for (std::size_t k = 0; k < step; k += pack_size) total += *packs(&terms_[a + k]) * *packs(&terms_[b + k]);
        squares += (a == b ? 1.0 : 2.0) * sum(total) * sum(total);
      }
    }
    return std::min(1.0, diagonal_ * std::sqrt(squares));
  }

  /// Of what it points at, beside its own size.
  [[nodiscard]] std::size_t bytes() const { return terms_.capacity() * sizeof(Scalar); }

  void save(BinaryWriter& out) const requires std::same_as<Scalar, double> {
    out.number(diagonal_);
    out.number(static_cast<std::uint8_t>(whole_ ? 1 : 0));
    out.array(std::span<const double>(terms_));
  }
  LowRankInverse(BinaryReader& in, std::size_t dimension) requires std::same_as<Scalar, double>
      : LowRankInverse(in.number<double>()) {
    whole_ = in.number<std::uint8_t>() != 0;
    const auto terms = in.array<double>();
    in.expect(diagonal_ > 0.0 &&
                  (whole_ ? terms.size() == dimension * stride(dimension) : terms.size() % stride(dimension) == 0),
              "the terms of a node");
    terms_.assign(terms.begin(), terms.end());
  }

 private:
  template <typename Other>
  friend class LowRankInverse;

  [[nodiscard]] static std::size_t stride(std::size_t dimension) { return padded<Scalar>(dimension); }

  void make_whole(std::size_t d) {
    CacheLineVector<Scalar> matrix(d * stride(d), Scalar{0});
    for (std::size_t c = 0; c < d; ++c) matrix[c * stride(d) + c] = scale_;
    for (std::size_t t = 0; t < terms_.size(); t += stride(d)) {
      for (std::size_t c = 0; c < d; ++c) {
        for (std::size_t r = 0; r < d; ++r) matrix[c * stride(d) + r] -= terms_[t + c] * terms_[t + r];
      }
    }
    terms_ = std::move(matrix);
    whole_ = true;
  }

  double diagonal_;
  Scalar scale_;
  bool whole_ = false;
  CacheLineVector<Scalar> terms_;  // t after t, or the columns of the matrix
};

}  // namespace goblin
