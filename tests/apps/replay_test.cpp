#include "replay.hpp"

#include "bandit/scenario.hpp"
#include "goblin/error.hpp"
#include "goblin/graph/edge_file.hpp"

#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

namespace goblin::app {
namespace {

using ::testing::HasSubstr;

Graph friends() {
  std::istringstream in("ann\tbob\nbob\tcat\t2\n");
  return read_edges(in, "edges.tsv");
}

Bandit make(Policy policy = Policy::gob_lin) {
  const std::vector<NodeId> clusters = uses_clusters(policy) ? std::vector<NodeId>{0, 0, 1} : std::vector<NodeId>{};
  return Bandit::make(policy, friends(), clusters, {.dimension = 2, .alpha = 0.5});
}

struct Replayed {
  std::string decisions;
  std::string error;
  ReplaySummary summary;
};

Replayed run(Bandit& bandit, const std::string& events, bool check = false) {
  std::istringstream in(events);
  std::ostringstream out;
  Replayed result;
  try {
    result.summary = replay(bandit, in, out, check);
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
  EXPECT_EQ(numbers("scores"), decision.scores);  // 17 digits: to the last bit
  EXPECT_EQ(numbers("means"), decision.means);
  EXPECT_EQ(numbers("widths"), decision.widths);
}

TEST(Replay, the_form_of_a_decision) {
  auto bandit = Bandit::linucb_sin(Graph(), {.dimension = 1, .alpha = 0.0});
  EXPECT_EQ(run(bandit, "{\"user\": 7, \"contexts\": [[1], [2]], \"rewards\": [1, 1]}\n").decisions,
            "{\"arm\": 0, \"scores\": [0, 0], \"means\": [0, 0], \"widths\": [0, 0]}\n");
  EXPECT_EQ(run(bandit, "{\"user\": \"7\", \"contexts\": [[0.3]]}").decisions,
            "{\"arm\": 0, \"scores\": [0.14999999999999999], \"means\": [0.14999999999999999], \"widths\": [0]}\n");
}

TEST(Replay, unknown_users_join_without_friends) {
  for (const Policy policy : all_policies) {
    auto bandit = make(policy);
    std::string events;
    for (int t = 0; t < 30; ++t) {
      events += fmt::format("{{\"user\": \"{}\", \"contexts\": [[{}, 1], [1, {}]], \"rewards\": [{}, 0.5]}}\n",
                            t % 3 == 0 ? "ann" : fmt::format("new {}", t % 4), 0.1 * t, 0.2 * t, t % 5);
    }
    const auto replayed = run(bandit, events, true);
    EXPECT_EQ(replayed.error, "") << name_of(policy);
    EXPECT_EQ(replayed.summary.new_users, 4);
    EXPECT_EQ(bandit.user_count(), 7);
    EXPECT_LT(*replayed.summary.largest_difference, 1e-10);
  }
}

TEST(Replay, names_the_line_and_the_reason) {
  const std::string at = "standard input:1: ";
  EXPECT_THAT(error_of("nonsense"), HasSubstr(at + "is not JSON: "));
  EXPECT_THAT(error_of("{\"user\": \"ann\", "), HasSubstr(at + "is not JSON: "));
  EXPECT_EQ(error_of("[1, 2]"), at + "is not a JSON object");
  EXPECT_EQ(error_of("{\"contexts\": [[1, 2]]}"), at + "has no 'user'");
  EXPECT_EQ(error_of("{\"user\": null, \"contexts\": [[1, 2]]}"), at + "'user' is not a text");
  EXPECT_EQ(error_of("{\"user\": \"\", \"contexts\": [[1, 2]]}"), at + "'user' is empty");
  EXPECT_EQ(error_of("{\"user\": \"ann\"}"), at + "has neither 'contexts' nor 'context'");
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
            at + "has both 'contexts' and 'context'");
  EXPECT_THAT(error_of("{\"user\": \"ann\", \"context\": [1e400, 2], \"reward\": 1}"), HasSubstr(at + "is not JSON"));
  EXPECT_THAT(error_of("{\"user\": \"ann\", \"context\": [1e200, 2], \"reward\": 1}"),
              HasSubstr(at + "context: length inf (must be at most 100000"));
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

TEST(Replay, check_has_a_limit) {
  auto bandit = Bandit::gob_lin(Graph(1501), {.dimension = 2});
  EXPECT_EQ(run(bandit, "", true).error, "--check: dn is 3002 (must be at most 3000)");
  auto learned = make();
  learned.update("ann", std::vector<double>{1.0, 0.0}, 1.0);
  EXPECT_EQ(run(learned, "", true).error, "--check: the bandit has learned 1 rewards (must be 0)");
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

}  // namespace
}  // namespace goblin::app
