#include "goblin/report/rivals.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::report {
namespace rivals_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Three seeds; the last round's reward is what is given, each with the same noise of the seed.
experiment::Entry entry_of(const char* name, double reward, Policy policy = Policy::gob_lin) {
  experiment::Finalist finalist{.setting = {.policy = policy}, .tuning = 1.0, .outcomes = {}};
  for (const double noise : {-10.0, 0.0, 10.0}) {
    finalist.outcomes.push_back({.curve = {{100, reward + noise + (reward - 50.0) / 50.0 * noise, 0.0, 0.0, {}, {}}},
                                 .seconds = 0.5,
                                 .bytes = 2'000'000});
  }
  return {.name = name, .finalists = {finalist}};
}

/// gob.lin earns 100 everywhere, linucb-sin and linucb-ind what is given in 4Cliques and where vectors change.
experiment::rivals::Results results_of(double sin_grid, double ind_grid, double sin_drift, double ind_drift) {
  using experiment::rivals::Results;
  Results results{.plan = {.options = {},
                           .budget = 3,
                           .questions = {{.name = "graph",
                                          .text = "Does the social graph pay?",
                                          .contenders = {"linucb-sin", "linucb-ind"}}},
                           .grid = {},
                           .others = {}},
                  .grid = {},
                  .others = {}};
  const auto study = [](const char* name, const char* title, double sin, double ind) {
    experiment::StudyResult result;
    result.study.name = name;
    result.study.title = title;
    result.study.condition.key = name;
    result.study.rounds = 100;
    result.study.tuning_rounds = 50;
    result.study.tuning_seeds = {1001};
    result.study.evaluation_seeds = {1, 2, 3};
    for (const char* contender : {"gob.lin", "linucb-sin", "linucb-ind"}) {
      result.study.contenders.push_back({.name = contender, .alphas = {0.1}});
    }
    result.entries = {entry_of("gob.lin", 100.0), entry_of("linucb-sin", sin, Policy::linucb_sin),
                      entry_of("linucb-ind", ind, Policy::linucb_ind)};
    return result;
  };
  results.grid.push_back(
      {0.0, 0.5, study("4cliques-0-0.5", "4Cliques, graph noise 0.0 %, payoff noise 0.5", sin_grid, ind_grid)});
  results.others.push_back(study("drift", "4Cliques whose vectors change half way", sin_drift, ind_drift));
  return results;
}

TEST(Rivals, differences_are_taken_seed_by_seed) {
  const auto results = results_of(40.0, 45.0, 102.0, 300.0);
  const auto comparisons = compare_rivals(results);
  ASSERT_EQ(comparisons.size(), 2U);
  ASSERT_EQ(comparisons[0].differences.size(), 2U);
  const Difference& sin = comparisons[0].differences[0];
  EXPECT_EQ(sin.label, "linucb-sin");
  EXPECT_NEAR(sin.estimate.mean, -60.0, 1e-9);
  EXPECT_NEAR(sin.by_seed[0], -60.0 + 12.0, 1e-9);  // its own noise is 8 at the first seed, gob.lin's is 20
  // Student's t with two differences that share 5 %: t(2) at 97.5 % to both sides is 6.2053.
  EXPECT_NEAR(sin.high - sin.low, 2.0 * 6.2053 * 12.0 / std::sqrt(3.0), 1e-3);
  EXPECT_EQ(sin.verdict, Verdict::does_not_hold);
}

TEST(Rivals, sentences_follow_from_the_intervals) {
  const auto graph_pays = results_of(20.0, 30.0, 20.0, 30.0);
  const auto pays = answers_of(graph_pays, compare_rivals(graph_pays));
  ASSERT_EQ(pays.size(), 1U);
  EXPECT_EQ(pays[0].question, "Does the social graph pay?");
  EXPECT_EQ(pays[0].together,
            "gob.lin earns more than each of linucb-sin and linucb-ind in 2 of 2 worlds (4Cliques and 4Cliques whose "
            "vectors change half way).");
  ASSERT_EQ(pays[0].each.size(), 2U);
  EXPECT_EQ(pays[0].each[0],
            "linucb-sin earns less than gob.lin in 2 of 2 worlds (4Cliques and 4Cliques whose vectors change half "
            "way).");

  const auto mixed = results_of(20.0, 100.0, 90.0, 1000.0);
  const auto answers = answers_of(mixed, compare_rivals(mixed));
  EXPECT_THAT(answers[0].together,
              AllOf(HasSubstr("At least one of linucb-sin and linucb-ind earns more than gob.lin in 1 of 2 worlds"),
                    HasSubstr("On 4Cliques whose vectors change half way, linucb-ind leads by 900"),
                    HasSubstr("Whether one of linucb-sin and linucb-ind earns more than gob.lin is not decided in 1 of "
                              "2 worlds (4Cliques).")));
  EXPECT_THAT(answers[0].each[1], AllOf(HasSubstr("linucb-ind earns more than gob.lin in 1 of 2 worlds"),
                                        HasSubstr("It is not decided in 1 of 2 worlds (4Cliques).")));
}

/// What nobody knows must not read like a no.
TEST(Rivals, say_so_where_nothing_is_decided) {
  auto results = results_of(101.0, 100.0, 101.0, 100.0);
  const auto scatter = [](experiment::Entry& entry, std::vector<double> by_seed) {
    for (std::size_t seed = 0; seed < by_seed.size(); ++seed) {
      entry.finalists[0].outcomes[seed].curve.back().reward = by_seed[seed];
    }
  };
  for (auto* world : {&results.grid[0].result, &results.others[0]}) {
    scatter(world->entries[0], {100.0, 100.0, 100.0});
    scatter(world->entries[1], {100.0, 104.0, 108.0});  // 4, standard error 2.31
    scatter(world->entries[2], {96.0, 101.0, 106.0});   // 1, standard error 2.89
  }
  const auto comparisons = compare_rivals(results);
  const auto answers = answers_of(results, comparisons);
  EXPECT_EQ(answers[0].together,
            "Nothing is decided: in none of the 2 worlds do 3 seeds tell gob.lin from linucb-sin and linucb-ind.");
  // t(N - 1) at 97.5 % to both sides times 4 / sqrt(N) is 4.02 with 8 seeds and 3.67 with 9.
  EXPECT_EQ(seeds_to_decide(comparisons[0].differences[0], 2), 9U);
  EXPECT_EQ(seeds_to_decide(comparisons[0].differences[1], 2), std::nullopt);
  EXPECT_EQ(answers[0].each[0],
            "Whether linucb-sin earns more or less than gob.lin is not decided in any of the 2 worlds. A difference as "
            "large as it looks there would take about 9 seeds.");
  EXPECT_EQ(answers[0].each[1],
            "Whether linucb-ind earns more or less than gob.lin is not decided in any of the 2 worlds. There the "
            "difference is not larger than its standard error, so it cannot be told how many seeds would decide.");

  // One contender alone says as much.
  results.plan.questions[0].contenders = {"linucb-sin"};
  scatter(results.others[0].entries[1], {50.0, 51.0, 52.0});
  EXPECT_EQ(answers_of(results, compare_rivals(results))[0].together,
            "linucb-sin earns less than gob.lin in 1 of 2 worlds (4Cliques whose vectors change half way). It is not "
            "decided in 1 of 2 worlds (4Cliques). A difference as large as it looks there would take about 9 seeds.");
}

TEST(Rivals, page_table_and_markdown_have_every_contender) {
  const auto results = results_of(20.0, 30.0, 102.0, 300.0);
  const RivalsReport report{.results = results,
                            .comparisons = compare_rivals(results),
                            .figures = {},
                            .command = "goblin reproduce rivals",
                            .version = "1"};
  const std::string page = rivals_page(report);
  const std::string markdown = rivals_markdown(report);
  for (const char* contender : {"gob.lin", "linucb-sin", "linucb-ind"}) {
    EXPECT_THAT(page, HasSubstr(contender));
    EXPECT_THAT(markdown, HasSubstr(std::string("| ") + contender + " |"));
  }
  EXPECT_THAT(page, AllOf(HasSubstr("could try 3 settings"), HasSubstr("Does the social graph pay?"),
                          HasSubstr("ahead"), HasSubstr("behind"), HasSubstr("</html>")));
  for (const std::string& text : {page, markdown}) {
    EXPECT_THAT(text, AllOf(HasSubstr("The graph noise is 8.3 % and the payoff noise 0.25"),
                            HasSubstr("the longest window is as long as the tuning")));
  }
  EXPECT_THAT(markdown,
              AllOf(HasSubstr("](images/rivals/rivals-4cliques.svg)"), HasSubstr("](images/rivals/rivals-drift.svg)")));
  EXPECT_THAT(page, HasSubstr("5.00")) << "milliseconds a round: half a second for 100 rounds";
  EXPECT_THAT(page, HasSubstr("2.00")) << "megabytes";

  std::ostringstream csv;
  write_rivals_csv(csv, report);
  EXPECT_THAT(
      csv.str(),
      AllOf(HasSubstr("study,title,world,contender,policy,alpha,scale,grouping,exploration,options,tuning,seeds,"
                      "rounds,reward,standard_error,difference,difference_low,difference_high,standing,"
                      "milliseconds,megabytes\n"),
            HasSubstr("drift,\"4Cliques whose vectors change half way\",drift,linucb-ind,linucb-ind,0.1,1,,"
                      "ucb:0.1,,1,3,100,300,"),
            HasSubstr(",ahead,5.00,2.00\n"), HasSubstr(",,,,5.00,2.00\n")));
}

TEST(Rivals, figures_have_gob_lin_and_the_question_in_every_panel) {
  const auto results = results_of(20.0, 30.0, 102.0, 300.0);
  const auto figures = rivals_figures(results);
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].name, "rivals-4cliques");
  EXPECT_EQ(figures[1].name, "rivals-drift");
  for (const Figure& figure : figures) {
    ASSERT_EQ(figure.panels.size(), 1U);
    ASSERT_EQ(figure.panels[0].series.size(), 3U);
    EXPECT_EQ(figure.panels[0].series[0].label, "gob.lin");
    EXPECT_NE(figure.panels[0].series[1].colour, figure.panels[0].series[2].colour);
  }
}

}  // namespace rivals_test
}  // namespace goblin::report
