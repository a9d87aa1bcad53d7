#pragma once

#include "bandit/thompson.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/random.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace goblin {

/// What a rule may look at beside the candidates.
struct Knowledge {
  std::size_t rewards;           ///< learned so far
  double log_determinant;        ///< ln|M|, an upper end
  double log_determinant_error;  ///< and how much it can be too large
};

/// The width of a candidate with this variance. Decision::widths has it where the variance is exact; with local, ucb
/// takes the middle of the widths of both ends.
[[nodiscard]] double width_of(const Exploration& exploration, const Knowledge& knowledge, double variance);

/// How what is believed of candidates becomes a choice: one decision by an exploration rule.
class Choice {
 public:
  /// Throws std::invalid_argument if the rule needs a draw and there is none.
  Choice(const Exploration& exploration, const std::optional<Draw>& draw);

  /// Whether the rule looks at C_i, and not only at the variances.
  [[nodiscard]] bool needs_covariance() const { return std::holds_alternative<Thompson>(exploration_.rule); }

  /// Fills in widths, bounds and scores of a decision that holds, for each candidate, the mean, the variance (as
  /// `widths`), how far the mean can be off (as `bounds`) and how far the variance (as `scores`). `covariance` is C_i
  /// where the rule needs it.
  void score(const Knowledge& knowledge, std::span<const double> contexts, Mask allowed, std::vector<double> covariance,
             Decision& decision);

  /// Chooses one of the candidates that are left, and says how probable that was. Called again it makes another choice,
  /// with other luck.
  void choose(Mask left, Decision& decision);

  /// One choice after the other, each among the candidates that the ones before have left; no more than k, which
  /// must be at least 1. The decision is the first of them.
  void rank(std::size_t k, Mask allowed, Decision& decision, std::vector<Ranked>& ranked);

 private:
  [[nodiscard]] double square_cb(const Decision& decision, std::size_t best, std::size_t arm, std::size_t count) const;
  void find_probabilities(Mask left, std::size_t best, std::size_t count, Decision& decision);

  Exploration exploration_;
  Draw draw_;
  Random random_;      // what decides
  Random estimating_;  // what probabilities are estimated with
  std::optional<ThompsonDraws> thompson_;
};

}  // namespace goblin
