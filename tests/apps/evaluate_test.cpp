#include "evaluate.hpp"

#include "goblin/error.hpp"
#include "goblin/random.hpp"
#include "support/command.hpp"
#include "support/tea_and_soup.hpp"
#include "support/three_friends.hpp"

#include <cmath>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

namespace goblin::app {
namespace evaluate_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string decision =
    R"({"user": "ann", "contexts": [[1, 0], [0, 1]], "action": 1, "reward": 1, "probability": 0.5})";

/// What ends the evaluation of a log, and how far it came.
struct Ran {
  std::string error;
  EvaluateSummary summary;
  std::vector<offline::Evaluation> evaluations;
};

Ran run(const std::string& events, const EvaluateOptions& options = {}, Policy policy = Policy::gob_lin) {
  std::istringstream in(events);
  LogLines lines(in, "log.jsonl");
  Ran ran;
  ran.evaluations.emplace_back(test::bandit_of_three(policy));
  try {
    evaluate(ran.evaluations, lines, options, ran.summary);
  } catch (const DataError& error) {
    ran.error = error.what();
  }
  return ran;
}

TEST(Evaluate, every_bad_line_is_named) {
  const auto error_of = [](const std::string& line, const EvaluateOptions& options = {}) {
    return run(decision + "\n\n" + line + "\n" + decision + "\n", options).error;
  };
  const std::string begin = R"({"user": "ann", "contexts": [[1, 0], [0, 1]], )";
  EXPECT_THAT(error_of(begin + R"("action": 1, "reward": 1})"),
              AllOf(HasSubstr("log.jsonl:3: has no 'probability'"), HasSubstr("--uniform")));
  EXPECT_THAT(error_of(begin + R"("action": 1, "reward": 1, "probability": 0})"),
              HasSubstr("log.jsonl:3: 'probability' is 0 (must be a number above 0 and at most 1"));
  EXPECT_THAT(error_of(begin + R"("action": 1, "reward": 1, "probability": 1.5})"),
              HasSubstr("log.jsonl:3: 'probability' is 1.5"));
  EXPECT_THAT(error_of(begin + R"("action": 2, "reward": 1, "probability": 0.5})"),
              HasSubstr("log.jsonl:3: 'action' is 2 (must be a whole number from 0 to 1"));
  EXPECT_THAT(error_of(begin + R"("action": 1, "reward": 1e300, "probability": 0.5})"),
              HasSubstr("log.jsonl:3: reward: 1e+300"));
  EXPECT_THAT(error_of(begin + R"("rewards": [1, 0]})"), HasSubstr("log.jsonl:3: has 'rewards' of all candidates"));
  EXPECT_THAT(error_of("no"), HasSubstr("log.jsonl:3: is not JSON"));
  EXPECT_THAT(error_of(begin + R"("action": 1, "reward": 1, "probability": 0.25})", {.uniform = true}),
              HasSubstr("log.jsonl:3: 'probability' is 0.25 (must be 1 / 2 with --uniform"));
}

TEST(Evaluate, counts_what_it_reads) {
  const Ran ran = run(decision + "\n\n" + R"({"user": "dan", "contexts": [[1, 0]]})" + "\n" +
                      R"({"user": "eve", "contexts": [[1, 0], [0, 1]], "action": 0, "reward": 0, "probability": 0.5})" +
                      "\n" + R"({"user": "bob", "context": [1, 0], "reward": 1})" + "\n");
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(ran.summary.lines, 5);
  EXPECT_EQ(ran.summary.decisions, 2);
  EXPECT_EQ(ran.summary.rewards, 1);
  EXPECT_EQ(ran.summary.passed_over, 1);
  EXPECT_EQ(ran.summary.new_users, 1);  // eve; nobody asked for dan's reward
  const auto summary = ran.evaluations.front().result().summary;
  EXPECT_EQ(summary.diagnostics.users, 3);
  EXPECT_NEAR(summary.log.value, 0.5, 1e-12);  // of the decisions
  EXPECT_EQ(summary.prediction.rewards, 3);
}

TEST(Evaluate, long_lines_do_not_wait_for_many_others) {
  std::string many = R"({"user": "ann", "contexts": [[1, 0])";
  for (int k = 0; k < 100'000; ++k) many += ",[0,0]";
  many += R"(], "action": 1, "reward": 1, "probability": 0.5})";
  std::size_t judged = 0;
  const Ran ran = run(many + "\n" + many + "\n" + many + "\n" + many + "\n" + many + "\n" + decision,
                      {.progress = [&judged](std::size_t) { ++judged; }});
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(ran.summary.decisions, 6);
  EXPECT_EQ(judged, 1);  // after a million numbers
}

TEST(Evaluate, uniform_is_one_in_so_many) {
  const std::string without = R"({"user": "ann", "contexts": [[1, 0], [0, 1]], "action": 1, "reward": 1})";
  Ran said = run(decision + "\n" + decision);
  Ran known = run(without + "\n" + without, {.uniform = true});
  EXPECT_EQ(known.error, "");
  EXPECT_EQ(known.evaluations[0].result().summary.estimates[1].value.value,
            said.evaluations[0].result().summary.estimates[1].value.value);
}

TEST(Evaluate, one_item_a_line_from_all_items) {
  const auto items = test::tea_and_soup();
  const std::string lines = R"({"user": "ann", "item": "soup", "reward": 1, "probability": 0.25})"
                            "\n"
                            R"({"user": "bob", "item": "7", "reward": 0, "probability": 0.5})";
  Ran ran = run(lines, {.items = items, .all_items = true});
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(ran.summary.decisions, 2);
  // The same written out.
  const std::string all = R"("contexts": [[1, 0], [0, 2], [-1, 0.5]], )";
  Ran whole = run(R"({"user": "ann", )" + all + R"("action": 1, "reward": 1, "probability": 0.25})" + "\n" +
                  R"({"user": "bob", )" + all + R"("action": 2, "reward": 0, "probability": 0.5})");
  for (std::size_t k = 0; k < offline::estimator_table.size(); ++k) {
    const double value = ran.evaluations[0].result().summary.estimates[k].value.value;
    const double expected = whole.evaluations[0].result().summary.estimates[k].value.value;
    EXPECT_TRUE(value == expected || (std::isnan(value) && std::isnan(expected))) << k;
  }
  // Without --candidates all they are rewards, and nothing more.
  EXPECT_EQ(run(lines, {.items = items}).summary.rewards, 2);
  EXPECT_THAT(run(R"({"user": "ann", "item": "soup", "reward": 1})", {.items = items, .all_items = true}).error,
              HasSubstr("log.jsonl:1: has no 'probability'"));
  EXPECT_THAT(
      run(R"({"user": "ann", "item": "soup", "reward": 1, "probability": 0})", {.items = items, .all_items = true})
          .error,
      HasSubstr("log.jsonl:1: probability: 0 (must be above 0 and at most 1"));
  EXPECT_THAT(run(R"({"user": "ann", "context": [1, 0], "reward": 1})", {.items = items, .all_items = true}).error,
              HasSubstr("must be an 'item', with --candidates all"));
}

TEST(Evaluate, every_policy_has_users_who_join) {
  for (const Policy policy : all_policies) {
    std::string events;
    for (const char* user : {"ann", "zoe", "bob", "zoe", "yan"}) {
      events +=
          fmt::format(R"({{"user": "{}", "contexts": [[1, 0], [0, 1]], "action": 0, "reward": 1, "probability": 0.5}})",
                      user) +
          "\n";
    }
    const Ran ran = run(events, {}, policy);
    EXPECT_EQ(ran.error, "") << name_of(policy);
    EXPECT_EQ(ran.summary.new_users, 2);
    EXPECT_EQ(ran.evaluations.front().result().summary.diagnostics.users, 4);
  }
}

TEST(Evaluate, stops_when_it_should) {
  std::size_t asked = 0;
  const Ran ran = run(decision + "\n" + decision + "\n" + decision, {.keep_going = [&] { return ++asked < 5; }});
  EXPECT_EQ(ran.summary.lines, 2);
  EXPECT_EQ(ran.summary.decisions, 2);
}

/// Thirty users in two groups, of whom one likes the first of two numbers and one the second; the log shows any of
/// three candidates.
class EvaluateCommand : public test::Command {
 protected:
  EvaluateCommand() {
    std::string edges;
    std::string log;
    for (int user = 2; user < 30; ++user) edges += fmt::format("user{}\tuser{}\n", user - 2, user);
    Random random(1);
    for (int k = 0; k < 900; ++k) {
      const int user = k % 30;
      double numbers[6];
      for (double& number : numbers) number = std::round(random.uniform(0.0, 100.0)) / 100.0;
      const auto action = random.below(3);
      const double reward = random.uniform() < numbers[2 * action + user % 2] ? 1.0 : 0.0;
      log +=
          fmt::format(
              R"({{"user": "user{}", "contexts": [[{}, {}], [{}, {}], [{}, {}]], "action": {}, "reward": {}, "probability": {}}})",
              user, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], action, reward, 1.0 / 3.0) +
          "\n";
    }
    write("edges.tsv", edges);
    write("log.jsonl", log);
  }
};

TEST_F(EvaluateCommand, json_has_the_form_that_was_agreed) {
  const auto outcome =
      goblin("evaluate --graph edges.tsv --events log.jsonl --policy gob.lin linucb-sin --alpha 0.1 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(outcome.output);
  EXPECT_GT(json["log"].get_double().value(), 0.3);
  std::size_t count = 0;
  for (const simdjson::dom::element estimate : json["estimates"].get_array()) {
    const std::string_view policy = estimate["policy"];
    EXPECT_EQ(policy, count < 7 ? "gob.lin" : "linucb-sin");
    const std::string_view name = estimate["estimator"];
    EXPECT_EQ(name, offline::estimator_table[count % 7].name);
    EXPECT_LT(estimate["low"].get_double().value(), estimate["value"].get_double().value());
    EXPECT_GT(estimate["high"].get_double().value(), estimate["value"].get_double().value());
    ++count;
  }
  EXPECT_EQ(count, 14);
  EXPECT_TRUE(json["whole"].get_bool().value());
  EXPECT_EQ(json["decisions"].get_uint64().value(), 900);
  const std::string_view verdict = json["policies"].at(0)["earns"];
  EXPECT_EQ(verdict, "more");
}

TEST_F(EvaluateCommand, nothing_is_decided_by_a_log_that_never_showed_what_the_policy_would) {
  std::string log;
  for (int k = 0; k < 300; ++k) {
    log += fmt::format(
        R"({{"user": "user{}", "contexts": [[1, 0], [0.5, 0]], "action": 1, "reward": {}, "probability": 1}})", k % 30,
        k % 7 == 0 ? 0.5 : 0.6);
    log += '\n';
  }
  write("never.jsonl", log);
  const auto outcome = goblin("evaluate --graph edges.tsv --events never.jsonl --policy linucb-sin --learn all");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("linucb-sin may earn more or less than the log (not decided)"));
  EXPECT_THAT(outcome.output, HasSubstr("something else in every round"));
}

TEST_F(EvaluateCommand, the_table_says_what_the_log_earned_and_what_others_would) {
  const auto outcome = goblin("evaluate --graph edges.tsv --events log.jsonl --alpha 0,0.5 --out report");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("900 decisions of 30 users; the log earned 0."));
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("ucb:0 "), HasSubstr("ucb:0.5 "), HasSubstr("switch_dr")));
  EXPECT_THAT(outcome.output, HasSubstr("gob.lin ucb:0 would earn more than the log: 0."));
  EXPECT_THAT(outcome.output, HasSubstr("the page is report/evaluation.html"));
  const std::string page = read("report/evaluation.html");
  EXPECT_THAT(page,
              AllOf(HasSubstr("<svg"), HasSubstr("gob.lin ucb:0.5"), HasSubstr("It earned <strong>0."),
                    HasSubstr("<code>goblin evaluate --graph edges.tsv --alpha 0 0.5 --events log.jsonl</code>")));
  EXPECT_THAT(page, Not(HasSubstr("not the whole log")));
  EXPECT_THAT(read("report/evaluation.csv"), HasSubstr("gob.lin,ucb:0.5,dr,0."));
  EXPECT_THAT(read("report/evaluation.svg"), HasSubstr("</svg>"));
}

TEST_F(EvaluateCommand, a_saved_bandit_is_held_fixed) {
  ASSERT_EQ(goblin("fit --graph edges.tsv --dimension 2 --events log.jsonl --save model.goblin").code, 0);
  const std::string before = read("model.goblin");
  const auto fixed = goblin("evaluate --load model.goblin --events log.jsonl --json");
  EXPECT_EQ(fixed.code, 0) << fixed.output;
  EXPECT_THAT(fixed.output, HasSubstr("\"learn\": \"none\""));
  EXPECT_EQ(read("model.goblin"), before);
  const auto both = goblin("evaluate --load model.goblin model.goblin --learn all --events log.jsonl --json");
  EXPECT_THAT(both.output, HasSubstr("\"learn\": \"all\""));
  EXPECT_THAT(goblin("evaluate --graph edges.tsv --learn none --events log.jsonl").output,
              HasSubstr("--learn: none (must not be, without --load"));
  EXPECT_EQ(goblin("evaluate --load model.goblin --alpha 0.2 --events log.jsonl").code, 2);
}

TEST_F(EvaluateCommand, runs_are_the_same_whatever_the_threads) {
  const std::string command =
      "evaluate --graph edges.tsv --events log.jsonl --explore thompson:0.3 epsilon_greedy:0.1 --json";
  const auto one = goblin(command + " --threads 1");
  EXPECT_EQ(one.code, 0) << one.output;
  EXPECT_EQ(goblin(command + " --threads 2").output, one.output);
}

TEST_F(EvaluateCommand, a_log_of_one_item_shown) {
  write("items.tsv", "tea\t1\t0\nsoup\t0\t1\ncake\t0.5\t0.5\n");
  std::string log;
  for (int k = 0; k < 400; ++k) {
    const int user = k % 30;
    const char* items[] = {"tea", "soup", "cake"};
    const int item = k % 7 % 3;
    log += fmt::format("{{\"user\": \"user{}\", \"item\": \"{}\", \"reward\": {}}}\n", user, items[item],
                       item == user % 2 ? 1 : 0);
  }
  write("shown.jsonl", log);
  const auto foretold = goblin("evaluate --graph edges.tsv --events shown.jsonl --items items.tsv");
  EXPECT_EQ(foretold.code, 0) << foretold.output;
  EXPECT_THAT(foretold.output, AllOf(HasSubstr("400 rewards of 30 users"), HasSubstr("no decisions"),
                                     HasSubstr("gob.lin foretells rewards better than the mean")));
  const auto chosen =
      goblin("evaluate --graph edges.tsv --events shown.jsonl --items items.tsv --candidates all --uniform --json");
  EXPECT_EQ(chosen.code, 0) << chosen.output;
  EXPECT_THAT(chosen.output, HasSubstr("\"decisions\": 400"));
  EXPECT_EQ(goblin("evaluate --graph edges.tsv --events shown.jsonl --candidates all").code, 2);
}

TEST_F(EvaluateCommand, bad_logs_are_named_and_write_no_page) {
  const auto says = [&](const std::string& log, const std::string& text) {
    write("bad.jsonl", log);
    const auto outcome = goblin("evaluate --graph edges.tsv --events bad.jsonl --out report");
    EXPECT_EQ(outcome.code, 3) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("goblin: bad.jsonl" + text));
    EXPECT_EQ(read("report/evaluation.html"), "");
  };
  says("", ": has 0 decisions (must be at least 2: {\"user\": .., ");
  says(decision + "\n", ": has 1 decision (must be at least 2");
  says(decision + "\n{\"user\": 3}\n", ":2: has none of");
  says("{\"user\": 3}\n", ":1: has no 'contexts' or 'context'");
  EXPECT_THAT(goblin("evaluate --graph edges.tsv --events none.jsonl").output,
              HasSubstr("none.jsonl: the file cannot be opened"));
  EXPECT_EQ(goblin("evaluate --events log.jsonl").code, 2);
  EXPECT_EQ(goblin("evaluate --graph edges.tsv --events log.jsonl --clip 0").code, 2);
  EXPECT_EQ(goblin("evaluate --graph edges.tsv --events log.jsonl --policy some").code, 2);
}

TEST_F(EvaluateCommand, a_signal_gives_what_there_is_and_says_so) {
  const auto outcome = shell(
      "mkfifo in; '" GOBLIN_COMMAND
      "' evaluate --graph edges.tsv --events - --out report <in & pid=$!\n"
      "exec 3>in; head -n 500 log.jsonl >&3; printf '{\"user\": \"an' >&3\n"
      "for k in $(seq 1200); do grep -q 'SigCgt:.*[2367abef]$' /proc/$pid/status && break; sleep 0.05; done; sleep 2\n"
      "kill -INT $pid; wait $pid");
  EXPECT_EQ(outcome.code, 130) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("SIGINT came after line 500 of standard input: this is not the whole log."));
  EXPECT_THAT(outcome.output, HasSubstr("500 decisions of 30 users"));
  EXPECT_THAT(read("report/evaluation.html"), HasSubstr("<strong>SIGINT came after line 500 of standard input"));
}

}  // namespace evaluate_test
}  // namespace goblin::app
