#include "serve/number_rows.hpp"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace {

using testing::ElementsAre;

/// What is read of a text, with something behind it that is none of its business.
std::optional<std::vector<double>> read(const std::string& text, std::size_t columns, std::size_t most_rows = 100) {
  const std::string padded = text + "99999999";
  std::vector<double> numbers;
  const auto end = read_number_rows(std::string_view(padded).substr(0, text.size()), columns, most_rows, numbers);
  if (!end) return std::nullopt;
  EXPECT_LE(*end, text.size());
  return numbers;
}

TEST(NumberRows, rows_are_read_up_to_their_end) {
  EXPECT_THAT(*read("[[1]]", 1), ElementsAre(1));
  EXPECT_THAT(*read("[[0.1,-2],[3e1,4]]", 2), ElementsAre(0.1, -2, 30, 4));
  EXPECT_THAT(*read(" [ [ 0 , 12345678901234567890 ]\n,\t[ -0.5E-3 ,1.5 ] ] ,\"user\"", 2),
              ElementsAre(0, 12345678901234567890.0, -0.5e-3, 1.5));
  std::vector<double> numbers;
  EXPECT_EQ(read_number_rows("[[1,2]],\"a\":1         ", 2, 1, numbers), 7);
  EXPECT_TRUE(std::signbit(read("[[-0.0]]", 1)->at(0)));
}

TEST(NumberRows, everything_else_is_left_to_others) {
  for (const char* text :
       {"",          "[",         "[]",      "[[]]",     "[[1]",      "[[1",       "[[1,2]]", "[[1],]",
        "[[1] [2]]", "[[01]]",    "[[1.]]",  "[[.5]]",   "[[+1]]",    "[[1e]]",    "[[1e+]]", "[[--1]]",
        "[[-]]",     "[[1,]]",    "[[NaN]]", "[[null]]", "[[\"1\"]]", "[[1e400]]", "[[[1]]]", "[1]",
        "{}",        "[[1.5.5]]", "[[00]]",  "[[-01]]",  "[[1_0]]",   "[[0x1]]",   "[[1:2]]"}) {
    EXPECT_FALSE(read(text, 1)) << text;
  }
  EXPECT_FALSE(read("[[1],[2],[3]]", 1, 2)) << "more rows than there may be";
  EXPECT_FALSE(read("[[1,2],[3]]", 2));
  EXPECT_FALSE(read("[[1]]", 0));
}

TEST(NumberRows, numbers_are_the_nearest_doubles) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const auto digits = [&](std::size_t count) {
      for (std::size_t k = 0; k < count; ++k) text += static_cast<char>('0' + random() % 10);
    };
    if (random() % 2 == 0) text += '-';
    if (random() % 2 == 0) {
      text += '0';
    } else {
      text += static_cast<char>('1' + random() % 9);
      digits(random() % 20);
    }
    if (random() % 4 != 0) {
      text += '.';
      digits(1 + random() % 20);
    }
    if (random() % 4 == 0) text += fmt::format("e{}", static_cast<int>(random() % 400) - 200);
    double expected = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), expected);
    if (error != std::errc()) continue;
    const auto got = read("[[" + text + "]]", 1);
    ASSERT_TRUE(got) << text;
    EXPECT_EQ(std::memcmp(got->data(), &expected, 8), 0) << text << " " << got->at(0) << " " << expected;
  }
}

}  // namespace
}  // namespace goblin::serve
