#include "offline/likelihood.hpp"

#include "belief/engine_factory.hpp"
#include "belief/symmetric_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

namespace goblin::offline {
namespace {

/// Exact where that takes a moment: as many multiplications, over all components.
constexpr double exact_cost = 3e7;
/// As many rows in all blocks of signs together, or a single block where there are more; at most eight blocks.
constexpr std::size_t probed_rows = 60'000;

double exact_cost_of(const Graph& nodes, std::size_t dimension) {
  const Components components = nodes.components();
  double total = 0.0;
  for (std::size_t k = 0; k < components.count(); ++k) {
    total += std::pow(static_cast<double>(components.nodes(k).size() * dimension), 3.0) / 3.0;
  }
  return total;
}

double mean_of(const std::vector<double>& values) {
  double total = 0.0;
  for (const double value : values) total += value;
  return total / static_cast<double>(values.size());
}

/// The sum of products of what two lists differ from their means by.
double product_of(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean_of(a);
  const double mean_b = mean_of(b);
  double total = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) total += (a[k] - mean_a) * (b[k] - mean_b);
  return total;
}

}  // namespace

NodeEvidence::NodeEvidence(const RewardTable& rewards, std::size_t dimension, std::span<const NodeId> node_of,
                           std::size_t nodes)
    : sums_(dimension, nodes), count_(rewards.users.size()) {
  for (std::size_t row = 0; row < count_; ++row) {
    const double reward = rewards.rewards[row];
    sums_.add(node_of[rewards.users[row]], rewards.contexts.subspan(row * dimension, dimension), reward);
    squared_rewards_ += reward * reward;
  }
  solver_ = engine_factory().likelihood_solver(sums_);
}

double log_determinant(const PriorMatrix& prior) {
  const std::vector<double> diagonals = prior.diagonals();
  double total = 0.0;
  if (prior.graph().edge_count() == 0 || prior.coupling() == 0.0) {
    for (const double diagonal : diagonals) total += std::log(diagonal);
    return total;
  }
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t node = 0; node < diagonals.size(); ++node) {
    entries.emplace_back(static_cast<int>(node), static_cast<int>(node), diagonals[node]);
    const auto neighbours = prior.graph().neighbours(node);
    const auto weights = prior.graph().weights(node);
    for (std::size_t k = 0; k < neighbours.size() && neighbours[k] < node; ++k) {
      entries.emplace_back(static_cast<int>(node), static_cast<int>(neighbours[k]), -prior.coupling() * weights[k]);
    }
  }
  const auto size = static_cast<Eigen::Index>(diagonals.size());
  Eigen::SparseMatrix<double> matrix(size, size);
  matrix.setFromTriplets(entries.begin(), entries.end());
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor(matrix);
  return factor.vectorD().array().log().sum();
}

PriorFit exact_fit(const PriorMatrix& prior, const Evidence& evidence) {
  const std::size_t dimension = evidence.dimension();
  const auto d = static_cast<Eigen::Index>(dimension);
  const Components components = prior.graph().snapshot().components();
  PriorFit result;
  std::vector<Eigen::Index> place(prior.node_count());
  for (std::size_t component = 0; component < components.count(); ++component) {
    const auto members = components.nodes(component);
    for (std::size_t k = 0; k < members.size(); ++k) place[members[k]] = static_cast<Eigen::Index>(k) * d;
    const Eigen::Index rows = static_cast<Eigen::Index>(members.size()) * d;
    Eigen::MatrixXd precision = Eigen::MatrixXd::Zero(rows, rows);
    Eigen::VectorXd rewards = Eigen::VectorXd::Zero(rows);
    for (const NodeId node : members) {
      const UserEvidence sums = evidence.at(node);
      const Eigen::Index at = place[node];
      precision.block(at, at, d, d) = unpacked(sums.contexts, dimension);
      precision.block(at, at, d, d).diagonal().array() += prior.diagonal(node);
      for (std::size_t k = 0; k < sums.rewards.size(); ++k) {
        rewards[at + static_cast<Eigen::Index>(k)] = sums.rewards[k];
      }
      const auto neighbours = prior.graph().neighbours(node);
      const auto weights = prior.graph().weights(node);
      for (std::size_t k = 0; k < neighbours.size(); ++k) {
        precision.block(at, place[neighbours[k]], d, d).diagonal().setConstant(-prior.coupling() * weights[k]);
      }
    }
    const Eigen::LLT<Eigen::MatrixXd> factor(precision);
    result.log_determinant += 2.0 * factor.matrixLLT().diagonal().array().log().sum();
    result.explained += factor.matrixL().solve(rewards).squaredNorm();
  }
  return result;
}

MarginalLikelihood::MarginalLikelihood(Graph nodes, std::size_t dimension)
    : nodes_(std::move(nodes)),
      dimension_(dimension),
      exact_(nodes_.edge_count() > 0 && exact_cost_of(nodes_, dimension) <= exact_cost),
      blocks_(std::clamp<std::size_t>(probed_rows / std::max<std::size_t>(1, nodes_.node_count() * dimension), 1, 8)) {
  if (nodes_.edge_count() > 0 && !exact_) {
    nothing_ = engine_factory().likelihood_solver(Evidence(dimension, nodes_.node_count()));
  }
}

MarginalLikelihood::OfPrior MarginalLikelihood::of_prior(const PriorMatrix& prior) const {
  OfPrior result;
  if (prior.graph().edge_count() == 0 || prior.node_count() <= most_factored) {
    result.exact = static_cast<double>(dimension_) * log_determinant(prior);
  }
  if (nothing_) result.estimated = nothing_->fit(prior, blocks_);
  return result;
}

/// ln|ridge I + coupling L| = n ln(coupling) + ln|ridge / coupling I + L|, and the estimates depend on the ratio alone.
MarginalLikelihood::OfPrior MarginalLikelihood::of_prior(double ridge, double coupling) const {
  if (nodes_.edge_count() == 0) return of_prior(PriorMatrix(nodes_, ridge, coupling));
  const double ratio = ridge / coupling;
  std::optional<OfPrior> known;
  {
    const std::lock_guard lock(mutex_);
    const auto found = priors_.find(ratio);
    if (found != priors_.end()) known = found->second;
  }
  if (!known) {
    known = of_prior(PriorMatrix(nodes_, ratio, 1.0));
    const std::lock_guard lock(mutex_);
    priors_.emplace(ratio, *known);
  }
  const double of_coupling = static_cast<double>(nodes_.node_count() * dimension_) * std::log(coupling);
  if (known->exact) *known->exact += of_coupling;
  known->estimated.log_determinant += of_coupling;
  return *known;
}

LikelihoodPoint MarginalLikelihood::at(const NodeEvidence& evidence, double ridge, double coupling,
                                       std::optional<double> noise) const {
  const PriorMatrix prior(nodes_, ridge, coupling);
  LikelihoodPoint point = at(evidence, prior, of_prior(ridge, coupling), noise);
  point.ridge = ridge;
  point.coupling = nodes_.edge_count() > 0 ? coupling : 0.0;
  return point;
}

LikelihoodPoint MarginalLikelihood::at(const NodeEvidence& evidence, const PriorMatrix& prior,
                                       std::optional<double> noise) const {
  return at(evidence, prior, of_prior(prior), noise);
}

/// The same signs estimate ln|N| and ln|A|, so what they are off by is much the same where there is little evidence.
/// Where ln|A| is known, as much of its error is taken off as makes the rest vary least (a control variate); where it
/// is not, all of it.
LikelihoodPoint MarginalLikelihood::at(const NodeEvidence& evidence, const PriorMatrix& prior, const OfPrior& of_prior,
                                       std::optional<double> noise) const {
  PriorFit fit = exact_ ? exact_fit(prior, evidence.sums()) : evidence.solver().fit(prior, blocks_);
  double log_ratio = fit.log_determinant - of_prior.exact.value_or(of_prior.estimated.log_determinant);
  double error = 0.0;
  if (!fit.estimates.empty()) {
    const std::vector<double>& same = of_prior.estimated.estimates;
    double share = 1.0;
    if (of_prior.exact) {
      const double squared = product_of(same, same);
      share = squared > 0.0 ? std::clamp(product_of(fit.estimates, same) / squared, 0.0, 1.0) : 0.0;
      log_ratio += share * (*of_prior.exact - of_prior.estimated.log_determinant);
    }
    for (std::size_t k = 0; k < same.size(); ++k) fit.estimates[k] -= share * same[k];
    const auto signs = static_cast<double>(fit.estimates.size());
    log_ratio += mean_of(fit.estimates);
    error = std::sqrt(product_of(fit.estimates, fit.estimates) / ((signs - 1.0) * signs));
  }
  const auto count = static_cast<double>(evidence.count());
  // Where contexts explain everything, rounding decides what is left.
  const double left = std::max(evidence.squared_rewards() - fit.explained, 1e-12 * evidence.squared_rewards());
  const double squared_noise = noise ? *noise * *noise : left / count;
  LikelihoodPoint point;
  point.noise = std::sqrt(squared_noise);
  point.log_likelihood =
      -0.5 * (count * std::log(2.0 * std::numbers::pi * squared_noise) + log_ratio + left / squared_noise);
  point.standard_error = 0.5 * error;
  return point;
}

}  // namespace goblin::offline
