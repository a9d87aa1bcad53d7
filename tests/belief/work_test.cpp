#include "belief/work.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace goblin {
namespace work_test {

TEST(Work, that_begins_anew_is_not_told_to_have_gone_back) {
  std::vector<double> told;
  const Work work{.progress = never_back([&](double share) { told.push_back(share); })};
  const Work given_up = work.part(0.0, 0.5);
  given_up.tell(0.5);
  given_up.tell(0.25);
  given_up.tell(1.0);
  const Work other_way = work.part(0.0, 1.0);
  for (const double share : {0.25, 0.75, 1.0}) other_way.tell(share);
  EXPECT_EQ(told, (std::vector{0.25, 0.25, 0.5, 0.5, 0.75, 1.0}));
  EXPECT_FALSE(never_back({}));
}

}  // namespace work_test
}  // namespace goblin
