#include "goblin/experiment/rivals.hpp"

#include "temporary_folder.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::experiment::rivals {
namespace rivals_test {

using ::testing::ElementsAre;

std::shared_ptr<const data::Dataset> small_data() {
  data::Dataset data;
  data.graph = Graph(4, std::vector<Edge>{{0, 1}, {1, 2, 2.0}});
  data.items.insert("tea");
  data.contexts = {.dimension = 2, .numbers = {1.0, 0.0}};
  data.payoffs = data::SparseRows(4, 1, std::vector<data::Entry>{{0, 0, 1.0}});
  return std::make_shared<const data::Dataset>(std::move(data));
}

std::vector<Study> studies_of(const Plan& plan) {
  std::vector<Study> studies;
  for (const auto& each : plan.grid) studies.push_back(each.study);
  studies.insert(studies.end(), plan.others.begin(), plan.others.end());
  return studies;
}

TEST(Halton, covers_every_axis_evenly_from_the_first_points_on) {
  // Bases 2 and 3: (1/2, 1/3), (1/4, 2/3), (3/4, 1/9), (1/8, 4/9), ...
  EXPECT_THAT(halton_points({4, 3}, 4),
              ElementsAre(ElementsAre(2, 1), ElementsAre(1, 2), ElementsAre(3, 0), ElementsAre(0, 1)));
  const auto all = halton_points({4, 7, 2}, 56);
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), 56U) << "no point twice, and all of them in the end";
  for (const auto& point : all) EXPECT_TRUE(point[0] < 4 && point[1] < 7 && point[2] < 2);
  const auto some = halton_points({4, 7}, 8);
  for (std::size_t value = 0; value < 4; ++value) {
    EXPECT_EQ(std::ranges::count(some, value, [](const auto& point) { return point[0]; }), 2);
  }
  EXPECT_TRUE(std::equal(some.begin(), some.end(), halton_points({4, 7}, 28).begin())) << "more points, the same first";
  EXPECT_THROW((void)halton_points({4, 7}, 29), std::invalid_argument);
  EXPECT_THROW((void)halton_points({4, 0}, 1), std::invalid_argument);
  EXPECT_THROW((void)halton_points(std::vector<std::size_t>(7, 2), 1), std::invalid_argument);
}

TEST(RivalsPlan, gives_everybody_the_same_budget_and_other_seeds) {
  for (const bool quick : {false, true}) {
    const Plan made = plan({.lastfm = small_data(), .delicious = small_data(), .quick = quick});
    const auto studies = studies_of(made);
    EXPECT_EQ(studies.size(), quick ? 7U : 15U);
    for (const Study& study : studies) {
      std::set<std::string> names;
      for (const Contender& contender : study.contenders) {
        const auto settings = contender.settings();
        EXPECT_EQ(settings.size(), made.budget) << contender.name;
        for (std::size_t k = 0; k < settings.size(); ++k) {
          EXPECT_EQ(std::count(settings.begin(), settings.end(), settings[k]), 1) << contender.name << " " << k;
          EXPECT_EQ(settings[k].policy, contender.policy);
          EXPECT_EQ(uses_clusters(contender.policy), settings[k].grouping.clusters > 0) << contender.name;
        }
        EXPECT_TRUE(names.insert(contender.name).second) << contender.name;
      }
      EXPECT_TRUE(names.contains(std::string(reference)));
      EXPECT_EQ(study.tuning_seeds, studies.front().tuning_seeds);
      EXPECT_EQ(study.evaluation_seeds, studies.front().evaluation_seeds);
      EXPECT_EQ(study.rounds, studies.front().rounds);
      for (const std::uint64_t seed : study.evaluation_seeds) {
        EXPECT_EQ(std::ranges::count(study.tuning_seeds, seed), 0);
      }
    }
    EXPECT_GT(made.rough_seconds(), 0.0);
  }
}

TEST(RivalsPlan, has_every_policy_and_every_rule) {
  const Plan made = plan({});
  const Study& study = made.grid.front().study;
  std::set<Policy> policies;
  std::set<std::string> rules;
  for (const Contender& contender : study.contenders) {
    policies.insert(contender.policy);
    const std::string rule = exploration_of(contender.settings().front());
    rules.insert(rule.substr(0, rule.find(':')));
  }
  for (const PolicyInfo& info : policy_table) EXPECT_TRUE(policies.contains(info.policy)) << info.name;
  for (const ExplorationInfo& info : exploration_table)
    EXPECT_TRUE(rules.contains(std::string(info.name))) << info.name;

  // Every contender but gob.lin answers exactly one question.
  std::multiset<std::string> answering;
  for (const Question& question : made.questions) {
    answering.insert(question.contenders.begin(), question.contenders.end());
  }
  EXPECT_EQ(answering.size() + 1, study.contenders.size());
  for (const Contender& contender : study.contenders) {
    EXPECT_EQ(answering.count(contender.name), contender.name == reference ? 0U : 1U) << contender.name;
  }
}

TEST(RivalsPlan, tastes_change_half_way_while_tuning_too) {
  const Plan made = plan({.rounds = 100});
  const Study& drift = made.others.front();
  EXPECT_EQ(drift.tuning_rounds, 100U);
  EXPECT_EQ(made.grid.front().study.tuning_rounds, 50U);
  const auto world = drift.condition.world_at(1);
  EXPECT_FALSE(world->truth()) << "vectors that change";
  EXPECT_TRUE(made.grid.front().study.condition.world_at(1)->truth());
  EXPECT_NE(drift.condition.key, plan({.rounds = 200}).others.front().condition.key)
      << "a change in another round is another world";
}

TEST(RivalsPlan, leaves_out_data_that_is_not_there) {
  EXPECT_EQ(plan({}).others.size(), 1U);
  const Plan with = plan({.lastfm = small_data()});
  ASSERT_EQ(with.others.size(), 2U);
  EXPECT_EQ(with.others[1].name, "lastfm");
  EXPECT_THROW((void)plan({.rounds = 1}), std::invalid_argument);
  EXPECT_THROW((void)plan({.seeds = 1}), std::invalid_argument);
}

TEST(RivalsPlan, no_two_settings_share_a_file) {
  const TemporaryFolder folder;
  const CellStore store(folder / "cells");
  for (const Study& study : studies_of(plan({.lastfm = small_data()}))) {
    std::map<std::string, Setting> files;
    for (const Contender& contender : study.contenders) {
      for (const Setting& setting : contender.settings()) {
        const auto [at, is_new] = files.emplace(store.path({&study.condition, setting, 1, 10}).string(), setting);
        EXPECT_TRUE(is_new || at->second == setting) << at->first;
      }
    }
  }
}

}  // namespace rivals_test
}  // namespace goblin::experiment::rivals
