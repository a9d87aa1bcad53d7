// How candidates are chosen, and how probable that was.

#include "goblin/bandit/exploration.hpp"

#include "bandit/scenario.hpp"
#include "bandit/thompson.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/bandit/shared_bandit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace exploration_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

double normal_below(double t) { return 0.5 * std::erfc(-t / std::sqrt(2.0)); }

TEST(ExplorationText, is_read_as_it_is_written) {
  const std::map<std::string, Exploration> all = {
      {"ucb:0.3", Exploration::ucb(0.3)},
      {"printed_bound:0.5:0.05:2", Exploration::printed_bound({.noise = 0.5, .delta = 0.05, .norm = 2.0})},
      {"thompson:0.2", Exploration::thompson(0.2)},
      {"epsilon_greedy:0.05", Exploration::epsilon_greedy(0.05)},
      {"greedy", Exploration::greedy()},
      {"square_cb:100", Exploration::square_cb(100.0)},
      {"ucb:1e-300+epsilon:0.25", Exploration::ucb(1e-300).mixed(0.25)},
      {"thompson:0.1+epsilon:0.05", Exploration::thompson(0.1).mixed(0.05)},
      {"square_cb:3+epsilon:1", Exploration::square_cb(3.0).mixed(1.0)},
  };
  std::set<std::string> rules;
  for (const auto& [text, exploration] : all) {
    EXPECT_EQ(exploration_named(text), exploration) << text;
    EXPECT_EQ(name_of(exploration), text);
    rules.insert(text.substr(0, text.find(':')));
  }
  EXPECT_EQ(rules.size(), exploration_table.size());
  EXPECT_EQ(exploration_named("ucb"), Exploration());
  EXPECT_EQ(exploration_named("printed_bound"), Exploration::printed_bound());
  EXPECT_EQ(exploration_named("greedy+epsilon:0.1"), Exploration::epsilon_greedy(0.1));
  EXPECT_EQ(exploration_named("epsilon_greedy:0.5+epsilon:0.5"), Exploration::epsilon_greedy(0.75));
  const Exploration third = Exploration::thompson(1.0 / 3.0);
  EXPECT_EQ(exploration_named(name_of(third)), third);  // to the last bit
}

TEST(ExplorationText, that_is_malformed_lists_what_there_is) {
  for (const char* text : {"", "best", "UCB:1", "ucb:", "ucb:x", "ucb:1:2", "thompson", "thompson:1,2", "greedy:1",
                           "square_cb", "epsilon_greedy", "printed_bound:1:2", "ucb:1 ", "ucb:1+epsilon",
                           "ucb:1+epsilon:", "ucb:1+epsilon:1:2", "ucb:1+gamma:2", "+epsilon:0.1"}) {
    const std::string message = refusal([&] { (void)exploration_named(text); });
    EXPECT_THAT(message, HasSubstr("exploration: '" + std::string(text) + "' (must be ")) << text;
    for (const ExplorationInfo& info : exploration_table) EXPECT_THAT(message, HasSubstr(std::string(info.text)));
    EXPECT_THAT(message, HasSubstr("+epsilon:EPSILON"));
  }
}

TEST(ExplorationText, names_the_bound_of_a_number_outside_its_range) {
  const std::map<std::string, std::string> all = {
      {"ucb:-1", "alpha: -1 (must be finite and at least 0)"},
      {"ucb:inf", "alpha: inf (must be finite and at least 0)"},
      {"thompson:-0.1", "v: -0.1 (must be between 0 and 1e100)"},
      {"thompson:nan", "v: nan (must be between 0 and 1e100)"},
      {"square_cb:-2", "gamma: -2 (must be finite and at least 0)"},
      {"epsilon_greedy:1.5", "epsilon: 1.5 (must be between 0 and 1)"},
      {"epsilon_greedy:nan", "epsilon: nan (must be between 0 and 1)"},
      {"greedy+epsilon:-0.5", "epsilon: -0.5 (must be between 0 and 1)"},
      {"printed_bound:-1:0.1:1", "printed_bound.noise: -1 (must be finite and at least 0)"},
      {"printed_bound:1:2:1", "printed_bound.delta: 2 (must be above 0 and at most 1)"},
      {"printed_bound:1:0.1:-1", "printed_bound.norm: -1 (must be finite and at least 0)"},
  };
  for (const auto& [text, message] : all) {
    EXPECT_EQ(refusal([&, &text = text] { (void)exploration_named(text); }), message);
  }
  EXPECT_EQ(
      refusal([] { (void)Bandit::gob_lin(Graph(1), {.dimension = 1, .exploration = Exploration::thompson(-1.0)}); }),
      "v: -1 (must be between 0 and 1e100)");
}

TEST(Exploration, is_ucb_with_alpha_unless_another_is_set) {
  const auto usual = Bandit::gob_lin(Graph(1), {.dimension = 1, .alpha = 0.7});
  EXPECT_EQ(usual.exploration(), Exploration::ucb(0.7));
  auto other = Bandit::gob_lin(Graph(1), {.dimension = 1, .exploration = Exploration::ucb(0.3).mixed(0.1)});
  EXPECT_EQ(other.options().alpha, 0.3);
  other.set_alpha(0.4);
  EXPECT_EQ(other.exploration(), Exploration::ucb(0.4).mixed(0.1));
  other.set_exploration(Exploration::thompson(0.2));
  EXPECT_EQ(other.summary().exploration, Exploration::thompson(0.2));
  EXPECT_EQ(refusal([&] { other.set_alpha(0.5); }),
            "alpha: 0.5 (must not be set with the rule thompson:0.2; set_exploration changes the rule)");
  EXPECT_EQ(refusal([&] { other.set_exploration(Exploration::square_cb(-1.0)); }),
            "gamma: -1 (must be finite and at least 0)");
  EXPECT_EQ(other.exploration(), Exploration::thompson(0.2));
}

/// A bandit that has learned something, for each policy and engine.
class Exploring : public ::testing::TestWithParam<std::tuple<Policy, EngineKind>> {
 protected:
  [[nodiscard]] Bandit learned(const Exploration& exploration, EngineKind kind) const {
    const Policy policy = std::get<0>(GetParam());
    auto bandit = Bandit::make(
        policy, scenario.graph, scenario.clusters_for(policy),
        {.dimension = scenario.dimension, .exploration = exploration, .hash = few_buckets, .engine = {.kind = kind}});
    for (std::size_t t = 0; t < 60; ++t) {
      const auto past = scenario.round(t);
      bandit.update(past.user, past.context(0), past.rewards[0]);
    }
    return bandit;
  }
  [[nodiscard]] Bandit learned(const Exploration& exploration) const {
    return learned(exploration, std::get<1>(GetParam()));
  }
  [[nodiscard]] Contexts contexts() const { return {round.contexts, scenario.dimension}; }
  /// So many, or fewer where each takes its time: local computes anew what it believes.
  [[nodiscard]] std::size_t draws_of(std::size_t many) const {
    return std::get<1>(GetParam()) == EngineKind::local ? many / 4 : many;
  }

  const Scenario scenario{
      .name = "exploring",
      .graph = generate::random({.nodes = 12, .edges = 24, .lowest_weight = 0.2, .highest_weight = 3.0, .seed = 5}),
      .dimension = 3,
      .arms = 6};
  const Scenario::Round round = scenario.round(1000);
  const std::vector<std::uint8_t> allowed = {1, 0, 1, 1, 0, 1};
};

/// The share of the draws that chose each arm is its probability, within the standard deviation of both.
TEST_P(Exploring, chooses_as_often_as_it_says) {
  constexpr std::size_t samples = 20'000;
  const std::size_t draws = draws_of(4000);
  for (const char* text : {"epsilon_greedy:0.3", "ucb:0.1+epsilon:0.2", "printed_bound+epsilon:0.5", "square_cb:20",
                           "square_cb:0", "square_cb:5+epsilon:0.4", "thompson:0.7", "thompson:0.5+epsilon:0.3"}) {
    const Bandit bandit = learned(exploration_named(text));
    for (const Mask mask : {Mask(), Mask(allowed)}) {
      const auto expected = bandit.probabilities(round.user, contexts(), mask, {.samples = samples});
      EXPECT_NEAR(std::accumulate(expected.begin(), expected.end(), 0.0), 1.0, 1e-12) << text;
      std::vector<double> chosen(scenario.arms, 0.0);
      Decision decision;
      for (std::uint64_t k = 0; k < draws; ++k) {
        bandit.select(round.user, contexts(), mask, decision, Draw{.seed = 3, .decision = k, .samples = 0});
        chosen[decision.arm] += 1.0 / static_cast<double>(draws);
      }
      for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
        if (!mask.empty() && mask[arm] == 0) {
          EXPECT_EQ(expected[arm], 0.0) << text;
          EXPECT_EQ(chosen[arm], 0.0) << text;
        }
        const double deviation =
            std::sqrt(expected[arm] * (1.0 - expected[arm]) * (1.0 / static_cast<double>(draws) + 1.0 / samples));
        EXPECT_NEAR(chosen[arm], expected[arm], 4.5 * deviation + 1e-9) << text << ", arm " << arm;
      }
    }
  }
}

TEST_P(Exploring, says_the_probability_of_what_it_chose) {
  for (const char* text : {"ucb:0.1", "greedy", "epsilon_greedy:0.3", "square_cb:20", "thompson:0.7+epsilon:0.1"}) {
    const Bandit bandit = learned(exploration_named(text));
    for (std::uint64_t k = 0; k < 20; ++k) {
      const auto decision = bandit.select(round.user, contexts(), allowed, Draw{.decision = k, .every_arm = true});
      EXPECT_EQ(decision.probability, decision.probabilities[decision.arm]) << text;
      EXPECT_NE(allowed[decision.arm], 0) << text;
      EXPECT_TRUE(bandit.select(round.user, contexts(), allowed, Draw{.decision = k}).probabilities.empty());
    }
  }
}

TEST_P(Exploring, needs_a_draw_where_chance_has_a_part) {
  for (const char* text : {"epsilon_greedy:0.3", "ucb:0.1+epsilon:0.2", "square_cb:20", "thompson:0.7"}) {
    const Bandit bandit = learned(exploration_named(text));
    EXPECT_TRUE(bandit.exploration().is_random());
    const std::string message = "draw: none (must be given with " + name_of(bandit.exploration());
    EXPECT_THAT(refusal([&] { (void)bandit.select(round.user, contexts()); }), HasSubstr(message));
    EXPECT_THAT(refusal([&] { (void)bandit.rank(round.user, contexts(), 2); }), HasSubstr(message));
  }
  for (const char* text : {"ucb:0.1", "printed_bound", "greedy", "epsilon_greedy:0", "ucb:0.1+epsilon:0"}) {
    const Bandit bandit = learned(exploration_named(text));
    EXPECT_FALSE(bandit.exploration().is_random());
    const Decision decision = bandit.select(round.user, contexts());
    EXPECT_EQ(decision.probability, 1.0);
    EXPECT_EQ(decision.arm, bandit.select(round.user, contexts(), {}, Draw{.seed = 8, .decision = 9}).arm);
  }
}

TEST_P(Exploring, is_the_same_to_the_bit_for_the_same_draw) {
  for (const char* text : {"epsilon_greedy:0.3", "square_cb:20", "thompson:0.7+epsilon:0.1"}) {
    const Bandit one = learned(exploration_named(text));
    const Bandit two = learned(exploration_named(text));
    std::set<std::size_t> seeds;
    std::set<std::size_t> numbers;
    for (std::uint64_t k = 40; k-- > 0;) {
      const Draw draw{.seed = 5, .decision = k};
      const Decision first = one.select(round.user, contexts(), {}, draw);
      const Decision second = two.select(round.user, contexts(), {}, draw);
      EXPECT_EQ(first.arm, second.arm);
      EXPECT_EQ(first.scores, second.scores);
      EXPECT_EQ(first.probability, second.probability);
      numbers.insert(first.arm);
      seeds.insert(one.select(round.user, contexts(), {}, Draw{.seed = k}).arm);
    }
    EXPECT_GT(numbers.size(), 1U) << text;
    EXPECT_GT(seeds.size(), 1U) << text;
  }
}

/// With the unit vectors as candidates the drawn scores are w~ itself.
TEST_P(Exploring, thompson_draws_with_the_mean_and_covariance_that_are_believed) {
  const std::size_t draws = draws_of(20'000);
  constexpr double v = 0.6;
  const std::size_t d = scenario.dimension;
  const Bandit bandit = learned(Exploration::thompson(v));
  const auto mean = bandit.mean(round.user);
  const auto covariance = bandit.covariance(round.user);
  std::vector<double> units(d * d, 0.0);
  for (std::size_t k = 0; k < d; ++k) units[k * d + k] = 1.0;
  std::vector<double> sums(d, 0.0);
  std::vector<double> products(d * d, 0.0);
  for (std::uint64_t k = 0; k < draws; ++k) {
    const auto decision = bandit.select(round.user, {units, d}, {}, Draw{.seed = 1, .decision = k, .samples = 0});
    EXPECT_TRUE(std::isnan(decision.probability));
    EXPECT_EQ(decision.arm, static_cast<std::size_t>(std::max_element(decision.scores.begin(), decision.scores.end()) -
                                                     decision.scores.begin()));
    for (std::size_t a = 0; a < d; ++a) {
      EXPECT_NEAR(decision.widths[a], v * std::sqrt(covariance[a * d + a]), 1e-6);
      sums[a] += (decision.scores[a] - decision.means[a]) / static_cast<double>(draws);
      for (std::size_t b = 0; b < d; ++b) {
        products[a * d + b] += (decision.scores[a] - decision.means[a]) * (decision.scores[b] - decision.means[b]) /
                               static_cast<double>(draws);
      }
    }
  }
  for (std::size_t a = 0; a < d; ++a) {
    const double deviation = v * std::sqrt(covariance[a * d + a]);
    EXPECT_NEAR(sums[a], 0.0, 5.0 * deviation / std::sqrt(static_cast<double>(draws)));
    for (std::size_t b = 0; b < d; ++b) {
      const double other = v * std::sqrt(covariance[b * d + b]);
      EXPECT_NEAR(products[a * d + b], v * v * covariance[a * d + b],
                  5.0 * std::sqrt(2.0 / static_cast<double>(draws)) * deviation * other);
    }
  }
}

/// What local draws from is never narrower than what is exactly believed, and its bounds say how much wider.
TEST_P(Exploring, thompson_is_not_narrower_than_the_exact_belief) {
  const Exploration exploration = Exploration::thompson(0.5);
  const Decision exact = learned(exploration, EngineKind::dense).select(round.user, contexts(), {}, Draw{});
  const Decision decision = learned(exploration).select(round.user, contexts(), {}, Draw{});
  for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
    EXPECT_GE(decision.widths[arm], exact.widths[arm] - 1e-6);
    const double off = std::abs(decision.means[arm] + decision.widths[arm] - exact.means[arm] - exact.widths[arm]);
    EXPECT_LE(off, decision.bounds[arm] + 1e-6);
  }
}

TEST_P(Exploring, ranks_by_one_choice_after_the_other) {
  const std::size_t draws = draws_of(4000);
  for (const char* text : {"ucb:0.1", "epsilon_greedy:0.3", "square_cb:20", "thompson:0.7+epsilon:0.1"}) {
    const Bandit bandit = learned(exploration_named(text));
    std::map<std::vector<std::size_t>, double> seen;
    std::map<std::vector<std::size_t>, double> expected;
    for (std::uint64_t k = 0; k < draws; ++k) {
      const bool first_time = k < 300;  // probabilities of Thompson's rule take their time
      const Draw draw{.seed = 2, .decision = k, .samples = first_time ? 2000U : 0U};
      const auto ranked = bandit.rank(round.user, contexts(), 2, allowed, draw);
      ASSERT_EQ(ranked.size(), 2U);
      const std::vector<std::size_t> arms = {ranked[0].arm, ranked[1].arm};
      if (first_time) expected[arms] = ranked[0].probability * ranked[1].probability;
      seen[arms] += 1.0 / static_cast<double>(draws);
      if (k < 20) {
        EXPECT_EQ(bandit.select(round.user, contexts(), allowed, draw).arm, ranked[0].arm);
        const auto all = bandit.rank(round.user, contexts(), 99, allowed, draw);
        std::set<std::size_t> different;
        for (const Ranked& one : all) different.insert(one.arm);
        EXPECT_EQ(different, (std::set<std::size_t>{0, 2, 3, 5}));
        EXPECT_EQ(all.size(), 4U);
        EXPECT_NEAR(all.back().probability, draw.samples > 0 ? 1.0 : all.back().probability, 1e-12);
        EXPECT_EQ(all[1].arm, ranked[1].arm);
      }
    }
    for (const auto& [arms, probability] : expected) {
      EXPECT_NEAR(
          seen[arms], probability,
          4.5 * std::sqrt(probability * (1.0 - probability) * (1.0 / static_cast<double>(draws) + 2.0 / 2000.0)) + 1e-9)
          << text;
    }
  }
}

TEST_P(Exploring, is_the_same_through_a_shared_bandit) {
  for (const char* text : {"ucb:0.1", "epsilon_greedy:0.3", "square_cb:20", "thompson:0.7+epsilon:0.1"}) {
    const Bandit bandit = learned(exploration_named(text));
    const SharedBandit shared{Bandit(bandit)};
    EXPECT_EQ(shared.exploration(), bandit.exploration());
    for (std::uint64_t k = 0; k < 20; ++k) {
      const Draw draw{.seed = 9, .decision = k, .samples = 50};
      const Decision one = bandit.select(round.user, contexts(), allowed, draw);
      const Decision two = shared.select(round.user, contexts(), allowed, draw);
      EXPECT_EQ(one.arm, two.arm);
      EXPECT_EQ(one.scores, two.scores);
      EXPECT_EQ(one.probability, two.probability);
      EXPECT_EQ(bandit.rank(round.user, contexts(), 3, {}, draw)[2].arm,
                shared.rank(round.user, contexts(), 3, {}, draw)[2].arm);
    }
    EXPECT_EQ(bandit.probabilities(round.user, contexts()), shared.probabilities(round.user, contexts()));
  }
}

TEST_P(Exploring, is_kept_in_a_model_file) {
  const Bandit bandit = learned(Exploration::thompson(1.0 / 3.0).mixed(0.1));
  const Bandit loaded = Bandit::from_bytes(bandit.to_bytes());
  EXPECT_EQ(loaded.exploration(), bandit.exploration());
  const Draw draw{.seed = 4};
  EXPECT_EQ(loaded.select(round.user, contexts(), {}, draw).scores,
            bandit.select(round.user, contexts(), {}, draw).scores);
}

INSTANTIATE_TEST_SUITE_P(all, Exploring,
                         ::testing::Combine(::testing::ValuesIn(all_policies),
                                            ::testing::Values(EngineKind::dense, EngineKind::sparse,
                                                              EngineKind::local)),
                         [](const auto& test) {
                           return test_name(std::get<0>(test.param)) + "_" +
                                  std::string(name_of(std::get<1>(test.param)));
                         });

/// One user, whose vector is known to be about (1, 0).
Bandit taught(const Exploration& exploration) {
  auto bandit = Bandit::linucb_ind(Graph(1), {.dimension = 2, .exploration = exploration});
  const std::vector<double> context = {1.0, 0.0};
  for (int k = 0; k < 4; ++k) bandit.update(0, context, 1.0);  // w = (0.8, 0), C = diag(0.2, 1)
  return bandit;
}

TEST(SquareCb, by_hand) {
  const std::vector<double> arms = {0.5, 0.0, 1.0, 0.0, 0.0, 0.0};  // means 0.4, 0.8, 0
  const auto decision = taught(Exploration::square_cb(10.0)).select(0, {arms, 2}, {}, Draw{.every_arm = true});
  EXPECT_NEAR(decision.probabilities[0], 1.0 / 7.0, 1e-15);
  EXPECT_NEAR(decision.probabilities[2], 1.0 / 11.0, 1e-15);
  EXPECT_NEAR(decision.probabilities[1], 1.0 - 1.0 / 7.0 - 1.0 / 11.0, 1e-15);
  EXPECT_EQ(decision.widths, std::vector<double>(3, 0.0));
  EXPECT_EQ(decision.scores, decision.means);
  const auto mixed = taught(Exploration::square_cb(10.0).mixed(0.3)).probabilities(0, {arms, 2});
  EXPECT_NEAR(mixed[0], 0.1 + 0.7 / 7.0, 1e-15);
  const std::vector<std::uint8_t> allowed = {1, 0, 1};
  const auto masked = taught(Exploration::square_cb(10.0)).probabilities(0, {arms, 2}, allowed);
  EXPECT_NEAR(masked[2], 1.0 / 6.0, 1e-15);
  EXPECT_EQ(masked[1], 0.0);
}

TEST(EpsilonGreedy, by_hand) {
  const std::vector<double> arms = {0.5, 0.0, 1.0, 0.0, 1.0, 0.0};  // the second and the third are equal
  EXPECT_EQ(taught(Exploration::greedy()).probabilities(0, {arms, 2}), (std::vector<double>{0.0, 1.0, 0.0}));
  const auto probabilities = taught(Exploration::epsilon_greedy(0.3)).probabilities(0, {arms, 2});
  EXPECT_NEAR(probabilities[0], 0.1, 1e-15);
  EXPECT_NEAR(probabilities[1], 0.8, 1e-15);
  EXPECT_NEAR(probabilities[2], 0.1, 1e-15);
  // Ucb thinks of the second coordinate, which it knows less about: alpha sqrt(ln 6) (1 - sqrt(0.2)) > 0.8.
  const std::vector<double> units = {1.0, 0.0, 0.0, 1.0};
  EXPECT_EQ(taught(Exploration::ucb(1.2)).probabilities(0, {units, 2}), (std::vector<double>{0.0, 1.0}));
  EXPECT_NEAR(taught(Exploration::ucb(1.2).mixed(0.5)).probabilities(0, {units, 2})[0], 0.25, 1e-15);
}

TEST(ThompsonRule, with_two_candidates_is_exact) {
  const std::vector<double> arms = {1.0, 0.0, 0.0, 1.0};
  for (const double v : {0.1, 0.5, 2.0}) {
    const auto bandit = taught(Exploration::thompson(v));
    const auto decision = bandit.select(0, {arms, 2}, {}, Draw{.samples = 1, .every_arm = true});
    const double expected = normal_below(0.8 / (v * std::sqrt(0.2 + 1.0)));
    EXPECT_NEAR(decision.probabilities[0], expected, 1e-12);
    EXPECT_NEAR(decision.probabilities[1], 1.0 - expected, 1e-12);
    EXPECT_EQ(decision.probability_error, 0.0);
  }
}

TEST(ThompsonRule, with_nothing_to_draw_is_greedy) {
  const std::vector<double> arms = {0.5, 0.0, 1.0, 0.0, 1.0, 0.0};
  const auto still = taught(Exploration::thompson(0.0)).select(0, {arms, 2}, {}, Draw{.every_arm = true});
  EXPECT_EQ(still.arm, 1U);
  EXPECT_EQ(still.probabilities, (std::vector<double>{0.0, 1.0, 0.0}));
  EXPECT_EQ(taught(Exploration::thompson(1.0)).select(0, {std::span(arms).first(2), 2}, {}, Draw{}).probability, 1.0);
}

/// Candidates that are the same get the same draw, and the lowest index counts.
TEST(ThompsonRule, draws_one_vector_for_all_candidates) {
  const std::vector<double> arms = {0.3, 0.4, 1.0, 0.0, 0.3, 0.4, 0.0, 0.0};
  const auto bandit = taught(Exploration::thompson(1.0));
  const auto probabilities = bandit.probabilities(0, {arms, 2});
  EXPECT_EQ(probabilities[2], 0.0);
  EXPECT_GT(probabilities[0], 0.1);
  for (std::uint64_t k = 0; k < 100; ++k) {
    const auto decision = bandit.select(0, {arms, 2}, {}, Draw{.decision = k, .samples = 0});
    EXPECT_EQ(decision.scores[0], decision.scores[2]);
    EXPECT_EQ(decision.scores[3], 0.0);
    EXPECT_NE(decision.arm, 2U);
  }
}

TEST(ThompsonRule, never_takes_the_second_of_two_equals) {
  const Scenario wide{.name = "wide", .graph = Graph(1), .dimension = 9, .arms = 3};
  auto round = wide.round(1);
  std::copy_n(round.contexts.begin(), 9, round.contexts.begin() + 18);  // the third is the first
  auto bandit = Bandit::linucb_ind(wide.graph, {.dimension = 9, .exploration = Exploration::thompson(1.0)});
  bandit.update(0, round.context(1), 0.5);
  const auto probabilities = bandit.probabilities(0, {round.contexts, 9});
  EXPECT_EQ(probabilities[2], 0.0);
  EXPECT_GT(probabilities[0], 0.1);
  for (std::uint64_t k = 0; k < 50; ++k) {
    EXPECT_NE(bandit.select(0, {round.contexts, 9}, {}, Draw{.decision = k}).arm, 2U);
  }
}

/// Estimates of few samples, many times: they are right on average, and as far off as their errors say.
TEST(ThompsonRule, estimates_have_the_error_that_they_say) {
  const Scenario wide{.name = "wide", .graph = Graph(1), .dimension = 8, .arms = 5};
  const Scenario many{.name = "many", .graph = Graph(1), .dimension = 2, .arms = 12};
  for (const Scenario& scenario : {wide, many}) {
    auto bandit = Bandit::linucb_ind(scenario.graph,
                                     {.dimension = scenario.dimension, .exploration = Exploration::thompson(0.4)});
    for (std::size_t t = 0; t < 20; ++t) {
      const auto round = scenario.round(t);
      bandit.update(0, round.context(0), round.rewards[0]);
    }
    const auto round = scenario.round(100);
    const Contexts contexts(round.contexts, scenario.dimension);
    const auto exact = bandit.probabilities(0, contexts, {}, {.samples = 200'000});
    constexpr std::uint64_t times = 300;
    constexpr std::size_t samples = 64;
    double squared = 0.0;
    double plain = 0.0;
    std::vector<double> sums(scenario.arms, 0.0);
    for (std::uint64_t k = 0; k < times; ++k) {
      const auto decision =
          bandit.select(0, contexts, {}, Draw{.seed = 1, .decision = k, .samples = samples, .every_arm = true});
      const double truth = exact[decision.arm];
      squared += std::pow((decision.probability - truth) / decision.probability_error, 2) / times;
      plain = std::max(plain, std::pow(decision.probability_error, 2) /
                                  (truth * (1.0 - truth) / samples + 1.0 / (samples * samples)));
      for (std::size_t arm = 0; arm < scenario.arms; ++arm) sums[arm] += decision.probabilities[arm] / times;
    }
    EXPECT_LT(squared, 1.3) << scenario.name;
    EXPECT_LT(plain, 2.0) << scenario.name;  // not worse than counting draws
    for (std::size_t arm = 0; arm < scenario.arms; ++arm) EXPECT_NEAR(sums[arm], exact[arm], 0.02) << scenario.name;
  }
}

TEST(ThompsonRule, works_at_the_ends_of_what_is_allowed) {
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    for (const auto& [ridge, v] : {std::pair(1e-100, 0.5), {1.0, 1e100}, {1.0, 1e-300}, {1e100, 0.5}}) {
      const Graph graph(3, std::vector<Edge>{{0, 1}, {1, 2}});
      auto bandit = Bandit::gob_lin(
          graph, {.dimension = 2,
                  .exploration = Exploration::thompson(v),
                  .ridge = ridge,
                  .coupling = ridge,
                  .node_ridges = ridge == 1.0 ? std::vector<double>{1.0, 2.0, 0.5} : std::vector<double>{},
                  .engine = {.kind = kind}});
      const double longest = 29'000.0 * std::sqrt(ridge == 1.0 ? 0.5 : ridge);
      const std::vector<double> arms = {longest, 0.0, 0.0, longest, 0.5 * longest, 0.5 * longest, 0.0, 0.0};
      for (int k = 0; k < 3; ++k) {
        const auto decision = bandit.select(0, {arms, 2}, {}, Draw{.every_arm = true});
        for (const double score : decision.scores) EXPECT_TRUE(std::isfinite(score)) << ridge;
        EXPECT_NEAR(std::accumulate(decision.probabilities.begin(), decision.probabilities.end(), 0.0), 1.0, 1e-12);
        bandit.update(0, std::span(arms).first(2), 1.0);
      }
    }
  }
}

/// Where local looks at few nodes only, what it knows of C_i has two ends that are apart.
TEST(ThompsonRule, draws_from_the_upper_end_with_the_engine_local) {
  const Scenario scenario{
      .name = "upper", .graph = generate::random({.nodes = 200, .edges = 900, .seed = 4}), .dimension = 2, .arms = 4};
  const auto made = [&](EngineKind kind) {
    auto bandit =
        Bandit::gob_lin(scenario.graph, {.dimension = 2,
                                         .exploration = Exploration::thompson(0.5),
                                         .engine = {.kind = kind, .local = {.tolerance = 0.1, .most_nodes = 4}}});
    for (std::size_t t = 0; t < 400; ++t) {
      const auto round = scenario.round(t);
      bandit.update(round.user, round.context(0), round.rewards[0]);
    }
    return bandit;
  };
  const Bandit exact = made(EngineKind::dense);
  const Bandit local = made(EngineKind::local);
  double wider = 0.0;
  for (NodeId user = 0; user < 50; ++user) {
    const auto round = scenario.round(1000 + user);
    const Decision truth = exact.select(user, {round.contexts, 2}, {}, Draw{.samples = 0});
    const Decision decision = local.select(user, {round.contexts, 2}, {}, Draw{.samples = 0});
    for (std::size_t arm = 0; arm < 4; ++arm) {
      EXPECT_GE(decision.widths[arm], truth.widths[arm] - 1e-9);
      EXPECT_LE(std::abs(decision.means[arm] + decision.widths[arm] - truth.means[arm] - truth.widths[arm]),
                decision.bounds[arm] + 1e-9);
      wider = std::max(wider, decision.widths[arm] / truth.widths[arm]);
    }
  }
  EXPECT_GT(wider, 1.001);
}

TEST(CholeskyFactor, of_a_matrix_with_fewer_dimensions_than_rows) {
  // Rows (1, 2), (2, 4), (0, 1): the second follows from the first.
  std::vector<double> matrix = {5.0, 10.0, 2.0, 10.0, 20.0, 4.0, 2.0, 4.0, 1.0};
  const std::vector<double> before = matrix;
  cholesky_factor(matrix, 3);
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      double product = 0.0;
      for (std::size_t k = 0; k < 3; ++k) product += matrix[a * 3 + k] * matrix[b * 3 + k];
      EXPECT_NEAR(product, before[a * 3 + b], 1e-12);
    }
  }
}

}  // namespace exploration_test
}  // namespace goblin
