#include "belief/evidence.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace evidence_test {

using ::testing::ElementsAre;
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
