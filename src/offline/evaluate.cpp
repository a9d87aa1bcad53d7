#include "goblin/offline/evaluate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace goblin::offline {
namespace {

constexpr std::array learning_names = {std::string_view("matched"), std::string_view("all"), std::string_view("none")};

constexpr double few = fewest_decisions;
constexpr double often = 0.01;       // of the rounds
constexpr double many_errors = 4.0;  // standard errors

/// Whether the mean weight is clearly not 1.
bool weights_are_off(const Diagnostics& found) {
  const double off = std::abs(found.mean_weight - 1.0);
  return found.mean_weight_error && off > often && off > many_errors * *found.mean_weight_error;
}

}  // namespace

std::string_view name_of(Learning learning) { return learning_names[static_cast<std::size_t>(learning)]; }

Learning learning_named(std::string_view name) {
  const auto found = std::find(learning_names.begin(), learning_names.end(), name);
  if (found == learning_names.end()) {
    throw std::invalid_argument(fmt::format("learn: '{}' (must be {})", name, fmt::join(learning_names, ", ")));
  }
  return static_cast<Learning>(found - learning_names.begin());
}

Evaluation::Evaluation(Bandit bandit, const EvaluationOptions& options)
    : bandit_(std::move(bandit)),
      options_(options),
      is_random_(bandit_.exploration().is_random()),
      accumulator_(options.estimates) {}

void Evaluation::add(std::size_t number, UserRef user, const LoggedDecision& logged) {
  const std::size_t d = bandit_.options().dimension;
  if (!(logged.probability > 0.0 && logged.probability <= 1.0)) {
    throw std::invalid_argument(
        fmt::format("probability: {} (must be above 0 and at most 1: that with which the log chose what was shown)",
                    logged.probability));
  }
  if (const std::size_t count = logged.contexts.size() / d; logged.action >= count) {
    throw std::invalid_argument(
        fmt::format("action: {} (must be below {}, the number of candidates)", logged.action, count));
  }
  const auto shown = logged.contexts.subspan(logged.action * d, d);
  bandit_.check(user, shown, logged.reward);
  bandit_.select(user, {logged.contexts, d}, {}, decision_,
                 Draw{.seed = options_.seed, .decision = decisions_, .every_arm = is_random_});
  const bool matched = decision_.arm == logged.action;
  Term term{.reward = logged.reward,
            .weight = (matched ? 1.0 : 0.0) / logged.probability,
            .matched = matched,
            .predicted = decision_.means[logged.action],
            .expected = decision_.means[decision_.arm]};
  if (is_random_) {
    term.weight = decision_.probabilities[logged.action] / logged.probability;
    term.expected = 0.0;
    for (std::size_t arm = 0; arm < decision_.means.size(); ++arm) {
      term.expected += decision_.probabilities[arm] * decision_.means[arm];
    }
  }
  const auto count = static_cast<double>(decision_.means.size());
  if (options_.learning == Learning::all || (options_.learning == Learning::matched && matched)) {
    bandit_.update(user, shown, logged.reward);
  }
  accumulator_.add(number, term);
  ++decisions_;
  least_uniformity_ = std::min(least_uniformity_, count * logged.probability);
  most_uniformity_ = std::max(most_uniformity_, count * logged.probability);
}

void Evaluation::add_reward(std::size_t number, UserRef user, std::span<const double> context, double reward) {
  bandit_.check(user, context, reward);
  // The one candidate is chosen for sure; only what is expected of it is looked at.
  bandit_.select(user, {context, bandit_.options().dimension}, {}, decision_,
                 Draw{.seed = options_.seed, .decision = decisions_, .samples = 0});
  const double predicted = decision_.means.front();
  if (options_.learning != Learning::none) bandit_.update(user, context, reward);
  accumulator_.add_reward(number, reward, predicted);
}

Evaluated Evaluation::result() const {
  Summary summary = accumulator_.summary();
  if (summary.prediction.rewards < 2) {
    throw std::invalid_argument(fmt::format("log: {} rewards (must be at least 2)", summary.prediction.rewards));
  }
  std::vector<std::string> reasons = warnings(summary);
  const Diagnostics& found = summary.diagnostics;
  const bool decidable = found.effective_sample_size >= few && !weights_are_off(found);
  return {.policy = std::string(name_of(bandit_.policy())),
          .exploration = name_of(bandit_.exploration()),
          .learning = options_.learning,
          .clip = options_.estimates.clip,
          .summary = std::move(summary),
          .decidable = decidable,
          .warnings = std::move(reasons)};
}

std::vector<std::string> Evaluation::warnings(const Summary& summary) const {
  constexpr std::size_t few_users = 20;
  constexpr double large_share = 0.05;  // of the weights, in one round
  constexpr double rounding = 1e-6;
  const Diagnostics& found = summary.diagnostics;
  std::vector<std::string> texts;
  const auto warn = [&texts]<typename... Values>(fmt::format_string<Values...> format, Values&&... values) {
    texts.push_back(fmt::format(format, std::forward<Values>(values)...));
  };
  if (found.users == 1) {
    warn(
        "the log has one user: the bootstrap draws users, so there are no intervals but those that take rounds for "
        "independent");
  } else if (found.users < few_users) {
    warn("the log has only {} users: intervals are wide, and rest on few of them", found.users);
  }
  if (summary.estimates.empty()) return texts;
  if (found.mean_weight == 0.0) {
    warn(
        "the policy would have shown something else in every round: only dm says anything, and that is the bandit's "
        "own opinion");
    return texts;
  }
  if (found.effective_sample_size < few) {
    warn(
        "ips, clipped_ips, snips and dr rest on {:.1f} rounds' worth of weights (effective sample size): too few to "
        "trust their intervals",
        found.effective_sample_size);
  }
  if (found.largest_share > large_share) {
    warn("one round carries {:.1f} % of all weight (its weight is {:.4g}): the estimates hang on it",
         100.0 * found.largest_share, found.largest_weight);
  }
  if (found.clipped_share > often) {
    warn(
        "{:.1f} % of the rounds have weights above {:g}: clipped_ips is too low there, and switch_dr trusts the "
        "bandit's "
        "own model",
        100.0 * found.clipped_share, options_.estimates.clip);
  }
  if (weights_are_off(found)) {
    if (found.mean_weight < 1.0) {
      warn(
          "the mean weight is {:.3f} ± {:.3f} and not 1: the log could not have shown what the policy chooses in about "
          "{:.0f} % of the rounds, or its probabilities are too high; ips is too low by that, and dr trusts the model",
          found.mean_weight, *found.mean_weight_error, 100.0 * (1.0 - found.mean_weight));
    } else {
      warn("the mean weight is {:.3f} ± {:.3f} and not 1: the log's probabilities are lower than those it chose with",
           found.mean_weight, *found.mean_weight_error);
    }
  }
  if (least_uniformity_ < 1.0 - rounding || most_uniformity_ > 1.0 + rounding) {
    warn(
        "the log did not choose uniformly (its probabilities are {:.3g} to {:.3g} times 1 / candidates): replay "
        "prefers "
        "the rounds in which the log and the policy agree; go by the others",
        least_uniformity_, most_uniformity_);
  }
  if (static_cast<double>(found.matched) < few) {
    warn("replay rests on the {} rounds in which the policy would have shown the same", found.matched);
  }
  if (std::holds_alternative<Thompson>(bandit_.exploration().rule)) {
    warn(
        "the probabilities of thompson are estimated themselves, with {} draws a round: an error in them that the "
        "intervals do not tell apart",
        Draw().samples);
  }
  return texts;
}

}  // namespace goblin::offline
