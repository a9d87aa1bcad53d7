#include "goblin/offline/evaluate.hpp"

#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::offline {
namespace evaluate_test {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr std::size_t candidates = 4;
constexpr std::size_t dimension = 3;

/// What a user may meet: candidates, and how probable a click on each is.
struct Situation {
  std::size_t user = 0;
  std::vector<double> contexts;
  std::vector<double> clicks;
};

/// A world of which everything is known. A user's clicks are alike: what one likes, one likes whenever it comes.
class KnownWorld {
 public:
  static constexpr std::size_t users = 120;
  static constexpr std::size_t of_each = 6;

  explicit KnownWorld(std::uint64_t seed) {
    for (std::size_t user = 0; user < users; ++user) {
      Random random(seed, 1, user);
      std::vector<double> taste(dimension);
      for (double& number : taste) number = random.normal() / 3.0;
      taste[0] += 0.3;  // that much all have in common
      for (std::size_t k = 0; k < of_each; ++k) {
        Situation situation{.user = user, .contexts = {}, .clicks = {}};
        for (std::size_t candidate = 0; candidate < candidates; ++candidate) {
          double click = 0.4;
          for (std::size_t at = 0; at < dimension; ++at) {
            situation.contexts.push_back(random.uniform(-1.0, 1.0));
            click += taste[at] * situation.contexts.back();
          }
          situation.clicks.push_back(std::clamp(click, 0.02, 0.98));
        }
        situations_.push_back(std::move(situation));
      }
    }
  }

  [[nodiscard]] const Situation& situation(std::size_t user, std::size_t k) const {
    return situations_[user * of_each + k];
  }
  /// What a bandit earns on average, exactly.
  [[nodiscard]] double value_of(const Bandit& bandit) const {
    double sum = 0.0;
    for (const Situation& situation : situations_) {
      const auto probabilities = bandit.probabilities(situation.user, {situation.contexts, dimension});
      sum += std::inner_product(probabilities.begin(), probabilities.end(), situation.clicks.begin(), 0.0);
    }
    return sum / static_cast<double>(situations_.size());
  }
  /// A log of some users, drawn anew: calls take(number, situation, decision).
  template <typename Take>
  void log(std::uint64_t seed, bool uniform, const Take& take) const {
    constexpr std::size_t drawn = 40;
    constexpr std::size_t rounds = 15;
    Random random(seed, 2);
    for (std::size_t number = 0; number < drawn; ++number) {
      const std::size_t user = random.below(users);
      for (std::size_t round = 0; round < rounds; ++round) {
        const Situation& situation = this->situation(user, random.below(of_each));
        // One of the candidates comes four times as often as the others, or none does.
        const std::size_t favourite = uniform ? candidates : static_cast<std::size_t>(situation.contexts[0] > 0.0);
        const double all = static_cast<double>(candidates) + (uniform ? 0.0 : 3.0);
        double left = random.uniform() * all;
        std::size_t action = 0;
        const auto share = [favourite](std::size_t k) { return k == favourite ? 4.0 : 1.0; };
        while (action + 1 < candidates && left >= share(action)) left -= share(action++);
        const double reward = random.uniform() < situation.clicks[action] ? 1.0 : 0.0;
        take(number, situation,
             LoggedDecision{.contexts = situation.contexts,
                            .action = action,
                            .reward = reward,
                            .probability = share(action) / all});
      }
    }
  }
  /// A bandit that knows something, and chooses with chance.
  [[nodiscard]] Bandit taught(const Exploration& exploration) const {
    auto bandit = Bandit::linucb_sin(Graph(users, {}), {.dimension = dimension, .exploration = exploration});
    log(77, true, [&](std::size_t, const Situation& situation, const LoggedDecision& logged) {
      bandit.update(situation.user, logged.contexts.subspan(logged.action * dimension, dimension), logged.reward);
    });
    return bandit;
  }

 private:
  std::vector<Situation> situations_;
};

const Estimate& of(const Summary& summary, Estimator estimator) {
  return summary.estimates[static_cast<std::size_t>(estimator)];
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Evaluation, intervals_hold_the_truth_as_often_as_they_say) {
  constexpr std::size_t logs = 200;
  const KnownWorld world(1);
  const Bandit bandit = world.taught(Exploration::epsilon_greedy(0.2));
  const double truth = world.value_of(bandit);
  for (const bool uniform : {false, true}) {
    std::array<std::size_t, estimator_table.size()> covered{};
    std::array<double, estimator_table.size()> sums{};
    std::size_t bernstein = 0;
    for (std::size_t k = 0; k < logs; ++k) {
      Evaluation evaluation(bandit, {.learning = Learning::none, .seed = k, .estimates = {.resamples = 300}});
      world.log(5000 + k, uniform, [&](std::size_t number, const Situation& situation, const LoggedDecision& logged) {
        evaluation.add(number, situation.user, logged);
      });
      const Summary summary = evaluation.result().summary;
      for (const Estimate& each : summary.estimates) {
        const auto at = static_cast<std::size_t>(each.estimator);
        covered[at] += static_cast<std::size_t>(each.value.interval.low <= truth && truth <= each.value.interval.high);
        sums[at] += each.value.value;
      }
      const Interval ips = *of(summary, Estimator::ips).bernstein;
      bernstein += static_cast<std::size_t>(ips.low <= truth && truth <= ips.high);
    }
    for (const EstimatorInfo& info : estimator_table) {
      if (info.estimator == Estimator::dm) continue;                  // what the bandit believes
      if (info.estimator == Estimator::replay && !uniform) continue;  // what it is not for
      const auto at = static_cast<std::size_t>(info.estimator);
      EXPECT_GE(covered[at], logs * 90 / 100) << info.name;
      EXPECT_LE(covered[at], logs * 99 / 100) << info.name;
      EXPECT_NEAR(sums[at] / logs, truth, 0.02) << info.name;
    }
    EXPECT_GE(bernstein, logs * 95 / 100);
  }
}

TEST(Evaluation, what_learns_as_it_goes_is_judged_as_it_was) {
  // Whatever was learned before, a round's terms are right on average: here against the policy of each round itself.
  constexpr std::size_t logs = 100;
  const KnownWorld world(2);
  for (const Learning learning : {Learning::matched, Learning::all}) {
    std::array<std::vector<double>, estimator_table.size()> differences;
    for (std::size_t k = 0; k < logs; ++k) {
      Evaluation evaluation(Bandit::linucb_sin(Graph(KnownWorld::users, {}), {.dimension = dimension, .alpha = 0.3}),
                            {.learning = learning, .estimates = {.resamples = 2}});
      double truth = 0.0;
      double count = 0.0;
      world.log(k, true, [&](std::size_t number, const Situation& situation, const LoggedDecision& logged) {
        const std::size_t arm = evaluation.bandit().select(situation.user, {logged.contexts, dimension}).arm;
        truth += situation.clicks[arm];
        count += 1.0;
        evaluation.add(number, situation.user, logged);
      });
      const Evaluated result = evaluation.result();
      for (const Estimate& each : result.summary.estimates) {
        differences[static_cast<std::size_t>(each.estimator)].push_back(each.value.value - truth / count);
      }
      EXPECT_EQ(evaluation.bandit().rewards(),
                learning == Learning::all ? result.summary.diagnostics.decisions : result.summary.diagnostics.matched);
    }
    for (const Estimator estimator : {Estimator::ips, Estimator::clipped_ips, Estimator::dr, Estimator::switch_dr}) {
      const auto& values = differences[static_cast<std::size_t>(estimator)];
      const double mean = std::accumulate(values.begin(), values.end(), 0.0) / logs;
      double squares = 0.0;
      for (const double value : values) squares += (value - mean) * (value - mean);
      EXPECT_LT(std::abs(mean), 4.0 * std::sqrt(squares / (logs - 1.0) / logs)) << name_of(estimator);
    }
  }
}

TEST(Evaluation, terms_are_those_of_the_bandit) {
  const KnownWorld world(3);
  for (const Exploration& exploration :
       {Exploration::ucb(0.3), Exploration::square_cb(5.0), Exploration::ucb(0.3).mixed(0.4)}) {
    const Bandit bandit = world.taught(exploration);
    Evaluation evaluation(bandit, {.learning = Learning::none, .seed = 5});
    Accumulator expected({.seed = 0});
    std::uint64_t decision = 0;
    world.log(4, false, [&](std::size_t number, const Situation& situation, const LoggedDecision& logged) {
      const Contexts contexts(logged.contexts, dimension);
      const auto probabilities = bandit.probabilities(situation.user, contexts);
      const Decision chosen =
          bandit.select(situation.user, contexts, {}, Draw{.seed = 5, .decision = decision++, .every_arm = true});
      expected.add(number, {.reward = logged.reward,
                            .weight = probabilities[logged.action] / logged.probability,
                            .matched = chosen.arm == logged.action,
                            .predicted = chosen.means[logged.action],
                            .expected = std::inner_product(probabilities.begin(), probabilities.end(),
                                                           chosen.means.begin(), 0.0)});
      evaluation.add(number, situation.user, logged);
    });
    const Summary found = evaluation.result().summary;
    const Summary wanted = expected.summary();
    for (const EstimatorInfo& info : estimator_table) {
      EXPECT_NEAR(of(found, info.estimator).value.value, of(wanted, info.estimator).value.value, 1e-12) << info.name;
      EXPECT_NEAR(of(found, info.estimator).gain.interval.low, of(wanted, info.estimator).gain.interval.low, 1e-12);
    }
    EXPECT_EQ(found.diagnostics.matched, wanted.diagnostics.matched);
    EXPECT_NEAR(found.diagnostics.mean_weight, 1.0, 0.25);
  }
}

TEST(Evaluation, thompson_has_weights_as_well) {
  const KnownWorld world(3);
  Evaluation evaluation(world.taught(Exploration::thompson(0.5)), {.learning = Learning::none});
  world.log(4, true, [&](std::size_t number, const Situation& situation, const LoggedDecision& logged) {
    evaluation.add(number, situation.user, logged);
  });
  const Evaluated result = evaluation.result();
  EXPECT_NEAR(result.summary.diagnostics.mean_weight, 1.0, 0.15);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("thompson are estimated")));
}

/// Rounds of one candidate that pays 1 and one that pays nothing; the bandit knows which. The log shows the good one
/// with a probability and says another.
Evaluated two_arms(double real, double said, std::size_t rounds, std::size_t users,
                   const EvaluationOptions& options = {}) {
  auto bandit = Bandit::linucb_sin(Graph(users, {}), {.dimension = 2, .alpha = 0.0});
  const std::vector<double> arms = {1.0, 0.0, 0.0, 1.0};
  bandit.update(0, std::span(arms).first(2), 1.0);
  Evaluation evaluation(bandit, options);
  for (std::size_t k = 0; k < rounds; ++k) {
    const bool good = Random(8, 0, k).uniform() < real;
    evaluation.add(k % users, k % users,
                   {.contexts = arms,
                    .action = good ? 0U : 1U,
                    .reward = good ? 1.0 : 0.0,
                    .probability = good ? said : 1.0 - said});
  }
  return evaluation.result();
}

TEST(Evaluation, good_logs_have_no_warnings) {
  const Evaluated result = two_arms(0.5, 0.5, 1000, 50);
  EXPECT_TRUE(result.warnings.empty()) << ::testing::PrintToString(result.warnings);
  EXPECT_EQ(result.policy, "linucb-sin");
  EXPECT_EQ(result.exploration, "ucb:0");
  EXPECT_NEAR(of(result.summary, Estimator::snips).value.value, 1.0, 1e-12);
  EXPECT_GT(of(result.summary, Estimator::dr).gain.interval.low, 0.3);
}

TEST(Evaluation, warns_in_words) {
  EXPECT_THAT(two_arms(0.3, 0.3, 1000, 50).warnings,
              Contains(HasSubstr("the log did not choose uniformly (its probabilities are 0.6 to 1.4 times")));
  EXPECT_THAT(two_arms(0.3, 0.5, 2000, 50).warnings, Contains(HasSubstr("the log could not have shown")));
  EXPECT_THAT(two_arms(0.5, 0.3, 2000, 50).warnings, Contains(HasSubstr("probabilities are lower than")));
  EXPECT_THAT(two_arms(0.05, 0.05, 500, 50).warnings, Contains(HasSubstr("effective sample size")));
  EXPECT_THAT(two_arms(0.05, 0.05, 200, 50).warnings, Contains(HasSubstr("one round carries")));
  EXPECT_THAT(two_arms(0.5, 0.5, 100, 50).warnings, Contains(HasSubstr("replay rests on the")));
  EXPECT_THAT(two_arms(0.5, 0.5, 1000, 5).warnings, Contains(HasSubstr("only 5 users")));
  EXPECT_THAT(two_arms(0.5, 0.5, 1000, 1).warnings, Contains(HasSubstr("the log has one user")));
  EXPECT_THAT(two_arms(0.0, 0.5, 1000, 50).warnings, Contains(HasSubstr("something else in every round")));
  EXPECT_THAT(two_arms(0.5, 0.5, 1000, 50, {.estimates = {.clip = 1.5}}).warnings,
              Contains(HasSubstr("have weights above 1.5")));
}

TEST(Evaluation, does_not_decide_by_the_bandits_own_opinion) {
  EXPECT_TRUE(two_arms(0.5, 0.5, 1000, 50).decidable);
  EXPECT_TRUE(two_arms(0.3, 0.3, 1000, 50).decidable);
  // What the policy would have shown never was: dr is what the bandit expects, with an interval of no width.
  const Evaluated never = two_arms(0.0, 0.5, 1000, 50);
  EXPECT_GT(of(never.summary, Estimator::dr).gain.interval.low, 0.0);
  EXPECT_FALSE(never.decidable);
  EXPECT_FALSE(two_arms(0.3, 0.5, 2000, 50).decidable);   // or seldom
  EXPECT_FALSE(two_arms(0.5, 0.3, 2000, 50).decidable);   // the log's probabilities are wrong
  EXPECT_FALSE(two_arms(0.05, 0.05, 500, 50).decidable);  // too few rounds
}

TEST(Evaluation, refuses_what_cannot_be_and_stays_as_it_was) {
  Evaluation evaluation(Bandit::gob_lin(generate::cliques(1, 3), {.dimension = 1}));
  const std::vector<double> contexts = {1.0, 0.5};
  const LoggedDecision good{.contexts = contexts, .action = 1, .reward = 1.0, .probability = 0.5};
  const auto error_with = [&](auto change) {
    LoggedDecision bad = good;
    change(bad);
    return error_of([&] { evaluation.add(0, 0, bad); });
  };
  EXPECT_EQ(error_of([&] { static_cast<void>(evaluation.result()); }), "log: 0 rewards (must be at least 2)");
  evaluation.add(0, 0, good);
  evaluation.add(1, 1, good);
  const auto before = evaluation.bandit().to_bytes();
  EXPECT_THAT(error_with([](auto& bad) { bad.probability = 0.0; }), HasSubstr("probability: 0 (must be above 0"));
  EXPECT_THAT(error_with([](auto& bad) { bad.probability = 1.5; }), HasSubstr("probability: 1.5 (must be above 0"));
  EXPECT_THAT(error_with([](auto& bad) { bad.probability = std::nan(""); }), HasSubstr("probability: nan"));
  EXPECT_EQ(error_with([](auto& bad) { bad.action = 2; }), "action: 2 (must be below 2, the number of candidates)");
  EXPECT_THAT(error_with([](auto& bad) { bad.reward = std::nan(""); }), HasSubstr("reward"));
  EXPECT_NE(error_of([&] { evaluation.add(0, 7, good); }), "");
  EXPECT_EQ(evaluation.bandit().to_bytes(), before);
  EXPECT_EQ(evaluation.result().summary.diagnostics.decisions, 2);
}

TEST(Evaluation, learnings_have_names) {
  for (const Learning learning : {Learning::matched, Learning::all, Learning::none}) {
    EXPECT_EQ(learning_named(name_of(learning)), learning);
  }
  EXPECT_EQ(error_of([] { static_cast<void>(learning_named("some")); }), "learn: 'some' (must be matched, all, none)");
}

TEST(Evaluation, rewards_are_foretold_before_they_are_learned) {
  const auto make = [] { return Bandit::linucb_ind(Graph(2, {}), {.dimension = 1}); };
  const std::vector<double> one = {1.0};
  Evaluation evaluation(make());
  Evaluation fixed(make(), {.learning = Learning::none});
  for (Evaluation* each : {&evaluation, &fixed}) {
    each->add_reward(0, 0, one, 1.0);
    each->add_reward(0, 0, one, 1.0);
    each->add_reward(1, 1, one, 1.0);
  }
  // 0, then 1/2 after a reward of 1 with ridge 1, then 0 for another user.
  EXPECT_NEAR(evaluation.result().summary.prediction.squared_error, (1.0 + 0.25 + 1.0) / 3.0, 1e-12);
  EXPECT_NEAR(fixed.result().summary.prediction.squared_error, 1.0, 1e-12);
  EXPECT_EQ(fixed.bandit().rewards(), 0);
}

}  // namespace evaluate_test
}  // namespace goblin::offline
