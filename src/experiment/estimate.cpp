#include "goblin/experiment/sweep.hpp"

#include <cmath>
#include <stdexcept>

#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>

namespace goblin::experiment {
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
  // Half of what is left out lies above the quantile.
  const boost::math::students_t distribution(static_cast<double>(count - 1));
  return boost::math::quantile(boost::math::complement(distribution, 0.5 * (1.0 - probability)));
}

}  // namespace goblin::experiment
