#include "belief/equivalent_rewards.hpp"

#include "belief/symmetric_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Cholesky>

namespace goblin {
namespace {

/// A context of that squared length in pieces of it, none longer than allowed. The first is short enough to leave most
/// digits of a belief that knows no more than the ridge, and each may say 10,000 times as much as those before it.
std::vector<double> pieces_of(double squared_length, double ridge, double longest) {
  constexpr double gain = 1e4;
  std::vector<double> pieces;
  double most = gain * ridge;
  while (squared_length > 0.0) {
    pieces.push_back(std::min({squared_length, most, longest * longest}));
    squared_length -= pieces.back();
    most *= gain;
  }
  return pieces;
}

}  // namespace

/// With P S P^T = L D L^T, column k of P^T L times sqrt(D_k) is a context, and the rewards follow from L y = P c.
EquivalentRewards equivalent_rewards(const UserEvidence& sums, std::size_t dimension, double ridge, double longest) {
  using Eigen::Index;
  const auto d = static_cast<Index>(dimension);
  const Eigen::LDLT<Eigen::MatrixXd> factor(unpacked(sums.contexts, dimension));
  const Eigen::MatrixXd columns = factor.transpositionsP().transpose() * Eigen::MatrixXd(factor.matrixL());
  Eigen::VectorXd left = Eigen::Map<const Eigen::VectorXd>(sums.rewards.data(), d);
  const Eigen::VectorXd shares = factor.matrixL().solve(factor.transpositionsP() * left);
  // What rounding leaves of a number.
  const double noise = 4.0 * std::numeric_limits<double>::epsilon() * static_cast<double>(d);
  const double least_seen = noise * factor.vectorD().cwiseAbs().maxCoeff();
  const double least_left = noise * left.norm();

  std::vector<Eigen::VectorXd> contexts;
  std::vector<double> rewards;
  const auto add = [&](const Eigen::VectorXd& context, double reward) {
    const double squared_length = context.squaredNorm();
    for (const double piece : pieces_of(squared_length, ridge, longest)) {
      const double share = std::sqrt(piece / squared_length);
      contexts.emplace_back(share * context);
      rewards.push_back(share * reward);
    }
    left -= reward * context;
  };
  for (Index k = 0; k < d; ++k) {
    if (factor.vectorD()[k] <= least_seen) continue;
    const double root = std::sqrt(factor.vectorD()[k]);
    add(root * columns.col(k), shares[k] / root);
  }
  // c has more digits than S, whose numbers are squares. What it says beyond S is kept by a context that hardly adds to
  // S.
  if (const double norm = left.norm(); norm > least_left) {
    const double length = 1e-6 * std::sqrt(ridge);
    add(left * (length / norm), norm / length);
  }
  EquivalentRewards result{Eigen::MatrixXd(d, static_cast<Index>(contexts.size())),
                           Eigen::VectorXd(static_cast<Index>(rewards.size()))};
  for (std::size_t k = 0; k < contexts.size(); ++k) {
    result.contexts.col(static_cast<Index>(k)) = contexts[k];
    result.rewards[static_cast<Index>(k)] = rewards[k];
  }
  return result;
}

}  // namespace goblin
