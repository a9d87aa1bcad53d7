// A batch as columns is the same as one of observations, and is refused in the same way.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/error.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace goblin {
namespace reward_table_test {

struct Columns {
  std::vector<NodeId> users;
  std::vector<double> contexts;
  std::vector<double> rewards;

  [[nodiscard]] RewardTable table() const { return {.users = users, .contexts = contexts, .rewards = rewards}; }
};

Columns columns_of(const Scenario& scenario, std::size_t count) {
  Columns columns;
  for (std::size_t t = 0; t < count; ++t) {
    const auto round = scenario.round(t);
    columns.users.push_back(round.user);
    columns.contexts.insert(columns.contexts.end(), round.context(0).begin(), round.context(0).end());
    columns.rewards.push_back(round.rewards[0]);
  }
  return columns;
}

TEST(RewardTable, is_a_batch_of_observations) {
  const Scenario scenario = scenarios()[1];
  const std::size_t d = scenario.dimension;
  const Columns columns = columns_of(scenario, 200);
  for (const Policy policy : all_policies) {
    auto by_columns =
        Bandit::make(policy, scenario.graph, scenario.clusters_for(policy), {.dimension = d, .hash = few_buckets});
    auto by_rows = by_columns;
    by_columns.update(columns.table());
    std::vector<Observation> batch;
    for (std::size_t k = 0; k < 200; ++k) {
      batch.push_back({columns.users[k], std::span(columns.contexts).subspan(k * d, d), columns.rewards[k]});
    }
    by_rows.update(batch);
    EXPECT_EQ(by_columns.to_bytes(), by_rows.to_bytes()) << name_of(policy);
  }
}

TEST(RewardTable, a_bad_one_is_refused_whole_with_its_index) {
  const Scenario scenario = scenarios()[1];
  auto bandit = Bandit::gob_lin(scenario.graph, {.dimension = scenario.dimension});
  const std::string before = bandit.to_bytes();
  const auto refusal = [&](const Columns& columns) -> std::string {
    try {
      bandit.update(columns.table());
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(bandit.to_bytes(), before);
      return error.what();
    }
    return "";
  };
  const Columns good = columns_of(scenario, 5);
  Columns bad = good;
  bad.users[3] = 15;
  EXPECT_EQ(refusal(bad), "batch[3]: user: 15 (must be below the number of users, 15)");
  EXPECT_THROW(bandit.check(bad.table()), UnknownUser);
  bad = good;
  bad.contexts[4 * 3 + 1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal(bad), "batch[4]: context[1]: nan (must be finite)");
  bad = good;
  bad.rewards[0] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal(bad), "batch[0]: reward: inf (must be finite and at most 1e+100 in size)");
  bad = good;
  bad.rewards.pop_back();
  EXPECT_EQ(refusal(bad), "rewards: 4 (must be one for each of the 5 users)");
  bad = good;
  bad.contexts.pop_back();
  EXPECT_EQ(refusal(bad), "contexts: 14 numbers (must be 3 for each of the 5 users)");
  EXPECT_NO_THROW(bandit.check(good.table()));
  EXPECT_EQ(bandit.to_bytes(), before);
  bandit.update(RewardTable{});
  EXPECT_EQ(bandit.to_bytes(), before);
}

TEST(RewardTable, the_number_of_threads_can_be_set_and_changes_nothing) {
  const Scenario scenario = scenarios()[3];
  const Columns columns = columns_of(scenario, 3000);
  auto one = Bandit::gob_lin(scenario.graph, {.dimension = scenario.dimension, .engine = {.threads = 1}});
  auto three = one;
  three.set_threads(3);
  EXPECT_EQ(three.options().engine.threads, 3);
  one.update(columns.table());
  three.update(columns.table());
  EXPECT_EQ(one.to_bytes(), three.to_bytes());
}

}  // namespace reward_table_test
}  // namespace goblin
