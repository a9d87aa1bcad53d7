#include "goblin/data/hetrec.hpp"

#include "data/small_release.hpp"
#include "goblin/error.hpp"
#include "support/datasets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::data {
namespace hetrec_test {

using ::testing::HasSubstr;

const ReadOptions small = {.contexts = {.dimension = 2}};

TEST(Hetrec, reads_files_in_the_form_of_lastfm) {
  const TemporaryFolder folder;
  write_small_lastfm(folder / "hetrec2011-lastfm-2k");
  const Dataset data = read_lastfm(folder.path(), small);
  EXPECT_EQ(data.name, "Last.fm");
  EXPECT_EQ(data.graph.node_count(), 4);
  EXPECT_EQ(data.graph.edge_count(), 2);
  EXPECT_EQ(data.graph.names()[3], "8");
  EXPECT_EQ(data.graph.weight(0, 1), 1.0);
  EXPECT_EQ(data.graph.weight(1, 2), 1.0);
  EXPECT_EQ(data.items.size(), 5);
  EXPECT_EQ(data.payoffs.at(0, *data.items.find("10")), 1.0);
  EXPECT_EQ(data.payoffs.at(0, *data.items.find("30")), 0.0);
  EXPECT_EQ(data.contexts.dimension, 2);
  EXPECT_THAT(data.context(*data.items.find("50")), ::testing::Each(0.0));

  const Summary& summary = data.summary;
  EXPECT_EQ(summary.payoffs, 6);
  EXPECT_EQ(summary.tags, 6);
  EXPECT_EQ(summary.assignments, 6);
  EXPECT_EQ(summary.skipped_assignments, 1);
  EXPECT_EQ(summary.skipped_items, 1);
  EXPECT_EQ(summary.items_without_tags, 1);
  EXPECT_EQ(summary.payoffs_without_tags, 1);
  EXPECT_EQ(summary.unused_tags, 1);
  EXPECT_EQ(summary.users_without_friends, 1);
  EXPECT_EQ(summary.users_without_payoffs, 0);
  EXPECT_EQ(summary.components, 2);
  EXPECT_EQ(summary.largest_component, 3);
  EXPECT_EQ(summary.words, 8);  // rock and roll lo fi chanson française 80s
}

TEST(Hetrec, reads_files_in_the_form_of_delicious) {
  const TemporaryFolder folder;
  write_small_delicious(folder / "hetrec2011-delicious-2k-reconstructed");
  const Dataset data = read_delicious(folder.path(), small);
  EXPECT_EQ(data.name, "Delicious (reconstructed)");
  EXPECT_EQ(data.graph.node_count(), 3);
  EXPECT_EQ(data.graph.edge_count(), 1);
  EXPECT_EQ(data.payoffs.size(), 2);
  EXPECT_EQ(data.payoffs.at(0, 0), 1.0);  // two tags, one bookmark
  EXPECT_EQ(data.summary.repeated_tags, 1);
  EXPECT_EQ(data.summary.users_without_payoffs, 1);
  EXPECT_EQ(data.summary.words, 4);  // web 10, design 10, kid 11, s 11
  const Dataset fewer = read_delicious(folder.path(), {.contexts = {.minimum_count = 11, .dimension = 2}});
  EXPECT_EQ(fewer.summary.words, 2);
  EXPECT_EQ(fewer.summary.words_in_all, 4);
}

/// What goes wrong when one file of a good release has other content.
std::string error_with(const std::string& file, const std::string& content) {
  const TemporaryFolder folder;
  write_small_lastfm(folder.path());
  write_file(folder / file, content);
  try {
    (void)read_lastfm(folder.path(), small);
  } catch (const DataError& error) {
    EXPECT_EQ(error.file(), (folder / file).string());
    return std::to_string(error.line()) + ": " + error.reason();
  }
  return "no error";
}

TEST(Hetrec, bad_files_are_named_with_their_line) {
  EXPECT_EQ(error_with("tags.dat", "id\tvalue\r\n1\trock\r\n"),
            "1: another header: 'id value' (expected, with tabs between: 'tagID tagValue')");
  EXPECT_EQ(error_with("tags.dat", ""), "0: the file is empty");
  EXPECT_EQ(error_with("user_friends.dat", "userID\tfriendID\r\n2\t4\r\n4\r\n"),
            "3: a short row: 1 field (expected: 2)");
  EXPECT_EQ(error_with("user_friends.dat", "userID\tfriendID\r\n2\tx\r\n"), "2: 'x' is not a whole number");
  EXPECT_EQ(error_with("user_friends.dat", "userID\tfriendID\r\n2\t-4\r\n"), "2: '-4' is not a whole number");
  EXPECT_EQ(error_with("user_friends.dat", "userID\tfriendID\r\n2\t2\r\n"), "2: user 2 is their own friend");
  EXPECT_EQ(error_with("artists.dat", "id\tname\turl\tpictureURL\n1\ta\tu\tp\n1\ta\tu\tp\n"), "3: item 1 stands twice");
  EXPECT_EQ(error_with("user_artists.dat", "userID\tartistID\tweight\n2\t11\t5\n"), "2: item 11 is not listed");
  EXPECT_EQ(error_with("user_artists.dat", "userID\tartistID\tweight\n2\t10\tmuch\n"),
            "2: 'much' is not a whole number");
  EXPECT_EQ(error_with("user_taggedartists.dat", "userID\tartistID\ttagID\tday\tmonth\tyear\n2\t10\t3\t1\t1\t1\n"),
            "2: tag 3 is not listed");
}

TEST(Hetrec, a_missing_file_or_folder_is_named) {
  const TemporaryFolder folder;
  write_small_lastfm(folder.path());
  std::filesystem::remove(folder / "tags.dat");
  try {
    (void)read_lastfm(folder.path(), small);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_EQ(error.file(), (folder / "tags.dat").string());
  }
  try {
    (void)read_delicious(folder.path(), small);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no Delicious data: neither user_taggedbookmarks.dat nor a folder"));
  }
}

TEST(Hetrec, an_artist_who_was_never_listened_to_is_no_payoff) {
  const TemporaryFolder folder;
  write_small_lastfm(folder.path());
  write_file(folder / "user_artists.dat", "userID\tartistID\tweight\n2\t10\t0\n2\t20\t4\n");
  const Dataset data = read_lastfm(folder.path(), small);
  EXPECT_EQ(data.payoffs.size(), 1);
}

TEST(Hetrec, lastfm_has_the_published_counts) {
  const auto folder = test::dataset_file("");
  if (!folder || find_lastfm(*folder).empty()) GTEST_SKIP() << test::no_datasets;
  const Dataset data = read_lastfm(*folder);
  const Summary& summary = data.summary;
  EXPECT_EQ(summary.users, 1892);
  EXPECT_EQ(summary.edges, 12717);
  EXPECT_EQ(summary.items, 17632);
  EXPECT_EQ(summary.payoffs, 92834);
  EXPECT_EQ(summary.tags, 11946);
  EXPECT_EQ(summary.components, 20);
  EXPECT_EQ(summary.largest_component, 1843);
  EXPECT_EQ(summary.users_without_friends, 0);
  EXPECT_EQ(summary.skipped_items, 390);
  EXPECT_EQ(summary.skipped_assignments, 1538);
  EXPECT_EQ(summary.assignments, 186479 - 1538);
  EXPECT_EQ(summary.items_without_tags, 5499);
  EXPECT_EQ(summary.payoffs_without_tags, 6226);
  EXPECT_EQ(summary.unused_tags, 2197);
  EXPECT_EQ(summary.words, 7653);
  std::size_t most = 0;
  for (std::size_t user = 0; user < summary.users; ++user) most = std::max(most, data.payoffs.columns(user).size());
  EXPECT_EQ(most, 50);
  EXPECT_EQ(data.contexts.numbers.size(), 17632 * 25);
}

TEST(Hetrec, delicious_has_the_published_counts) {
  const auto folder = test::dataset_file("");
  if (!folder || find_delicious(*folder).empty()) GTEST_SKIP() << test::no_datasets;
  const Dataset data = read_delicious(*folder);
  const Summary& summary = data.summary;
  EXPECT_EQ(summary.users, 1867);
  EXPECT_EQ(summary.users_without_friends, 6);
  EXPECT_EQ(summary.edges, 7664);
  EXPECT_EQ(summary.items, 69226);
  EXPECT_EQ(summary.tags, 53388);
  EXPECT_EQ(summary.repeated_tags, 53388 - 52817);
  EXPECT_EQ(summary.components, 68);
  EXPECT_EQ(summary.largest_component, 1503);
  if (data.name == "Delicious (reconstructed)") {
    EXPECT_EQ(summary.payoffs, 103904);
    EXPECT_EQ(summary.users_without_payoffs, 12);
  } else {
    EXPECT_EQ(summary.payoffs, 104799);
  }
}

}  // namespace hetrec_test
}  // namespace goblin::data
