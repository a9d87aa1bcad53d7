#include "goblin/data/reading.hpp"

#include "data/small_release.hpp"
#include "goblin/data/hetrec.hpp"
#include "goblin/data/own_files.hpp"
#include "support/datasets.hpp"

#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::data {
namespace reading_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <typename Call>
std::string refusal_of(Call call) {
  try {
    (void)call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "not refused";
}

TEST(Readings, have_names_and_differ) {
  std::set<std::string> words;
  for (const Reading& each : readings()) {
    EXPECT_EQ(&reading_named(each.name), &each);
    std::string all;
    for (const auto& [option, value] : words_of(each.contexts)) all += std::string(option) + value + " ";
    EXPECT_TRUE(words.insert(all).second) << each.name;
  }
  EXPECT_EQ(words.size(), 6U);
  EXPECT_EQ(readings().front().name, "unit-contexts");
  const auto refusal = refusal_of([] { return reading_named("their-own"); });
  EXPECT_THAT(refusal, HasSubstr("reading: 'their-own' (must be "));
  for (const Reading& each : readings()) EXPECT_THAT(refusal, HasSubstr(std::string(each.name)));
}

TEST(Readings, are_the_sets_of_options_they_are_said_to_be) {
  const ContextOptions literal = reading_named("literal").contexts;
  EXPECT_EQ(words_of(literal), words_of(ContextOptions{}));
  const ContextOptions unit = reading_named("unit-contexts").contexts;
  EXPECT_TRUE(unit.unit_rows && unit.unit_contexts && !unit.centre && !unit.keep_untagged);
  const ContextOptions all = reading_named("unit-contexts-all").contexts;
  EXPECT_TRUE(all.unit_rows && all.unit_contexts && !all.centre && all.keep_untagged);
  const ContextOptions centred = reading_named("centred-unit-contexts").contexts;
  EXPECT_TRUE(centred.unit_rows && centred.unit_contexts && centred.centre && !centred.keep_untagged);
  const ContextOptions rows = reading_named("unit-rows").contexts;
  EXPECT_TRUE(rows.unit_rows && !rows.unit_contexts && rows.centre && rows.keep_untagged);
  const ContextOptions carleton = reading_named("carleton").contexts;
  EXPECT_TRUE(carleton.unit_rows && !carleton.unit_contexts && !carleton.centre && carleton.smooth_idf &&
              carleton.term_frequency == TermFrequency::binary);
}

TEST(Readings, take_other_options_beside_them_but_no_contradiction) {
  const std::vector<std::string> words = {"minimum_count", "dimension", "centre"};
  const ContextOptions chosen =
      choose_contexts("unit-contexts", {.minimum_count = 3, .centre = false, .dimension = 7}, words);
  EXPECT_EQ(chosen.minimum_count, 3U);
  EXPECT_EQ(chosen.dimension, 7U);
  EXPECT_TRUE(chosen.unit_rows) << "not listed: as the reading says";
  EXPECT_THAT(refusal_of([&] { return choose_contexts("unit-contexts", {.centre = true}, words); }),
              AllOf(HasSubstr("centre: true"), HasSubstr("unit-contexts"), HasSubstr("false")));
  const std::vector<std::string> length = {"mean_length"};
  EXPECT_THAT(refusal_of([&] { return choose_contexts("unit-contexts", {.mean_length = 2.0}, length); }),
              AllOf(HasSubstr("mean_length: 2"), HasSubstr("unit-contexts")));
  const auto as_typed = [](std::string_view field) { return "--" + std::string(field.substr(0, 4)); };
  EXPECT_THAT(refusal_of([&] { return choose_contexts("unit-contexts", {.mean_length = 2.0}, length, as_typed); }),
              HasSubstr("--mean: 2 (contradicts the reading unit-contexts"));
  EXPECT_EQ(choose_contexts("literal", {.mean_length = 2.0}, length).mean_length, 2.0);
  const std::vector<std::string> both = {"mean_length", "unit_contexts"};
  EXPECT_THAT(refusal_of([&] { return choose_contexts("", {.unit_contexts = true, .mean_length = 2.0}, both); }),
              AllOf(HasSubstr("mean_length: 2"), HasSubstr("unit_contexts")));
  const std::vector<std::string> smooth = {"smooth_idf", "inverse_document_frequency"};
  EXPECT_THAT(refusal_of([&] {
                return choose_contexts("", {.inverse_document_frequency = false, .smooth_idf = true}, smooth);
              }),
              AllOf(HasSubstr("smooth_idf"), HasSubstr("inverse_document_frequency")));
  EXPECT_EQ(words_of(choose_contexts("", {.centre = false}, {})), words_of(ContextOptions{})) << "nothing listed";
}

TEST(Untagged, items_can_be_left_out_with_their_payoffs) {
  const TemporaryFolder folder;
  write_small_lastfm(folder.path());
  const Dataset all = read_lastfm(folder.path(), {.contexts = {.dimension = 2}});
  const Dataset tagged = read_lastfm(folder.path(), {.contexts = {.keep_untagged = false, .dimension = 2}});
  EXPECT_EQ(all.summary.left_out_items, 0U);
  EXPECT_EQ(tagged.items.size(), all.items.size() - 1);
  EXPECT_FALSE(tagged.items.find("50"));
  EXPECT_EQ(tagged.summary.left_out_items, 1U);
  EXPECT_EQ(tagged.summary.left_out_payoffs, 1U);  // user 6 listened to 50
  EXPECT_EQ(tagged.summary.payoffs, all.summary.payoffs - 1);
  EXPECT_EQ(tagged.summary.items_without_tags, 1U) << "of what was read";
  EXPECT_EQ(tagged.contexts.numbers.size(), 2 * tagged.items.size());
  const auto user = *all.graph.names().find("6");
  EXPECT_EQ(tagged.payoffs.at(user, *tagged.items.find("40")), 1.0);
  EXPECT_EQ(tagged.payoffs.columns(user).size(), 1U);
  EXPECT_EQ(tagged.graph.node_count(), all.graph.node_count());
}

TEST(Untagged, an_item_whose_words_are_all_rare_is_one) {
  const TemporaryFolder folder;
  write_file(folder / "edges.tsv", "ann\tbob\n");
  write_file(folder / "items.tsv", "tea\thot\tgreen\ncake\tsweet\tgreen\nice\tsweet\thot\nglue\todd\n");
  write_file(folder / "payoffs.tsv", "ann\ttea\t1\nbob\tglue\t1\n");
  const Dataset data =
      read_own_files(folder.path(), {.contexts = {.minimum_count = 2, .keep_untagged = false, .dimension = 2}});
  EXPECT_EQ(data.items.size(), 3U);
  EXPECT_EQ(data.summary.left_out_items, 1U);
  EXPECT_EQ(data.summary.left_out_payoffs, 1U);
  EXPECT_EQ(data.summary.users_without_payoffs, 1U);
  EXPECT_THAT(refusal_of([&] {
                return read_own_files(folder.path(),
                                      {.contexts = {.minimum_count = 9, .keep_untagged = false, .dimension = 2}});
              }),
              HasSubstr("no item has a word that counts"));
}

TEST(Readings, of_lastfm_have_the_counts_of_the_files) {
  const auto folder = test::dataset_file("hetrec2011-lastfm-2k");
  if (!folder) GTEST_SKIP() << test::no_datasets;
  const Dataset data = read_lastfm(*folder, {.contexts = reading_named("unit-contexts").contexts});
  EXPECT_EQ(data.items.size(), 12'133U);
  EXPECT_EQ(data.summary.left_out_items, 5'499U);
  EXPECT_EQ(data.summary.left_out_payoffs, 6'226U);
  for (std::size_t item = 0; item < data.items.size(); item += 97) {
    double squares = 0.0;
    for (const double number : data.context(item)) squares += number * number;
    EXPECT_NEAR(squares, 1.0, 1e-12);
  }
}

}  // namespace reading_test
}  // namespace goblin::data
