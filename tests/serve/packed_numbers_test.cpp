#include "serve/packed_numbers.hpp"

#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace packed_numbers_test {

void expect_back(const std::vector<double>& numbers, std::size_t bytes) {
  const std::string text = packed(numbers);
  EXPECT_EQ(text.size(), bytes);
  EXPECT_EQ(unpacked(text), numbers);
}

TEST(PackedNumbers, those_with_few_decimals_take_three_or_four_bytes_and_come_back_in_every_bit) {
  expect_back({}, 1);
  expect_back({0.0}, 4);
  expect_back({1.0, -2.0, 3.0}, 10);
  expect_back({8388607.0, -8388607.0}, 7);
  expect_back({8388608.0, -8388608.0}, 9);
  expect_back({2147483647.0, -2147483647.0}, 9);
  expect_back({0.1, 0.123456, -7.5}, 10);
  expect_back({2.0, 0.123456789}, 9);
  std::mt19937_64 random(1);
  for (int decimals = 0; decimals <= 9; ++decimals) {
    std::vector<double> numbers;
    for (int k = 0; k < 1'000; ++k) {
      const auto whole = static_cast<double>(static_cast<std::int64_t>(random() % 4'000'000'001) - 2'000'000'000);
      numbers.push_back(whole / std::pow(10.0, decimals));
    }
    expect_back(numbers, 4'001);
  }
}

TEST(PackedNumbers, others_take_eight_and_come_back_too) {
  expect_back({1.0 / 3.0}, 9);
  expect_back({0.1, 1e-12}, 17);
  expect_back({3e9}, 9);
  expect_back({1e9, 0.5, 0.123456}, 25);
  expect_back({std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max()}, 17);
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  std::vector<double> numbers(100);
  for (double& number : numbers) number = any(random);
  expect_back(numbers, 801);
}

TEST(PackedNumbers, the_sign_of_a_zero_is_lost_and_no_sum_shows_it) {
  const std::vector<double> numbers = {-0.0, 0.25, -0.0};
  const std::vector<double> back = unpacked(packed(numbers));
  EXPECT_EQ(back, numbers);
  EXPECT_FALSE(std::signbit(back[0]));
  for (const double weight : {-3.0, -0.0, 0.0, 2.0}) {
    double sum = 0.0;
    double same = 0.0;
    sum += weight * numbers[0];
    same += weight * back[0];
    EXPECT_EQ(std::signbit(sum), std::signbit(same)) << weight;
  }
}

TEST(PackedNumbers, where_it_counts_the_sign_of_a_zero_is_kept) {
  const std::vector<double> numbers = {-0.0, 0.25, 0.0};
  const std::vector<double> back = unpacked(packed_with_signs(numbers));
  EXPECT_EQ(back, numbers);
  EXPECT_TRUE(std::signbit(back[0]));
  EXPECT_FALSE(std::signbit(back[2]));
  EXPECT_EQ(packed_with_signs(std::vector<double>{0.0, 0.25}), packed(std::vector<double>{0.0, 0.25}));
}

TEST(PackedNumbers, one_that_comes_late_and_needs_more_is_seen) {
  for (const double late : {0.123456, 1.0 / 3.0, 3e9, 1e300, std::numeric_limits<double>::infinity()}) {
    std::vector<double> numbers(1'000, 0.5);
    numbers.back() = late;
    EXPECT_EQ(unpacked(packed(numbers)), numbers) << late;
  }
  const std::vector<double> none = {0.5, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_TRUE(std::isnan(unpacked(packed(none))[1]));
}

TEST(PackedNumbers, other_bytes_are_no_numbers) {
  EXPECT_TRUE(unpacked("").empty());
  EXPECT_TRUE(unpacked(std::string("\x06\x01\x02", 3)).empty());
  EXPECT_TRUE(unpacked(std::string("\x0b\x01\x02\x03\x04", 5)).empty());
  EXPECT_TRUE(unpacked("\xff\x01").empty());
}

}  // namespace packed_numbers_test
}  // namespace goblin::serve
