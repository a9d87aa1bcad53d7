#include "belief/row_products.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace goblin {
namespace row_products_test {

/// Numbers without a pattern.
double number(std::size_t k) { return std::sin(1.0 + 12.9898 * static_cast<double>(k)); }

void fill(WideRows& rows, std::size_t count, std::size_t seed) {
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t c = 0; c < rows.width(); ++c) rows.row(k)[c] = number(seed + k * rows.width() + c);
  }
}

template <typename Registers>
class RowProducts : public ::testing::Test {};

using Kinds = ::testing::Types<row_products::Registers16, row_products::Registers32, row_products::Registers64>;
TYPED_TEST_SUITE(RowProducts, Kinds);

TYPED_TEST(RowProducts, are_those_of_a_matrix_whatever_its_shape) {
  for (const std::size_t width : {8, 16, 24, 32, 40, 48, 56, 104}) {
    for (const std::size_t rows : {1, 2, 3, 4, 7, 64}) {
      for (const std::size_t count : {0, 1, 5, 64, 65, 130}) {
        WideRows to(rows, width);
        WideRows from(count, width);
        fill(to, rows, 1);
        fill(from, count, 1000);
        std::vector<double> factors(rows * count + 1);
        for (std::size_t k = 0; k < factors.size(); ++k) factors[k] = number(77 + k);
        // Column after column, and row after row.
        for (const bool by_column : {true, false}) {
          const RowFactors layout{factors.data(), by_column ? 1 : count, by_column ? rows : 1};
          WideRows expected = to;
          for (std::size_t a = 0; a < rows; ++a) {
            for (std::size_t k = 0; k < count; ++k) {
              const double factor = factors[a * layout.row_step + k * layout.step];
              for (std::size_t c = 0; c < width; ++c) expected.row(a)[c] -= factor * from.row(k)[c];
            }
          }
          WideRows result = to;
          subtract_products<TypeParam>(
              rows, [&](std::size_t a) { return result.row(a); }, layout, count,
              [&](std::size_t k) { return from.row(k); }, width);
          for (std::size_t a = 0; a < rows; ++a) {
            for (std::size_t c = 0; c < width; ++c) {
              ASSERT_NEAR(result.row(a)[c], expected.row(a)[c], 1e-12) << width << " " << rows << " " << count;
            }
          }
        }
      }
    }
  }
}

TEST(WideRows, share_their_numbers_evenly) {
  EXPECT_EQ(WideRows::width_for(1), 8U);
  EXPECT_EQ(WideRows::width_for(43), 48U);
  EXPECT_EQ(WideRows::width_for(48), 48U);
  EXPECT_EQ(WideRows::width_for(49), 32U);
  EXPECT_EQ(WideRows::width_for(64), 32U);
  EXPECT_EQ(WideRows::width_for(97), 40U);
}

}  // namespace row_products_test
}  // namespace goblin
