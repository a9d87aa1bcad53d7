#include "goblin/data/own_files.hpp"

#include "goblin/error.hpp"
#include "temporary_folder.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::data {
namespace own_files_test {

struct OwnFiles {
  std::string edges = "# friends\nann\tbob\nbob\tcat\t2.5\n";
  std::string items = "tea\t1\t0\nsoup\t0\t2\n";
  std::string payoffs = "ann\ttea\t1\ndan\tsoup\t0.5\nbob\ttea\t0\n";

  [[nodiscard]] Dataset read(const OwnFilesOptions& options = {}) const {
    const TemporaryFolder folder;
    write_file(folder / "edges.tsv", edges);
    write_file(folder / "items.tsv", items);
    write_file(folder / "payoffs.tsv", payoffs);
    return read_own_files(folder.path(), options);
  }
  [[nodiscard]] std::string error(const OwnFilesOptions& options = {}) const {
    try {
      (void)read(options);
    } catch (const DataError& error) {
      return error.file().substr(error.file().rfind('/') + 1) + ":" + std::to_string(error.line()) + ": " +
             error.reason();
    }
    return "no error";
  }
};

TEST(OwnFiles, with_numbers_are_taken_as_they_are) {
  const Dataset data = OwnFiles{}.read();
  EXPECT_EQ(data.graph.node_count(), 4);
  EXPECT_EQ(data.graph.weight(1, 2), 2.5);
  EXPECT_EQ(data.graph.names()[3], "dan");
  EXPECT_EQ(data.contexts.dimension, 2);
  EXPECT_THAT(data.context(1), ::testing::ElementsAre(0.0, 2.0));
  EXPECT_EQ(data.payoffs.size(), 2);
  EXPECT_EQ(data.payoffs.at(3, 1), 0.5);
  EXPECT_EQ(data.summary.users_without_friends, 1);
  EXPECT_EQ(data.summary.users_without_payoffs, 2);
}

TEST(OwnFiles, with_numbers_refuse_what_only_tags_can_become) {
  try {
    (void)OwnFiles{}.read({.contexts = {.unit_contexts = true}});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("unit_contexts: true (items.tsv has numbers, which stay as they"));
  }
}

TEST(OwnFiles, with_tags_go_through_the_same_pipeline) {
  const OwnFiles files{.items = "tea\thot\tGreen_leaf\nsoup\thot\nsoup\tgreen\nstone\n"};
  const Dataset data = files.read({.contexts = {.dimension = 2}});
  EXPECT_EQ(data.items.size(), 3);
  EXPECT_EQ(data.summary.tags, 3);
  EXPECT_EQ(data.summary.words, 3);  // hot green leaf
  EXPECT_EQ(data.summary.assignments, 4);
  EXPECT_EQ(data.summary.items_without_tags, 1);
  EXPECT_EQ(data.contexts.dimension, 2);
  EXPECT_THAT(data.context(2), ::testing::Each(0.0));
}

TEST(OwnFiles, numbers_can_be_tags) {
  const OwnFiles files{.items = "tea\t1984\t2001\nsoup\t1984\n"};
  EXPECT_EQ(files.error(), "items.tsv:2: 1 number (expected: 2, as in the first line)");
  EXPECT_EQ(files.read({.items = ItemFields::tags, .contexts = {.dimension = 1}}).summary.words, 2);
}

TEST(OwnFiles, items_can_be_read_alone) {
  const TemporaryFolder folder;
  const std::string path = folder / "items.tsv";
  write_file(path, "# a menu\ntea\t1\t0\n\\#soup\t0\t-2.5e-1\r\n");
  const Items items = read_items(path);
  EXPECT_EQ(items.file, path);
  EXPECT_EQ(items.names.size(), 2);
  EXPECT_EQ(items.dimension, 2);
  ASSERT_TRUE(items.context("#soup"));
  EXPECT_THAT(*items.context("#soup"), ::testing::ElementsAre(0.0, -0.25));
  EXPECT_FALSE(items.context("soup"));
  std::ostringstream out;
  write_items(out, items.names, {.dimension = 2, .numbers = items.numbers});
  EXPECT_EQ(out.str(), "tea\t1\t0\n\\#soup\t0\t-0.25\n");
  const auto error = [&](const char* text) {
    write_file(path, text);
    try {
      (void)read_items(path);
    } catch (const DataError& caught) {
      return std::to_string(caught.line()) + ": " + caught.reason();
    }
    return std::string("no error");
  };
  EXPECT_EQ(error("tea\thot\n"), "1: 'hot' is not a number");
  EXPECT_EQ(error("tea\n"), "1: no numbers after the item's name (must be at least 1)");
  EXPECT_EQ(error("tea\t1\nsoup\n"), "2: 0 numbers (expected: 1, as in the first line)");
  EXPECT_EQ(error("tea\t1\ntea\t1\n"), "2: item 'tea' stands twice");
  EXPECT_EQ(error("tea\tnan\n"), "1: number nan (must be finite)");
  EXPECT_EQ(error("tea\t1\t\n"), "1: '' is not a number");
  EXPECT_EQ(error("# nothing\n"), "0: no items");
}

TEST(OwnFiles, repeated_payoffs_count_as_the_options_say) {
  const OwnFiles files{.payoffs = "ann\ttea\t1\nbob\tsoup\t2\nann\ttea\t0.5\nann\ttea\t0.25\nbob\tsoup\t-2\n"};
  const auto payoff = [&](const char* name) {
    return files.read({.repeated_payoffs = repeated_payoffs_named(name)}).payoffs;
  };
  EXPECT_EQ(payoff("first").at(0, 0), 1.0);
  EXPECT_EQ(payoff("last").at(0, 0), 0.25);
  EXPECT_EQ(payoff("last").at(1, 1), -2.0);
  EXPECT_EQ(payoff("sum").at(0, 0), 1.75);
  EXPECT_EQ(payoff("sum").size(), 1) << "what adds up to 0 pays nothing";
  EXPECT_THROW((void)repeated_payoffs_named("mean"), std::invalid_argument);
  EXPECT_EQ(
      (OwnFiles{.payoffs = "ann\ttea\t1e308\nann\ttea\t1e308\n"}).error({.repeated_payoffs = RepeatedPayoffs::sum}),
      "payoffs.tsv:2: the sum of the payoffs is inf (must be finite)");
}

TEST(OwnFiles, self_loops_can_be_dropped) {
  const OwnFiles files{.edges = "ann\tann\nann\tbob\n"};
  EXPECT_EQ(files.read({.edges = {.drop_self_loops = true}}).graph.edge_count(), 1);
}

TEST(OwnFiles, name_file_line_and_reason) {
  EXPECT_EQ(OwnFiles{.edges = "ann\tann\n"}.error(),
            "edges.tsv:1: 'ann' is joined to itself (a self loop; drop-self-loops leaves such lines out)");
  EXPECT_EQ(OwnFiles{.items = ""}.error(), "items.tsv:0: no items");
  EXPECT_EQ(OwnFiles{.items = "tea\t1\nsoup\tx\n"}.error(), "items.tsv:2: 'x' is not a number");
  EXPECT_EQ(OwnFiles{.items = "tea\t1\nsoup\tinf\n"}.error(), "items.tsv:2: number inf (must be finite)");
  EXPECT_EQ(OwnFiles{.items = "tea\t1\ntea\t2\n"}.error(), "items.tsv:2: item 'tea' stands twice");
  EXPECT_EQ(OwnFiles{.items = "\t1\n"}.error(), "items.tsv:1: an empty item name");
  EXPECT_EQ(OwnFiles{.items = "tea\thot\t\n"}.error(), "items.tsv:1: an empty tag");
  EXPECT_EQ(OwnFiles{.items = "tea\thot\n"}.error({.items = ItemFields::numbers}),
            "items.tsv:1: 'hot' is not a number");
  EXPECT_EQ(OwnFiles{.payoffs = "ann\ttea\n"}.error(),
            "payoffs.tsv:1: a line of another form (expected: user <tab> item <tab> payoff)");
  EXPECT_EQ(OwnFiles{.payoffs = "ann\tcake\t1\n"}.error(), "payoffs.tsv:1: item 'cake' is not in items.tsv");
  EXPECT_EQ(OwnFiles{.payoffs = "ann\ttea\tmuch\n"}.error(), "payoffs.tsv:1: 'much' is not a number");
  EXPECT_EQ(OwnFiles{.payoffs = "ann\ttea\tnan\n"}.error(), "payoffs.tsv:1: payoff nan (must be finite)");
  EXPECT_EQ(OwnFiles{.payoffs = "ann\ttea\t1\nann\ttea\t2\n"}.error(),
            "payoffs.tsv:2: user 'ann' and item 'tea' stand in line 1 already (repeated-payoffs says what counts: "
            "first, last "
            "or sum)");
  EXPECT_EQ(OwnFiles{.payoffs = "ann\ttea\t0\n"}.error(), "payoffs.tsv:0: no payoff other than 0");
}

}  // namespace own_files_test
}  // namespace goblin::data
