#include "bandit/own_estimates.hpp"

#include "belief/symmetric_matrix.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

namespace goblin {

void OwnEstimates::update(NodeId user, const UserEvidence& evidence) {
  if (evidence.count == 0) return;
  Eigen::MatrixXd precision = unpacked(evidence.contexts, dimension_);
  precision.diagonal().array() += ridge_;
  const Eigen::VectorXd rewards =
      Eigen::Map<const Eigen::VectorXd>(evidence.rewards.data(), static_cast<Eigen::Index>(dimension_));
  const Eigen::VectorXd estimate = precision.ldlt().solve(rewards);
  if (places_[user] == none) {
    uncertainties_.reserve(uncertainties_.size() + 1);
    numbers_.resize(numbers_.size() + dimension_);
    places_[user] = static_cast<std::uint32_t>(uncertainties_.size());
    uncertainties_.push_back(1.0);
  }
  std::copy(estimate.begin(), estimate.end(),
            numbers_.begin() + static_cast<std::ptrdiff_t>(places_[user] * dimension_));
  const auto rewards_seen = static_cast<double>(evidence.count);
  uncertainties_[places_[user]] = std::sqrt((1.0 + std::log1p(rewards_seen)) / (1.0 + rewards_seen));
}

void OwnEstimates::clear(NodeId user) {
  if (places_[user] == none) return;
  std::fill_n(numbers_.begin() + static_cast<std::ptrdiff_t>(places_[user] * dimension_), dimension_, 0.0);
  uncertainties_[places_[user]] = 1.0;
}

}  // namespace goblin
