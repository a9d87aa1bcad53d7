#include "goblin/data/hetrec.hpp"
#include "goblin/experiment/sweep.hpp"
#include "goblin/report/table.hpp"
#include "goblin/report/trace_csv.hpp"
#include "goblin/world/catalogue.hpp"
#include "goblin/world/cliques.hpp"
#include "goblin/world/log.hpp"
#include "support/datasets.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::experiment {
namespace experiment_test {

using ::testing::HasSubstr;

world::Cliques small_world(std::uint64_t repetition = 0) {
  return world::Cliques({.cliques = 2,
                         .size = 5,
                         .dimension = 3,
                         .arms = 4,
                         .graph_noise = 3.0,
                         .payoff_noise = 0.2,
                         .seed = 9,
                         .repetition = repetition});
}

TEST(Simulate, adds_up_what_select_and_update_earn) {
  const auto world = small_world();
  auto bandit = Bandit::gob_lin(world.graph(), {.dimension = 3, .alpha = 0.2});
  const Trace trace = simulate(bandit, world, {.rounds = 50});
  EXPECT_EQ(bandit.rewards(), 50);
  ASSERT_EQ(trace.rows.size(), 50);

  auto again = Bandit::gob_lin(world.graph(), {.dimension = 3, .alpha = 0.2});
  double reward = 0.0;
  double random = 0.0;
  double regret = 0.0;
  for (std::uint64_t t = 0; t < 50; ++t) {
    const auto round = world.round(t);
    const auto arm = again.select(round.user, {round.contexts, 3}).arm;
    again.update(round.user, round.context(arm), round.payoffs[arm]);
    reward += round.payoffs[arm];
    random += round.average_payoff();
    regret += *std::max_element(round.expected.begin(), round.expected.end()) - round.expected[arm];
    EXPECT_EQ(trace.rows[t].round, t + 1);
    EXPECT_EQ(trace.rows[t].user, round.user);
    EXPECT_EQ(trace.rows[t].arm, arm);
    EXPECT_NEAR(trace.rows[t].normalized_reward, reward - random, 1e-12);
  }
  EXPECT_NEAR(trace.reward, reward, 1e-12);
  EXPECT_NEAR(trace.random_reward, random, 1e-12);
  EXPECT_NEAR(*trace.regret, regret, 1e-12);
  EXPECT_TRUE(trace.negative_payoffs);
  ASSERT_TRUE(trace.regret_bound);
  EXPECT_GT(*trace.regret_bound, *trace.regret);
}

TEST(Simulate, the_bound_is_known_where_users_have_nodes) {
  const auto world = small_world();
  auto shared = Bandit::linucb_sin(world.graph(), {.dimension = 3});
  EXPECT_FALSE(simulate(shared, world, {.rounds = 5}).regret_bound);
  const auto log = world::Log::record(world, 0, 5);
  auto bandit = Bandit::linucb_ind(world.graph(), {.dimension = 3});
  EXPECT_FALSE(simulate(bandit, log, {.rounds = 5}).regret_bound);
}

TEST(Simulate, the_bound_of_a_bandit_with_an_intercept_counts_the_constant) {
  const auto world = small_world();
  const auto truth = world.truth();
  auto bandit = Bandit::gob_lin(world.graph(), {.dimension = 3, .intercept = true});
  const Trace trace = simulate(bandit, world, {.rounds = 50});
  std::vector<double> vectors;
  for (std::size_t user = 0; user < world.graph().node_count(); ++user) {
    for (std::size_t k = 0; k < 3; ++k) vectors.push_back(truth->user_vectors[3 * user + k]);
    vectors.push_back(0.0);
  }
  ASSERT_TRUE(trace.regret_bound);
  EXPECT_DOUBLE_EQ(
      *trace.regret_bound,
      bandit.regret_bound({.noise = truth->noise,
                           .delta = SimulateOptions().delta,
                           .context_length = std::sqrt(truth->context_length * truth->context_length + 1.0),
                           .smoothness = bandit.smoothness(vectors)}));
}

TEST(Simulate, records_every_so_many_rounds_and_the_last) {
  const auto world = small_world();
  auto bandit = Bandit::linucb_sin(world.graph(), {.dimension = 3});
  const Trace trace = simulate(bandit, world, {.rounds = 10, .record_every = 4});
  ASSERT_EQ(trace.rows.size(), 3);
  EXPECT_EQ(trace.rows[0].round, 4);
  EXPECT_EQ(trace.rows[2].round, 10);
  EXPECT_TRUE(simulate(bandit, world, {.rounds = 10, .record_every = 0}).rows.empty());
}

TEST(Simulate, stops_when_told_to) {
  const auto world = small_world();
  auto bandit = Bandit::linucb_sin(world.graph(), {.dimension = 3});
  int left = 7;
  const Trace trace =
      simulate(bandit, world, {.rounds = 100, .record_every = 50, .keep_going = [&] { return --left > 0; }});
  EXPECT_EQ(trace.rounds, 7);
  EXPECT_EQ(trace.rows.back().round, 7);
}

TEST(Simulate, refuses_a_bandit_of_another_world) {
  const auto world = small_world();
  auto users = Bandit::linucb_sin(Graph(3), {.dimension = 3});
  EXPECT_THROW((void)simulate(users, world, {.rounds = 1}), std::invalid_argument);
  auto dimension = Bandit::linucb_sin(world.graph(), {.dimension = 2});
  EXPECT_THROW((void)simulate(dimension, world, {.rounds = 1}), std::invalid_argument);
  auto bandit = Bandit::linucb_sin(world.graph(), {.dimension = 3});
  EXPECT_THROW((void)simulate(bandit, world::Log::record(world, 0, 5), {.rounds = 6}), std::invalid_argument);
}

std::vector<Stage> small_stages() {
  std::vector<Stage> stages;
  for (std::uint64_t repetition = 0; repetition < 3; ++repetition) {
    stages.push_back({.world = std::make_shared<world::Cliques>(small_world(repetition)),
                      .clusters = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}});
  }
  return stages;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Policy policy : all_policies) cases.push_back({.policy = policy, .alpha = 0.1});
  return cases;
}

TEST(Sweep, refuses_what_cannot_be_before_anybody_plays) {
  std::size_t rounds = 0;
  const auto stages = small_stages();
  std::vector<Case> cases{{.policy = Policy::gob_lin}, {.policy = Policy::club}};
  for (Case& each : cases) each.bandit.forgetting.window = 5;
  const SimulateOptions options{.rounds = 10, .keep_going = [&rounds] { return ++rounds > 0; }};
  EXPECT_THROW((void)sweep(stages, cases, {.simulate = options}), std::invalid_argument);
  EXPECT_EQ(rounds, 0);
}

TEST(Sweep, finds_the_same_on_any_number_of_threads) {
  const auto stages = small_stages();
  const auto cases = all_cases();
  const auto one = sweep(stages, cases, {.simulate = {.rounds = 60}, .threads = 1});
  const auto many = sweep(stages, cases, {.simulate = {.rounds = 60}, .threads = 4});
  ASSERT_EQ(one.size(), cases.size());
  for (std::size_t k = 0; k < cases.size(); ++k) {
    ASSERT_EQ(many[k].size(), 3);
    for (std::size_t stage = 0; stage < 3; ++stage) {
      EXPECT_EQ(many[k][stage].policy, cases[k].policy);
      EXPECT_EQ(many[k][stage].repetition, stage);
      EXPECT_EQ(many[k][stage].reward, one[k][stage].reward);
      // Every policy meets the same rounds.
      EXPECT_EQ(one[k][stage].random_reward, one[0][stage].random_reward);
    }
    EXPECT_NE(one[k][0].random_reward, one[k][1].random_reward);
  }
}

/// Every rule earns more than chance, and its luck follows from the world alone.
TEST(Sweep, plays_every_exploration) {
  const auto world = std::make_shared<world::Cliques>(
      world::CliquesOptions{.cliques = 3, .size = 6, .dimension = 4, .payoff_noise = 0.2, .seed = 3});
  const std::vector<Stage> stages = {{.world = world, .clusters = {}}};
  std::vector<Case> cases;
  for (const char* text : {"ucb:0.1", "printed_bound:0.1:0.5:0.1", "thompson:0.1", "epsilon_greedy:0.1", "greedy",
                           "square_cb:50", "thompson:0.1+epsilon:0.2"}) {
    for (const Policy policy : {Policy::linucb_sin, Policy::gob_lin}) {
      cases.push_back({.policy = policy});
      cases.back().bandit.exploration = exploration_named(text);
    }
  }
  const auto traces = sweep(stages, cases, {.simulate = {.rounds = 600}, .threads = 2});
  const auto again = sweep(stages, cases, {.simulate = {.rounds = 600}, .threads = 1});
  std::set<double> rewards;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    EXPECT_EQ(traces[k][0].exploration, *cases[k].bandit.exploration);
    EXPECT_EQ(traces[k][0].reward, again[k][0].reward);
    rewards.insert(traces[k][0].reward);
    if (cases[k].policy == Policy::gob_lin) {
      EXPECT_GT(traces[k][0].normalized_reward(), 0.0) << name_of(traces[k][0].exploration);
    }
  }
  EXPECT_EQ(rewards.size(), cases.size());
}

TEST(Simulate, records_how_probable_each_choice_was) {
  const world::Cliques world({.cliques = 3, .size = 6, .dimension = 4, .arms = 5, .seed = 3});
  const auto play = [&](const char* rule, std::size_t samples) {
    auto bandit = Bandit::gob_lin(world.graph(), {.dimension = 4, .exploration = exploration_named(rule)});
    return simulate(bandit, world, {.rounds = 40, .samples = samples});
  };
  for (const TraceRow& row : play("greedy", 0).rows) EXPECT_EQ(row.probability, 1.0);
  for (const TraceRow& row : play("epsilon_greedy:0.5", 0).rows) {
    EXPECT_TRUE(std::abs(row.probability - 0.6) < 1e-12 || std::abs(row.probability - 0.1) < 1e-12) << row.probability;
  }
  const Trace without = play("thompson:0.5", 0);
  const Trace with = play("thompson:0.5", 100);
  EXPECT_EQ(without.reward, with.reward);
  for (std::size_t k = 0; k < 40; ++k) {
    EXPECT_TRUE(std::isnan(without.rows[k].probability));
    EXPECT_TRUE(with.rows[k].probability > 0.0 && with.rows[k].probability <= 1.0) << with.rows[k].probability;
  }
}

TEST(Sweep, passes_on_what_goes_wrong) {
  auto stages = small_stages();
  stages[1].clusters.pop_back();
  EXPECT_THROW((void)sweep(stages, all_cases(), {.simulate = {.rounds = 5}, .threads = 2}), std::invalid_argument);
  EXPECT_THROW((void)sweep(stages, {}, {.threads = 0}), std::invalid_argument);
}

Trace trace_of(std::uint64_t rounds, double reward) {
  Trace trace;
  trace.rounds = rounds;
  trace.reward = reward;
  trace.random_reward = 2.0;
  return trace;
}

TEST(Summarize, gives_means_and_standard_errors) {
  const std::vector<Trace> traces = {trace_of(10, 4.0), trace_of(10, 6.0), trace_of(10, 11.0)};
  const Result result = summarize(traces);
  EXPECT_EQ(result.repetitions, 3);
  EXPECT_NEAR(result.reward.mean, 7.0, 1e-12);
  EXPECT_NEAR(result.normalized_reward.mean, 5.0, 1e-12);
  EXPECT_NEAR(*result.normalized_reward.standard_error, std::sqrt(13.0 / 3.0), 1e-12);
  EXPECT_NEAR(*result.ratio_to_random, 3.5, 1e-12);
  EXPECT_FALSE(result.regret);
  EXPECT_FALSE(summarize(std::span(traces).first(1)).reward.standard_error);
  EXPECT_THROW((void)summarize({}), std::invalid_argument);
}

TEST(Summarize, counts_those_that_came_farthest) {
  const std::vector<Trace> traces = {trace_of(10, 4.0), trace_of(3, 1.0), trace_of(10, 6.0), trace_of(0, 0.0)};
  const Result result = summarize(traces);
  EXPECT_EQ(result.repetitions, 2);
  EXPECT_EQ(result.rounds, 10);
  EXPECT_EQ(result.reward.mean, 5.0);
}

TEST(Report, shows_a_table_and_flat_rows) {
  const auto world = small_world();
  auto bandit = Bandit::gob_lin(world.graph(), {.dimension = 3, .alpha = 0.25});
  const Trace trace = simulate(bandit, world, {.rounds = 2});
  EXPECT_THAT(report::table(std::vector{summarize(std::span(&trace, 1))}),
              ::testing::AllOf(HasSubstr("normalized reward"), HasSubstr("\ngob.lin   0.25       2")));
  std::ostringstream out;
  report::write_csv_header(out);
  report::write_csv(out, trace, world);
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, HasSubstr("\ncliques,gob.lin,0.25,9,0,2,"));
  EXPECT_EQ(std::count(text.begin(), text.end(), ','), 3 * 14);
}

TEST(FiveLines, that_everything_serves) {
  const auto folder = test::dataset_file("");
  if (!folder || data::find_lastfm(*folder).empty()) GTEST_SKIP() << test::no_datasets;
  auto data = goblin::data::read_lastfm(*folder);
  auto world = goblin::world::Catalogue(data, {.arms = 25, .seed = 7});
  auto bandit = goblin::Bandit::gob_lin(data.graph, {.dimension = 25, .alpha = 0.05});
  auto trace = goblin::experiment::simulate(bandit, world, {.rounds = 100});
  ::testing::internal::CaptureStdout();
  goblin::report::print(trace);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("\ngob.lin   0.05     100"));
  EXPECT_GT(trace.reward, 2.0 * trace.random_reward);
}

}  // namespace experiment_test
}  // namespace goblin::experiment
