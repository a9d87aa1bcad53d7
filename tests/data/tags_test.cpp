#include "goblin/data/tags.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::data {
namespace tags_test {

using ::testing::ElementsAre;

TEST(Tags, compound_tags_are_split_at_every_separator) {
  EXPECT_THAT(split_tag("webdesign_tutorial_css"), ElementsAre("webdesign", "tutorial", "css"));
  EXPECT_THAT(split_tag("lo-fi"), ElementsAre("lo", "fi"));
  EXPECT_THAT(split_tag("rock 'n' roll"), ElementsAre("rock", "n", "roll"));
  EXPECT_THAT(split_tag("kid&#039s"), ElementsAre("kid", "s"));
  EXPECT_THAT(split_tag("kid&#039;s"), ElementsAre("kid", "s"));
  EXPECT_THAT(split_tag("__a--b "), ElementsAre("a", "b"));
  EXPECT_THAT(split_tag("a&b#039"), ElementsAre("a&b#039"));
  EXPECT_THAT(split_tag(" -"), ElementsAre());
}

TEST(Tags, latin1_becomes_utf8_and_lower_case) {
  EXPECT_EQ(utf8_of_latin1("fran\xE7"
                           "aise"),
            "française");
  EXPECT_EQ(lower_case("ROCK ÉÀÞß × Ÿ"), "rock éàþß × Ÿ");
}

TEST(Tags, counts_go_to_every_word_of_a_tag) {
  const std::vector<std::string> tags = {"Rock", "rock and rock", "unused", "Pop"};
  const std::vector<Entry> assignments = {{0, 0, 2.0}, {0, 1, 1.0}, {2, 3, 1.0}, {2, 1, 1.0}};
  const WordCounts words = count_words(3, tags, assignments);
  ASSERT_EQ(words.words.size(), 3);
  EXPECT_EQ(words.words_in_all, 3);
  const auto count = [&](std::size_t item, const char* word) { return words.counts.at(item, *words.words.find(word)); };
  EXPECT_EQ(count(0, "rock"), 4.0);
  EXPECT_EQ(count(0, "and"), 1.0);
  EXPECT_EQ(count(0, "pop"), 0.0);
  EXPECT_TRUE(words.counts.columns(1).empty());
  EXPECT_EQ(count(2, "rock"), 2.0);
}

TEST(Tags, rare_words_are_left_out_by_their_number_of_occurrences) {
  const std::vector<std::string> tags = {"a", "b_c"};
  const std::vector<Entry> assignments = {{0, 0, 9.0}, {0, 1, 6.0}, {1, 1, 4.0}};
  const WordCounts words = count_words(2, tags, assignments, {.minimum_count = 10});
  EXPECT_EQ(words.words_in_all, 3);
  EXPECT_EQ(words.words.size(), 2);
  EXPECT_FALSE(words.words.find("a"));
}

TEST(Tags, each_step_can_be_left_out) {
  const std::vector<std::string> tags = {"Lo-Fi"};
  const std::vector<Entry> assignments = {{0, 0}};
  EXPECT_TRUE(count_words(1, tags, assignments, {.split = false}).words.find("lo-fi"));
  EXPECT_TRUE(count_words(1, tags, assignments, {.lower_case = false}).words.find("Lo"));
}

}  // namespace tags_test
}  // namespace goblin::data
