#include "goblin/experiment/study.hpp"

#include "goblin/experiment/paper.hpp"
#include "goblin/world/cliques.hpp"
#include "temporary_folder.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::experiment {
namespace study_test {

Study small_study() {
  Study study{
      .name = "small",
      .title = "Small",
      .condition = {.key = "small",
                    .world_at = [](std::uint64_t seed) -> std::shared_ptr<const world::World> {
                      return std::make_shared<world::Cliques>(
                          world::CliquesOptions{.cliques = 3, .size = 4, .dimension = 3, .seed = seed});
                    }},
      .contenders = {{.name = "gob.lin", .policy = Policy::gob_lin, .alphas = {0.0, 0.1, 5.0}, .scales = {0.5, 2.0}},
                     {.name = "only", .policy = Policy::linucb_sin, .alphas = {0.1}}},
      .tuning_seeds = {11, 12},
      .evaluation_seeds = {1, 2, 3},
      .tuning_rounds = 60,
      .rounds = 120,
      .finalists = 2};
  return study;
}

TEST(Study, chooses_on_the_tuning_seeds_and_reports_on_the_others) {
  const TemporaryFolder folder;
  const CellStore store(folder / "cells");
  const Study study = small_study();
  std::size_t cells = 0;
  const auto results = run_studies(std::span(&study, 1), store, {.on_cell = [&](bool) { ++cells; }});
  ASSERT_TRUE(results);
  EXPECT_EQ(cells, cell_count(std::span(&study, 1)));
  EXPECT_EQ(cells, 6U * 2U + 2U * 3U + 1U * 3U);

  // Each setting by hand, on the tuning seeds.
  double best = -1e300;
  Setting best_setting;
  for (const Setting& setting : study.contenders[0].settings()) {
    const Cell by_hand[] = {{&study.condition, setting, 11, 60}, {&study.condition, setting, 12, 60}};
    const auto outcomes = run_cells(by_hand, store, {});
    const double mean = ((*outcomes)[0].normalized_reward() + (*outcomes)[1].normalized_reward()) / 2.0;
    if (mean > best) {
      best = mean;
      best_setting = setting;
    }
  }
  const Entry& entry = results->front().entry("gob.lin");
  ASSERT_EQ(entry.finalists.size(), 2U);
  EXPECT_EQ(entry.tuned().setting, best_setting);
  EXPECT_DOUBLE_EQ(entry.tuned().tuning.value(), best);
  EXPECT_LE(entry.finalists[1].tuning, entry.finalists[0].tuning);
  EXPECT_EQ(entry.tuned().outcomes.size(), 3U);
  EXPECT_EQ(entry.tuned().outcomes[0].last().round, 120U);
  for (const Finalist& finalist : entry.finalists) {
    EXPECT_LE(finalist.estimate().mean, entry.hindsight().estimate().mean);
  }
  EXPECT_EQ(results->front().entry("only").tuned().tuning, std::nullopt);
  EXPECT_THROW((void)results->front().entry("nobody"), std::invalid_argument);
}

TEST(Study, only_the_best_of_the_first_heat_play_the_other_evaluation_seeds) {
  const TemporaryFolder folder;
  const CellStore store(folder / "cells");
  Study study = small_study();
  study.contenders[0].scales = {0.25, 0.5, 1.0, 2.0};
  study.finalists = Study::every_setting;
  study.evaluation_seeds = {1, 2, 3, 4, 5};
  study.first_heat_seeds = 2;
  std::size_t cells = 0;
  const auto results = run_studies(std::span(&study, 1), store, {.on_cell = [&](bool) { ++cells; }});
  ASSERT_TRUE(results);
  EXPECT_EQ(cells, cell_count(std::span(&study, 1)));
  EXPECT_EQ(cells, 12U * 2U + 12U * 2U + (1U + 4U) * 3U + 1U * 5U);

  const Entry& entry = results->front().entry("gob.lin");
  ASSERT_EQ(entry.finalists.size(), 12U);
  EXPECT_EQ(entry.tuned().outcomes.size(), 5U) << "it plays all, wherever it was after two";
  const auto after_two = [](const Finalist& each) {
    return each.outcomes[0].normalized_reward() + each.outcomes[1].normalized_reward();
  };
  double worst_that_went_on = 1e300;
  double best_that_did_not = -1e300;
  std::size_t went_on = 0;
  for (std::size_t k = 1; k < entry.finalists.size(); ++k) {
    const Finalist& each = entry.finalists[k];
    if (each.outcomes.size() == 5U) {
      ++went_on;
      worst_that_went_on = std::min(worst_that_went_on, after_two(each));
      EXPECT_LE(each.estimate().mean, entry.hindsight().estimate().mean);
    } else {
      ASSERT_EQ(each.outcomes.size(), 2U);
      best_that_did_not = std::max(best_that_did_not, after_two(each));
    }
  }
  EXPECT_EQ(went_on, 4U);
  EXPECT_GE(worst_that_went_on, best_that_did_not);
  EXPECT_EQ(entry.hindsight().outcomes.size(), 5U);
  EXPECT_EQ(entry.hindsight().outcomes[4].last().round, 120U);
  EXPECT_GE(entry.hindsight().estimate().mean, entry.tuned().estimate().mean);
}

TEST(Study, only_the_best_of_the_first_heat_play_the_other_tuning_seeds) {
  const TemporaryFolder folder;
  const CellStore store(folder / "cells");
  Study study = small_study();
  study.tuning_seeds = {11, 12, 13};
  study.contenders[0].alphas = {0.0, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0};  // with two scales, 16 settings
  study.in_heats = true;
  study.finalists = Study::every_setting;
  std::size_t cells = 0;
  const auto results = run_studies(std::span(&study, 1), store, {.on_cell = [&](bool) { ++cells; }});
  ASSERT_TRUE(results);
  EXPECT_EQ(cells, cell_count(std::span(&study, 1)));
  EXPECT_EQ(cells, 16U + 4U * 2U + 16U * 3U + 1U * 3U);

  // By hand: the first seed ranks all, the mean of three seeds the best four of them.
  const auto reward = [&](const Setting& setting, std::uint64_t seed) {
    const Cell cell{&study.condition, setting, seed, 60};
    return run_cells(std::span(&cell, 1), store, {})->front().normalized_reward();
  };
  std::vector<Setting> ranked = study.contenders[0].settings();
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](const Setting& a, const Setting& b) { return reward(a, 11) > reward(b, 11); });
  const auto mean = [&](const Setting& setting) {
    return (reward(setting, 11) + reward(setting, 12) + reward(setting, 13)) / 3.0;
  };
  std::stable_sort(ranked.begin(), ranked.begin() + 4,
                   [&](const Setting& a, const Setting& b) { return mean(a) > mean(b); });
  const Entry& entry = results->front().entry("gob.lin");
  ASSERT_EQ(entry.finalists.size(), ranked.size());
  for (std::size_t k = 0; k < ranked.size(); ++k) EXPECT_EQ(entry.finalists[k].setting, ranked[k]) << k;
  EXPECT_DOUBLE_EQ(entry.tuned().tuning.value(), mean(ranked[0]));
  EXPECT_DOUBLE_EQ(entry.finalists[4].tuning.value(), reward(ranked[4], 11));
}

TEST(Study, hindsight_can_look_at_every_setting) {
  const TemporaryFolder folder;
  const CellStore store(folder / "cells");
  Study study = small_study();
  study.finalists = Study::every_setting;
  const auto results = run_studies(std::span(&study, 1), store, {});
  ASSERT_TRUE(results);
  const Entry& entry = results->front().entry("gob.lin");
  EXPECT_EQ(entry.finalists.size(), study.contenders[0].settings().size());
  EXPECT_EQ(cell_count(std::span(&study, 1)), 6U * 2U + 6U * 3U + 1U * 3U);
}

TEST(Study, one_more_seed_costs_one_more_seed) {
  const TemporaryFolder folder;
  const CellStore store(folder / "cells");
  Study study = small_study();
  ASSERT_TRUE(run_studies(std::span(&study, 1), store, {}));
  study.evaluation_seeds.push_back(4);
  std::size_t fresh = 0;
  ASSERT_TRUE(run_studies(std::span(&study, 1), store, {.on_cell = [&](bool found) { fresh += found ? 0 : 1; }}));
  EXPECT_EQ(fresh, 3U);  // two finalists and the one without a choice
}

TEST(Study, refuses_to_report_on_seeds_it_chose_by) {
  const TemporaryFolder folder;
  const CellStore store(folder / "cells");
  Study study = small_study();
  study.evaluation_seeds = {1, 12};
  EXPECT_THROW((void)run_studies(std::span(&study, 1), store, {}), std::invalid_argument);
  study = small_study();
  study.tuning_seeds.clear();
  EXPECT_THROW((void)run_studies(std::span(&study, 1), store, {}), std::invalid_argument);
}

TEST(Student, has_the_quantiles_of_the_tables) {
  EXPECT_NEAR(student_quantile(2, 0.95), 12.7062, 1e-3);
  EXPECT_NEAR(student_quantile(5, 0.95), 2.7764, 1e-4);
  EXPECT_NEAR(student_quantile(10, 0.95), 2.2622, 1e-4);
  EXPECT_NEAR(student_quantile(20, 0.99), 2.8609, 1e-4);
  EXPECT_NEAR(student_quantile(100'001, 0.95), 1.95999, 1e-3);
  EXPECT_THROW((void)student_quantile(1, 0.95), std::invalid_argument);
  EXPECT_THROW((void)student_quantile(5, 1.0), std::invalid_argument);
}

TEST(PaperPlan, has_every_cell_of_the_grid) {
  for (const bool quick : {false, true}) {
    const auto plan = paper::plan({.cliques = true, .quick = quick});
    std::set<std::pair<double, double>> grid;
    for (const auto& at : plan.grid) {
      grid.emplace(at.graph_noise, at.payoff_noise);
      EXPECT_EQ(at.study.contenders.size(), 5U);
      for (const std::uint64_t seed : at.study.evaluation_seeds) {
        EXPECT_EQ(std::count(at.study.tuning_seeds.begin(), at.study.tuning_seeds.end(), seed), 0);
      }
    }
    EXPECT_EQ(grid.size(), 12U);
    EXPECT_EQ(plan.grid.front().study.evaluation_seeds.size(), quick ? 5U : 10U);
    EXPECT_EQ(plan.curve.front().graph_noise, 0.0);
    EXPECT_EQ(plan.curve.back().graph_noise, paper::clique_edges);
  }
  EXPECT_THROW((void)paper::plan({.cliques = true, .rounds = 1}), std::invalid_argument);
  EXPECT_THROW((void)paper::plan({.cliques = true, .seeds = 1}), std::invalid_argument);
}

}  // namespace study_test
}  // namespace goblin::experiment
