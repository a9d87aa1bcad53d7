#include "serve/record.hpp"

#include <gtest/gtest.h>

namespace goblin::serve {
namespace record_test {

TEST(Record, a_decision_without_a_name_is_called_after_its_offset) {
  EXPECT_EQ(event_of(17), "g-17");
  EXPECT_EQ(decision_of(event_of(17)), 17);
}

TEST(Record, other_names_have_no_offset) {
  for (const char* name : {"", "g", "g-", "g-1x", "g-01", "17", "G-17", "g--1", "g-99999999999999999999999"}) {
    EXPECT_FALSE(decision_of(name)) << name;
  }
}

TEST(Record, one_that_was_answered_early_is_called_after_the_start_and_a_number) {
  EXPECT_EQ(early_event(3, 17), "g-3-17");
  EXPECT_EQ(early_number("g-3-17"), 3 * (std::uint64_t{1} << 40) + 17);
  EXPECT_FALSE(decision_of("g-3-17"));
  for (const char* name :
       {"", "g-", "g-1", "g-1-", "g--1", "g-01-1", "g-1-x", "g-1-2-3", "h-1-2", "g-1-1099511627776", "g-8388608-1"}) {
    EXPECT_FALSE(early_number(name)) << name;
  }
}

}  // namespace record_test
}  // namespace goblin::serve
