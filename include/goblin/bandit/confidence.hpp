#pragma once

#include <cstddef>
#include <optional>

namespace goblin {

/// The confidence bound printed in the paper's Figures 1 and 2, for candidate x at node i in round t:
///
///     sqrt(x^T C_i x) * (noise * sqrt(ln(|M_t| / delta)) + norm),   |M_t| = |M_{t-1}| (1 + x^T C_i x).
struct PrintedBound {
  double noise = 1.0;  ///< sigma: the payoffs' noise is sub-Gaussian with this parameter
  double delta = 0.1;  ///< the bound may fail with this probability
  double norm = 1.0;   ///< an upper bound on ||U~||, the root of Bandit::smoothness of the true vectors

  [[nodiscard]] bool operator==(const PrintedBound&) const = default;
};

/// How wide the confidence interval of a candidate is, given its variance x^T C_i x.
class ConfidenceRule {
 public:
  /// The Experiments section: alpha * sqrt(variance * ln(t + 1)), t one more than the number of rewards learned.
  /// With a printed bound, that instead.
  ConfidenceRule(double alpha, const std::optional<PrintedBound>& printed, std::size_t rewards, double log_determinant);

  [[nodiscard]] double width(double variance) const;

 private:
  double factor_;  // alpha sqrt(ln(t + 1))
  std::optional<PrintedBound> printed_;
  double log_determinant_;
};

/// What Theorem 1 is about, beside what the bandit itself knows.
struct RegretBoundOptions {
  double noise = 1.0;           ///< sigma
  double delta = 0.1;           ///< the bound may fail with this probability
  double context_length = 1.0;  ///< B: no context is longer
  double smoothness = 0.0;      ///< L(u_1, ..., u_n), see Bandit::smoothness
};

/// The right-hand side of Theorem 1,
///
///     2 sqrt(T (2 noise^2 ln(|M_T| / delta) + 2 smoothness) (1 + B^2 / ridge) ln|M_T|),
///
/// which the cumulative regret stays below with probability at least 1 - delta if the rewards are u_i.x plus noise.
[[nodiscard]] double regret_bound(std::size_t rounds, double log_determinant, double ridge,
                                  const RegretBoundOptions& options);

}  // namespace goblin
