#pragma once

#include "belief/evidence.hpp"
#include "belief/prior_matrix.hpp"
#include "goblin/graph/names.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace goblin {

/// The two parts of a marginal likelihood that take linear solves.
struct PriorFit {
  /// ln|N|, N = A (x) I_d + diag(S_1, ..., S_n), without what is estimated.
  double log_determinant = 0.0;
  /// What is estimated of it, each time from other random numbers: the mean of these. Empty where all is exact.
  std::vector<double> estimates = {};
  double explained = 0.0;  ///< c.w, w = N^{-1} c
  std::size_t iterations = 0;
};

/// Some evidence, to be fitted with many priors. With B = diag(B_1, ..., B_n), B_i = A_ii I + S_i, and W the weights,
///
///     ln|N| = ln|B| + tr ln(I - K),   K = B^{-1/2} (coupling W (x) I) B^{-1/2}
///
/// ln|B| is exact: the eigenvalues of the S_i are found once, for all priors. So is tr(K + K^2 / 2), with tr K = 0. The
/// rest, tr(ln(I - K) + K + K^2 / 2), is estimated from random signs g as g^T f(K) g: stochastic Lanczos quadrature,
/// whose coefficients are those of conjugate gradients for N u = B^{1/2} g. The signs are the same for all priors, so
/// the estimate is as smooth in ridge and coupling as the truth.
class LikelihoodSolver {
 public:
  virtual ~LikelihoodSolver() = default;

  /// Seven signs a row for the first block, eight for each further one; in the place of the eighth, w is solved for.
  /// An iteration costs n d^2 + 2 m d products of eight numbers, for m edges. Any number of threads at a time.
  [[nodiscard]] virtual PriorFit fit(const PriorMatrix& prior, std::size_t blocks) const = 0;
};

/// The means w of all nodes while rewards come in, a batch at a time. Nothing is known of variances, which is what
/// makes it cheap: a reward costs d^2, and a batch a solve by conjugate gradients that begins with what was known
/// before.
class ProgressiveMeans {
 public:
  virtual ~ProgressiveMeans() = default;

  /// x.w as of the last settle.
  [[nodiscard]] virtual double mean(NodeId node, std::span<const double> context) const = 0;
  virtual void learn(NodeId node, std::span<const double> context, double reward) = 0;
  /// Takes in what was learned, until |c - N w| is this share of the root of all |a x|^2 together.
  virtual void settle(double tolerance) = 0;
};

}  // namespace goblin
