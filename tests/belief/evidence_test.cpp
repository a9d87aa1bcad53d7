#include "belief/evidence.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace evidence_test {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

TEST(Evidence, adds_up_contexts_and_rewards) {
  Evidence evidence(2, 3);
  evidence.add(1, std::vector<double>{1.0, 2.0}, 0.5);
  evidence.add(1, std::vector<double>{-1.0, 1.0}, 2.0);
  EXPECT_THAT(evidence.at(1).contexts, ElementsAre(2.0, 1.0, 5.0));  // (0,0), (1,0), (1,1)
  EXPECT_THAT(evidence.at(1).rewards, ElementsAre(-1.5, 3.0));
  EXPECT_EQ(evidence.at(1).count, 2);
  EXPECT_EQ(evidence.at(1).squared_rewards, 4.25);
}

TEST(Evidence, sums_add_up_and_can_be_forgotten) {
  Evidence evidence(1, 3);
  evidence.add(0, std::vector<double>{2.0}, 1.0);
  evidence.add(1, std::vector<double>{3.0}, -1.0);
  evidence.add(2, evidence.at(0));
  evidence.add(2, evidence.at(1));
  EXPECT_THAT(evidence.at(2).contexts, ElementsAre(13.0));
  EXPECT_THAT(evidence.at(2).rewards, ElementsAre(-1.0));
  EXPECT_EQ(evidence.at(2).count, 2);
  EXPECT_EQ(evidence.at(2).squared_rewards, 2.0);
  evidence.clear(2);
  EXPECT_EQ(evidence.at(2).count, 0);
  EXPECT_THAT(evidence.at(2).contexts, IsEmpty());
  evidence.add(2, evidence.at(1));
  EXPECT_THAT(evidence.at(2).contexts, ElementsAre(9.0));
}

/// What an engine is shown while a batch is learned is what will be there afterwards, to the last bit.
TEST(Evidence, with_rewards_that_are_not_there_yet_is_what_they_will_make_of_it) {
  const std::vector<std::vector<double>> contexts = {{0.1, 0.7}, {1e9, -0.3}, {0.2, 1e-9}};
  for (const bool takes_away : {false, true}) {
    for (const bool was_there : {false, true}) {
      Evidence evidence(2, 2, takes_away);
      evidence.add(0, contexts[2], 0.25);
      evidence.reserve(1);
      evidence.add(1, contexts[0], 0.5);
      evidence.clear(1);
      if (was_there) evidence.add(1, contexts[1], 1.0 / 3.0);
      std::vector<NodeReward> rewards;
      for (const auto& context : contexts) rewards.push_back({7, context.data(), 0.1});
      const UserEvidence seen = evidence.with(1, rewards);
      const std::vector<double> products(seen.contexts.begin(), seen.contexts.end());
      const std::vector<double> sums(seen.rewards.begin(), seen.rewards.end());
      const double squares = seen.squared_rewards;
      EXPECT_EQ(evidence.with(1, {}).count, was_there ? 1 : 0);
      EXPECT_EQ(evidence.at(1).count, was_there ? 1 : 0);
      for (const auto& context : contexts) evidence.add(1, context, 0.1);
      EXPECT_THAT(evidence.at(1).contexts, ElementsAreArray(products));
      EXPECT_THAT(evidence.at(1).rewards, ElementsAreArray(sums));
      EXPECT_EQ(evidence.at(1).squared_rewards, squares);
      EXPECT_EQ(evidence.at(1).count, was_there ? 4 : 3);
    }
  }
}

TEST(Evidence, takes_memory_where_something_was_seen) {
  Evidence evidence(25, 1000);
  const std::size_t before = evidence.bytes();
  EXPECT_LE(before, 1000 * sizeof(std::uint32_t));
  EXPECT_THAT(evidence.at(3).contexts, IsEmpty());
  evidence.add(3, std::vector<double>(25, 1.0), 1.0);
  EXPECT_GE(evidence.bytes(), before + 25 * 28 / 2 * sizeof(double));
  EXPECT_LE(evidence.bytes(), before + 25 * 28 / 2 * sizeof(double) + 64);
  evidence.add_place();
  EXPECT_EQ(evidence.size(), 1001);
  EXPECT_EQ(evidence.at(1000).count, 0);
}

}  // namespace evidence_test
}  // namespace goblin
