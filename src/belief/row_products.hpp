#pragma once

#include "belief/packs.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace goblin {

/// Many rows of numbers, one after the other: `width` of them each, a multiple of eight.
class WideRows {
 public:
  static constexpr std::size_t step = 8;
  /// No more than that stay in registers while four rows are summed up.
  static constexpr std::size_t widest = 48;

  [[nodiscard]] static std::size_t padded(std::size_t numbers) { return (numbers + step - 1) / step * step; }
  /// The width of as few rows as possible that have room for so many numbers together.
  [[nodiscard]] static std::size_t width_for(std::size_t numbers) {
    const std::size_t parts = std::max<std::size_t>(1, (numbers + widest - 1) / widest);
    return std::max(step, padded((numbers + parts - 1) / parts));
  }

  WideRows() = default;
  WideRows(std::size_t rows, std::size_t width) : width_(width), numbers_(rows * width) {}

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] double* row(std::size_t k) { return numbers_.data() + k * width_; }
  [[nodiscard]] const double* row(std::size_t k) const { return numbers_.data() + k * width_; }
  void clear() { std::fill(numbers_.begin(), numbers_.end(), 0.0); }

 private:
  std::size_t width_ = step;
  CacheLineVector<double> numbers_;
};

/// The numbers that rows are multiplied with: that of row `a` and of the k-th other one is at a * row_step + k * step.
struct RowFactors {
  const double* numbers;
  std::size_t row_step;
  std::size_t step;
};

namespace row_products {

// How wide registers are, and how many sums at a time stay in them. Each works on every processor, more slowly than on
// its own, so that tests can look at all of them.
struct Registers16 {
  using Numbers __attribute__((vector_size(16), aligned(8), may_alias)) = double;
  static constexpr std::size_t rows = 2;
  static constexpr std::size_t steps = 1;
};
struct Registers32 {
  using Numbers __attribute__((vector_size(32), aligned(8), may_alias)) = double;
  static constexpr std::size_t rows = 4;
  static constexpr std::size_t steps = 1;
};
struct Registers64 {
  using Numbers __attribute__((vector_size(64), aligned(8), may_alias)) = double;
  static constexpr std::size_t rows = 4;
  static constexpr std::size_t steps = 6;
};
#if defined(__AVX512F__)
using Registers = Registers64;
#elif defined(__AVX__)
using Registers = Registers32;
#else
using Registers = Registers16;
#endif

template <typename Numbers, std::size_t Rows, std::size_t Count, typename To, typename From>
[[gnu::always_inline]] inline void subtract(std::size_t first, std::size_t at, const To& to, const double* factors,
                                            const RowFactors& layout, std::size_t begin, std::size_t end,
                                            const From& from, const double* ahead) {
  Numbers totals[Rows][Count] = {};
  for (std::size_t k = begin; k < end; ++k) {
    const auto* const other = reinterpret_cast<const Numbers*>(from(k) + at);
    __builtin_prefetch(ahead + (k - begin) * Rows, 0, 2);
    for (std::size_t a = 0; a < Rows; ++a) {
      const double factor = factors[a * layout.row_step + k * layout.step];
      for (std::size_t v = 0; v < Count; ++v) totals[a][v] += factor * other[v];
    }
  }
  for (std::size_t a = 0; a < Rows; ++a) {
    auto* const row = reinterpret_cast<Numbers*>(to(first + a) + at);
    for (std::size_t v = 0; v < Count; ++v) row[v] -= totals[a][v];
  }
}

template <typename Of, std::size_t Count, typename To, typename From>
void subtract_parts(std::size_t rows, std::size_t at, const To& to, const RowFactors& factors, std::size_t count,
                    const From& from) {
  constexpr std::size_t others = 64;  // rows at a time, which stay in the first cache
  // Factors that lie in a row come from far away; those that come next but this are asked for meanwhile.
  const double* ahead = factors.numbers + others * others;
  for (std::size_t begin = 0; begin < count; begin += others) {
    const std::size_t end = std::min(begin + others, count);
    std::size_t a = 0;
    for (; a + Of::rows <= rows; a += Of::rows) {
      subtract<typename Of::Numbers, Of::rows, Count>(a, at, to, factors.numbers + a * factors.row_step, factors, begin,
                                                      end, from, ahead);
      ahead += Of::rows * (end - begin);
    }
    for (; a < rows; ++a) {
      subtract<typename Of::Numbers, 1, Count>(a, at, to, factors.numbers + a * factors.row_step, factors, begin, end,
                                               from, ahead);
      ahead += end - begin;
    }
  }
}

}  // namespace row_products

/// Calls call(at, integral_constant<size_t, count>) for one part of a row of `width` numbers after the other, those
/// from `at` on: `count` registers.
template <typename Of = row_products::Registers, typename Call>
void for_registers(std::size_t width, const Call& call) {
  constexpr std::size_t steps_at_a_time = Of::steps;
  constexpr std::size_t per_step = WideRows::step * sizeof(double) / sizeof(typename Of::Numbers);
  std::size_t at = 0;
  for (; at + steps_at_a_time * WideRows::step <= width; at += steps_at_a_time * WideRows::step) {
    call(at, std::integral_constant<std::size_t, steps_at_a_time * per_step>{});
  }
  if constexpr (steps_at_a_time > 1) {
    switch ((width - at) / WideRows::step) {
      case 1:
        return call(at, std::integral_constant<std::size_t, 1 * per_step>{});
      case 2:
        return call(at, std::integral_constant<std::size_t, 2 * per_step>{});
      case 3:
        return call(at, std::integral_constant<std::size_t, 3 * per_step>{});
      case 4:
        return call(at, std::integral_constant<std::size_t, 4 * per_step>{});
      case 5:
        return call(at, std::integral_constant<std::size_t, 5 * per_step>{});
      default:
        return;
    }
  }
}

/// to(a) -= the sum over k < count of factor(a, k) from(k), for a < rows: rows of `width` numbers, a multiple of eight.
/// A product of matrices whose rows may lie anywhere, at the speed of one.
template <typename Of = row_products::Registers, typename To, typename From>
void subtract_products(std::size_t rows, const To& to, const RowFactors& factors, std::size_t count, const From& from,
                       std::size_t width) {
  if (rows == 0 || count == 0) return;
  for_registers<Of>(width, [&]<std::size_t Count>(std::size_t at, std::integral_constant<std::size_t, Count>) {
    row_products::subtract_parts<Of, Count>(rows, at, to, factors, count, from);
  });
}

}  // namespace goblin
