#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/random.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace goblin {

/// Thompson's rule for the candidates of one decision. What is drawn is one vector, w~ = w_i + v L z with C_i = L L^T
/// and z standard normal, so that candidates that are alike have scores that are alike.
///
/// Candidate a has the row f_a = v L^T x_a, and its score is mean_a + f_a.z. O(d^3 + K d^2) to make, for K candidates.
class ThompsonDraws {
 public:
  /// C_i, d x d numbers, and the candidates; those that are not allowed are not looked at.
  ThompsonDraws(std::vector<double> covariance, std::span<const double> contexts, Mask allowed, double v);

  /// v sqrt(x^T C_i x): how far the drawn scores of a candidate are spread.
  [[nodiscard]] double standard_deviation(std::size_t arm) const;

  /// Draws a vector and writes the scores. O(K d).
  void draw(Random& random, std::span<const double> means, Mask left, std::span<double> scores) const;

  /// How probable it is that each of the candidates that are left has the highest score, and the standard errors of
  /// these estimates. They are averages over `samples` lines z + t u: z is drawn, u is the direction that tells two
  /// candidates apart, and where on a line each candidate is the best is an interval, whose probability is known. With
  /// two candidates that is exact. The error is about sqrt(p (1 - p) / samples + 1 / samples^2) at most.
  /// O(samples K (min(K, d) + log K)).
  struct Estimate {
    std::vector<double> probabilities;  // 0 for those that are not left
    std::vector<double> errors;
  };
  [[nodiscard]] Estimate estimate(Random& random, std::size_t samples, std::span<const double> means, Mask left) const;

 private:
  [[nodiscard]] std::span<const double> row(std::size_t arm) const {
    return std::span(rows_).subspan(arm * dimension_, dimension_);
  }

  std::size_t dimension_;
  std::vector<double> rows_;  // K x d
};

/// The lower triangle of a symmetric matrix (n x n) becomes its Cholesky factor, the rest 0. A row that follows from
/// those before it, but for rounding, becomes one without a part of its own: the matrix may be singular.
void cholesky_factor(std::span<double> matrix, std::size_t n);

}  // namespace goblin
