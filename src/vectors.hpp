#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace goblin {

[[nodiscard]] inline bool is_zero(std::span<const double> vector) {
  return std::all_of(vector.begin(), vector.end(), [](double value) { return value == 0.0; });
}

/// |a|^2
[[nodiscard]] inline double squared_length(std::span<const double> a) {
  double total = 0.0;
  for (const double value : a) total += value * value;
  return total;
}

/// |a - b|^2
[[nodiscard]] inline double squared_distance(std::span<const double> a, std::span<const double> b) {
  double total = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) total += (a[k] - b[k]) * (a[k] - b[k]);
  return total;
}

}  // namespace goblin
