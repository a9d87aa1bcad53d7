#include "goblin/data/sparse_rows.hpp"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::data {
namespace sparse_rows_test {

using ::testing::ElementsAre;

TEST(SparseRows, sorts_and_adds_up) {
  const SparseRows rows(3, 4, std::vector<Entry>{{2, 3, 1.0}, {0, 2, 2.0}, {2, 0, 3.0}, {2, 3, 4.0}});
  EXPECT_EQ(rows.size(), 3);
  EXPECT_THAT(rows.columns(0), ElementsAre(2));
  EXPECT_THAT(rows.columns(1), ElementsAre());
  EXPECT_THAT(rows.columns(2), ElementsAre(0, 3));
  EXPECT_THAT(rows.values(2), ElementsAre(3.0, 5.0));
  EXPECT_EQ(rows.at(2, 3), 5.0);
  EXPECT_EQ(rows.at(2, 1), 0.0);
  EXPECT_EQ(rows.at(1, 3), 0.0);
  EXPECT_THAT(rows.column_sizes(), ElementsAre(1, 0, 1, 1));
  EXPECT_EQ(rows.entries().size(), 3);
}

TEST(SparseRows, refuses_entries_outside) {
  EXPECT_THROW(SparseRows(1, 1, std::vector<Entry>{{1, 0}}), std::invalid_argument);
  EXPECT_THROW(SparseRows(1, 1, std::vector<Entry>{{0, 1}}), std::invalid_argument);
}

}  // namespace sparse_rows_test
}  // namespace goblin::data
