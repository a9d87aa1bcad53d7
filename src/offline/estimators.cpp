#include "goblin/offline/estimators.hpp"

#include "goblin/random.hpp"
#include "offline/tail.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <boost/math/distributions/binomial.hpp>
#include <fmt/format.h>

namespace goblin::offline {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr Interval no_interval = {nothing, nothing};

/// The number below which a share of the sorted values lies.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

/// Between what the middle of the resampled values lies. Those that are no numbers (a sum was divided by 0) are left
/// out; where they are more than a few, nothing is said.
Interval middle_of(std::vector<double> values, double tail) {
  const std::size_t all = values.size();
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty() || values.size() < all - all / 20) return no_interval;
  std::sort(values.begin(), values.end());
  return {quantile(values, tail), quantile(values, 1.0 - tail)};
}

}  // namespace

std::string_view name_of(Estimator estimator) { return estimator_table[static_cast<std::size_t>(estimator)].name; }

Accumulator::Accumulator(const EstimateOptions& options) : options_(options) {
  if (!(options.clip > 0.0)) throw std::invalid_argument(fmt::format("clip: {} (must be above 0)", options.clip));
  if (!(options.level > 0.0 && options.level < 1.0)) {
    throw std::invalid_argument(fmt::format("level: {} (must be between 0 and 1)", options.level));
  }
  if (options.resamples < 2) {
    throw std::invalid_argument(fmt::format("resamples: {} (must be at least 2)", options.resamples));
  }
}

void Accumulator::Moments::add(double value) {
  low = count == 0.0 ? value : std::min(low, value);
  high = count == 0.0 ? value : std::max(high, value);
  count += 1.0;
  const double before = value - mean;
  mean += before / count;
  squares += before * (value - mean);
}

Accumulator::Sums& Accumulator::place_of(std::size_t user) {
  users_ = std::max(users_, user + 1);
  const std::size_t place = user % most_groups;
  if (place >= sums_.size()) sums_.resize(place + 1);
  return sums_[place];
}

void Accumulator::add_reward(std::size_t user, double reward, double predicted) {
  Sums& sums = place_of(user);
  sums[Sum::count] += 1.0;
  sums[Sum::reward] += reward;
  sums[Sum::squared_error] += (reward - predicted) * (reward - predicted);
  sums[Sum::mean_error] += (reward - of_rewards_.mean) * (reward - of_rewards_.mean);
  of_rewards_.add(reward);
  only_0_and_1_ = only_0_and_1_ && (reward == 0.0 || reward == 1.0);
}

void Accumulator::add(std::size_t user, const Term& term) {
  add_reward(user, term.reward, term.predicted);
  Sums& sums = place_of(user);
  const double correction = term.weight * (term.reward - term.predicted);
  const bool clips = term.weight > options_.clip;
  const double weighted = term.weight * term.reward;
  const double clipped = std::min(term.weight, options_.clip) * term.reward;
  const double corrected = term.expected + correction;
  const double switched = clips ? term.expected : corrected;
  sums[Sum::decisions] += 1.0;
  sums[Sum::decided_reward] += term.reward;
  sums[Sum::weight] += term.weight;
  sums[Sum::weighted_reward] += weighted;
  sums[Sum::clipped_reward] += clipped;
  sums[Sum::expected] += term.expected;
  sums[Sum::corrected] += corrected;
  sums[Sum::switched] += switched;
  const auto of = [this](Estimator estimator) -> Moments& {
    return of_estimators_[static_cast<std::size_t>(estimator)];
  };
  if (term.matched) {
    sums[Sum::matched] += 1.0;
    sums[Sum::matched_reward] += term.reward;
    of(Estimator::replay).add(term.reward);
  }
  of_decisions_.add(term.reward);
  of(Estimator::ips).add(weighted);
  of(Estimator::clipped_ips).add(clipped);
  of(Estimator::dm).add(term.expected);
  of(Estimator::dr).add(corrected);
  of(Estimator::switch_dr).add(switched);
  squared_weight_ += term.weight * term.weight;
  largest_weight_ = std::max(largest_weight_, term.weight);
  if (clips) clipped_ += 1.0;
}

Accumulator::Ratio Accumulator::ratio_of(Estimator estimator) {
  switch (estimator) {
    case Estimator::replay:
      return {Sum::matched_reward, Sum::matched};
    case Estimator::ips:
      return {Sum::weighted_reward, Sum::decisions};
    case Estimator::clipped_ips:
      return {Sum::clipped_reward, Sum::decisions};
    case Estimator::snips:
      return {Sum::weighted_reward, Sum::weight};
    case Estimator::dm:
      return {Sum::expected, Sum::decisions};
    case Estimator::dr:
      return {Sum::corrected, Sum::decisions};
    case Estimator::switch_dr:
      return {Sum::switched, Sum::decisions};
  }
  throw std::logic_error("estimator: unknown");
}

std::vector<Accumulator::Sums> Accumulator::groups() const {
  std::vector<Sums> groups;
  std::copy_if(sums_.begin(), sums_.end(), std::back_inserter(groups),
               [](const Sums& sums) { return sums[Sum::count] > 0.0; });
  return groups;
}

std::optional<Interval> Accumulator::bernstein(const Moments& moments) const {
  const double n = moments.count;
  if (n < 2.0) return std::nullopt;
  // Each end fails with half of what the level leaves: once for the mean, once for the variance.
  const double logarithm = std::log(2.0 / ((1.0 - options_.level) / 2.0));
  const double variance = moments.squares / (n - 1.0);
  const double margin =
      std::sqrt(2.0 * logarithm * variance / n) + 7.0 * (moments.high - moments.low) * logarithm / (3.0 * (n - 1.0));
  return Interval{moments.mean - margin, moments.mean + margin};
}

std::optional<Interval> Accumulator::clopper_pearson(double successes, double trials) const {
  if (!only_0_and_1_ || trials == 0.0) return std::nullopt;
  using Binomial = boost::math::binomial_distribution<double>;
  const double tail = (1.0 - options_.level) / 2.0;
  return Interval{Binomial::find_lower_bound_on_p(trials, successes, tail),
                  Binomial::find_upper_bound_on_p(trials, successes, tail)};
}

Diagnostics Accumulator::diagnostics(const Sums& total, const std::vector<Sums>& groups) const {
  const double decided = total[Sum::decisions];
  const double weight = total[Sum::weight];
  Diagnostics result{.decisions = static_cast<std::size_t>(decided),
                     .users = users_,
                     .matched = static_cast<std::size_t>(total[Sum::matched]),
                     .effective_sample_size = weight > 0.0 ? weight * weight / squared_weight_ : 0.0,
                     .largest_weight = largest_weight_,
                     .largest_share = weight > 0.0 ? largest_weight_ / weight : 0.0,
                     .clipped_share = decided > 0.0 ? clipped_ / decided : 0.0,
                     .mean_weight = decided > 0.0 ? weight / decided : 0.0,
                     .mean_weight_error = {}};
  if (groups.size() < 2 || decided == 0.0) return result;
  double squares = 0.0;
  for (const Sums& sums : groups) {
    const double difference = sums[Sum::weight] - result.mean_weight * sums[Sum::decisions];
    squares += difference * difference;
  }
  const auto n = static_cast<double>(groups.size());
  result.mean_weight_error = std::sqrt(squares * n / (n - 1.0)) / decided;
  return result;
}

Summary Accumulator::summary() const {
  const std::vector<Sums> all = groups();
  Sums total{};
  for (const Sums& sums : all) {
    for (std::size_t k = 0; k < Sum::number; ++k) total[k] += sums[k];
  }
  // The users of the resamples, drawn from a stream of their own each; the same for every policy on the same log.
  std::vector<Sums> resamples(all.size() < 2 ? 0 : options_.resamples, Sums{});
  for (std::size_t k = 0; k < resamples.size(); ++k) {
    Random random(options_.seed, 0, k);
    for (std::size_t draw = 0; draw < all.size(); ++draw) {
      const Sums& drawn = all[random.below(all.size())];
      for (std::size_t sum = 0; sum < Sum::number; ++sum) resamples[k][sum] += drawn[sum];
    }
  }
  const double tail = resamples.empty() ? 0.0 : tail_of(options_.level, all.size());
  const auto value = [&](const auto& ask) {
    std::vector<double> values(resamples.size());
    std::transform(resamples.begin(), resamples.end(), values.begin(), ask);
    return Value{ask(total), middle_of(std::move(values), tail)};
  };

  const bool decided = total[Sum::decisions] > 0.0;
  const Ratio of_log = decided ? Ratio{Sum::decided_reward, Sum::decisions} : Ratio{Sum::reward, Sum::count};
  Summary result{.log = value([&](const Sums& sums) { return value_of(sums, of_log); }),
                 .log_bernstein = bernstein(decided ? of_decisions_ : of_rewards_),
                 .log_clopper_pearson = clopper_pearson(total[of_log.above], total[of_log.below]),
                 .estimates = {},
                 .diagnostics = diagnostics(total, all),
                 .prediction = {}};
  for (const EstimatorInfo& info : estimator_table) {
    if (!decided) break;
    const Ratio ratio = ratio_of(info.estimator);
    Estimate estimate{.estimator = info.estimator,
                      .value = value([&](const Sums& sums) { return value_of(sums, ratio); }),
                      .gain = value([&](const Sums& sums) { return value_of(sums, ratio) - value_of(sums, of_log); }),
                      .bernstein = bernstein(of_estimators_[static_cast<std::size_t>(info.estimator)]),
                      .clopper_pearson = {}};
    if (info.estimator == Estimator::replay) {
      // What matches might have earned whatever the log did: the range is that of all rewards.
      Moments matched = of_estimators_[static_cast<std::size_t>(info.estimator)];
      matched.low = of_decisions_.low;
      matched.high = of_decisions_.high;
      estimate.bernstein = bernstein(matched);
      estimate.clopper_pearson = clopper_pearson(total[Sum::matched_reward], total[Sum::matched]);
    }
    result.estimates.push_back(estimate);
  }
  if (total[Sum::count] > 0.0) {
    result.prediction = {
        .rewards = static_cast<std::size_t>(total[Sum::count]),
        .squared_error = total[Sum::squared_error] / total[Sum::count],
        .mean_error = total[Sum::mean_error] / total[Sum::count],
        .skill = value([](const Sums& sums) { return 1.0 - sums[Sum::squared_error] / sums[Sum::mean_error]; })};
  }
  return result;
}

Value Accumulator::more_than(const Accumulator& other, Estimator estimator, double level) const {
  if (!(level > 0.0 && level < 1.0)) {
    throw std::invalid_argument(fmt::format("level: {} (must be above 0 and below 1)", level));
  }
  for (std::size_t user = 0; user < std::max(sums_.size(), other.sums_.size()); ++user) {
    const auto count = [&](const std::vector<Sums>& sums) { return user < sums.size() ? sums[user][Sum::count] : 0.0; };
    if (count(sums_) == count(other.sums_)) continue;
    throw std::invalid_argument(fmt::format("other: {} rewards of user {} (must be those of the same log, {})",
                                            count(other.sums_), user, count(sums_)));
  }
  const std::vector<Sums> own = groups();
  const std::vector<Sums> others = other.groups();
  const Ratio ratio = ratio_of(estimator);
  /// Of both, the sums above and below.
  struct Pair {
    std::array<double, 2> above = {};
    std::array<double, 2> below = {};

    void add(const Sums& one, const Sums& two, Ratio of) {
      above[0] += one[of.above];
      below[0] += one[of.below];
      above[1] += two[of.above];
      below[1] += two[of.below];
    }
    [[nodiscard]] double difference() const { return above[0] / below[0] - above[1] / below[1]; }
  };
  Pair total;
  for (std::size_t k = 0; k < own.size(); ++k) total.add(own[k], others[k], ratio);
  if (own.size() < 2) return {total.difference(), no_interval};
  std::vector<double> values;
  for (std::size_t k = 0; k < options_.resamples; ++k) {
    Random random(options_.seed, 0, k);  // the draws of summary()
    Pair drawn;
    for (std::size_t draw = 0; draw < own.size(); ++draw) {
      const std::size_t user = random.below(own.size());
      drawn.add(own[user], others[user], ratio);
    }
    values.push_back(drawn.difference());
  }
  return {total.difference(), middle_of(std::move(values), tail_of(level, own.size()))};
}

}  // namespace goblin::offline
