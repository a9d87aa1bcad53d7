#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace goblin::offline {

/// How to say from somebody else's decisions what a policy would have earned in each of them.
enum class Estimator { replay, ips, clipped_ips, snips, dm, dr, switch_dr };

struct EstimatorInfo {
  Estimator estimator;
  std::string_view name;
  std::string_view formula;  ///< with the letters of Term
  std::string_view means;    ///< in a few words
};

/// The one list of estimators. Each is a sum over the log, divided by another one.
inline constexpr std::array estimator_table = {
    EstimatorInfo{
        .estimator = Estimator::replay,
        .name = "replay",
        .formula = "mean of r where the choices match",
        .means = "what was earned where the policy would have shown the same; needs a log that chose uniformly"},
    EstimatorInfo{.estimator = Estimator::ips,
                  .name = "ips",
                  .formula = "mean of w r",
                  .means = "every reward counts as often as the policy would have been there; no bias, much noise"},
    EstimatorInfo{.estimator = Estimator::clipped_ips,
                  .name = "clipped_ips",
                  .formula = "mean of min(w, clip) r",
                  .means = "the same, but no reward counts more than clip times; less noise, too low where it clips"},
    EstimatorInfo{.estimator = Estimator::snips,
                  .name = "snips",
                  .formula = "sum of w r / sum of w",
                  .means = "ips divided by the mean weight; less noise, and hardly any bias in a long log"},
    EstimatorInfo{.estimator = Estimator::dm,
                  .name = "dm",
                  .formula = "mean of v",
                  .means = "what the bandit itself expects: no better than its model"},
    EstimatorInfo{.estimator = Estimator::dr,
                  .name = "dr",
                  .formula = "mean of v + w (r - q)",
                  .means = "what the bandit expects, corrected by what was earned; no bias, and less noise than ips"},
    EstimatorInfo{.estimator = Estimator::switch_dr,
                  .name = "switch_dr",
                  .formula = "mean of v + w (r - q) where w <= clip, v elsewhere",
                  .means = "dr that trusts the model where weights are large"},
};

[[nodiscard]] std::string_view name_of(Estimator estimator);

/// One logged decision, as a policy sees it.
struct Term {
  double reward = 0.0;     ///< r: of what was shown
  double weight = 0.0;     ///< w: how probable the policy would have shown the same, divided by that of the log
  bool matched = false;    ///< whether the policy's own choice, chance included, is what was shown
  double predicted = 0.0;  ///< q: what the policy expected of what was shown
  double expected = 0.0;   ///< v: what it expected of its own choice: the mean of q under its probabilities
};

struct EstimateOptions {
  /// Of clipped_ips and switch_dr: weights above it are cut off, or not used.
  double clip = 100.0;
  /// How often an interval should hold what it is about.
  double level = 0.95;
  /// Of the bootstrap.
  std::size_t resamples = 1000;
  std::uint64_t seed = 0;
};

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// A number and between what it lies. Not a number where nothing can be said.
struct Value {
  double value = 0.0;
  Interval interval;
};

struct Estimate {
  Estimator estimator = Estimator::ips;
  /// With the bootstrap by user: users are drawn anew, with all that is theirs, because the rewards of one user are not
  /// independent. Both sums are drawn before one is divided by the other.
  Value value;
  /// How much more than the log, with the same draws for both.
  Value gain;
  /// If rounds were independent: for sums that are divided by a count, from the variance and the range of what was
  /// seen.
  std::optional<Interval> bernstein;
  /// The same for replay where all rewards are 0 or 1.
  std::optional<Interval> clopper_pearson;
};

/// How far the estimates can be trusted.
struct Diagnostics {
  std::size_t decisions = 0;
  std::size_t users = 0;
  std::size_t matched = 0;             ///< decisions in which the policy would have shown the same
  double effective_sample_size = 0.0;  ///< (sum of w)^2 / sum of w^2: how many equal weights would say as much
  double largest_weight = 0.0;
  double largest_share = 0.0;  ///< of the sum of the weights
  double clipped_share = 0.0;  ///< of the decisions
  /// The mean weight is 1 on average if the log's probabilities are right and it could have shown all that the policy
  /// would; where it could not, what is missing to 1 is that share of the policy's choices.
  double mean_weight = 0.0;
  std::optional<double> mean_weight_error;  ///< its standard error, users apart
};

/// How well rewards were foretold, each before it was learned, against the mean of all rewards before it.
struct Prediction {
  std::size_t rewards = 0;
  double squared_error = 0.0;  ///< the mean of (r - q)^2
  double mean_error = 0.0;     ///< the same of the one who always says the mean of the rewards so far
  Value skill;                 ///< 1 - squared_error / mean_error: 0 is no better, 1 is perfect
};

struct Summary {
  Value log;  ///< what the log earned itself, on average: in its decisions, or where it has none, with all rewards
  std::optional<Interval> log_bernstein;
  std::optional<Interval> log_clopper_pearson;
  std::vector<Estimate> estimates;  ///< in the order of estimator_table; none without decisions
  Diagnostics diagnostics;
  Prediction prediction;
};

/// Sums up a log for one policy. Its memory grows with the number of users, up to most_groups of them, and not with the
/// log. Where there are more users, some share a place (their number modulo most_groups), and are drawn together by the
/// bootstrap: that is as right, and hardly less certain.
class Accumulator {
 public:
  static constexpr std::size_t most_groups = 10'000;

  /// Throws std::invalid_argument with name, value and bound.
  explicit Accumulator(const EstimateOptions& options = {});

  /// Users are numbered 0, 1, ...
  void add(std::size_t user, const Term& term);
  /// A reward of which nobody knows what else could have been shown: it can only be foretold.
  void add_reward(std::size_t user, double reward, double predicted);

  /// O(resamples * users): about 0.1 s for 10,000 users.
  [[nodiscard]] Summary summary() const;

  /// How much more an estimator says here than there, where another policy went through the same log: users are drawn
  /// for both together, so that this is narrower than the two intervals suggest. The level is that of the interval.
  /// Throws std::invalid_argument if the logs have different users.
  [[nodiscard]] Value more_than(const Accumulator& other, Estimator estimator, double level) const;

 private:
  /// What is kept for each user, or for each group of them.
  struct Sum {
    enum Index : std::size_t {
      count,
      reward,
      squared_error,
      mean_error,
      decisions,
      decided_reward,
      matched,
      matched_reward,
      weight,
      weighted_reward,
      clipped_reward,
      expected,
      corrected,
      switched,
      number
    };
  };
  using Sums = std::array<double, Sum::number>;
  /// Numerator and denominator.
  struct Ratio {
    Sum::Index above;
    Sum::Index below;
  };
  /// What independent rounds say of a mean.
  struct Moments {
    double count = 0.0;
    double mean = 0.0;
    double squares = 0.0;  // of the differences to the mean
    double low = 0.0;
    double high = 0.0;

    void add(double value);
  };

  [[nodiscard]] static Ratio ratio_of(Estimator estimator);
  [[nodiscard]] static double value_of(const Sums& sums, Ratio ratio) { return sums[ratio.above] / sums[ratio.below]; }
  [[nodiscard]] Sums& place_of(std::size_t user);
  [[nodiscard]] std::vector<Sums> groups() const;
  [[nodiscard]] std::optional<Interval> bernstein(const Moments& moments) const;
  [[nodiscard]] std::optional<Interval> clopper_pearson(double successes, double trials) const;
  [[nodiscard]] Diagnostics diagnostics(const Sums& total, const std::vector<Sums>& groups) const;

  EstimateOptions options_;
  std::vector<Sums> sums_;
  std::size_t users_ = 0;
  Moments of_rewards_;
  Moments of_decisions_;
  std::array<Moments, estimator_table.size()> of_estimators_;
  double squared_weight_ = 0.0;
  double largest_weight_ = 0.0;
  double clipped_ = 0.0;
  bool only_0_and_1_ = true;
};

}  // namespace goblin::offline
