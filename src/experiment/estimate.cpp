#include "goblin/experiment/sweep.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>

#include <fmt/format.h>

namespace goblin::experiment {
namespace {

/// The integral of cos^power from 0 to an angle, by Simpson's rule in steps that are narrow beside the peak, whose
/// width is 1 / sqrt(power).
double cosine_integral(double power, double angle) {
  const int steps = 400 * static_cast<int>(1.0 + std::sqrt(power) / 10.0);
  const double width = angle / steps;
  double sum = 0.0;
  for (int k = 0; k <= steps; ++k) {
    const double weight = k == 0 || k == steps ? 1.0 : (k % 2 == 1 ? 4.0 : 2.0);
    sum += weight * std::pow(std::cos(width * k), power);
  }
  return sum * width / 3.0;
}

}  // namespace

Estimate estimate(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("values: none (must be at least 1)");
  const auto n = static_cast<double>(values.size());
  double sum = 0.0;
  for (const double value : values) sum += value;
  Estimate result{.mean = sum / n, .standard_error = {}};
  if (values.size() < 2) return result;
  double squares = 0.0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.standard_error = std::sqrt(squares / (n - 1.0) / n);
  return result;
}

double student_quantile(std::size_t count, double probability) {
  if (count < 2) throw std::invalid_argument(fmt::format("count: {} (must be at least 2)", count));
  if (!(probability > 0.0 && probability < 1.0)) {
    throw std::invalid_argument(fmt::format("probability: {} (must be between 0 and 1)", probability));
  }
  // In the angle atan(t / sqrt(freedom)) the density is cos^(freedom - 1), up to a factor.
  const auto freedom = static_cast<double>(count - 1);
  const double wanted = probability * cosine_integral(freedom - 1.0, std::numbers::pi / 2.0);
  double low = 0.0;
  double high = std::numbers::pi / 2.0;
  for (int step = 0; step < 50; ++step) {
    const double middle = 0.5 * (low + high);
    (cosine_integral(freedom - 1.0, middle) < wanted ? low : high) = middle;
  }
  return std::sqrt(freedom) * std::tan(0.5 * (low + high));
}

}  // namespace goblin::experiment
