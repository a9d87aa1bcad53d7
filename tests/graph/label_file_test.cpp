#include "goblin/graph/label_file.hpp"

#include "goblin/error.hpp"
#include "goblin/graph/edge_file.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace label_file_test {

Graph friends() {
  std::istringstream in("ann\tbob\nbob\tcat\n");
  return read_edges(in, "edges.tsv");
}

std::pair<Graph, Labels> read(const std::string& text) {
  std::istringstream in(text);
  return read_labels(in, "labels.tsv", friends());
}

std::string error_of(const std::string& text) {
  try {
    (void)read(text);
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LabelFile, labels_every_user_and_adds_those_without_friends) {
  const auto [graph, labels] = read("cat\tsouth\nann\tnorth\nbob\tnorth\ndan\tsouth\n");
  EXPECT_EQ(graph.node_count(), 4);
  EXPECT_EQ(graph.edge_count(), 2);
  EXPECT_EQ(graph.names()[3], "dan");
  EXPECT_THAT(labels.of, ::testing::ElementsAre(1, 1, 0, 0));
  EXPECT_EQ(labels.clusters[0], "south");
}

TEST(LabelFile, names_file_line_and_reason) {
  EXPECT_EQ(error_of("ann\tnorth\nbob\tnorth\n"), "labels.tsv: user 'cat' has no cluster");
  EXPECT_EQ(error_of("ann\n"), "labels.tsv:1: a line of another form (expected: user <tab> cluster)");
  EXPECT_EQ(error_of("ann\t1\nann\t2\n"), "labels.tsv:2: 'ann' is in cluster '1' and in cluster '2'");
}

TEST(LabelFile, reads_what_it_writes) {
  const Graph graph = friends();
  const std::vector<NodeId> labels{0, 1, 0};
  std::ostringstream out;
  write_labels(out, graph, labels);
  EXPECT_EQ(out.str(), "ann\t0\nbob\t1\ncat\t0\n");
  EXPECT_EQ(read(out.str()).second.of, labels);
}

TEST(LabelFile, reads_what_it_writes_whatever_the_names) {
  Names names;
  for (const char* name :
       {"\xEF\xBB\xBFmark", "#x", "\\#x", "\\\\#", "#", "\\", "a#b", "\\x", "c\r", " ", "10", "zo\xC3\xAB"}) {
    names.insert(name);
  }
  const std::size_t count = names.size();
  const Graph graph(names, std::vector<Edge>{{0, 1}});
  std::vector<NodeId> labels(count);
  for (NodeId node = 0; node < count; ++node) labels[node] = node;
  std::ostringstream out;
  write_labels(out, graph, labels);
  std::istringstream in(out.str());
  const auto [same, read] = read_labels(in, "labels.tsv", graph);
  EXPECT_EQ(same.node_count(), count);
  EXPECT_EQ(read.of, labels);
}

TEST(LabelFile, names_that_no_line_can_hold_are_refused) {
  for (const std::string name : {"a\tb", "a\nb", ""}) {
    Names names;
    names.insert("ann");
    names.insert(name);
    const Graph graph(names, std::vector<Edge>{});
    std::ostringstream out;
    EXPECT_THROW(write_labels(out, graph, std::vector<NodeId>{0, 1}), std::invalid_argument);
    EXPECT_EQ(out.str(), "");
  }
}

TEST(LabelFile, users_without_names_go_by_their_numbers) {
  const Graph graph(3, std::vector<Edge>{{0, 1}});
  std::ostringstream out;
  write_labels(out, graph, std::vector<NodeId>{0, 1, 1});
  EXPECT_EQ(out.str(), "0\t0\n1\t1\n2\t1\n");
  std::istringstream in("2\tb\n0\ta\n1\ta\n");
  const auto [same, labels] = read_labels(in, "labels.tsv", graph);
  EXPECT_FALSE(same.has_names());
  EXPECT_THAT(labels.of, ::testing::ElementsAre(1, 1, 0));
  std::istringstream unknown("0\ta\n3\ta\n");
  try {
    (void)read_labels(unknown, "labels.tsv", graph);
    ADD_FAILURE();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(),
                 "labels.tsv:2: user '3' (must be a whole number below 3: the users of the graph have no names)");
  }
}

}  // namespace label_file_test
}  // namespace goblin
