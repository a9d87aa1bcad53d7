#include "goblin/graph/generators.hpp"
#include "goblin/world/cliques.hpp"
#include "offline/random_choices.hpp"
#include "support/command.hpp"

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace goblin::app {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TuneCommand : public test::Command {
 protected:
  void SetUp() override {
    const world::Cliques world({.cliques = 3, .size = 8, .dimension = 3, .payoff_noise = 0.3, .seed = 1});
    std::string edges;
    for (const Edge& edge : world.graph().edges()) edges += fmt::format("u{}\tu{}\n", edge.a, edge.b);
    write("edges.tsv", edges);
    const test::RandomChoices log(world, 600);
    std::string lines;
    for (std::size_t row = 0; row < log.users.size(); ++row) {
      const auto context = std::span(log.contexts).subspan(3 * row, 3);
      // A reward comes with its context, or with what else could have been shown.
      lines += row % 2 == 0
                   ? fmt::format("{{\"user\": \"u{}\", \"context\": [{}], \"reward\": {}}}\n", log.users[row],
                                 fmt::join(context, ", "), log.rewards[row])
                   : fmt::format(
                         "{{\"user\": \"u{}\", \"contexts\": [[0, 0, 0], [{}]], \"action\": 1, \"reward\": {}, "
                         "\"probability\": 0.5}}\n",
                         log.users[row], fmt::join(context, ", "), log.rewards[row]);
    }
    write("log.jsonl", lines);
  }

  [[nodiscard]] bool exists(const std::string& name) const { return shell("test -e " + name).code == 0; }
};

TEST_F(TuneCommand, says_that_the_graph_helps) {
  const auto outcome = goblin("tune --graph edges.tsv --events log.jsonl");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("Does the graph help: yes"));
  EXPECT_THAT(outcome.output, HasSubstr("goblin fit --graph edges.tsv --dimension 3 --policy gob.lin --ridge "));
  EXPECT_THAT(outcome.output, HasSubstr("goblin replay "));
}

TEST_F(TuneCommand, writes_a_page_and_json_and_a_command_line_that_works) {
  write("labels.tsv", [] {
    std::string labels;
    for (int user = 0; user < 24; ++user) labels += fmt::format("u{}\tgroup {}\n", user, user / 8);
    return labels;
  }());
  const auto outcome = goblin("tune --graph edges.tsv --events log.jsonl --labels labels.tsv --out out --json");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const json result = json::parse(outcome.output);
  EXPECT_EQ(result["graph_helps"], "yes");
  EXPECT_EQ(result["rewards"], 600);
  EXPECT_EQ(result["policies"].size(), 5U);
  EXPECT_EQ(result["by_cluster"].size(), 3U);
  EXPECT_EQ(result["by_cluster"][1]["group"], "cluster group 1");
  EXPECT_EQ(json::parse(read("out/tune.json")), result);
  const std::string page = read("out/tune.html");
  EXPECT_THAT(page, HasSubstr("Does the graph help: yes"));
  EXPECT_THAT(page, HasSubstr("ridge \\ coupling"));
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  const auto fitted = shell(std::string("'" GOBLIN_COMMAND "' ") +
                            result["commands"][0].get<std::string>().substr(std::string("goblin ").size()));
  EXPECT_EQ(fitted.code, 0) << fitted.output;
  EXPECT_THAT(fitted.output, HasSubstr("600 rewards learned"));
  const auto replayed = shell(std::string("'" GOBLIN_COMMAND "' ") +
                              result["commands"][1].get<std::string>().substr(std::string("goblin ").size()));
  EXPECT_EQ(replayed.code, 0) << replayed.output;
}

TEST_F(TuneCommand, gives_options_for_every_policy_that_work) {
  EXPECT_EQ(shell("mv edges.tsv 'my edges.tsv'").code, 0);
  const auto outcome =
      goblin("tune --graph 'my edges.tsv' --events log.jsonl --policy gob.lin.hub --rewirings 1 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const json result = json::parse(outcome.output);
  ASSERT_EQ(result["policies"].size(), 4U);
  for (const json& policy : result["policies"]) {
    const auto fitted =
        goblin("fit " + policy["options"].get<std::string>() + " --events log.jsonl --save model.goblin");
    EXPECT_EQ(fitted.code, 0) << policy["policy"] << ": " << fitted.output;
    EXPECT_THAT(fitted.output, HasSubstr("600 rewards learned"));
  }
}

TEST_F(TuneCommand, names_a_bad_line_and_writes_nothing) {
  EXPECT_EQ(shell("echo '{\"user\": \"u1\", \"context\": [1, 2], \"reward\": 1}' >> log.jsonl").code, 0);
  const auto outcome = goblin("tune --graph edges.tsv --events log.jsonl --out out");
  EXPECT_EQ(outcome.code, 3) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("log.jsonl:601: context has 2 numbers"));
  EXPECT_FALSE(exists("out"));
}

TEST_F(TuneCommand, names_users_who_are_not_in_the_graph) {
  EXPECT_EQ(shell("echo '{\"user\": \"zoe\", \"context\": [1, 2, 0], \"reward\": 1}' >> log.jsonl").code, 0);
  const auto refused = goblin("tune --graph edges.tsv --events log.jsonl");
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.output, HasSubstr("log.jsonl:601: user 'zoe' is not in the graph (must be in edges.tsv; "
                                        "--unknown add takes such users without friends"));
  const auto added = goblin("tune --graph edges.tsv --events log.jsonl --unknown add --json");
  ASSERT_EQ(added.code, 0) << added.output;
  EXPECT_EQ(json::parse(added.output)["users"], 25);
  EXPECT_EQ(json::parse(added.output)["new_users"], 1);
  const auto skipped = goblin("tune --graph edges.tsv --events log.jsonl --unknown skip --json");
  ASSERT_EQ(skipped.code, 0) << skipped.output;
  EXPECT_EQ(json::parse(skipped.output)["rewards"], 600);
  EXPECT_EQ(json::parse(skipped.output)["skipped"], 1);
}

TEST_F(TuneCommand, needs_two_rewards_and_a_dimension) {
  write("one.jsonl", "{\"user\": \"u1\", \"context\": [1, 2, 3], \"reward\": 1}\n");
  const auto one = goblin("tune --graph edges.tsv --events one.jsonl");
  EXPECT_EQ(one.code, 3);
  EXPECT_THAT(one.output, HasSubstr("one.jsonl: has 1 reward (must be at least 2"));
  write("empty.jsonl", "");
  EXPECT_THAT(goblin("tune --graph edges.tsv --events empty.jsonl").output, HasSubstr("has 0 rewards"));
  EXPECT_THAT(goblin("tune --graph edges.tsv --events empty.jsonl --dimension 3").output, HasSubstr("has 0 rewards"));
  EXPECT_THAT(goblin("tune --graph edges.tsv --events log.jsonl --policy club").output, HasSubstr("policy: club"));
  EXPECT_THAT(goblin("tune --graph edges.tsv --events log.jsonl --policy gob.lin.block").output, HasSubstr("clusters"));
}

TEST_F(TuneCommand, says_what_is_wrong_with_the_beginning_of_a_log) {
  EXPECT_THAT(goblin("tune --graph edges.tsv --events nowhere.jsonl").output,
              HasSubstr("nowhere.jsonl: the file cannot be opened"));
  write("bad.jsonl", "\n{\"user\": \"u1\", context: [1, 2, 3]}\n");
  EXPECT_THAT(goblin("tune --graph edges.tsv --events bad.jsonl").output,
              HasSubstr("bad.jsonl:2: is not a JSON object"));
  write("items.jsonl", "{\"user\": \"u1\", \"item\": \"tea\", \"reward\": 1}\n");
  EXPECT_THAT(goblin("tune --graph edges.tsv --events items.jsonl").output,
              AllOf(HasSubstr("items.jsonl:1: "), HasSubstr("--items")));
}

// Looking at the beginning of a pipe would take it away.
TEST_F(TuneCommand, takes_all_of_a_pipe) {
  const std::string command = "cat log.jsonl | '" GOBLIN_COMMAND "' tune --graph edges.tsv --events /dev/stdin --json";
  const auto all = shell(command + " --dimension 3");
  ASSERT_EQ(all.code, 0) << all.output;
  EXPECT_EQ(json::parse(all.output)["rewards"], 600);
  EXPECT_THAT(shell(command).output, HasSubstr("--dimension: is not known (must be given where the log is no file"));
}

TEST_F(TuneCommand, has_an_intercept) {
  const auto outcome = goblin("tune --graph edges.tsv --events log.jsonl --intercept");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("--intercept --dimension 3 "));
}

}  // namespace
}  // namespace goblin::app
