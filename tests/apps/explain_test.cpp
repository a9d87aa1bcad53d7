#include "json.hpp"
#include "support/command.hpp"

#include <cmath>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace explain_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ExplainCommand : public test::Command {
 protected:
  ExplainCommand() {
    write("edges.tsv", "ann\tbob\nbob\tcat\t2\ncat\tdan\n");
    write("labels.tsv", "ann\tnorth\nbob\tnorth\ncat\tsouth\ndan\tsouth\n");
    write("events.jsonl",
          "{\"user\": \"ann\", \"context\": [1, 0.5], \"reward\": 1}\n"
          "{\"user\": \"dan\", \"context\": [1, -1], \"reward\": -0.5}\n"
          "{\"user\": \"cat\", \"context\": [0, 1], \"reward\": 1}\n");
  }
  /// Learns the events into model.goblin.
  void fit(const std::string& options = "") const {
    const auto outcome =
        goblin("fit --graph edges.tsv --dimension 2 --events events.jsonl --save model.goblin " + options);
    ASSERT_EQ(outcome.code, 0) << outcome.output;
  }
  [[nodiscard]] app::Json json(const std::string& arguments) const {
    const auto outcome = goblin("explain --load model.goblin --json " + arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    return app::Json::parse(outcome.output);
  }
};

TEST_F(ExplainCommand, prints_json_whose_parts_add_up) {
  for (const char* options :
       {"--engine dense", "--engine sparse", "--engine local", "--policy linucb-sin", "--policy linucb-ind",
        "--policy gob.lin.macro --labels labels.tsv", "--policy gob.lin.block --labels labels.tsv"}) {
    SCOPED_TRACE(options);
    fit(options);
    const app::Json all = json("--user bob --context 0.3,-0.7");
    std::vector<std::string> members;
    for (const auto& [name, value] : all.items()) members.push_back(name);
    std::vector<std::string> expected = {"mean", "width", "contributions", "rest"};
    if (std::string_view(options) == "--engine local") expected.push_back("unexplained");
    EXPECT_EQ(members, expected);
    double total = all["rest"];
    for (const auto& one : all["contributions"]) {
      EXPECT_TRUE(one["user"].is_string());
      total += one["value"].get<double>();
    }
    EXPECT_NEAR(total, all["mean"], 1e-9);
    EXPECT_GT(all["width"], 0.0);
    const app::Json one = json("--user bob --context 0.3,-0.7 --top 1");
    EXPECT_LE(one["contributions"].size(), 1U);
    if (one["contributions"].empty()) continue;  // linucb-ind: bob has no rewards
    EXPECT_NEAR(one["rest"].get<double>() + one["contributions"][0]["value"].get<double>(), all["mean"], 1e-9);
  }
}

TEST_F(ExplainCommand, prints_a_table_and_draws) {
  fit();
  const auto outcome = goblin("explain --load model.goblin --user bob --context 1,0.25 --top 2 --svg bob.svg");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("mean "), HasSubstr(" from the prior\n"), HasSubstr("user "),
                                    HasSubstr("\nann "), HasSubstr("\n1 other"), Not(HasSubstr("unexplained"))));
  const std::string svg = read("bob.svg");
  EXPECT_THAT(svg, AllOf(HasSubstr("<svg xmlns"), HasSubstr(">bob<"), HasSubstr(">ann<"), HasSubstr("weight 2<")));
  EXPECT_EQ(goblin("explain --load model.goblin --user bob --context 1,0.25 --top 2 --svg again.svg").code, 0);
  EXPECT_EQ(read("again.svg"), svg);
  fit("--engine local");
  EXPECT_THAT(goblin("explain --load model.goblin --user bob --context 1,0.25").output,
              AllOf(HasSubstr("at most off by"), HasSubstr("unexplained: at most ")));
  fit("--policy gob.lin.macro --labels labels.tsv --evidence-per-node");
  EXPECT_THAT(goblin("explain --load model.goblin --user bob --context 1,0.25").output, HasSubstr("cluster 1"));
  fit("--policy linucb-sin --evidence-per-node");
  EXPECT_THAT(goblin("explain --load model.goblin --user bob --context 1,0.25 --svg all.svg").output,
              HasSubstr("everybody"));
}

/// docs/images/explain.svg is what the commands of docs/explain.md draw.
TEST_F(ExplainCommand, draws_the_picture_of_the_page) {
  const auto outcome =
      shell("PATH=$(dirname '" GOBLIN_COMMAND
            "'):$PATH\n"
            "sed -n '/^```console/,/^```/p' '" GOBLIN_SOURCE_DIR "/docs/explain.md' | sed -n 's/^[$>] //p' | bash");
  EXPECT_EQ(read("ann.svg"), content_of(GOBLIN_SOURCE_DIR "/docs/images/explain.svg")) << outcome.output;
}

TEST_F(ExplainCommand, takes_negative_numbers_and_spaces) {
  fit();
  const app::Json one = json("--user bob --context -0.5,0.25");
  EXPECT_EQ(one, json("--user bob --context=-0.5,0.25"));
  EXPECT_EQ(one, json("--user bob --context ' -5e-1, .25'"));
}

TEST_F(ExplainCommand, says_what_is_wrong) {
  fit();
  const auto expect = [&](int code, const std::string& message, const std::string& arguments) {
    const auto outcome = goblin("explain " + arguments);
    EXPECT_EQ(outcome.code, code) << arguments;
    EXPECT_THAT(outcome.output, HasSubstr(message)) << arguments;
  };
  const std::string good = "--load model.goblin --user bob --context 1,0 ";
  expect(2, "user: 'zoe' (must be a user of the bandit)", "--load model.goblin --user zoe --context 1,0");
  expect(2, "context: 3 numbers (must be the dimension, 2)", "--load model.goblin --user bob --context 1,0,0");
  expect(2, "context[1]: 'x' (must be a number; write the context as 0.1,0.2,...)",
         "--load model.goblin --user bob --context 1,x");
  expect(2, "context[1]: '' (must be a number", "--load model.goblin --user bob --context 1,");
  expect(2, "context[0]: nan (must be finite)", "--load model.goblin --user bob --context nan,1");
  expect(2, "context[1]: inf (must be finite)", "--load model.goblin --user bob --context 1,inf");
  expect(2, "context[1]: '1e999' (must be a number", "--load model.goblin --user bob --context 1,1e999");
  expect(2, "--top", good + "--top 0");
  expect(2, "--top", good + "--top -1");
  expect(2, "--load is required", "--user bob --context 1,0");
  expect(2, "--user is required", "--load model.goblin --context 1,0");
  expect(2, "--context is required", "--load model.goblin --user bob");
  expect(3, "none.goblin: there is no such file (must be a saved bandit: goblin fit --save writes one)",
         "--load none.goblin --user bob --context 1,0");
  expect(3, "edges.tsv: is not a goblin model file", "--load edges.tsv --user bob --context 1,0");
  expect(1, "no/such.svg: cannot be written", good + "--svg no/such.svg");
}

}  // namespace explain_test
}  // namespace goblin
