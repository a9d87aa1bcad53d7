#include "goblin/graph/edge_file.hpp"

#include "goblin/error.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace edge_file_test {

Graph read(const std::string& text) {
  std::istringstream in(text);
  return read_edges(in, "edges.tsv");
}

std::string error_of(const std::string& text) {
  try {
    (void)read(text);
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

TEST(EdgeFile, reads_names_weights_and_comments) {
  const Graph graph = read("\xEF\xBB\xBF# friends\nann\tbob\r\n\nbob\tzoë b.\t2.5\nann\tbob\t0.5");
  EXPECT_EQ(graph.node_count(), 3);
  EXPECT_EQ(graph.edge_count(), 2);
  EXPECT_EQ(graph.names()[2], "zoë b.");
  EXPECT_EQ(graph.weight(0, 1), 1.5);
  EXPECT_EQ(graph.weight(1, 2), 2.5);
}

TEST(EdgeFile, of_nothing_is_the_empty_graph) {
  EXPECT_EQ(read("").node_count(), 0);
  EXPECT_EQ(read("# nothing\n").node_count(), 0);
}

TEST(EdgeFile, names_file_line_and_reason) {
  EXPECT_EQ(error_of("a\tb\nc\n"), "edges.tsv:2: 1 field (expected: user <tab> user [<tab> weight])");
  EXPECT_EQ(error_of("#\na\tb\t1\tx\n"), "edges.tsv:2: 4 fields (expected: user <tab> user [<tab> weight])");
  EXPECT_EQ(error_of("a\ta"),
            "edges.tsv:1: 'a' is joined to itself (a self loop; drop-self-loops leaves such lines out)");
  EXPECT_EQ(error_of("a\tb\theavy"), "edges.tsv:1: 'heavy' is not a number");
  EXPECT_EQ(error_of("a\tb\t1.0x"), "edges.tsv:1: '1.0x' is not a number");
  EXPECT_EQ(error_of("a\tb\t"), "edges.tsv:1: '' is not a number");
  EXPECT_EQ(error_of("a\tb\t0"), "edges.tsv:1: weight 0 (must be finite and positive)");
  EXPECT_EQ(error_of("a\tb\t-1"), "edges.tsv:1: weight -1 (must be finite and positive)");
  EXPECT_EQ(error_of("a\tb\tnan"), "edges.tsv:1: weight nan (must be finite and positive)");
  EXPECT_EQ(error_of("a\t"), "edges.tsv:1: an empty user name");
  EXPECT_THAT(error_of("a\tb\t1e308\na\tb\t1e308\n"), ::testing::HasSubstr("add up to infinity"));
}

TEST(EdgeFile, what_is_written_can_be_read) {
  const std::string text = "\\#x\tann\r\t0.1\nann\r\tbob\t1\n";
  std::ostringstream out;
  write_edges(out, read(text));
  EXPECT_EQ(out.str(), text);
  std::ostringstream numbered;
  write_edges(numbered, Graph(3, std::vector<Edge>{{0, 2, 2.5}}));
  EXPECT_EQ(numbered.str(), "0\t2\t2.5\n");
  Names names;
  for (const char* name : {"ann", "bob", "a\tb"}) names.insert(name);
  std::ostringstream nothing;
  EXPECT_THROW(write_edges(nothing, Graph(names, std::vector<Edge>{{0, 1}, {1, 2}})), std::invalid_argument);
  EXPECT_EQ(nothing.str(), "");
  // Users who were removed have no edges, and an empty name.
  const std::vector<NodeId> removed{0};
  names.remove(removed);
  names.insert("cat");
  std::ostringstream others;
  write_edges(others, Graph(names, std::vector<Edge>{{1, 3}}));
  EXPECT_EQ(others.str(), "bob\tcat\t1\n");
}

TEST(EdgeFile, self_loops_can_be_dropped) {
  std::istringstream in("a\tb\nb\tb\t3\nc\tc\n");
  const Graph graph = read_edges(in, "edges.tsv", {.drop_self_loops = true});
  EXPECT_EQ(graph.node_count(), 3) << "who is only joined to themselves is a user all the same";
  EXPECT_EQ(graph.edge_count(), 1);
  EXPECT_EQ(graph.degree(1), 1.0);
}

TEST(EdgeFile, a_name_may_start_as_a_comment_does) {
  const Graph graph = read("# friends\n\\#x\tann\nann\t#x\nann\t\\#x\n\\\\#x\tann\n");
  EXPECT_EQ(graph.node_count(), 3);
  EXPECT_EQ(graph.names()[0], "#x");
  EXPECT_EQ(graph.names()[2], "\\#x");
  EXPECT_EQ(graph.weight(0, 1), 1.0);
  EXPECT_EQ(graph.weight(2, 1), 1.0);
}

TEST(EdgeFile, both_directions_are_one_edge_with_the_larger_weight) {
  std::vector<std::string> said;
  const auto read = [&said](const std::string& text) {
    said.clear();
    std::istringstream in(text);
    return read_edges(in, "edges.tsv", {.warn = [&said](const std::string& sentence) { said.push_back(sentence); }});
  };
  Graph graph = read("a\tb\t2\nb\ta\t3\nc\ta\t0.5\n");
  EXPECT_EQ(graph.edge_count(), 2);
  EXPECT_EQ(graph.weight(0, 1), 3.0);
  EXPECT_EQ(graph.weight(1, 0), 3.0);
  EXPECT_EQ(graph.weight(0, 2), 0.5);
  EXPECT_THAT(said,
              ::testing::ElementsAre("edges.tsv: a pair of users is listed in both directions ('a' and 'b'): both "
                                     "are one edge, with the larger weight of the two"));
  graph = read("b\ta\nc\tb\na\tb\na\tb\nb\tc\n");
  EXPECT_EQ(graph.weight(0, 1), 2.0) << "the lines of one direction add up";
  EXPECT_EQ(graph.weight(0, 2), 1.0);
  EXPECT_THAT(said, ::testing::ElementsAre("edges.tsv: 2 pairs of users are listed in both directions ('b' and 'a', "
                                           "...): both are one edge, with the larger weight of the two"));
  graph = read("a\tb\na\tb\nb\tc\n");
  EXPECT_EQ(graph.weight(0, 1), 2.0);
  EXPECT_THAT(said, ::testing::IsEmpty());
}

TEST(EdgeFile, a_missing_file_is_bad_data) { EXPECT_THROW((void)read_edge_file("no/such/file.tsv"), DataError); }

TEST(EdgeFile, lines_longer_than_a_block) {
  const std::string long_name(1 << 20, 'x');
  const Graph graph = read("a\t" + long_name + "\na\tb\n");
  EXPECT_EQ(graph.names()[1], long_name);
  EXPECT_EQ(graph.node_count(), 3);
}

}  // namespace edge_file_test
}  // namespace goblin
