#include "goblin/graph/generators.hpp"
#include "goblin/world/cliques.hpp"
#include "offline/random_choices.hpp"
#include "support/command.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace goblin::app {
namespace tune_test {

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

  /// Decisions that were left to chance, among ten candidates. All but the first cost something.
  void write_decisions(const std::string& probability = ", \"probability\": 0.1") const {
    const auto pays = [](std::size_t user, std::size_t candidate) {
      return candidate == 0 ? 0.3 : -0.5 - static_cast<double>((candidate + user / 8) % 3);
    };
    const test::RandomChoices log(24, 10, pays, 0.1, 4000);
    std::string lines;
    for (std::size_t row = 0; row < log.users.size(); ++row) {
      std::vector<std::string> contexts;
      for (std::size_t k = 0; k < 10; ++k) {
        contexts.push_back(fmt::format("[{}]", fmt::join(std::span(log.candidates[row]).subspan(10 * k, 10), ", ")));
      }
      lines += fmt::format("{{\"user\": \"u{}\", \"contexts\": [{}], \"action\": {}, \"reward\": {}{}}}\n",
                           log.users[row], fmt::join(contexts, ", "), log.actions[row], log.rewards[row], probability);
    }
    write("decisions.jsonl", lines);
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

TEST_F(TuneCommand, finds_alpha_by_replay) {
  write_decisions();
  const auto outcome =
      goblin("tune --graph edges.tsv --events decisions.jsonl --rewirings 1 --replay --intercept --out out --json");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const json result = json::parse(outcome.output);
  EXPECT_EQ(json::parse(read("out/tune.json")), result);
  for (const json& policy : result["policies"]) {
    const json& replay = policy["replay"];
    ASSERT_EQ(replay["alphas"].size(), policy["coupling"].is_null() ? 6U : 10U) << replay;
    EXPECT_FALSE(replay["reason"].get<std::string>().empty());
    for (const json& each : replay["alphas"]) {
      for (const char* key : {"alpha", "of_noise", "coupling", "of_coupling", "value", "low", "high", "gain", "matched",
                              "effective_sample_size", "trusted", "chosen"}) {
        EXPECT_TRUE(each.contains(key)) << key;
      }
      if (each["chosen"] == true) {
        EXPECT_EQ(each["alpha"], policy["alpha"]);
        EXPECT_EQ(each["coupling"], policy["coupling"]);
        EXPECT_EQ(each["of_coupling"] != 1.0, policy["coupling_by_replay"]);
      }
    }
    EXPECT_EQ(replay["alphas"][4]["alpha"], policy["noise"]);
    EXPECT_EQ(policy["alpha_by"] == "replay", replay["answer"] == "another");
  }
  const json& settings = result["settings"];
  EXPECT_EQ(settings["alpha_by"], "replay") << settings["replay"];
  EXPECT_LT(settings["alpha"], settings["noise"]);
  EXPECT_THAT(result["commands"][0].get<std::string>(),
              HasSubstr(fmt::format(" --alpha {:.4g} ", settings["alpha"].get<double>())));
  const std::string page = read("out/tune.html");
  EXPECT_THAT(page,
              AllOf(HasSubstr("<h2 id=\"alpha\">Alpha and coupling by replay</h2>"), HasSubstr("earns clearly more"),
                    HasSubstr(" --replay --rewirings 1</code>"), HasSubstr("taken")));
  const auto text = goblin("tune --graph edges.tsv --events decisions.jsonl --rewirings 1 --replay");
  EXPECT_THAT(text.output, AllOf(HasSubstr("Alpha and coupling by replay, and what a decision earns:"),
                                 HasSubstr("taken"), HasSubstr("gob.lin: another. ")));
  const auto without = goblin("tune --graph edges.tsv --events decisions.jsonl --rewirings 1 --json");
  ASSERT_EQ(without.code, 0) << without.output;
  EXPECT_TRUE(json::parse(without.output)["settings"]["replay"].is_null());
  EXPECT_EQ(json::parse(without.output)["settings"]["alpha_by"], "noise");
}

TEST_F(TuneCommand, says_why_alpha_is_not_found_by_replay) {
  write("shown.jsonl",
        "{\"user\": \"u1\", \"context\": [1, 2, 3], \"reward\": 1}\n{\"user\": \"u2\", \"context\": [1, 0, 3], "
        "\"reward\": 0}\n");
  const auto shown = goblin("tune --graph edges.tsv --events shown.jsonl --rewirings 1 --replay --out out");
  EXPECT_EQ(shown.code, 0) << shown.output;
  EXPECT_THAT(shown.output,
              HasSubstr("Alpha by replay: not done, so that it is the noise.\n  The log has no decisions"));
  EXPECT_THAT(read("out/tune.html"), HasSubstr("Not done, so that alpha is the noise. The log has no decisions"));
  write_decisions("");
  const auto unknown = goblin("tune --graph edges.tsv --events decisions.jsonl --rewirings 0 --replay --json");
  ASSERT_EQ(unknown.code, 0) << unknown.output;
  const json replay = json::parse(unknown.output)["settings"]["replay"];
  EXPECT_EQ(replay["answer"], "not done");
  EXPECT_THAT(replay["reason"].get<std::string>(), HasSubstr("4000 of 4000 decisions have no probability"));
  const auto uniform =
      goblin("tune --graph edges.tsv --events decisions.jsonl --rewirings 0 --replay --uniform --json");
  ASSERT_EQ(uniform.code, 0) << uniform.output;
  EXPECT_EQ(json::parse(uniform.output)["settings"]["replay"]["alphas"].size(), 10U);
}

TEST_F(TuneCommand, names_what_replay_cannot_take) {
  const auto pipe = shell("'" GOBLIN_COMMAND "' tune --graph edges.tsv --events - --dimension 3 --replay < log.jsonl");
  EXPECT_EQ(pipe.code, 2);
  EXPECT_THAT(pipe.output, HasSubstr("--replay: standard input is no file (must be one: the log is read again"));
  write_decisions(", \"probability\": 0.25");
  const auto other = goblin("tune --graph edges.tsv --events decisions.jsonl --rewirings 0 --replay --uniform");
  EXPECT_EQ(other.code, 3);
  EXPECT_THAT(other.output, HasSubstr("decisions.jsonl:1: 'probability' is 0.25 (must be 1 / 10 with --uniform"));
  EXPECT_NE(goblin("tune --graph edges.tsv --events log.jsonl --uniform").code, 0);
  EXPECT_EQ(shell("echo '{\"user\": \"u1\", \"contexts\": [[1, 2, 3], [1, 2, 1e200]], \"action\": 0, \"reward\": 1, "
                  "\"probability\": 0.5}' >> log.jsonl")
                .code,
            0);
  const auto large = goblin("tune --graph edges.tsv --events log.jsonl --rewirings 0 --replay --out out");
  EXPECT_EQ(large.code, 3) << large.output;
  EXPECT_THAT(large.output, HasSubstr("log.jsonl:601: "));
  EXPECT_FALSE(exists("out"));
}

}  // namespace tune_test
}  // namespace goblin::app
