#include "goblin/graph/label_file.hpp"

#include "goblin/error.hpp"
#include "goblin/graph/edge_file.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace {

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

}  // namespace
}  // namespace goblin
