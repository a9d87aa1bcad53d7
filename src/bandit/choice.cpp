#include "bandit/choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin {
namespace {

// In the place of a repetition: worlds count theirs from 0, and their streams are others.
constexpr std::uint64_t choice_stream = 0x6578706C6F726500U;  // "explore"
constexpr std::uint64_t estimate_stream = choice_stream + 1;

bool is_left(Mask left, std::size_t arm) { return left.empty() || left[arm] != 0; }

/// The widths of ucb and of the printed bound; those of the other rules are 0.
ConfidenceRule confidence(const Exploration& exploration, std::size_t rewards, double log_determinant) {
  if (const auto* printed = std::get_if<PrintedBound>(&exploration.rule)) {
    return {0.0, *printed, rewards, log_determinant};
  }
  const auto* ucb = std::get_if<Ucb>(&exploration.rule);
  return {ucb == nullptr ? 0.0 : ucb->alpha, std::nullopt, rewards, log_determinant};
}

}  // namespace

double width_of(const Exploration& exploration, const Knowledge& knowledge, double variance) {
  if (const auto* thompson = std::get_if<Thompson>(&exploration.rule)) return thompson->v * std::sqrt(variance);
  return confidence(exploration, knowledge.rewards, knowledge.log_determinant).width(variance);
}

Choice::Choice(const Exploration& exploration, const std::optional<Draw>& draw)
    : exploration_(exploration),
      draw_(draw.value_or(Draw())),
      random_(draw_.seed, choice_stream, draw_.decision),
      estimating_(draw_.seed, estimate_stream, draw_.decision) {
  if (!draw && exploration.is_random()) {
    throw std::invalid_argument(
        fmt::format("draw: none (must be given with {}, which leaves something to chance: a seed and the number of the "
                    "decision)",
                    name_of(exploration)));
  }
}

void Choice::score(const Knowledge& knowledge, std::span<const double> contexts, Mask allowed,
                   std::vector<double> covariance, Decision& decision) {
  const double least = knowledge.log_determinant - knowledge.log_determinant_error;
  const ConfidenceRule rule = confidence(exploration_, knowledge.rewards, knowledge.log_determinant);
  const ConfidenceRule lowest_rule = confidence(exploration_, knowledge.rewards, least);
  // What the paper proves of its bound holds for widths that are too large, not for those that are too small.
  const bool is_printed = std::holds_alternative<PrintedBound>(exploration_.rule);
  const auto* thompson = std::get_if<Thompson>(&exploration_.rule);
  if (thompson != nullptr) thompson_.emplace(std::move(covariance), contexts, allowed, thompson->v);
  for (std::size_t arm = 0; arm < decision.scores.size(); ++arm) {
    if (!is_left(allowed, arm)) {
      decision.means[arm] = decision.widths[arm] = decision.bounds[arm] = 0.0;
      decision.scores[arm] = -std::numeric_limits<double>::infinity();
      continue;
    }
    const double variance = decision.widths[arm];
    const double variance_error = decision.scores[arm];
    const double lowest_variance = std::max(0.0, variance - variance_error);
    if (thompson_) {
      decision.widths[arm] = thompson_->standard_deviation(arm);
      const double lowest = thompson->v * std::sqrt(lowest_variance);
      if (decision.engine == EngineKind::local) decision.bounds[arm] += std::max(0.0, decision.widths[arm] - lowest);
    } else {
      const double highest = rule.width(variance);
      const double lowest = lowest_rule.width(lowest_variance);
      decision.widths[arm] = is_printed ? highest : 0.5 * (highest + lowest);
      decision.bounds[arm] += decision.widths[arm] - lowest;
    }
    decision.scores[arm] = decision.means[arm] + decision.widths[arm];
  }
}

void Choice::choose(Mask left, Decision& decision) {
  if (thompson_) thompson_->draw(random_, decision.means, left, decision.scores);
  std::size_t count = 0;
  std::size_t best = 0;
  for (std::size_t arm = 0; arm < decision.scores.size(); ++arm) {
    if (!is_left(left, arm)) continue;
    if (count == 0 || decision.scores[arm] > decision.scores[best]) best = arm;
    ++count;
  }
  decision.arm = best;
  if (exploration_.epsilon > 0.0 && random_.uniform() < exploration_.epsilon) {
    std::size_t before = random_.below(count);  // it
    for (std::size_t arm = 0; arm < decision.scores.size(); ++arm) {
      if (!is_left(left, arm)) continue;
      decision.arm = arm;
      if (before-- == 0) break;
    }
  } else if (std::holds_alternative<SquareCb>(exploration_.rule)) {
    double rest = random_.uniform();
    for (std::size_t arm = 0; arm < decision.scores.size(); ++arm) {
      if (arm == best || !is_left(left, arm)) continue;
      rest -= square_cb(decision, best, arm, count);
      if (rest < 0.0) {
        decision.arm = arm;
        break;
      }
    }
  }
  find_probabilities(left, best, count, decision);
}

/// The probability of an arm that is not the best.
double Choice::square_cb(const Decision& decision, std::size_t best, std::size_t arm, std::size_t count) const {
  const double gamma = std::get<SquareCb>(exploration_.rule).gamma;
  return 1.0 / (static_cast<double>(count) + gamma * (decision.scores[best] - decision.scores[arm]));
}

/// Of the arm that was chosen and, where it is wanted, of every arm.
void Choice::find_probabilities(Mask left, std::size_t best, std::size_t count, Decision& decision) {
  const double uniform = exploration_.epsilon / static_cast<double>(count);
  const double share = 1.0 - exploration_.epsilon;  // of the rule
  const bool squares = std::holds_alternative<SquareCb>(exploration_.rule);
  double others = 0.0;  // what SquareCB gives to those that are not the best
  if (squares) {
    for (std::size_t arm = 0; arm < decision.scores.size(); ++arm) {
      if (arm != best && is_left(left, arm)) others += square_cb(decision, best, arm, count);
    }
  }
  std::optional<ThompsonDraws::Estimate> estimate;
  if (thompson_ && draw_.samples > 0) estimate = thompson_->estimate(estimating_, draw_.samples, decision.means, left);
  const auto by_rule = [&](std::size_t arm) {
    if (thompson_) return estimate ? estimate->probabilities[arm] : std::numeric_limits<double>::quiet_NaN();
    if (arm == best) return 1.0 - others;
    return squares ? square_cb(decision, best, arm, count) : 0.0;
  };
  const auto probability = [&](std::size_t arm) {
    if (count == 1) return 1.0;
    return share > 0.0 ? uniform + share * by_rule(arm) : uniform;
  };
  decision.probability = probability(decision.arm);
  decision.probability_error = estimate ? share * estimate->errors[decision.arm] : 0.0;
  decision.probabilities.clear();
  if (!draw_.every_arm) return;
  for (std::size_t arm = 0; arm < decision.scores.size(); ++arm) {
    decision.probabilities.push_back(is_left(left, arm) ? probability(arm) : 0.0);
  }
}

void Choice::rank(std::size_t k, Mask allowed, Decision& decision, std::vector<Ranked>& ranked) {
  if (k == 0) throw std::invalid_argument("k: 0 (must be at least 1)");
  choose(allowed, decision);
  ranked.clear();
  if (!exploration_.is_random()) {
    for (std::size_t arm = 0; arm < decision.scores.size(); ++arm) {
      if (is_left(allowed, arm)) ranked.push_back({arm, decision.scores[arm]});
    }
    const std::size_t count = std::min(k, ranked.size());
    std::partial_sort(
        ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count), ranked.end(),
        [](const Ranked& a, const Ranked& b) { return a.score > b.score || (a.score == b.score && a.arm < b.arm); });
    ranked.resize(count);
    return;
  }
  std::vector<std::uint8_t> left(decision.scores.size(), 1);
  if (!allowed.empty()) left.assign(allowed.begin(), allowed.end());
  auto count =
      static_cast<std::size_t>(std::count_if(left.begin(), left.end(), [](std::uint8_t flag) { return flag != 0; }));
  Decision next = decision;
  for (count = std::min(k, count); ranked.size() < count;) {
    if (!ranked.empty()) choose(left, next);
    ranked.push_back({next.arm, next.scores[next.arm], next.probability});
    left[next.arm] = 0;
  }
}

}  // namespace goblin
