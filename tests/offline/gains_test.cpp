#include "offline/gains.hpp"

#include "goblin/random.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace goblin::offline {
namespace gains_test {

TEST(Gains, intervals_of_few_users_hold_the_truth) {
  constexpr std::size_t users = 8;
  constexpr std::size_t logs = 400;
  const std::vector<double> rewards(users, 1.0);
  std::size_t covered = 0;
  for (std::size_t log = 0; log < logs; ++log) {
    Random random(3, 0, log);
    std::vector<std::vector<double>> gains(1);
    for (std::size_t user = 0; user < users; ++user) gains[0].push_back(random.normal());
    const Gain gain = Bootstrap(gains, rewards, 1000, log).of(0);
    if (gain.low <= 0.0 && gain.high >= 0.0) ++covered;
  }
  // The plain percentiles hold it in 88 %.
  EXPECT_GE(covered, logs * 92 / 100);
  EXPECT_LE(covered, logs * 98 / 100);
}

TEST(Gains, nothing_is_certain_of_a_group_of_one_user) {
  const std::vector<NodeId> rewards_of = {0, 0, 1, 2, 2};
  const UserErrors users(rewards_of, 3);
  const Grouping grouping{.label_of = {0, 1, 1}, .labels = {"one", "two"}};
  const auto groups = gains_of(grouping, users, std::vector<double>{0.4, 0.1, -0.2}, 200, 1);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].users, 1U);
  EXPECT_NEAR(groups[0].gain.mean, 0.2, 1e-12);
  EXPECT_TRUE(std::isnan(groups[0].gain.low));
  EXPECT_TRUE(std::isnan(groups[0].gain.high));
  EXPECT_LT(groups[1].gain.low, 0.0);
  EXPECT_GT(groups[1].gain.high, 0.0);
}

}  // namespace gains_test
}  // namespace goblin::offline
