#pragma once

#include "goblin/bandit/bandit.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace goblin {

/// How scores become a choice: the width of each candidate's confidence interval, and the highest sum of mean and
/// width.
class Exploration {
 public:
  /// What a rule may look at beside the candidates.
  struct Knowledge {
    std::size_t rewards;           ///< learned so far
    double log_determinant;        ///< ln|M|, an upper end
    double log_determinant_error;  ///< and how much it can be too large
  };

  Exploration(double alpha, const std::optional<PrintedBound>& printed) : alpha_(alpha), printed_(printed) {}

  /// Fills in a decision that holds, for each candidate, the mean, the variance (as `widths`), how far the mean can be
  /// off (as `bounds`) and how far the variance (as `scores`).
  void choose(const Knowledge& knowledge, Mask allowed, Decision& decision) const;

 private:
  double alpha_;
  std::optional<PrintedBound> printed_;
};

/// The k candidates of a decision with the highest scores, best first; all that are allowed if there are fewer.
void best_of(const Decision& decision, Mask allowed, std::size_t k, std::vector<Ranked>& ranked);

}  // namespace goblin
