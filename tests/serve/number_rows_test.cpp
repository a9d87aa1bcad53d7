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
namespace number_rows_test {

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

/// Numbers with a digit before the point and six behind it are read in another way than the others.
TEST(NumberRows, the_usual_form_is_read_as_any_other_and_what_only_looks_like_it_is_not) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 20'000; ++round) {
    const std::string text =
        fmt::format("{}{}.{:06}", random() % 2 == 0 ? "-" : "", random() % 10, random() % 1'000'000);
    double expected = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), expected);
    const auto got = read(fmt::format("[[{0},{0}],[{0},7]]", text), 2);
    ASSERT_TRUE(got) << text;
    EXPECT_THAT(*got, ElementsAre(expected, expected, expected, 7));
    EXPECT_EQ(std::signbit(got->at(1)), text[0] == '-');
    // With one byte changed, it is what from_chars says it is, or nothing.
    std::string other = text;
    other[random() % other.size()] = static_cast<char>(random() % 128);
    const auto [end, error] = std::from_chars(other.data(), other.data() + other.size(), expected);
    const bool is_number = error == std::errc() && end == other.data() + other.size() && std::isfinite(expected);
    const auto of_other = read(fmt::format("[[{},7]]", other), 2);
    if (of_other && is_number) {
      EXPECT_EQ(of_other->at(0), expected) << other;
    } else if (of_other) {  // spaces may stand around a number
      EXPECT_NE(other.find_first_of(" \t\n\r"), std::string::npos) << other;
    }
  }
  for (const char* text : {"[[0.123456", "[[-0.123456", "[[0.123456,", "[[-0.123456,", "[[0.12345:,7]]",
                           "[[0,123456,7]]", "[[:.123456,7]]", "[[0./23456,7]]", "[[0.123456 7]]", "[[0.123456]7]]"}) {
    EXPECT_FALSE(read(text, 2)) << text;
  }
}

}  // namespace number_rows_test
}  // namespace goblin::serve
