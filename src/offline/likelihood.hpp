#pragma once

#include "belief/evidence.hpp"
#include "belief/likelihood/likelihood_solver.hpp"
#include "belief/prior_matrix.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/offline/tune.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace goblin::offline {

/// The sums over some rewards at each node, ready to be fitted with many priors.
class NodeEvidence {
 public:
  /// node_of: the node of each user.
  NodeEvidence(const RewardTable& rewards, std::size_t dimension, std::span<const NodeId> node_of, std::size_t nodes);

  [[nodiscard]] const Evidence& sums() const { return sums_; }
  [[nodiscard]] const LikelihoodSolver& solver() const { return *solver_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] double squared_rewards() const { return squared_rewards_; }

 private:
  Evidence sums_;
  std::size_t count_;
  double squared_rewards_ = 0.0;
  std::unique_ptr<LikelihoodSolver> solver_;
};

/// ln|A|. O(n) where there are no edges, else a sparse factorization, of a graph up to `most_factored` nodes.
[[nodiscard]] double log_determinant(const PriorMatrix& prior);
inline constexpr std::size_t most_factored = 10'000;

/// ln|N| and c.w without estimates: a dense factorization for each connected component. Sum of (rows of one)^3 / 3.
[[nodiscard]] PriorFit exact_fit(const PriorMatrix& prior, const Evidence& evidence);

/// The marginal likelihood of the evidence with priors over one graph:
///
///     ln p = -T/2 ln(2 pi s^2) - (ln|N| - d ln|A|) / 2 - (sum of a^2 - c.w) / (2 s^2)
///
/// with s^2 = (sum of a^2 - c.w) / T, which is the best, or with a noise that is given.
class MarginalLikelihood {
 public:
  /// Of a graph between nodes, all of which have the same ridge.
  MarginalLikelihood(Graph nodes, std::size_t dimension);

  [[nodiscard]] const Graph& nodes() const { return nodes_; }

  /// May be called by several threads at a time.
  [[nodiscard]] LikelihoodPoint at(const NodeEvidence& evidence, double ridge, double coupling,
                                   std::optional<double> noise = {}) const;
  /// The same of a prior that is given, over the same nodes.
  [[nodiscard]] LikelihoodPoint at(const NodeEvidence& evidence, const PriorMatrix& prior,
                                   std::optional<double> noise = {}) const;

 private:
  /// Of A (x) I: ln| | where it is known, and what the solver makes of it, with the signs of all estimates.
  struct OfPrior {
    std::optional<double> exact;
    PriorFit estimated;
  };
  [[nodiscard]] LikelihoodPoint at(const NodeEvidence& evidence, const PriorMatrix& prior, const OfPrior& of_prior,
                                   std::optional<double> noise) const;
  [[nodiscard]] OfPrior of_prior(const PriorMatrix& prior) const;
  [[nodiscard]] OfPrior of_prior(double ridge, double coupling) const;

  Graph nodes_;
  std::size_t dimension_;
  bool exact_;
  std::size_t blocks_;
  std::unique_ptr<LikelihoodSolver> nothing_;  // of no evidence; none where all is exact
  mutable std::mutex mutex_;
  mutable std::map<double, OfPrior> priors_;  // with coupling 1, by the ratio of ridge and coupling
};

}  // namespace goblin::offline
