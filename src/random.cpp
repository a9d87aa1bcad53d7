#include "goblin/random.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <span>

// Everything here is made of operations that IEEE 754 rounds correctly: + - * / sqrt and fma. Where a product is added
// to something, that is written as fma: a compiler may turn a plain a * b + c into one, or not, and the last bit
// would tell.

namespace goblin {
namespace {

/// coefficients[0] + coefficients[1] x + coefficients[2] x^2 + ...
double polynomial(std::span<const double> coefficients, double x) {
  double sum = 0.0;
  for (std::size_t k = coefficients.size(); k-- > 0;) sum = std::fma(sum, x, coefficients[k]);
  return sum;
}

/// 1, 1/3, 1/5, ...: atanh(s) / s as a series in s^2. Below, s^2 < 0.03, and the first term left out is 1e-18.
constexpr auto atanh_series = [] {
  std::array<double, 11> terms{};
  for (std::size_t k = 0; k < terms.size(); ++k) terms[k] = 1.0 / static_cast<double>(2 * k + 1);
  return terms;
}();

/// 1 / first!, -1 / (first + 2)!, 1 / (first + 4)!, ...: cos(t) for first = 0 and sin(t) / t for first = 1, as series
/// in t^2. Below, |t| <= pi / 4, and the first term left out is 2e-18.
constexpr std::array<double, 9> circle_series(std::size_t first) {
  std::array<double, 9> terms{};
  double factorial = 1.0;  // up to 17!, which a double holds exactly
  for (std::size_t k = 0; k < terms.size(); ++k) {
    terms[k] = (k % 2 == 0 ? 1.0 : -1.0) / factorial;
    const auto next = static_cast<double>(2 * k + first + 1);
    factorial *= next * (next + 1.0);
  }
  return terms;
}
constexpr auto cosine_series = circle_series(0);
constexpr auto sine_series = circle_series(1);

/// cos(2 pi v) for v in [0, 1), a multiple of 2^-53: the distance to the nearest quarter turn is exact.
double cosine_of_turns(double v) {
  const double quarter = std::floor(4.0 * v + 0.5);
  const double t = 0.5 * std::numbers::pi * (4.0 * v - quarter);
  switch (static_cast<int>(quarter)) {
    case 1:
      return -t * polynomial(sine_series, t * t);
    case 2:
      return -polynomial(cosine_series, t * t);
    case 3:
      return t * polynomial(sine_series, t * t);
    default:  // 0 and 4
      return polynomial(cosine_series, t * t);
  }
}

}  // namespace

/// x = m 2^e with m near 1, and ln(m) = 2 atanh((m - 1) / (m + 1)).
double reproducible_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // in [1/2, 1); exact
  if (mantissa < 0.5 * std::numbers::sqrt2) {
    mantissa *= 2.0;
    --exponent;
  }
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double of_mantissa = 2.0 * s * polynomial(atanh_series, s * s);
  return std::fma(static_cast<double>(exponent), std::numbers::ln2, of_mantissa);
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * reproducible_log(1.0 - uniform()));
  return radius * cosine_of_turns(uniform());
}

std::uint64_t Random::failures(double probability) {
  const double u = uniform();
  if (probability >= 1.0) return 0;
  constexpr double many = 0x1.0p62;
  const double of_one = -reproducible_log(1.0 - probability);
  if (!(of_one > 0.0)) return static_cast<std::uint64_t>(many);  // 1 - probability is 1
  const double failures = -reproducible_log(1.0 - u) / of_one;
  return static_cast<std::uint64_t>(failures < many ? failures : many);
}

}  // namespace goblin
