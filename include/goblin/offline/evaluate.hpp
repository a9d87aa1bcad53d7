#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/offline/estimators.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goblin::offline {

/// Which of the log's rewards the bandit learns, each after it was judged by it.
enum class Learning {
  /// Those of decisions that are its own: it learns as it would live, but slower, because it sees fewer rewards. The
  /// estimates are of what it earns on average while it learns so.
  matched,
  /// All of them: what it earns if it has learned the log up to there, whoever took the decisions.
  all,
  /// None: what the bandit as it is earns.
  none,
};

[[nodiscard]] std::string_view name_of(Learning learning);  // "matched", "all", "none"
/// Throws std::invalid_argument with all there are.
[[nodiscard]] Learning learning_named(std::string_view name);

/// A decision that somebody else took: what could have been shown, what was, and what came of it.
struct LoggedDecision {
  std::span<const double> contexts;  ///< candidate after candidate
  std::size_t action = 0;            ///< which of them was shown
  double reward = 0.0;
  double probability = 0.0;  ///< how probable it was that this one would be shown: above 0, at most 1
};

struct EvaluationOptions {
  Learning learning = Learning::matched;
  /// Of the chance in the bandit's choices: decision k of the log has the number k.
  std::uint64_t seed = 0;
  EstimateOptions estimates = {};
};

/// Estimates that rest on fewer decisions' worth of weights (Diagnostics::effective_sample_size) are not to be trusted.
inline constexpr double fewest_decisions = 100.0;

/// What came out for a bandit.
struct Evaluated {
  std::string policy;
  std::string exploration;
  Learning learning = Learning::matched;
  double clip = 0.0;
  Summary summary;
  /// Whether the log can tell that it would earn more or less. Not where the weights are of too few rounds, or are not
  /// 1 on average: dr is then what the bandit expects of itself, and its interval knows nothing of how wrong that is.
  bool decidable = false;
  /// Why, and which of, the estimates cannot be trusted, in sentences; none is good news.
  std::vector<std::string> warnings;
};

/// Goes through a log with a bandit and asks, decision by decision, what it would have shown. It knows only what came
/// before, so what it expects of a reward is not read off that reward.
///
///     Evaluation evaluation(Bandit::gob_lin(friends, {.dimension = 2}));
///     evaluation.add(0, "ann", {.contexts = contexts, .action = 1, .reward = 1.0, .probability = 0.5});
///     evaluation.result().summary.estimates;
///
/// Several bandits on the same log: one Evaluation each, with the same numbers for users. Memory does not grow with the
/// log (Accumulator).
class Evaluation {
 public:
  explicit Evaluation(Bandit bandit, const EvaluationOptions& options = {});

  /// `number` is the user's in the log, 0, 1, ... in any order; `user` is who that is for the bandit. Throws
  /// std::invalid_argument with name, value and bound, and then nothing has changed.
  void add(std::size_t number, UserRef user, const LoggedDecision& decision);
  /// A reward of which only the context is known: what else could have been shown is not. It is foretold, and learned
  /// but for Learning::none.
  void add_reward(std::size_t number, UserRef user, std::span<const double> context, double reward);

  /// Throws std::invalid_argument if there were fewer than two rewards.
  [[nodiscard]] Evaluated result() const;

  /// What was seen so far, for estimates when the bandit is gone.
  [[nodiscard]] const Accumulator& accumulator() const { return accumulator_; }

  [[nodiscard]] const Bandit& bandit() const { return bandit_; }
  /// For users who join: it must not learn behind the evaluation's back.
  [[nodiscard]] Bandit& bandit() { return bandit_; }

 private:
  [[nodiscard]] std::vector<std::string> warnings(const Summary& summary) const;

  Bandit bandit_;
  EvaluationOptions options_;
  bool is_random_;
  Accumulator accumulator_;
  std::uint64_t decisions_ = 0;
  // The log's probability times the number of candidates is 1 where it chose uniformly.
  double least_uniformity_ = 1.0;
  double most_uniformity_ = 1.0;
  Decision decision_;
};

}  // namespace goblin::offline
