#include "bandit/exploration.hpp"

#include <algorithm>
#include <limits>

namespace goblin {

void Exploration::choose(const Knowledge& knowledge, Mask allowed, Decision& decision) const {
  const double least = knowledge.log_determinant - knowledge.log_determinant_error;
  const ConfidenceRule rule(alpha_, printed_, knowledge.rewards, knowledge.log_determinant);
  const ConfidenceRule lowest_rule(alpha_, printed_, knowledge.rewards, least);
  bool found = false;
  for (std::size_t arm = 0; arm < decision.scores.size(); ++arm) {
    if (!allowed.empty() && allowed[arm] == 0) {
      decision.means[arm] = decision.widths[arm] = decision.bounds[arm] = 0.0;
      decision.scores[arm] = -std::numeric_limits<double>::infinity();
      continue;
    }
    const double variance = decision.widths[arm];
    const double lowest_variance = std::max(0.0, variance - decision.scores[arm]);
    decision.widths[arm] = rule.width(variance);
    decision.bounds[arm] += decision.widths[arm] - lowest_rule.width(lowest_variance);
    decision.scores[arm] = decision.means[arm] + decision.widths[arm];
    if (!found || decision.scores[arm] > decision.scores[decision.arm]) decision.arm = arm;
    found = true;
  }
}

void best_of(const Decision& decision, Mask allowed, std::size_t k, std::vector<Ranked>& ranked) {
  ranked.clear();
  for (std::size_t arm = 0; arm < decision.scores.size(); ++arm) {
    if (allowed.empty() || allowed[arm] != 0) ranked.push_back({arm, decision.scores[arm]});
  }
  const std::size_t count = std::min(k, ranked.size());
  std::partial_sort(
      ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count), ranked.end(),
      [](const Ranked& a, const Ranked& b) { return a.score > b.score || (a.score == b.score && a.arm < b.arm); });
  ranked.resize(count);
}

}  // namespace goblin
