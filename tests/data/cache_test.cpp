#include "data/small_release.hpp"
#include "goblin/data/hetrec.hpp"

#include <cstdlib>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::data {
namespace cache_test {

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

class Cache : public ::testing::Test {
 protected:
  void SetUp() override { write_small_lastfm(folder_ / "data"); }
  [[nodiscard]] Dataset read(ContextOptions contexts = {.dimension = 2}) const {
    return read_lastfm(folder_ / "data", {.contexts = contexts, .cache = folder_ / "cache"});
  }
  [[nodiscard]] std::filesystem::path cache() const { return folder_ / "cache"; }

  TemporaryFolder folder_;
};

TEST_F(Cache, gives_back_what_was_prepared) {
  const Dataset first = read();
  const Dataset second = read();
  EXPECT_FALSE(first.from_cache);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(second.name, first.name);
  EXPECT_EQ(second.contexts.numbers, first.contexts.numbers);
  EXPECT_EQ(second.contexts.scale, first.contexts.scale);
  EXPECT_EQ(second.graph.edge_count(), first.graph.edge_count());
  EXPECT_EQ(second.graph.names()[2], first.graph.names()[2]);
  EXPECT_EQ(second.items[4], first.items[4]);
  ASSERT_EQ(second.payoffs.size(), first.payoffs.size());
  EXPECT_EQ(second.payoffs.at(0, 1), 1.0);
  EXPECT_EQ(second.summary.skipped_assignments, 1);
  EXPECT_EQ(second.summary.words, first.summary.words);
}

TEST_F(Cache, is_keyed_by_every_option) {
  (void)read();
  for (const ContextOptions& other :
       std::vector<ContextOptions>{{.split_tags = false, .dimension = 2},
                                   {.lower_case = false, .dimension = 2},
                                   {.minimum_count = 0, .dimension = 2},
                                   {.inverse_document_frequency = false, .dimension = 2},
                                   {.unit_rows = true, .dimension = 2},
                                   {.keep_untagged = false, .dimension = 2},
                                   {.term_frequency = TermFrequency::binary, .dimension = 2},
                                   {.term_frequency = TermFrequency::sublinear, .dimension = 2},
                                   {.smooth_idf = true, .dimension = 2},
                                   {.dimension = 2, .unit_contexts = true},
                                   {.centre = false, .dimension = 2},
                                   {.count_untagged = false, .dimension = 2},
                                   {.zero_untagged = false, .dimension = 2},
                                   {.dimension = 3},
                                   {.dimension = 2, .mean_length = 2.0}}) {
    EXPECT_FALSE(read(other).from_cache);
    EXPECT_TRUE(read(other).from_cache);
  }
  EXPECT_EQ(files_in(cache()).size(), 16);
}

TEST_F(Cache, keeps_what_was_left_out_and_the_lengths) {
  const ContextOptions options{.keep_untagged = false, .dimension = 2, .unit_contexts = true};
  const Dataset first = read(options);
  const Dataset second = read(options);
  ASSERT_TRUE(second.from_cache);
  EXPECT_TRUE(second.contexts.unit_length);
  EXPECT_EQ(second.items.size(), 4);
  EXPECT_EQ(second.summary.left_out_items, 1);
  EXPECT_EQ(second.summary.left_out_payoffs, first.summary.left_out_payoffs);
  EXPECT_EQ(second.payoffs.size(), first.payoffs.size());
}

TEST_F(Cache, notices_a_changed_file) {
  (void)read();
  const auto file = folder_ / "data" / "user_artists.dat";
  std::string content = content_of(file);
  content.replace(content.find("\t20\t"), 4, "\t30\t");
  write_file(file, content);
  const Dataset changed = read();
  EXPECT_FALSE(changed.from_cache);
  EXPECT_EQ(changed.payoffs.at(0, *changed.items.find("30")), 1.0);
}

TEST_F(Cache, a_damaged_one_is_made_again) {
  (void)read();
  const auto file = files_in(cache()).at(0);
  std::string content = content_of(file);
  content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
  write_file(file, content);
  EXPECT_FALSE(read().from_cache);
  EXPECT_TRUE(read().from_cache);
  write_file(file, content.substr(0, 10));
  EXPECT_FALSE(read().from_cache);
}

TEST_F(Cache, one_that_cannot_be_written_is_as_good_as_none) {
  write_file(folder_ / "cache", "a file where the folder should be");
  EXPECT_EQ(read().items.size(), 5);
}

TEST(CacheFolder, follows_the_environment) {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  const std::string before = variable("XDG_CACHE_HOME");
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(default_cache_folder(), "/somewhere/goblin");
  ::unsetenv("XDG_CACHE_HOME");
  if (!variable("HOME").empty()) {
    EXPECT_EQ(default_cache_folder(), std::filesystem::path(variable("HOME")) / ".cache" / "goblin");
  }
  if (!before.empty()) ::setenv("XDG_CACHE_HOME", before.c_str(), 1);
}

}  // namespace cache_test
}  // namespace goblin::data
