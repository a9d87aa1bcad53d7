#include "goblin/belief/evidence.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Evidence, adds_up_contexts_and_rewards) {
  Evidence evidence(2, 2);
  evidence.add(1, std::vector<double>{1.0, 2.0}, 0.5);
  evidence.add(1, std::vector<double>{-1.0, 1.0}, 2.0);
  EXPECT_THAT(evidence.contexts(1), ElementsAre(2.0, 1.0, 5.0));  // (0,0), (1,0), (1,1)
  EXPECT_THAT(evidence.rewards(1), ElementsAre(-1.5, 3.0));
  EXPECT_EQ(evidence.count(1), 2);
}

TEST(Evidence, takes_memory_where_something_was_seen) {
  Evidence evidence(25, 1000);
  const std::size_t before = evidence.bytes();
  EXPECT_THAT(evidence.contexts(3), IsEmpty());
  evidence.add(3, std::vector<double>(25, 1.0), 1.0);
  EXPECT_EQ(evidence.bytes(), before + 25 * 28 / 2 * sizeof(double));
  evidence.add_node();
  EXPECT_EQ(evidence.node_count(), 1001);
  EXPECT_EQ(evidence.count(1000), 0);
}

}  // namespace
}  // namespace goblin
