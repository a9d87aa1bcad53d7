#include "replay.hpp"

#include "bandit/scenario.hpp"
#include "goblin/error.hpp"
#include "support/command.hpp"
#include "support/tea_and_soup.hpp"
#include "support/three_friends.hpp"

#include <sstream>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

namespace goblin::app {
namespace replay_test {

using ::testing::HasSubstr;

Bandit make(Policy policy = Policy::gob_lin) { return test::bandit_of_three(policy); }

struct Replayed {
  std::string decisions;
  std::string error;
  ReplaySummary summary;
};

Replayed run(Bandit& bandit, const std::string& events, bool check = false,
             const std::shared_ptr<const data::Items>& items = nullptr) {
  std::istringstream in(events);
  std::ostringstream out;
  Replayed result;
  try {
    replay(bandit, in, out, {.check = check, .items = items}, result.summary);
  } catch (const std::exception& error) {
    result.error = error.what();
  }
  result.decisions = out.str();
  return result;
}

std::string error_of(const std::string& line) {
  auto bandit = make();
  return run(bandit, line).error;
}

TEST(Replay, the_local_engine_writes_bounds_and_passes_the_check) {
  const Scenario scenario{
      .name = "local", .graph = generate::random({.nodes = 200, .edges = 900, .seed = 4}), .dimension = 2};
  Names names;
  for (std::size_t user = 0; user < 200; ++user) names.insert(std::to_string(user));
  std::string events;
  for (std::size_t t = 0; t < 300; ++t) {
    const auto round = scenario.round(t);
    events += fmt::format(R"({{"user": {}, "contexts": [[{}, {}], [{}, {}]], "rewards": [{}, {}]}})", round.user,
                          round.contexts[0], round.contexts[1], round.contexts[2], round.contexts[3], round.rewards[0],
                          round.rewards[1]) +
              "\n";
  }
  auto local =
      Bandit::gob_lin(Graph(names, scenario.graph.edges()), {.dimension = 2, .engine = {.kind = EngineKind::local}});
  const auto replayed = run(local, events, true);
  EXPECT_EQ(replayed.error, "");
  const std::string last = replayed.decisions.substr(replayed.decisions.rfind('\n', replayed.decisions.size() - 2) + 1);
  simdjson::dom::parser parser;
  const simdjson::dom::element written = parser.parse(last);
  for (const double bound : written["bounds"].get_array()) {
    EXPECT_GT(bound, 0.0);
    EXPECT_LT(bound, 0.05);
  }
  auto exact = make();
  EXPECT_EQ(run(exact, R"({"user": "ann", "contexts": [[1, 0]]})").decisions.find("bounds"), std::string::npos);
}

TEST(Replay, decides_and_learns) {
  auto bandit = make();
  auto expected = make();
  const std::string events =
      "{\"user\": \"ann\", \"contexts\": [[1, 0], [0, 1]], \"rewards\": [0.5, 1]}\n"
      "\n"
      "{\"user\": \"cat\", \"context\": [0, 2.5], \"reward\": -1, \"at\": \"noon\"}\r\n"
      "{\"user\": \"bob\", \"contexts\": [[0.25, -1], [1, 1], [0, 0]]}";
  const auto replayed = run(bandit, events, true);
  EXPECT_EQ(replayed.error, "");
  EXPECT_EQ(replayed.summary.decisions, 2);
  EXPECT_EQ(replayed.summary.learned, 2);
  EXPECT_EQ(replayed.summary.reward, 0.5);
  ASSERT_TRUE(replayed.summary.largest_difference);
  EXPECT_LT(*replayed.summary.largest_difference, 1e-12);

  expected.update("ann", std::vector<double>{1.0, 0.0}, 0.5);
  expected.update("cat", std::vector<double>{0.0, 2.5}, -1.0);
  const std::vector<double> arms{0.25, -1.0, 1.0, 1.0, 0.0, 0.0};
  const Decision decision = expected.select("bob", {arms, 2});

  const std::string second = replayed.decisions.substr(replayed.decisions.find('\n') + 1);
  simdjson::dom::parser parser;
  const simdjson::dom::element written = parser.parse(second);
  EXPECT_EQ(static_cast<std::uint64_t>(written["arm"]), decision.arm);
  const auto numbers = [&](const char* name) {
    std::vector<double> values;
    for (const simdjson::dom::element value : written[name].get_array()) values.push_back(value.get_double());
    return values;
  };
  EXPECT_EQ(numbers("scores"), decision.scores);  // to the last bit
  EXPECT_EQ(numbers("means"), decision.means);
  EXPECT_EQ(numbers("widths"), decision.widths);
}

TEST(Replay, the_form_of_a_decision) {
  auto bandit = Bandit::linucb_sin(Graph(), {.dimension = 1, .alpha = 0.0});
  EXPECT_EQ(run(bandit, "{\"user\": 7, \"contexts\": [[1], [2]], \"rewards\": [1, 1]}\n").decisions,
            "{\"arm\":0,\"scores\":[0.0,0.0],\"means\":[0.0,0.0],\"widths\":[0.0,0.0]}\n");
  EXPECT_EQ(run(bandit, "{\"user\": \"7\", \"contexts\": [[0.3]]}").decisions,
            "{\"arm\":0,\"scores\":[0.15],\"means\":[0.15],\"widths\":[0.0]}\n");
}

TEST(Replay, unknown_users_join_without_friends) {
  for (const Policy policy : all_policies) {
    auto bandit = make(policy);
    std::string events;
    for (int t = 0; t < 30; ++t) {
      events += fmt::format("{{\"user\": \"{}\", \"contexts\": [[{}, 1], [1, {}]], \"rewards\": [{}, 0.5]}}\n",
                            t % 3 == 0 ? "ann" : fmt::format("new {}", t % 4), 0.1 * t, 0.2 * t, t % 5);
    }
    const bool checked = !finds_clusters(policy) && policy != Policy::linucb_hash;
    const auto replayed = run(bandit, events, checked);
    EXPECT_EQ(replayed.error, "") << name_of(policy);
    EXPECT_EQ(replayed.summary.new_users, 4);
    EXPECT_EQ(bandit.user_count(), 7);
    if (checked) {
      EXPECT_LT(*replayed.summary.largest_difference, 1e-10);
    }
  }
}

TEST(Replay, names_the_line_and_the_reason) {
  const std::string at = "standard input:1: ";
  EXPECT_THAT(error_of("nonsense"), HasSubstr(at + "is not JSON: "));
  EXPECT_THAT(error_of("{\"user\": \"ann\", "), HasSubstr(at + "is not JSON: "));
  EXPECT_EQ(error_of("[1, 2]"), at + "is not a JSON object");
  EXPECT_EQ(error_of("{\"contexts\": [[1, 2]]}"), at + "has no 'user'");
  EXPECT_EQ(error_of("{\"user\": null, \"contexts\": [[1, 2]]}"),
            at + "'user' is null (must be a text or a whole number)");
  EXPECT_EQ(error_of("{\"user\": \"\", \"contexts\": [[1, 2]]}"), at + "'user' is empty");
  EXPECT_EQ(error_of("{\"user\": \"ann\"}"), at + "has none of 'contexts', 'items', 'context' and 'item'");
  EXPECT_EQ(error_of("{\"user\": \"ann\", \"contexts\": []}"),
            at + "'contexts' is empty (must hold at least 1 candidate)");
  EXPECT_EQ(error_of("{\"user\": \"ann\", \"contexts\": 3}"), at + "'contexts' is not an array");
  EXPECT_EQ(error_of("{\"user\": \"ann\", \"contexts\": [1, 2]}"), at + "contexts[0] is not an array");
  EXPECT_EQ(error_of("{\"user\": \"ann\", \"contexts\": [[1, 2], [1]]}"),
            at + "contexts[1] has 1 numbers (must be the dimension, 2)");
  EXPECT_EQ(error_of("{\"user\": \"ann\", \"contexts\": [[1, \"2\"]]}"), at + "contexts[0][1] is not a number");
  EXPECT_EQ(error_of("{\"user\": \"ann\", \"contexts\": [[1, 2]], \"rewards\": [1, 2]}"),
            at + "'rewards' has 2 numbers (must be one for each of the 1 contexts)");
  EXPECT_EQ(error_of("{\"user\": \"ann\", \"contexts\": [[1, 2]], \"rewards\": [true]}"),
            at + "rewards[0] is not a number");
  EXPECT_THAT(error_of("{\"user\": \"ann\", \"contexts\": [[1, 2]], \"reward\": 1}"), HasSubstr("has 'reward' beside"));
  EXPECT_EQ(error_of("{\"user\": \"ann\", \"context\": [1, 2]}"), at + "has a 'context' but no 'reward'");
  EXPECT_EQ(error_of("{\"user\": \"ann\", \"context\": [1, 2], \"contexts\": [[1, 2]]}"),
            at + "has both 'contexts' and 'context' (must have one of them)");
  EXPECT_THAT(error_of("{\"user\": \"ann\", \"context\": [1e400, 2], \"reward\": 1}"), HasSubstr(at + "is not JSON"));
  EXPECT_THAT(error_of("{\"user\": \"ann\", \"context\": [1e200, 2], \"reward\": 1}"),
              HasSubstr(at + "context: length inf (must be at most 30000"));
}

TEST(Replay, lines_before_a_bad_one_are_answered) {
  auto bandit = make();
  const auto replayed = run(bandit,
                            "{\"user\": \"ann\", \"contexts\": [[1, 0]], \"rewards\": [1]}\n"
                            "{\"user\": \"bob\", \"contexts\": [[1, 0]]}\n"
                            "oops\n"
                            "{\"user\": \"bob\", \"contexts\": [[1, 0]]}\n");
  EXPECT_THAT(replayed.error, HasSubstr("standard input:3: "));
  EXPECT_EQ(std::count(replayed.decisions.begin(), replayed.decisions.end(), '\n'), 2);
  EXPECT_EQ(bandit.rewards(), 1);
}

// Rewards between two decisions are learned together; nobody can tell.
TEST(Replay, rewards_wait_for_a_decision_at_most) {
  std::string rewards;
  for (int t = 0; t < 40; ++t) {
    rewards += fmt::format("{{\"user\": \"{}\", \"context\": [{}, 1], \"reward\": {}}}\n", t % 3 == 0 ? "ann" : "cat",
                           0.1 * t, t % 5);
  }
  const std::string decision = "{\"user\": \"bob\", \"contexts\": [[1, 0], [0, 1]]}\n";
  auto expected = make();
  for (int t = 0; t < 40; ++t) expected.update(t % 3 == 0 ? "ann" : "cat", std::vector<double>{0.1 * t, 1.0}, t % 5);

  auto decided = make();
  const auto replayed = run(decided, rewards + decision + rewards.substr(0, rewards.find('\n') + 1), true);
  EXPECT_EQ(replayed.error, "");
  EXPECT_EQ(replayed.summary.learned, 41);
  EXPECT_EQ(replayed.summary.events, 42);
  EXPECT_EQ(replayed.summary.lines, 42);
  EXPECT_LT(*replayed.summary.largest_difference, 1e-10);

  auto refused = make();
  const auto bad = run(refused, rewards + "\noops\n");
  EXPECT_THAT(bad.error, HasSubstr("standard input:42: is not JSON"));
  EXPECT_EQ(bad.summary.lines, 41);
  EXPECT_EQ(refused.rewards(), 40);
  EXPECT_NEAR(refused.mean("bob")[0], expected.mean("bob")[0], 1e-10);

  // Nor do they get lost when it is stopped.
  auto stopped = make();
  std::istringstream in(rewards);
  std::ostringstream out;
  ReplaySummary summary;
  int asked = 0;
  replay(stopped, in, out, {.keep_going = [&asked] { return ++asked <= 20; }}, summary);
  EXPECT_EQ(stopped.rewards(), 10);
  EXPECT_EQ(summary.lines, 10);
}

// What the log showed is learned, whatever the bandit would have shown.
TEST(Replay, a_logged_decision_is_decided_and_what_was_shown_is_learned) {
  for (const Policy policy : all_policies) {
    auto bandit = make(policy);
    auto expected = make(policy);
    std::string events;
    for (int t = 0; t < 30; ++t) {
      const char* const user = t % 3 == 0 ? "ann" : "cat";
      const std::vector<double> contexts{1.0, 0.1 * t, 0.2 * t, 1.0};
      const std::size_t action = t % 5 == 0 ? 1 : 0;
      events += fmt::format(
          "{{\"user\": \"{}\", \"contexts\": [[{}, {}], [{}, {}]], \"action\": {}, \"reward\": {}, \"probability\": "
          "0.5}}\n",
          user, contexts[0], contexts[1], contexts[2], contexts[3], action, t % 4);
      (void)expected.select(user, {contexts, 2});
      expected.update(user, std::span(contexts).subspan(2 * action, 2), t % 4);
    }
    const bool checked = !finds_clusters(policy) && policy != Policy::linucb_hash;
    const auto replayed = run(bandit, events, checked);
    EXPECT_EQ(replayed.error, "") << name_of(policy);
    EXPECT_EQ(replayed.summary.decisions, 30);
    EXPECT_EQ(replayed.summary.learned, 30);
    EXPECT_EQ(replayed.summary.lines, 30);
    EXPECT_EQ(replayed.summary.reward, 0.0) << "nobody knows what the bandit's own choices would have earned";
    for (const char* user : {"ann", "bob", "cat"}) EXPECT_EQ(bandit.mean(user), expected.mean(user)) << name_of(policy);
  }
}

TEST(Replay, decisions_name_the_item_where_events_do) {
  auto bandit = Bandit::gob_lin(test::three_friends(), {.dimension = 2, .alpha = 0.0});
  const std::string events =
      "{\"user\": \"ann\", \"item\": \"soup\", \"reward\": 1}\n"
      "{\"user\": \"ann\", \"items\": [\"tea\", \"soup\"]}\n"
      "{\"user\": \"ann\", \"contexts\": [[1, 0], [0, 2]]}\n"
      "{\"user\": \"ann\", \"items\": [7, \"tea\"], \"rewards\": [1, 0]}\n";
  const auto replayed = run(bandit, events, true, test::tea_and_soup());
  EXPECT_EQ(replayed.error, "");
  EXPECT_THAT(replayed.decisions, HasSubstr(R"({"arm":1,"item":"soup","scores":[)"));
  EXPECT_THAT(replayed.decisions, HasSubstr("\n{\"arm\":1,\"scores\":["));
  EXPECT_THAT(replayed.decisions, HasSubstr(R"({"arm":0,"item":"7","scores":[)"));
  // The same as with the contexts themselves.
  auto expected = Bandit::gob_lin(test::three_friends(), {.dimension = 2, .alpha = 0.0});
  const auto with_contexts = run(expected,
                                 "{\"user\": \"ann\", \"context\": [0, 2], \"reward\": 1}\n"
                                 "{\"user\": \"ann\", \"contexts\": [[-1, 0.5], [1, 0]], \"rewards\": [1, 0]}\n");
  EXPECT_EQ(with_contexts.error, "");
  EXPECT_EQ(bandit.mean("bob"), expected.mean("bob"));
}

TEST(Replay, a_bad_item_leaves_nothing_behind) {
  auto bandit = make();
  const auto replayed =
      run(bandit, "{\"user\": \"newbie\", \"items\": [\"tea\", \"cake\"]}\n", false, test::tea_and_soup());
  EXPECT_EQ(replayed.error,
            "standard input:1: items[1] is 'cake', which is not in items.tsv (must be one of its 3 items: add a line "
            "with its numbers)");
  EXPECT_EQ(bandit.user_count(), 3);
  auto longer = Bandit::gob_lin(test::three_friends(), {.dimension = 3});
  EXPECT_EQ(run(longer, "", false, test::tea_and_soup()).error,
            "--items: items.tsv has 2 numbers for each item (must be the dimension, 3)");
}

// As fit does.
TEST(Replay, rewards_that_do_not_fit_into_memory_together_are_learned_in_smaller_batches) {
  const Scenario scenario{
      .name = "memory",
      .graph = generate::communities({.nodes = 2000, .communities = 20, .average_degree = 8, .seed = 3}).graph,
      .dimension = 20};
  BanditOptions options{.dimension = 20, .engine = {.kind = EngineKind::local}};
  options.engine.memory_limit = Bandit::gob_lin(scenario.graph, options).summary().bytes + 2'000'000;
  auto limited = Bandit::gob_lin(scenario.graph, options);
  std::string events;
  std::vector<Scenario::Round> rounds;
  std::vector<Observation> batch;
  for (std::size_t t = 0; t < 4000; ++t) rounds.push_back(scenario.round(t));
  for (const auto& round : rounds) {
    batch.push_back({round.user, round.context(0), round.rewards[0]});
    events += fmt::format("{{\"user\": {}, \"context\": [{}], \"reward\": {}}}\n\n", round.user,
                          fmt::join(round.context(0), ", "), round.rewards[0]);
  }
  ASSERT_THROW(limited.update(batch), CapacityError);
  const auto replayed = run(limited, events);
  EXPECT_EQ(replayed.error, "");
  EXPECT_EQ(replayed.summary.learned, 4000);
  EXPECT_EQ(replayed.summary.lines, 8000);
  EXPECT_EQ(limited.rewards(), 4000);
}

TEST(Replay, check_has_a_limit) {
  auto bandit = Bandit::gob_lin(Graph(1501), {.dimension = 2});
  EXPECT_EQ(run(bandit, "", true).error, "--check: dn is 3002 (must be at most 3000)");
  auto learned = make();
  learned.update("ann", std::vector<double>{1.0, 0.0}, 1.0);
  EXPECT_EQ(run(learned, "", true).error, "--check: the bandit has learned 1 rewards (must be 0)");
  auto found = make(Policy::dynucb);
  EXPECT_EQ(run(found, "", true).error, "--check: the policy is dynucb (must be one whose clusters do not move)");
}

// A solver that is stopped too early is not the printed algorithm, and check must notice.
TEST(Replay, check_can_fail) {
  const Graph graph = generate::random({.nodes = 60, .edges = 150, .seed = 1});
  Names users;
  for (int user = 0; user < 60; ++user) users.insert(fmt::format("{}", user));
  auto hasty =
      Bandit::gob_lin(Graph(users, graph.edges()),
                      {.dimension = 2, .alpha = 0.5, .engine = {.kind = EngineKind::sparse, .max_iterations = 1}});
  std::string events;
  for (int t = 0; t < 60; ++t) {
    events += fmt::format("{{\"user\": \"{}\", \"contexts\": [[1, {}], [1, 2]], \"rewards\": [1, 0]}}\n", t, 0.1 * t);
  }
  EXPECT_THAT(run(hasty, events, true).error, HasSubstr("the printed algorithm"));
}

// In a bandit without names the users are 0, 1, ..., n - 1, as a number or as its digits.
TEST(Replay, users_without_names_go_by_their_numbers) {
  auto bandit = Bandit::gob_lin(Graph(4, std::vector<Edge>{{0, 3}}), {.dimension = 1, .alpha = 0.0});
  EXPECT_EQ(run(bandit,
                "{\"user\": 3, \"context\": [1], \"reward\": 1}\n"
                "{\"user\": \"3\", \"context\": [1], \"reward\": 1}\n")
                .error,
            "");
  EXPECT_EQ(bandit.user_count(), 4);
  EXPECT_EQ(bandit.rewards(), 2);
  EXPECT_GT(bandit.mean(3)[0], bandit.mean(0)[0]);
  EXPECT_GT(bandit.mean(0)[0], 0.0);
  EXPECT_EQ(bandit.mean(2)[0], 0.0);

  const auto joined = run(bandit, "{\"user\": 4, \"context\": [1], \"reward\": -1}\n");
  EXPECT_EQ(joined.error, "");
  EXPECT_EQ(joined.summary.new_users, 1);
  EXPECT_LT(bandit.mean(4)[0], 0.0);
  const std::string at = "standard input:1: 'user' is '";
  const std::string rule =
      "' (must be a whole number, at most 5: this bandit's users have no names, and 5 would be the next new one)";
  for (const char* user : {"6", "-1", "03", "ann", "4294967299", "99999999999999999999"}) {
    EXPECT_EQ(run(bandit, fmt::format(R"({{"user": "{}", "context": [1], "reward": 1}})", user)).error,
              at + user + rule);
  }
  EXPECT_EQ(bandit.user_count(), 5);
}

TEST(Replay, a_number_is_the_user_with_these_digits) {
  Names names;
  for (const char* name : {"20", "10"}) names.insert(name);
  auto bandit = Bandit::linucb_ind(Graph(names, std::vector<Edge>{}), {.dimension = 1, .alpha = 0.0});
  const auto replayed = run(bandit,
                            "{\"user\": 10, \"context\": [1], \"reward\": 1}\n"
                            "{\"user\": \"10\", \"context\": [1], \"reward\": 1}\n");
  EXPECT_EQ(replayed.error, "");
  EXPECT_EQ(replayed.summary.new_users, 0);
  EXPECT_GT(bandit.mean("10")[0], 0.0);
  EXPECT_EQ(bandit.mean("20")[0], 0.0);
  EXPECT_EQ(run(bandit, R"({"user": 10.5, "contexts": [[1]]})").error,
            "standard input:1: 'user' is 10.5 (must be a text or a whole number)");
}

// A line that is refused leaves nothing behind, not even its user.
TEST(Replay, the_user_of_a_bad_event_does_not_join) {
  for (const Policy policy : all_policies) {
    // The smallest ridge counts, which may be the hub's; and hashing makes contexts longer.
    const char* const longest = policy == Policy::linucb_hash ? "" : has_hub(policy) ? "3000 " : "30000 ";
    const std::string too_long = std::string("context: length 1e+09 (must be at most ") + longest;
    auto bandit = make(policy);
    const bool checked = !finds_clusters(policy) && policy != Policy::linucb_hash;
    const auto decided = run(bandit, R"({"user": "newbie", "contexts": [[1, 0], [1e9, 0]]})", checked);
    EXPECT_THAT(decided.error, HasSubstr("standard input:1: candidate 1: " + too_long));
    EXPECT_THAT(run(bandit, R"({"user": "newbie", "context": [1e9, 0], "reward": 1})", checked).error,
                HasSubstr("standard input:1: " + too_long));
    EXPECT_THAT(run(bandit, R"({"user": "newbie", "context": [1, 0], "reward": 1e300})", checked).error,
                HasSubstr("reward: 1e+300"));
    EXPECT_THAT(run(bandit, R"({"user": "newbie", "contexts": [[1, 0]], "rewards": [1e300]})", checked).error,
                HasSubstr("reward: 1e+300"));
    EXPECT_THAT(
        run(bandit, R"({"user": "newbie", "contexts": [[1, 0], [0, 1]], "action": 1, "reward": 1e300})", checked).error,
        HasSubstr("candidate 1: reward: 1e+300"));
    EXPECT_EQ(decided.summary.new_users, 0);
    EXPECT_EQ(bandit.user_count(), 3) << name_of(policy);
    EXPECT_EQ(run(bandit, R"({"user": "newbie", "context": [1, 0], "reward": 1})", checked).error, "");
    EXPECT_EQ(bandit.user_count(), 4);
  }
  auto numbered = Bandit::gob_lin(Graph(2), {.dimension = 1});
  EXPECT_NE(run(numbered, R"({"user": 2, "contexts": [[1e9]]})").error, "");
  EXPECT_EQ(numbered.user_count(), 2);
}

TEST(Replay, with_an_intercept_passes_the_check) {
  for (const Policy policy : {Policy::linucb_sin, Policy::linucb_ind, Policy::gob_lin, Policy::gob_lin_hub}) {
    auto bandit = Bandit::make(policy, test::three_friends(), {}, {.dimension = 2, .intercept = true});
    const auto replayed = run(bandit,
                              R"({"user": "ann", "contexts": [[1, 0], [0, 1]], "rewards": [1, 0.5]}
{"user": "bob", "context": [0.5, -1], "reward": 1}
{"user": "newbie", "contexts": [[0, 0], [0, 1]], "rewards": [1, 1]}
{"user": "cat", "contexts": [[0, 0], [1, 1]]}
)",
                              true);
    EXPECT_EQ(replayed.error, "") << name_of(policy);
    ASSERT_TRUE(replayed.summary.largest_difference);
    EXPECT_LT(*replayed.summary.largest_difference, 1e-9);
    EXPECT_GT(bandit.mean("ann")[2], 0.0);
  }
  auto large = Bandit::linucb_ind(Graph(1001), {.dimension = 2, .intercept = true});
  EXPECT_EQ(run(large, "", true).error, "--check: dn is 3003 (must be at most 3000)");
}

TEST(Replay, checks_only_what_the_paper_has) {
  auto hash = make(Policy::linucb_hash);
  const std::string event = R"({"user": "ann", "contexts": [[1, 0]]})";
  EXPECT_THAT(run(hash, event, true).error, HasSubstr("--check: the policy is linucb.hash (must be"));
  auto normalized = Bandit::gob_lin(test::three_friends(), {.dimension = 2, .laplacian = Laplacian::normalized});
  EXPECT_THAT(run(normalized, event, true).error,
              HasSubstr("--check: the laplacian is normalized (must be combinatorial)"));
}

class ReplayCommand : public test::Command {
 protected:
  ReplayCommand() {
    write("edges.tsv", "ann\tbob\n");
    write("good.jsonl", good);
    write("ask.jsonl", "{\"user\": \"ann\", \"contexts\": [[1]]}\n");
  }

  /// What the saved model thinks of ann, who got rewards of 1.
  [[nodiscard]] std::string means_of(const std::string& model) const {
    const auto outcome = goblin("replay --load " + model + " <ask.jsonl 2>/dev/null");
    const auto at = outcome.output.find("\"means\"");
    return at == std::string::npos ? outcome.output : outcome.output.substr(at, outcome.output.find(']', at) + 1 - at);
  }
  /// The means after so many of the good lines.
  [[nodiscard]] std::string expected_means(int lines) const {
    const auto run = shell("head -n " + std::to_string(lines) + " good.jsonl | '" GOBLIN_COMMAND "' " + replay +
                           " --save expected.goblin >/dev/null 2>&1");
    EXPECT_EQ(run.code, 0);
    return means_of("expected.goblin");
  }

  static constexpr const char* good =
      "{\"user\": \"ann\", \"contexts\": [[1]], \"rewards\": [1]}\n"
      "{\"user\": \"ann\", \"contexts\": [[1]], \"rewards\": [1]}\n"
      "{\"user\": \"ann\", \"contexts\": [[1]], \"rewards\": [1]}\n";
  const std::string replay = "replay --graph edges.tsv --dimension 1 --alpha 0";
};

TEST_F(ReplayCommand, a_bad_line_does_not_cost_what_was_learned) {
  write("bad.jsonl", std::string(good) + "oops\n" + good);
  const auto outcome = goblin(replay + " --save model.goblin <bad.jsonl");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("standard input:4: is not JSON"));
  EXPECT_THAT(outcome.output, HasSubstr("model.goblin: saved, with everything up to line 3"));
  EXPECT_EQ(means_of("model.goblin"), expected_means(3));
}

TEST_F(ReplayCommand, an_intercept_is_asked_for_once_and_kept_in_the_model) {
  write("zeros.jsonl",
        "{\"user\": \"ann\", \"context\": [0], \"reward\": 1}\n{\"user\": \"ann\", \"contexts\": [[0]]}\n");
  const auto outcome = goblin(replay + " --intercept --check --save model.goblin <zeros.jsonl");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.output, ::testing::ContainsRegex("\"means\":.0[.](4|39999)"));
  EXPECT_THAT(goblin(replay + " <zeros.jsonl").output, HasSubstr("\"means\":[0"));
  EXPECT_THAT(goblin("replay --load model.goblin <zeros.jsonl").output, HasSubstr("\"means\":[0.57"));
  EXPECT_EQ(goblin("replay --load model.goblin --intercept <zeros.jsonl").code, 2);
  EXPECT_THAT(
      goblin("fit --graph edges.tsv --dimension 1 --intercept --events zeros.jsonl --save fitted.goblin").output,
      Not(HasSubstr("goblin:")));
}

TEST_F(ReplayCommand, a_signal_does_not_cost_what_was_learned) {
  for (const auto& [name, number] : {std::pair("INT", 2), std::pair("TERM", 15)}) {
    // The program waits for its next event in the middle of a line when the signal comes.
    const auto outcome =
        shell("rm -f in out; mkfifo in; '" GOBLIN_COMMAND "' " + replay +
              " --save model.goblin <in >out & pid=$!\n"
              "exec 3>in; head -n 2 good.jsonl >&3; printf '{\"user\": \"an' >&3\n"
              "for k in $(seq 200); do [ \"$(wc -l <out)\" -eq 2 ] && break; sleep 0.05; done; sleep 0.2\n"
              "kill -" +
              name + " $pid; wait $pid");
    EXPECT_EQ(outcome.code, 128 + number) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("model.goblin: saved, with everything up to line 2"));
    EXPECT_EQ(means_of("model.goblin"), expected_means(2));
  }
}

TEST_F(ReplayCommand, a_closed_pipe_does_not_cost_what_was_learned) {
  const auto outcome =
      shell("mkfifo in; { '" GOBLIN_COMMAND "' " + replay +
            " --save model.goblin <in; echo \"code $?\" >&2; } | { head -n 1; exec 0<&-; : >gone; } & pid=$!\n"
            "exec 3>in; head -n 1 good.jsonl >&3; until [ -e gone ]; do sleep 0.02; done; tail -n 2 good.jsonl >&3; "
            "exec 3>&-; wait $pid");
  EXPECT_THAT(outcome.output, HasSubstr("code 141"));
  EXPECT_THAT(outcome.output, HasSubstr("the decisions cannot be written: Broken pipe"));
  EXPECT_THAT(outcome.output, HasSubstr("model.goblin: saved, with everything up to line 2"));
  EXPECT_EQ(means_of("model.goblin"), expected_means(2));
}

TEST_F(ReplayCommand, a_model_that_cannot_be_saved_is_refused_at_once) {
  const auto outcome = goblin(replay + " --save no/such/folder <good.jsonl");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.output, HasSubstr("no/such/folder: cannot be written"));
  EXPECT_THAT(outcome.output, ::testing::Not(HasSubstr("arm")));
}

// As save would find out, only earlier: these have a folder that exists.
TEST_F(ReplayCommand, what_is_no_file_to_be_written_is_refused_at_once) {
  for (const char* path : {"folder", "folder/", ".", "new/", "/proc/m", "pipe"}) {
    const auto outcome = shell("mkdir -p folder; [ -p pipe ] || mkfifo pipe; '" GOBLIN_COMMAND "' " + replay +
                               " --save " + path + " <good.jsonl");
    EXPECT_EQ(outcome.code, 1) << path;
    EXPECT_THAT(outcome.output, HasSubstr(std::string(path) + ": cannot be written"));
    EXPECT_THAT(outcome.output, ::testing::Not(HasSubstr("arm")));
  }
  for (const char* empty : {"--save ''", "--save="}) {
    const auto outcome = goblin(replay + " " + empty + " <good.jsonl");
    EXPECT_EQ(outcome.code, 2) << empty;
    EXPECT_THAT(outcome.output, ::testing::Not(HasSubstr("arm")));
  }
  EXPECT_EQ(goblin(replay + " --save new.goblin <good.jsonl").code, 0);
  EXPECT_THAT(shell("ls").output, ::testing::Not(HasSubstr("new.goblin.")));
}

TEST_F(ReplayCommand, nobody_who_reads_standard_error_does_not_cost_what_was_learned) {
  // Decisions and messages go into the same pipe, which is closed after the first decision.
  const auto closed =
      shell("mkfifo in; { '" GOBLIN_COMMAND "' " + replay +
            " --save model.goblin <in 2>&1; echo \"code $?\" >code; } | { head -n 1; exec 0<&-; : >gone; } & pid=$!\n"
            "exec 3>in; head -n 1 good.jsonl >&3; until [ -e gone ]; do sleep 0.02; done; tail -n 2 good.jsonl >&3; "
            "exec 3>&-; wait $pid; cat code");
  EXPECT_THAT(closed.output, HasSubstr("code 141"));
  EXPECT_EQ(means_of("model.goblin"), expected_means(2));
  // A bad line, and the end of the log, with no standard error at all.
  write("bad.jsonl", std::string(good) + "oops\n");
  EXPECT_EQ(goblin(replay + " --save bad.goblin <bad.jsonl 2>&-").code, 3);
  EXPECT_EQ(means_of("bad.goblin"), expected_means(3));
  EXPECT_EQ(goblin(replay + " --save good.goblin <good.jsonl 2>&-").code, 0);
  EXPECT_EQ(means_of("good.goblin"), expected_means(3));
}

TEST_F(ReplayCommand, standard_streams_that_are_closed_are_not_taken_for_others) {
  const auto no_input = shell("timeout 20 '" GOBLIN_COMMAND "' " + replay + " <&-");
  EXPECT_EQ(no_input.code, 3);
  EXPECT_THAT(no_input.output, HasSubstr("standard input:1: cannot be read"));
  const auto no_output = shell("timeout 20 '" GOBLIN_COMMAND "' " + replay + " <good.jsonl >&-");
  EXPECT_EQ(no_output.code, 1);
  EXPECT_THAT(no_output.output, HasSubstr("the decisions cannot be written: Bad file descriptor"));
}

TEST_F(ReplayCommand, a_bad_first_line_leaves_the_model_that_is_there) {
  const std::string expected = expected_means(3);
  ASSERT_EQ(goblin(replay + " --save model.goblin <good.jsonl").code, 0);
  write("bad.jsonl", std::string("\noops\n") + good);
  const auto outcome = goblin(replay + " --save model.goblin <bad.jsonl");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("model.goblin: not saved, because nothing was learned"));
  EXPECT_THAT(outcome.output, HasSubstr("standard input:2: is not JSON"));
  EXPECT_EQ(means_of("model.goblin"), expected);
  // An empty log is one that came to its end.
  EXPECT_EQ(goblin(replay + " --save empty.goblin </dev/null").code, 0);
  EXPECT_EQ(goblin("replay --load empty.goblin <good.jsonl").code, 0);
}

TEST_F(ReplayCommand, items_come_from_a_file_and_so_may_the_dimension) {
  write("items.tsv", "tea\t1\nsoup\t2\n");
  write("log.jsonl",
        "{\"user\": \"ann\", \"items\": [\"tea\", \"soup\"], \"action\": 1, \"reward\": 1}\n"
        "{\"user\": \"bob\", \"items\": [\"tea\", \"soup\"]}\n");
  for (const char* dimension : {"", " --dimension 1"}) {
    const auto outcome =
        goblin(fmt::format("replay --graph edges.tsv --items items.tsv{} --save model.goblin <log.jsonl", dimension));
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(R"({"arm":1,"item":"soup",)"));
  }
  EXPECT_EQ(goblin("replay --load model.goblin --items items.tsv <log.jsonl").code, 0);

  write("longer.tsv", "tea\t1\t2\n");
  const std::string other = "--items: longer.tsv has 2 numbers for each item (must be the dimension, 1)";
  for (const char* bandit : {"--graph edges.tsv --dimension 1", "--load model.goblin"}) {
    const auto outcome = goblin(fmt::format("replay {} --items longer.tsv <log.jsonl", bandit));
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.output, HasSubstr(other));
  }
  const auto without = goblin("replay --graph edges.tsv --dimension 1 <log.jsonl");
  EXPECT_EQ(without.code, 3);
  EXPECT_THAT(without.output, HasSubstr("standard input:1: items[0] has no context (--items FILE has to say"));
  const auto missing = goblin("replay --graph edges.tsv --items none.tsv <log.jsonl");
  EXPECT_EQ(missing.code, 3);
  EXPECT_THAT(missing.output, HasSubstr("none.tsv: the file cannot be opened"));
  EXPECT_EQ(goblin("replay --graph edges.tsv <log.jsonl").code, 2);
  EXPECT_THAT(goblin("replay --graph edges.tsv --items '' <log.jsonl").output,
              HasSubstr("--items: '' (must be the name of a file)"));
}

TEST_F(ReplayCommand, the_bound_of_a_number_can_be_read) {
  for (const char* dimension : {"0", "00", "-1", "1.5"}) {
    const auto outcome = goblin(std::string("replay --graph edges.tsv --dimension ") + dimension + " <good.jsonl");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.output,
                HasSubstr(fmt::format("--dimension: {} (must be a whole number, at least 1)", dimension)));
  }
}

}  // namespace replay_test
}  // namespace goblin::app
