#include "support/command.hpp"

#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace cluster_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ClusterCommand : public test::Command {
 protected:
  ClusterCommand() {
    write("edges.tsv", "# two triangles\nann\tbob\nbob\tcat\ncat\tann\ndan\teve\neve\tfay\nfay\tdan\ncat\tdan\n");
  }
};

TEST_F(ClusterCommand, writes_labels_and_shows_the_summary) {
  const auto outcome = goblin("cluster --graph edges.tsv --clusters 2 --out labels.tsv");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(read("labels.tsv"), "ann\t0\nbob\t0\ncat\t0\ndan\t1\neve\t1\nfay\t1\n");
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("6 nodes, 7 edges, 1 component\n"), HasSubstr("ncut, 2 clusters"),
                                    HasSubstr("0.1429 per cluster, 0.2857 in all"), HasSubstr("85.71 %"),
                                    HasSubstr("3 smallest, 3 median, 3 largest"), HasSubstr("time  ")));
}

TEST_F(ClusterCommand, json_says_the_same) {
  const auto outcome = goblin("cluster --graph edges.tsv --cluster-size 3 --seed 4 --json");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(
      test::on_one_line(outcome.output),
      AllOf(
          HasSubstr(R"({"nodes": 6, "edges": 7, "seed": 4, "method": "ncut", "clusters": 2, "normalized_cut": 0.2857)"),
          HasSubstr(R"("sizes": {"min": 3, "median": 3.0, "max": 3}, "seconds": )"),
          HasSubstr(R"({"cluster": "1", "size": 3, "normalized_cut": 0.1428)")));
}

TEST_F(ClusterCommand, the_same_seed_gives_the_same_file) {
  std::string edges;
  for (int a = 0; a < 60; ++a) edges += std::to_string(a) + "\t" + std::to_string((a * 7 + 3) % 61 + 100) + "\n";
  write("other.tsv", edges);
  for (const char* out : {"one.tsv", "two.tsv"}) {
    ASSERT_EQ(goblin(std::string("cluster --graph other.tsv --clusters 9 --seed 3 --out ") + out).code, 0);
  }
  EXPECT_FALSE(read("one.tsv").empty());
  EXPECT_EQ(read("one.tsv"), read("two.tsv"));
}

TEST_F(ClusterCommand, compares_the_methods) {
  const auto outcome = goblin("cluster --graph edges.tsv --clusters 2 --compare");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("\nncut  "), HasSubstr("\nmetis  "), HasSubstr("\ncomponents  ")));
  const auto json = goblin("cluster --graph edges.tsv --clusters 2 --max-size 4 --compare --json");
  EXPECT_THAT(test::on_one_line(json.output),
              AllOf(HasSubstr(R"("methods": [{"method": "ncut", "clusters": 2)"),
                    HasSubstr(R"({"method": "components", "error": "max_size: 4 (a connected component)")));
}

TEST_F(ClusterCommand, measures_a_label_file) {
  write("labels.tsv", "ann\tx\nbob\tx\ncat\tx\ndan\t\"y\"\neve\t\"y\"\nfay\t\"y\"\ngus\tx\n");
  const auto outcome = goblin("cluster --graph edges.tsv --labels labels.tsv --json");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(test::on_one_line(outcome.output),
              AllOf(HasSubstr(R"("nodes": 7)"), HasSubstr(R"("normalized_cut": 0.2857)"), Not(HasSubstr("seconds")),
                    HasSubstr(R"({"cluster": "x", "size": 4)"), HasSubstr(R"({"cluster": "\"y\"", "size": 3)")));
}

TEST_F(ClusterCommand, labels_that_it_writes_it_reads) {
  write("odd.tsv", "ann\t#x\n#y\tis a comment\nann\t\\#x\nbob\tbob\n\\#x\tbob\n");
  EXPECT_EQ(goblin("cluster --graph odd.tsv --clusters 2 --out labels.tsv").code, 3);
  const auto made = goblin("cluster --graph odd.tsv --drop-self-loops --clusters 2 --out labels.tsv");
  EXPECT_EQ(made.code, 0) << made.output;
  const auto read_again = goblin("cluster --graph odd.tsv --drop-self-loops --labels labels.tsv");
  EXPECT_EQ(read_again.code, 0) << read_again.output;
  EXPECT_THAT(read_again.output, HasSubstr("4 nodes, 3 edges"));
}

TEST_F(ClusterCommand, wrong_usage_exits_with_2) {
  for (const char* arguments :
       {"", "--clusters 7", "--clusters 0", "--clusters -1", "--clusters two", "--clusters 2 --cluster-size 3",
        "--clusters 2 --max-size 2", "--clusters 2 --max-size -1", "--method spectral --clusters 2",
        "--method components --clusters 2", "--labels labels.tsv --clusters 2", "--clusters 2 --imbalance 0.5",
        "--compare --out labels.tsv --clusters 2", "--nonsense"}) {
    const auto outcome = goblin(std::string("cluster --graph edges.tsv ") + arguments);
    EXPECT_EQ(outcome.code, 2) << arguments << "\n" << outcome.output;
    EXPECT_NE(outcome.output, "") << arguments;
  }
  EXPECT_EQ(goblin("cluster --clusters 2").code, 2);
  EXPECT_THAT(goblin("cluster --graph edges.tsv --clusters 7").output,
              HasSubstr("clusters: 7 (must be at most the number of nodes, 6)"));
  EXPECT_THAT(goblin("cluster --graph edges.tsv --clusters -1").output, HasSubstr("-1 (must be a whole number"));
}

TEST_F(ClusterCommand, bad_data_exits_with_3) {
  write("empty.tsv", "# nobody\n");
  write("loop.tsv", "ann\tann\n");
  write("missing.tsv", "ann\t0\nbob\t0\ncat\t0\ndan\t1\neve\t1\n");
  const auto empty = goblin("cluster --graph empty.tsv --clusters 2");
  EXPECT_EQ(empty.code, 3);
  EXPECT_EQ(empty.output, "goblin: empty.tsv: an empty graph (no line with an edge)\n");
  EXPECT_EQ(goblin("cluster --graph loop.tsv --clusters 2").code, 3);
  EXPECT_EQ(goblin("cluster --graph absent.tsv --clusters 2").code, 3);
  const auto missing = goblin("cluster --graph edges.tsv --labels missing.tsv");
  EXPECT_EQ(missing.code, 3);
  EXPECT_EQ(missing.output, "goblin: missing.tsv: user 'fay' has no cluster\n");
}

TEST_F(ClusterCommand, says_when_labels_cannot_be_written) {
  const auto outcome = goblin("cluster --graph edges.tsv --clusters 2 --out absent/labels.tsv");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.output, "goblin: absent/labels.tsv: the file cannot be written\n");
}

TEST_F(ClusterCommand, the_examples_of_the_help_run) {
  std::istringstream help(goblin("cluster --help").output);
  std::size_t examples = 0;
  bool inside = false;
  for (std::string line; std::getline(help, line);) {
    if (line == "Examples:") inside = true;
    if (!inside || !line.starts_with("  ")) continue;
    ++examples;
    const auto outcome = line.starts_with("  goblin ") ? goblin(line.substr(9)) : shell(line);
    EXPECT_EQ(outcome.code, 0) << line << "\n" << outcome.output;
  }
  EXPECT_EQ(examples, 4);
}

}  // namespace cluster_test
}  // namespace goblin
