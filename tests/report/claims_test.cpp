#include "goblin/report/claims.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace goblin::report {
namespace claims_test {

Claim claim_of(std::vector<std::vector<double>> differences) {
  Claim claim;
  for (auto& each : differences) claim.differences.push_back({.label = "", .by_seed = std::move(each), .estimate = {}});
  judge(claim);
  return claim;
}

TEST(Judge, decides_by_the_interval) {
  const Claim up = claim_of({{4.0, 5.0, 6.0, 5.0}});
  EXPECT_EQ(up.verdict, Verdict::holds);
  EXPECT_DOUBLE_EQ(up.differences[0].estimate.mean, 5.0);
  EXPECT_NEAR(up.differences[0].low, 5.0 - 3.18245 * std::sqrt(2.0 / 3.0 / 4.0), 1e-4);
  EXPECT_EQ(claim_of({{-4.0, -5.0, -6.0}}).verdict, Verdict::does_not_hold);
  EXPECT_EQ(claim_of({{4.0, -5.0, 6.0}}).verdict, Verdict::not_decided);
  EXPECT_EQ(claim_of({{0.0, 0.0, 0.0}}).verdict, Verdict::not_decided);
}

TEST(Judge, a_claim_needs_all_its_differences) {
  const std::vector<double> up = {4.0, 5.0, 6.0, 5.0};
  const std::vector<double> down = {-4.0, -5.0, -6.0, -5.0};
  const std::vector<double> open = {1.0, -1.0, 2.0, 0.0};
  EXPECT_EQ(claim_of({up, up}).verdict, Verdict::holds);
  EXPECT_EQ(claim_of({up, open}).verdict, Verdict::not_decided);
  EXPECT_EQ(claim_of({up, open, down}).verdict, Verdict::does_not_hold);
  const Claim three = claim_of({up, open, down});
  EXPECT_EQ(&three.weakest(), &three.differences[2]);
}

TEST(Judge, more_differences_need_wider_intervals) {
  const std::vector<double> narrow = {0.8, 2.4, 1.6, 2.8, 0.7};
  EXPECT_EQ(claim_of({narrow}).verdict, Verdict::holds);
  EXPECT_EQ(claim_of(std::vector(12, narrow)).verdict, Verdict::not_decided);
}

TEST(Judge, a_tendency_is_said_as_one) {
  Claim claim = claim_of({{4.0, 5.0, 6.0, 5.0}});
  EXPECT_EQ(verdict_of(claim), "holds");
  claim.tendency = true;
  EXPECT_EQ(verdict_of(claim), "tends to");
  claim.verdict = Verdict::does_not_hold;
  EXPECT_EQ(verdict_of(claim), "does not tend to");
  claim.verdict = Verdict::not_decided;
  EXPECT_EQ(verdict_of(claim), "not decided");
}

using experiment::Entry;
using experiment::Finalist;
using experiment::Grouping;
using experiment::Outcome;
using experiment::Setting;
using experiment::paper::DatasetResult;
using experiment::paper::GridResult;
using experiment::paper::Results;

/// A run of 20 recorded rounds whose reward grows evenly up to the given one.
Outcome outcome_of(double reward, double seconds = 1.0) {
  Outcome outcome;
  for (std::uint64_t round = 5; round <= 100; round += 5) {
    outcome.curve.push_back({.round = round, .reward = reward * static_cast<double>(round) / 100.0});
  }
  outcome.seconds = seconds;
  return outcome;
}

/// An entry with a setting that was chosen and, where given, another that was better on the evaluation seeds.
Entry entry_of(std::string name, Policy policy, double reward, Grouping grouping = {}, double seconds = 1.0) {
  Finalist finalist{.setting = {.policy = policy, .grouping = grouping}, .tuning = reward, .outcomes = {}};
  for (const double more : {-0.1, 0.0, 0.1}) finalist.outcomes.push_back(outcome_of(reward + more, seconds));
  return {.name = std::move(name), .finalists = {std::move(finalist)}};
}

/// A data set in which each policy has the given reward; macro has 10 clusters of 100 users, block 20.
DatasetResult dataset_of(const char* name, double sin, double ind, double gob, double macro, double block) {
  DatasetResult dataset;
  dataset.users = 100;
  dataset.result.study.name = name;
  dataset.result.study.title = name;
  dataset.result.study.evaluation_seeds = {1, 2, 3};
  dataset.result.entries = {
      entry_of("linucb-sin", Policy::linucb_sin, sin), entry_of("linucb-ind", Policy::linucb_ind, ind),
      entry_of("gob.lin", Policy::gob_lin, gob, {}, 50.0),
      entry_of("gob.lin.macro (number of clusters)", Policy::gob_lin_macro, macro, {.clusters = 10}, 0.25),
      entry_of("gob.lin.block (users per cluster)", Policy::gob_lin_block, block, {.cluster_size = 5}, 2.0)};
  return dataset;
}

const Claim& claim_named(const std::vector<Claim>& claims, std::string_view id) {
  for (const Claim& each : claims) {
    if (each.id == id) return each;
  }
  throw std::invalid_argument(std::string(id));
}

Results results_of(std::vector<DatasetResult> datasets) {
  Results results;
  results.datasets = std::move(datasets);
  return results;
}

std::string verdict_in(const Results& results, std::string_view id) {
  return std::string(verdict_of(claim_named(judge_claims(results, Choice::tuned), id)));
}

TEST(Claims, about_lastfm_are_the_papers) {
  const Results as_printed = results_of({dataset_of("lastfm", 950, 75, 1080, 1290, 1000)});
  for (const char* id :
       {"lastfm-graph-helps", "lastfm-graph-always-helps", "lastfm-macro-best", "lastfm-macro-beats-sin",
        "lastfm-macro-beats-gob", "lastfm-sin-competitive", "lastfm-clusters-help", "lastfm-time"}) {
    EXPECT_EQ(verdict_in(as_printed, id), "holds") << id;
  }
  const Results otherwise = results_of({dataset_of("lastfm", 950, 1000, 1080, 940, 1290)});
  for (const char* id : {"lastfm-graph-helps", "lastfm-graph-always-helps", "lastfm-macro-best",
                         "lastfm-macro-beats-sin", "lastfm-macro-beats-gob", "lastfm-sin-competitive"}) {
    EXPECT_EQ(verdict_in(otherwise, id), "does not hold") << id;
  }
  EXPECT_EQ(verdict_in(otherwise, "lastfm-clusters-help"), "holds") << "block is the best clustered one there";
}

TEST(Claims, in_hindsight_look_at_all_clusters) {
  DatasetResult dataset = dataset_of("lastfm", 950, 75, 1080, 1000, 990);
  Entry balanced = entry_of("gob.lin.macro (users per balanced cluster)", Policy::gob_lin_macro, 1290,
                            {.cluster_size = 10, .balanced = true});
  balanced.finalists[0].tuning = 900.0;  // worse on the tuning seeds
  dataset.result.entries.push_back(std::move(balanced));
  const Results results = results_of({dataset});
  for (const char* id : {"lastfm-macro-best", "lastfm-macro-beats-gob"}) {
    EXPECT_EQ(claim_named(judge_claims(results, Choice::tuned), id).verdict, Verdict::does_not_hold) << id;
    EXPECT_EQ(claim_named(judge_claims(results, Choice::hindsight), id).verdict, Verdict::holds) << id;
  }
}

TEST(Claims, are_the_same_ones_either_way_where_a_time_is_missing) {
  DatasetResult dataset = dataset_of("lastfm", 950, 75, 1080, 1290, 1000);
  Finalist other = dataset.result.entries[3].finalists[0];
  other.outcomes = {outcome_of(1300), outcome_of(1301), outcome_of(1302)};
  other.outcomes[1].seconds.reset();
  dataset.result.entries[3].finalists.push_back(std::move(other));
  const Results results = results_of({dataset});
  const auto tuned = judge_claims(results, Choice::tuned);
  const auto hindsight = judge_claims(results, Choice::hindsight);
  ASSERT_EQ(tuned.size(), hindsight.size());
  for (std::size_t k = 0; k < tuned.size(); ++k) EXPECT_EQ(tuned[k].id, hindsight[k].id);
}

TEST(Claims, always_looks_along_the_curve) {
  DatasetResult dataset = dataset_of("lastfm", 950, 75, 1080, 1290, 1000);
  for (Outcome& outcome : dataset.result.entries[2].finalists[0].outcomes) {
    // gob.lin: behind in 9 of the 18 recorded rounds after the first tenth, ahead at the end.
    for (auto& point : outcome.curve) point.reward = point.round <= 55 ? 0.0 : point.reward;
  }
  const auto claims = judge_claims(results_of({dataset}), Choice::tuned);
  EXPECT_EQ(claim_named(claims, "lastfm-graph-helps").verdict, Verdict::holds);
  const Claim& along = claim_named(claims, "lastfm-graph-always-helps");
  EXPECT_EQ(along.verdict, Verdict::does_not_hold);
  EXPECT_NEAR(along.weakest().estimate.mean, 0.5 - 0.95, 1e-12);
}

TEST(Claims, about_delicious_are_the_papers) {
  const Results as_printed = results_of({dataset_of("delicious", 40, 130, 300, 250, 350)});
  EXPECT_EQ(verdict_in(as_printed, "delicious-block-best"), "tends to");
  EXPECT_EQ(verdict_in(as_printed, "delicious-gob-second"), "holds");
  EXPECT_EQ(verdict_in(as_printed, "delicious-ind-beats-sin"), "holds");
  const Results level = results_of({dataset_of("delicious", 40, 130, 300, 250, 300)});
  EXPECT_EQ(verdict_in(level, "delicious-gob-second"), "holds") << "level with block";
  EXPECT_EQ(verdict_in(level, "delicious-block-best"), "not decided");
  const Results ahead = results_of({dataset_of("delicious", 40, 130, 400, 250, 350)});
  EXPECT_EQ(verdict_in(ahead, "delicious-gob-second"), "does not hold") << "the best is no runner-up";
  EXPECT_EQ(verdict_in(ahead, "delicious-block-best"), "does not tend to");
}

TEST(Claims, savings_stand_beside_what_is_quadratic) {
  // gob.lin takes 50 s, macro 0.25: 200 times as fast where (100 / 10)^2 = 100 is quadratic. block takes 2: 25 times,
  // and a round has to do with 5 of 100 users: 400.
  const auto claims = judge_claims(results_of({dataset_of("lastfm", 950, 75, 1080, 1290, 1000)}), Choice::tuned);
  const Claim& savings = claim_named(claims, "lastfm-savings");
  EXPECT_NEAR(savings.differences[0].estimate.mean, 200.0 - 100.0, 1e-9);
  EXPECT_NEAR(savings.differences[1].estimate.mean, 25.0 - 400.0, 1e-9);
  EXPECT_NE(savings.differences[0].label.find("200 times as fast; (n / nodes)^2 = (100 / 10)^2 = 100"),
            std::string::npos)
      << savings.differences[0].label;
  EXPECT_EQ(savings.verdict, Verdict::does_not_hold);
}

GridResult grid_of(double graph_noise, double payoff_noise, double sin, double ind, double gob) {
  GridResult at{.graph_noise = graph_noise, .payoff_noise = payoff_noise, .result = {}};
  at.result.entries = {entry_of("linucb-sin", Policy::linucb_sin, sin), entry_of("linucb-ind", Policy::linucb_ind, ind),
                       entry_of("gob.lin", Policy::gob_lin, gob)};
  return at;
}

TEST(Claims, of_the_body_and_of_the_caption_are_apart) {
  Results results;
  results.grid = {grid_of(0, 0, 1400, 2700, 3000), grid_of(0, 0.5, 1350, 1750, 2700), grid_of(500, 0, 1400, 2700, 2800),
                  grid_of(500, 0.5, 1350, 1750, 2500)};
  EXPECT_EQ(verdict_in(results, "payoff-noise"), "holds") << "sin keeps 96 %, gob.lin 90 %, ind 65 %";
  EXPECT_EQ(verdict_in(results, "payoff-noise-caption"), "does not hold") << "gob.lin keeps less than sin";
  EXPECT_EQ(verdict_in(results, "sin-unaffected"), "holds");
  EXPECT_EQ(verdict_in(results, "sin-never-ahead"), "holds");
  EXPECT_EQ(verdict_in(results, "graph-noise"), "tends to");
  EXPECT_EQ(verdict_in(results, "graph-noise-caption"), "holds");
  results.grid[2] = grid_of(500, 0, 1300, 2700, 3100);
  EXPECT_EQ(verdict_in(results, "sin-unaffected"), "does not hold");
  EXPECT_EQ(verdict_in(results, "graph-noise"), "does not tend to");
}

TEST(Claims, of_theorem_1_are_ratios) {
  Results results;
  results.theorem.emplace_back();
  auto& theorem = results.theorem.back();
  theorem.study.name = "4cliques";
  theorem.entries = {entry_of("linucb-ind", Policy::linucb_ind, 500), entry_of("gob.lin", Policy::gob_lin, 1000),
                     entry_of(std::string(experiment::paper::simplified_width), Policy::gob_lin, 990)};
  for (std::size_t k = 0; k < 3; ++k) {
    for (Outcome& outcome : theorem.entries[k].finalists[0].outcomes) {
      outcome.curve.back().log_determinant = k == 0 ? 4000.0 : 500.0;
      outcome.curve.back().regret = 10.0;
      outcome.curve.back().regret_bound = 100.0;
    }
  }
  EXPECT_EQ(verdict_in(results, "4cliques-theorem"), "holds");
  EXPECT_EQ(verdict_in(results, "4cliques-width"), "holds");
  const auto claims = judge_claims(results, Choice::tuned);
  EXPECT_NEAR(claim_named(claims, "4cliques-volume").weakest().estimate.mean, 8.0 - 1.0, 1e-12);
  for (Outcome& outcome : theorem.entries[2].finalists[0].outcomes) outcome.curve.back().reward = 900.0;
  EXPECT_EQ(verdict_in(results, "4cliques-width"), "does not hold") << "10 % lost";
}

TEST(Claims, in_hindsight_go_by_the_best_setting_of_all) {
  DatasetResult dataset = dataset_of("lastfm", 950, 75, 1080, 1000, 1000);
  Finalist better = dataset.result.entries[3].finalists[0];
  for (Outcome& outcome : better.outcomes) outcome = outcome_of(1500.0 + outcome.normalized_reward() / 1000.0);
  for (int k = 0; k < 3; ++k) dataset.result.entries[3].finalists.push_back(dataset.result.entries[3].finalists[0]);
  dataset.result.entries[3].finalists.back() = better;
  const Results results = results_of({dataset});
  EXPECT_EQ(claim_named(judge_claims(results, Choice::tuned), "lastfm-macro-best").verdict, Verdict::does_not_hold);
  EXPECT_EQ(claim_named(judge_claims(results, Choice::hindsight), "lastfm-macro-best").verdict, Verdict::holds);
}

TEST(Claims, in_several_readings_hold_in_every_some_or_none) {
  Results results = results_of({dataset_of("lastfm", 950, 75, 1080, 1290, 1000)});
  results.plan.options.reading = "unit-contexts";
  results.others.push_back({.name = "literal", .datasets = {dataset_of("lastfm", 950, 1000, 1080, 1070, 1290)}});
  const auto readings = judge_readings(results);
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_EQ(readings[0].name, "unit-contexts");
  EXPECT_EQ(readings[1].name, "literal");
  EXPECT_EQ(spread_of(readings, "lastfm-graph-helps"), Spread::every);
  EXPECT_EQ(spread_of(readings, "lastfm-macro-best"), Spread::some);
  EXPECT_EQ(spread_of(readings, "lastfm-savings"), Spread::none);
}

TEST(Readings, are_judged_by_the_same_contenders) {
  DatasetResult dataset = dataset_of("lastfm", 950, 75, 1080, 1000, 990);
  dataset.result.entries.push_back(entry_of("gob.lin.macro (number of balanced clusters)", Policy::gob_lin_macro, 1290,
                                            {.clusters = 10, .balanced = true}));
  Results results = results_of({dataset});
  results.others.push_back({.name = "literal", .datasets = {dataset_of("lastfm", 950, 75, 1080, 1000, 990)}});
  EXPECT_EQ(verdict_in(results, "lastfm-macro-best"), "holds");
  for (const ReadingClaims& reading : judge_readings(results)) {
    EXPECT_EQ(verdict_of(claim_named(reading.claims, "lastfm-macro-best")), "does not hold") << reading.name;
  }
}

}  // namespace claims_test
}  // namespace goblin::report
