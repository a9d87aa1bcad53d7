#include "goblin/offline/estimators.hpp"

#include "goblin/random.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace goblin::offline {
namespace estimators_test {

struct Row {
  std::size_t user;
  Term term;
};

/// Weights of all sizes, some above the clip, and matches that have little to do with them.
std::vector<Row> some_rows(std::size_t count, std::size_t users, std::uint64_t seed = 1, bool only_0_and_1 = false) {
  Random random(seed);
  std::vector<Row> rows;
  for (std::size_t k = 0; k < count; ++k) {
    const double reward = only_0_and_1 ? static_cast<double>(random.below(2)) : random.uniform(-1.0, 2.0);
    rows.push_back({random.below(users),
                    {.reward = reward,
                     .weight = random.below(3) == 0 ? 0.0 : 1.0 / random.uniform(0.05, 1.0),
                     .matched = random.below(4) == 0,
                     .predicted = random.uniform(),
                     .expected = random.uniform()}});
  }
  return rows;
}

Summary summary_of(const std::vector<Row>& rows, const EstimateOptions& options = {}) {
  Accumulator accumulator(options);
  for (const Row& row : rows) accumulator.add(row.user, row.term);
  return accumulator.summary();
}

const Estimate& of(const Summary& summary, Estimator estimator) {
  return summary.estimates[static_cast<std::size_t>(estimator)];
}

/// The formulas, read off the definitions: numerator and denominator of each.
double plain_value(const std::vector<Row>& rows, Estimator estimator, double clip) {
  double above = 0.0;
  double below = 0.0;
  for (const auto& [user, term] : rows) {
    const auto& [r, w, matched, q, v] = term;
    switch (estimator) {
      case Estimator::replay:
        above += matched ? r : 0.0, below += matched ? 1.0 : 0.0;
        break;
      case Estimator::ips:
        above += w * r, below += 1.0;
        break;
      case Estimator::clipped_ips:
        above += std::min(w, clip) * r, below += 1.0;
        break;
      case Estimator::snips:
        above += w * r, below += w;
        break;
      case Estimator::dm:
        above += v, below += 1.0;
        break;
      case Estimator::dr:
        above += v + w * (r - q), below += 1.0;
        break;
      case Estimator::switch_dr:
        above += v + (w <= clip ? w * (r - q) : 0.0), below += 1.0;
        break;
    }
  }
  return above / below;
}

double mean_reward(const std::vector<Row>& rows) {
  return std::accumulate(rows.begin(), rows.end(), 0.0,
                         [](double sum, const Row& row) { return sum + row.term.reward; }) /
         static_cast<double>(rows.size());
}

TEST(Estimators, are_their_formulas) {
  const auto rows = some_rows(500, 30);
  const Summary summary = summary_of(rows, {.clip = 5.0});
  ASSERT_EQ(summary.estimates.size(), estimator_table.size());
  for (const EstimatorInfo& info : estimator_table) {
    const Estimate& estimate = of(summary, info.estimator);
    EXPECT_EQ(estimate.estimator, info.estimator);
    EXPECT_NEAR(estimate.value.value, plain_value(rows, info.estimator, 5.0), 1e-12) << info.name;
    EXPECT_NEAR(estimate.gain.value, estimate.value.value - mean_reward(rows), 1e-12) << info.name;
    EXPECT_LT(estimate.value.interval.low, estimate.value.value) << info.name;
    EXPECT_GT(estimate.value.interval.high, estimate.value.value) << info.name;
  }
  EXPECT_NEAR(summary.log.value, mean_reward(rows), 1e-12);
}

TEST(Estimators, the_bootstrap_draws_users_with_all_that_is_theirs) {
  // The same written out: resamples of whole users, each estimated by the plain formulas.
  constexpr std::size_t users = 25;
  constexpr std::size_t resamples = 200;
  const auto rows = some_rows(300, users);
  const Summary summary = summary_of(rows, {.clip = 5.0, .resamples = resamples, .seed = 9});
  for (const EstimatorInfo& info : estimator_table) {
    std::vector<double> values;
    std::vector<double> gains;
    for (std::size_t k = 0; k < resamples; ++k) {
      Random random(9, 0, k);
      std::vector<Row> drawn;
      for (std::size_t draw = 0; draw < users; ++draw) {
        const std::size_t user = random.below(users);
        std::copy_if(rows.begin(), rows.end(), std::back_inserter(drawn),
                     [user](const Row& row) { return row.user == user; });
      }
      values.push_back(plain_value(drawn, info.estimator, 5.0));
      gains.push_back(values.back() - mean_reward(drawn));
    }
    // 25 users: Student's t with 24 degrees of freedom is 2.0639 at 97.5 %, times sqrt(25 / 24) 2.1064 standard
    // deviations, beyond which 1.7583 % of a normal distribution lie.
    const double place = 0.017583 * (resamples - 1);
    for (auto* numbers : {&values, &gains}) {
      std::sort(numbers->begin(), numbers->end());
      const Interval interval =
          numbers == &values ? of(summary, info.estimator).value.interval : of(summary, info.estimator).gain.interval;
      const auto low = static_cast<std::size_t>(place);
      EXPECT_NEAR(interval.low, std::lerp((*numbers)[low], (*numbers)[low + 1], place - std::floor(place)), 1e-5);
      EXPECT_NEAR(
          interval.high,
          std::lerp((*numbers)[resamples - 1 - low], (*numbers)[resamples - 2 - low], place - std::floor(place)), 1e-5);
    }
  }
}

TEST(Estimators, sums_are_drawn_before_they_are_divided) {
  // All rewards are 1, so every policy earns 1: snips knows it, resample by resample; ips does not.
  auto rows = some_rows(300, 40);
  for (Row& row : rows) row.term.reward = 1.0;
  const Summary summary = summary_of(rows);
  const Interval snips = of(summary, Estimator::snips).value.interval;
  EXPECT_NEAR(snips.low, 1.0, 1e-12);
  EXPECT_NEAR(snips.high, 1.0, 1e-12);
  const Interval ips = of(summary, Estimator::ips).value.interval;
  EXPECT_GT(ips.high - ips.low, 0.1);
}

TEST(Estimators, rewards_of_one_user_that_are_alike_make_intervals_wider) {
  std::vector<Row> alike;
  std::vector<Row> apart;
  Random random(3);
  for (std::size_t user = 0; user < 50; ++user) {
    const auto reward = static_cast<double>(random.below(2));
    for (std::size_t k = 0; k < 20; ++k) {
      const Term term{.reward = reward, .weight = 1.0};
      alike.push_back({user, term});
      apart.push_back({20 * user + k, term});
    }
  }
  const Interval wide = summary_of(alike).log.interval;
  const Interval narrow = summary_of(apart).log.interval;
  // Twenty equal rewards say as much as one: sqrt(20) times as wide.
  EXPECT_NEAR((wide.high - wide.low) / (narrow.high - narrow.low), std::sqrt(20.0), 0.6);
}

TEST(Estimators, many_users_share_places_and_the_interval_stays) {
  constexpr std::size_t users = 3 * Accumulator::most_groups;
  Accumulator accumulator({.resamples = 300});
  Random random(5);
  double sum = 0.0;
  double squares = 0.0;
  for (std::size_t user = 0; user < users; ++user) {
    const double reward = random.uniform();
    accumulator.add(user, {.reward = reward, .weight = 1.0, .matched = true});
    sum += reward;
    squares += reward * reward;
  }
  const Summary summary = accumulator.summary();
  const double mean = sum / users;
  EXPECT_NEAR(summary.log.value, mean, 1e-12);
  EXPECT_EQ(summary.diagnostics.users, users);
  const double width = 2.0 * 1.96 * std::sqrt((squares / users - mean * mean) / users);
  EXPECT_NEAR((summary.log.interval.high - summary.log.interval.low) / width, 1.0, 0.1);
}

TEST(Estimators, bernstein_is_the_formula) {
  const auto rows = some_rows(200, 20);
  const auto interval = of(summary_of(rows), Estimator::ips).bernstein;
  ASSERT_TRUE(interval);
  std::vector<double> terms(rows.size());
  std::transform(rows.begin(), rows.end(), terms.begin(),
                 [](const Row& row) { return row.term.weight * row.term.reward; });
  const double n = 200.0;
  const double mean = std::accumulate(terms.begin(), terms.end(), 0.0) / n;
  double variance = 0.0;
  for (const double term : terms) variance += (term - mean) * (term - mean) / n;
  const auto [low, high] = std::minmax_element(terms.begin(), terms.end());
  const double logarithm = std::log(2.0 / 0.025);
  const double margin =
      7.0 * (*high - *low) * logarithm / (3.0 * (n - 1.0)) + std::sqrt(2.0 * logarithm * variance / (n - 1.0));
  EXPECT_NEAR(interval->low, mean - margin, 1e-10);
  EXPECT_NEAR(interval->high, mean + margin, 1e-10);
  EXPECT_FALSE(of(summary_of(rows), Estimator::snips).bernstein);  // a ratio of two sums
}

TEST(Estimators, bernstein_of_replay_knows_that_other_rewards_were_possible) {
  // All that match earned 0, but the log has rewards of 1.
  std::vector<Row> rows;
  for (std::size_t k = 0; k < 100; ++k)
    rows.push_back({k, {.reward = k < 50 ? 1.0 : 0.0, .weight = 1.0, .matched = k >= 50}});
  const auto interval = of(summary_of(rows), Estimator::replay).bernstein;
  ASSERT_TRUE(interval);
  const double margin = 7.0 * std::log(2.0 / 0.025) / (3.0 * 49.0);
  EXPECT_NEAR(interval->low, -margin, 1e-12);
  EXPECT_NEAR(interval->high, margin, 1e-12);
}

TEST(Estimators, clopper_and_pearson_speak_of_0_and_1) {
  std::vector<Row> rows;
  for (std::size_t k = 0; k < 10; ++k)
    rows.push_back({k, {.reward = k < 5 ? 1.0 : 0.0, .weight = 1.0, .matched = true}});
  auto interval = of(summary_of(rows), Estimator::replay).clopper_pearson;
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 0.187086, 1e-6);  // as every table has it
  EXPECT_NEAR(interval->high, 0.812914, 1e-6);
  EXPECT_TRUE(summary_of(rows).log_clopper_pearson);
  for (Row& row : rows) row.term.reward = 0.0;
  interval = of(summary_of(rows), Estimator::replay).clopper_pearson;
  EXPECT_EQ(interval->low, 0.0);
  EXPECT_NEAR(interval->high, 0.308497, 1e-6);
  rows.front().term.reward = 0.5;
  EXPECT_FALSE(of(summary_of(rows), Estimator::replay).clopper_pearson);
}

TEST(Estimators, diagnostics) {
  Accumulator accumulator({.clip = 5.0});
  accumulator.add(0, {.reward = 1.0, .weight = 2.0, .matched = true});
  accumulator.add(0, {.reward = 0.0, .weight = 0.0});
  accumulator.add(1, {.reward = 0.0, .weight = 6.0});
  accumulator.add(4, {.reward = 1.0, .weight = 0.0});
  const Diagnostics found = accumulator.summary().diagnostics;
  EXPECT_EQ(found.decisions, 4);
  EXPECT_EQ(found.matched, 1);
  EXPECT_NEAR(found.effective_sample_size, 64.0 / 40.0, 1e-12);
  EXPECT_EQ(found.largest_weight, 6.0);
  EXPECT_EQ(found.largest_share, 0.75);
  EXPECT_EQ(found.clipped_share, 0.25);
  EXPECT_EQ(found.mean_weight, 2.0);
  // Users differ from the mean by 2 - 4, 6 - 2 and 0 - 2.
  EXPECT_NEAR(*found.mean_weight_error, std::sqrt((4.0 + 16.0 + 4.0) * 1.5) / 4.0, 1e-12);
}

TEST(Estimators, nobody_matches) {
  std::vector<Row> rows = some_rows(50, 10);
  for (Row& row : rows) row.term.matched = false, row.term.weight = 0.0;
  const Summary summary = summary_of(rows);
  EXPECT_TRUE(std::isnan(of(summary, Estimator::replay).value.value));
  EXPECT_TRUE(std::isnan(of(summary, Estimator::replay).value.interval.low));
  EXPECT_TRUE(std::isnan(of(summary, Estimator::snips).value.value));
  EXPECT_EQ(of(summary, Estimator::ips).value.value, 0.0);
  EXPECT_FALSE(of(summary, Estimator::replay).bernstein);
}

TEST(Estimators, one_user_has_no_bootstrap) {
  const Summary summary = summary_of(some_rows(50, 1));
  EXPECT_TRUE(std::isnan(of(summary, Estimator::ips).value.interval.low));
  EXPECT_TRUE(of(summary, Estimator::ips).bernstein);
  EXPECT_FALSE(summary.diagnostics.mean_weight_error);
}

TEST(Estimators, rewards_without_candidates_are_only_foretold) {
  Accumulator accumulator;
  accumulator.add_reward(0, 1.0, 0.5);
  accumulator.add_reward(1, 0.0, 0.5);
  accumulator.add_reward(2, 1.0, 1.0);
  const Summary summary = accumulator.summary();
  EXPECT_TRUE(summary.estimates.empty());
  EXPECT_EQ(summary.prediction.rewards, 3);
  EXPECT_NEAR(summary.prediction.squared_error, 0.5 / 3.0, 1e-12);
  EXPECT_NEAR(summary.prediction.mean_error, (1.0 + 1.0 + 0.25) / 3.0, 1e-12);  // against 0, 1 and 1/2
  EXPECT_NEAR(summary.prediction.skill.value, 1.0 - 0.5 / 2.25, 1e-12);
  EXPECT_NEAR(summary.log.value, 2.0 / 3.0, 1e-12);
}

TEST(Estimators, refuse_what_cannot_be) {
  const auto error_of = [](const EstimateOptions& options) {
    try {
      const Accumulator accumulator(options);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of({.clip = 0.0}), "clip: 0 (must be above 0)");
  EXPECT_EQ(error_of({.level = 1.0}), "level: 1 (must be between 0 and 1)");
  EXPECT_EQ(error_of({.resamples = 1}), "resamples: 1 (must be at least 2)");
}

/// Two policies that are alike but for what one earns more: the difference is sure where neither mean is.
TEST(Accumulator, compares_with_another_on_the_same_log) {
  Accumulator one;
  Accumulator other;
  Random random(4);
  for (std::size_t user = 0; user < 50; ++user) {
    const double own = 10.0 * random.normal();
    for (std::size_t k = 0; k < 4; ++k) {
      const double weight = 1.0 + static_cast<double>(k);
      one.add(user, {.reward = own + 0.5, .weight = weight, .matched = true});
      other.add(user, {.reward = own, .weight = weight, .matched = true});
    }
  }
  for (const Estimator estimator : {Estimator::replay, Estimator::snips}) {
    const Value difference = one.more_than(other, estimator, 0.99);
    EXPECT_NEAR(difference.value, 0.5, 1e-12);
    EXPECT_NEAR(difference.interval.low, 0.5, 1e-9);
    EXPECT_NEAR(difference.interval.high, 0.5, 1e-9);
    EXPECT_NEAR(other.more_than(one, estimator, 0.99).value, -0.5, 1e-12);
  }
  // With weights that have nothing to do with each other, users vary. The higher the level, the wider.
  Accumulator third;
  for (std::size_t user = 0; user < 50; ++user) {
    for (std::size_t k = 0; k < 4; ++k) third.add(user, {.reward = random.normal(), .weight = 1.0});
  }
  const Value wide = one.more_than(third, Estimator::snips, 0.99);
  const Value narrow = one.more_than(third, Estimator::snips, 0.5);
  EXPECT_LT(wide.interval.low, narrow.interval.low);
  EXPECT_GT(wide.interval.high, narrow.interval.high);
  EXPECT_LT(narrow.interval.low, narrow.value);
  third.add(50, {.reward = 1.0, .weight = 1.0});
  EXPECT_THROW(static_cast<void>(one.more_than(third, Estimator::snips, 0.95)), std::invalid_argument);
  // As many users, but others.
  Accumulator early;
  Accumulator late;
  early.add(0, {.reward = 1.0, .weight = 1.0});
  late.add(3, {.reward = 1.0, .weight = 1.0});
  EXPECT_THROW(static_cast<void>(early.more_than(late, Estimator::snips, 0.95)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(one.more_than(other, Estimator::snips, 1.0)), std::invalid_argument);
}

}  // namespace estimators_test
}  // namespace goblin::offline
