#include "goblin/bandit/confidence.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace goblin {

ConfidenceRule::ConfidenceRule(double alpha, const std::optional<PrintedBound>& printed, std::size_t rewards,
                               double log_determinant)
    : factor_(alpha * std::sqrt(std::log(static_cast<double>(rewards) + 2.0))),
      printed_(printed),
      log_determinant_(log_determinant) {}

double ConfidenceRule::width(double variance) const {
  if (!printed_) return factor_ * std::sqrt(variance);
  const double log_ratio = std::max(0.0, log_determinant_ + std::log1p(variance) - std::log(printed_->delta));
  return std::sqrt(variance) * (printed_->noise * std::sqrt(log_ratio) + printed_->norm);
}

double regret_bound(std::size_t rounds, double log_determinant, double ridge, const RegretBoundOptions& options) {
  const auto check = [](bool good, const char* name, double value, const char* bound) {
    if (!good) throw std::invalid_argument(fmt::format("{}: {} (must be {})", name, value, bound));
  };
  check(std::isfinite(options.noise) && options.noise >= 0.0, "noise", options.noise, "finite and at least 0");
  check(options.delta > 0.0 && options.delta <= 1.0, "delta", options.delta, "above 0 and at most 1");
  check(std::isfinite(options.context_length) && options.context_length >= 0.0, "context_length",
        options.context_length, "finite and at least 0");
  check(std::isfinite(options.smoothness) && options.smoothness >= 0.0, "smoothness", options.smoothness,
        "finite and at least 0");
  log_determinant = std::max(0.0, log_determinant);  // at least 0 but for rounding
  const double from_noise = 2.0 * options.noise * options.noise * (log_determinant - std::log(options.delta));
  const double per_round = 1.0 + options.context_length * options.context_length / ridge;
  return 2.0 *
         std::sqrt(static_cast<double>(rounds) * (from_noise + 2.0 * options.smoothness) * per_round * log_determinant);
}

}  // namespace goblin
