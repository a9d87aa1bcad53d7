// What is not the same for every policy: names, engines and their choice, capacity, allocation.

#include "goblin/bandit/bandit.hpp"

#include "bandit/scenario.hpp"
#include "goblin/error.hpp"

#include <cmath>
#include <stdexcept>
#include <type_traits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace bandit_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

Graph friends() {
  Names names;
  for (const char* name : {"ann", "bob", "cat"}) names.insert(name);
  return {std::move(names), std::vector<Edge>{{0, 1}}};
}

TEST(Bandit, users_by_name_or_index) {
  auto bandit = Bandit::gob_lin(friends(), {.dimension = 1});
  const std::vector<double> x{1.0};
  bandit.update("ann", x, 1.0);
  bandit.update(0, x, 1.0);
  EXPECT_EQ(bandit.select("ann", {x, 1}).scores, bandit.select(0U, {x, 1}).scores);
  EXPECT_EQ(bandit.select(std::string("bob"), {x, 1}).scores, bandit.select(std::size_t{1}, {x, 1}).scores);
  EXPECT_EQ(bandit.evidence(0).count, 2);
  EXPECT_GT(bandit.mean("bob")[0], 0.0);  // a friend learns
  EXPECT_EQ(bandit.mean("cat")[0], 0.0);  // a stranger does not
  EXPECT_TRUE(bandit.has_user("cat"));
  EXPECT_FALSE(bandit.has_user("dan"));
  EXPECT_FALSE(bandit.has_user(3));
  EXPECT_EQ(bandit.add_user("dan"), 3);
  EXPECT_EQ(bandit.user("dan"), 3);
  EXPECT_THROW(bandit.add_user("dan"), std::invalid_argument);
  EXPECT_THROW(bandit.add_user(), std::invalid_argument);
}

TEST(Bandit, can_start_without_users) {
  for (const Policy policy : all_policies) {
    auto bandit = Bandit::make(policy, Graph(), {}, {.dimension = 2});
    EXPECT_EQ(bandit.user_count(), 0);
    bandit.add_user("ann");
    bandit.add_user("bob");
    bandit.add_edge("ann", "bob");
    const std::vector<double> x{1.0, 0.0};
    bandit.update("ann", x, 1.0);
    bool learns = policy != Policy::linucb_ind && policy != Policy::gob_lin_block;
    if (policy == Policy::dynucb) learns = bandit.cluster("ann") == bandit.cluster("bob");
    EXPECT_EQ(bandit.mean("bob")[0] > 0.0, learns) << name_of(policy);
  }
}

TEST(Bandit, refuses_bad_options) {
  const auto refusal = [](const BanditOptions& options) {
    try {
      (void)Bandit::gob_lin(friends(), options);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal({}), "dimension: 0 (must be between 1 and 1000000)");
  EXPECT_EQ(refusal({.dimension = 1, .alpha = -0.5}), "alpha: -0.5 (must be finite and at least 0)");
  EXPECT_EQ(refusal({.dimension = 1, .alpha = std::nan("")}), "alpha: nan (must be finite and at least 0)");
  EXPECT_EQ(refusal({.dimension = 1, .ridge = 0.0}), "ridge: 0 (must be between 1e-100 and 1e100)");
  EXPECT_EQ(refusal({.dimension = 1, .coupling = -1.0}), "coupling: -1 (must be between 0 and 1e100)");
  EXPECT_EQ(refusal({.dimension = 1, .engine = {.tolerance = 0.0}}), "tolerance: 0 (must be above 0 and below 1)");
  EXPECT_THAT(refusal({.dimension = 1, .exploration = Exploration::printed_bound({.delta = 2.0})}),
              HasSubstr("printed_bound.delta: 2"));
  const std::vector<NodeId> two{0, 1};
  EXPECT_THROW((void)Bandit::gob_lin_macro(friends(), two, {.dimension = 1}), std::invalid_argument);
  EXPECT_THROW((void)Bandit::make(Policy::gob_lin, friends(), two, {.dimension = 1}), std::invalid_argument);
  EXPECT_THROW((void)policy_named("gob"), std::invalid_argument);
  EXPECT_THROW((void)engine_kind("quick"), std::invalid_argument);
  for (const Policy policy : all_policies) EXPECT_EQ(policy_named(name_of(policy)), policy);
}

TEST(Bandit, picks_an_engine_per_component_and_says_why) {
  auto edges = generate::cliques(1, 150).edges();
  edges.push_back({150, 151});
  const auto bandit = Bandit::gob_lin(Graph(153, edges), {.dimension = 25});
  const auto summary = bandit.summary();
  ASSERT_EQ(summary.components.size(), 3);
  EXPECT_EQ(summary.components[0].engine, EngineKind::sparse);
  EXPECT_THAT(summary.components[0].reason,
              AllOf(HasSubstr("large, but a round takes less than 10 ms: about "), HasSubstr(" a reward, ")));
  EXPECT_EQ(summary.components[1].engine, EngineKind::dense);
  EXPECT_THAT(summary.components[1].reason, AllOf(HasSubstr("small: about "), HasSubstr("; sparse: ")));
  EXPECT_EQ(summary.components[2].nodes, 1);
  EXPECT_GT(summary.components[0].bytes, summary.components[1].bytes);
  EXPECT_GT(summary.bytes, summary.components[0].bytes);
  const auto forced = Bandit::gob_lin(Graph(2), {.dimension = 3, .engine = {.kind = EngineKind::sparse}}).summary();
  EXPECT_EQ(forced.components[0].engine, EngineKind::sparse);
  EXPECT_EQ(forced.components[0].reason, "forced by option");
}

// Two dense components that an edge makes too large for dense, learned before and after.
TEST(Bandit, components_that_outgrow_dense_become_sparse) {
  const std::size_t dimension = 30;
  Scenario scenario{.name = "growth", .graph = generate::cliques(2, 45), .dimension = dimension};
  auto bandit = Bandit::gob_lin(scenario.graph, {.dimension = dimension, .engine = {.tolerance = 1e-12}});
  const auto learn = [&](Bandit& learner, std::size_t from, std::size_t to) {
    for (std::size_t t = from; t < to; ++t) {
      const auto round = scenario.round(t);
      learner.update(round.user, round.context(0), round.rewards[0]);
    }
  };
  learn(bandit, 0, 50);
  EXPECT_EQ(bandit.summary().components[0].engine, EngineKind::dense);
  bandit.add_edge(3, 60, 2.0);
  EXPECT_EQ(bandit.summary().components.size(), 1);
  EXPECT_EQ(bandit.summary().components[0].engine, EngineKind::sparse);
  learn(bandit, 50, 80);
  auto edges = scenario.graph.edges();
  edges.push_back({3, 60, 2.0});
  auto rebuilt = Bandit::gob_lin(Graph(90, edges), {.dimension = dimension, .engine = {.kind = EngineKind::dense}});
  learn(rebuilt, 0, 80);
  for (NodeId user = 0; user < 90; ++user) {
    const auto round = scenario.round(user);
    const Decision decision = bandit.select(user, {round.contexts, dimension});
    const Decision expected = rebuilt.select(user, {round.contexts, dimension});
    for (std::size_t arm = 0; arm < 5; ++arm) ASSERT_NEAR(decision.scores[arm], expected.scores[arm], 1e-9);
  }
  bandit.remove_edge(3, 60);
  EXPECT_EQ(bandit.summary().components.size(), 2);
  EXPECT_EQ(bandit.summary().components[0].reason, "kept as it was made");
}

TEST(Bandit, says_when_a_solve_does_not_reach_the_tolerance) {
  const Graph ring = generate::random({.nodes = 200, .edges = 400, .seed = 3});
  auto bandit = Bandit::gob_lin(
      ring, {.dimension = 3, .engine = {.kind = EngineKind::sparse, .tolerance = 1e-10, .max_iterations = 2}});
  const std::vector<double> x{1.0, 0.5, 0.25};
  const SolveSummary summary = bandit.update(7, x, 1.0);
  EXPECT_FALSE(summary.converged);
  EXPECT_EQ(summary.iterations, 2);
  EXPECT_GT(summary.residual, 1.0);
  EXPECT_EQ(bandit.summary().unconverged_solves, 1);
  auto patient = Bandit::gob_lin(ring, {.dimension = 3, .engine = {.kind = EngineKind::sparse, .tolerance = 1e-10}});
  const SolveSummary reached = patient.update(7, x, 1.0);
  EXPECT_TRUE(reached.converged);
  EXPECT_LE(reached.residual, 1.0);
  EXPECT_GT(reached.iterations, 2);
}

TEST(Bandit, refuses_what_would_leave_no_digits) {
  const auto bandit_on = [](double weight) {
    return Bandit::gob_lin(Graph(3, std::vector<Edge>{{0, 1, weight}, {0, 2, weight}}), {.dimension = 1});
  };
  EXPECT_NO_THROW((void)bandit_on(1e9));
  EXPECT_THROW((void)bandit_on(1.01e9), std::invalid_argument);
  EXPECT_THROW((void)bandit_on(1e308), std::invalid_argument);
  auto bandit = bandit_on(1.0);
  EXPECT_THROW(bandit.add_edge(1, 2, 2.1e9), std::invalid_argument);
  EXPECT_EQ(bandit.graph().edge_count(), 2);
  EXPECT_NO_THROW(bandit.update(0, std::vector<double>{3e4}, 1.0));
  EXPECT_THROW(bandit.update(0, std::vector<double>{3.1e4}, 1.0), std::invalid_argument);
  EXPECT_THROW((void)bandit.select(0, {std::vector<double>{1e200}, 1}), std::invalid_argument);
}

TEST(Bandit, tiny_contexts_do_no_harm) {
  const std::vector<double> tiny{1e-160, 3e-161};
  const std::vector<double> x{0.5, 1.0};
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse}) {
    auto bandit = Bandit::gob_lin(generate::cliques(1, 5), {.dimension = 2, .engine = {.kind = kind}});
    EXPECT_TRUE(bandit.update(0, tiny, 1.0).converged);
    bandit.update(1, x, 1.0);
    EXPECT_TRUE(std::isfinite(bandit.mean(0)[0]));
    EXPECT_GT(bandit.mean(0)[1], 0.0);
    EXPECT_TRUE(std::isfinite(bandit.log_determinant()));
  }
}

// Without rewards ln|M| is 0, up to rounding once the graph was edited; a zero context then has a width of 0.
TEST(Bandit, the_printed_bound_survives_rounding) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto bandit =
        Bandit::gob_lin(Graph(8), {.dimension = 2,
                                   .exploration = Exploration::printed_bound({.noise = 1.0, .delta = 1.0, .norm = 1.0}),
                                   .engine = {.kind = EngineKind::sparse}});
    const Graph graph = generate::random({.nodes = 8, .edges = 12, .highest_weight = 2.0, .seed = seed});
    for (const Edge& edge : graph.edges()) bandit.add_edge(edge.a, edge.b, edge.weight);
    const std::vector<double> arms{0.0, 0.0, 1.0, 0.0};
    const Decision decision = bandit.select(0, {arms, 2});
    EXPECT_EQ(decision.scores[0], 0.0);
    EXPECT_EQ(decision.arm, 1);
  }
}

TEST(Capacity, an_estimate_comes_before_allocation) {
  const Graph graph = generate::random({.nodes = 100'000, .edges = 300'000});
  const BanditOptions dense{.dimension = 25, .engine = {.kind = EngineKind::dense, .memory_limit = 1'000'000'000'000}};
  try {
    (void)Bandit::gob_lin(graph, dense);
    FAIL() << "a matrix of 50 TB fitted";
  } catch (const CapacityError& error) {
    const std::string message = error.what();
    EXPECT_GT(error.bytes_needed(), 40'000'000'000'000U);
    EXPECT_EQ(error.bytes_available(), 1'000'000'000'000U);
    EXPECT_THAT(message, HasSubstr(std::to_string(error.bytes_needed()) + " bytes"));
    EXPECT_THAT(message, HasSubstr("what would fit: the engine sparse ("));
    EXPECT_THAT(message, HasSubstr("linucb-ind ("));
    EXPECT_THAT(message, HasSubstr("linucb-sin ("));
  }
  try {
    (void)Bandit::gob_lin(graph, {.dimension = 25, .engine = {.memory_limit = 30'000'000}});
    FAIL() << "fitted into 30 MB";
  } catch (const CapacityError& error) {
    EXPECT_THAT(error.what(), HasSubstr("what would fit: linucb-sin ("));
  }
  EXPECT_THROW((void)Bandit::linucb_sin(graph, {.dimension = 1'000'000}), CapacityError);
  const std::vector<NodeId> together(300, 0);
  try {
    (void)Bandit::gob_lin_block(generate::cliques(1, 300), together,
                                {.dimension = 25, .engine = {.kind = EngineKind::dense, .memory_limit = 60'000'000}});
    FAIL() << "a block of 7,500 rows fitted into 60 MB";
  } catch (const CapacityError& error) {
    EXPECT_THAT(error.what(), HasSubstr("what would fit: the engine sparse ("));
  }
}

TEST(Capacity, the_estimate_is_an_upper_bound_that_is_not_far_off) {
  const Scenario scenario{.name = "estimate", .graph = generate::cliques(3, 60), .dimension = 20};
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse}) {
    const BanditOptions options{.dimension = 20, .engine = {.kind = kind}};
    const std::size_t estimate = Bandit::estimate_bytes(Policy::gob_lin, scenario.graph, {}, options);
    auto bandit = Bandit::gob_lin(scenario.graph, options);
    for (std::size_t t = 0; t < 600; ++t) {
      const auto round = scenario.round(t);
      bandit.update(round.user, round.context(0), round.rewards[0]);
    }
    EXPECT_LE(bandit.summary().bytes, estimate) << name_of(kind);
    EXPECT_GE(2 * bandit.summary().bytes, estimate) << name_of(kind);
  }
}

TEST(Capacity, joining_components_is_checked_and_refused_whole) {
  auto bandit = Bandit::gob_lin(generate::cliques(2, 40),
                                {.dimension = 10, .engine = {.kind = EngineKind::dense, .memory_limit = 4'000'000}});
  EXPECT_THROW(bandit.add_edge(0, 79), CapacityError);
  EXPECT_EQ(bandit.summary().components.size(), 2);
  EXPECT_EQ(bandit.graph().weight(0, 79), 0.0);
}

static_assert(!std::is_constructible_v<UserRef, bool>, "select(true, ...) is a mistake");
static_assert(std::is_constructible_v<UserRef, int> && std::is_constructible_v<UserRef, const char*>);

TEST(Bandit, an_unknown_user_is_an_error_of_its_own) {
  auto bandit = Bandit::gob_lin(friends(), {.dimension = 1});
  const std::vector<double> x{1.0};
  EXPECT_THROW((void)bandit.select("dan", {x, 1}), UnknownUser);
  EXPECT_THROW((void)bandit.select(3, {x, 1}), UnknownUser);
  EXPECT_THROW(bandit.update(-1, x, 1.0), UnknownUser);
  EXPECT_THROW(bandit.update(std::vector<Observation>{{"ann", x, 1.0}, {"dan", x, 1.0}}), UnknownUser);
  EXPECT_EQ(bandit.rewards(), 0);
}

TEST(Bandit, without_names_a_number_may_be_written_out) {
  auto bandit = Bandit::gob_lin(Graph(11), {.dimension = 1});
  EXPECT_EQ(bandit.user("10"), 10);
  EXPECT_EQ(bandit.user("0"), 0);
  for (const char* other : {"11", "010", "-1", "1.0", "", " 1", "1 ", "99999999999999999999999"}) {
    EXPECT_FALSE(bandit.has_user(other)) << other;
  }
}

TEST(Bandit, that_was_moved_from_says_so) {
  auto bandit = Bandit::gob_lin(friends(), {.dimension = 1});
  const std::vector<double> x{1.0};
  Bandit other(std::move(bandit));
  EXPECT_THROW((void)bandit.select("ann", {x, 1}), std::logic_error);  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(bandit.update("ann", x, 1.0), std::logic_error);
  EXPECT_THROW((void)bandit.summary(), std::logic_error);
  EXPECT_THROW((void)Bandit(bandit), std::logic_error);
  EXPECT_THROW((void)bandit.to_bytes(), std::logic_error);
  bandit = other;
  EXPECT_EQ(bandit.user_count(), 3);
}

TEST(Bandit, alpha_may_change_since_it_only_scores) {
  auto bandit = Bandit::gob_lin(friends(), {.dimension = 1, .alpha = 0.1});
  const std::vector<double> x{1.0};
  bandit.update("ann", x, 1.0);
  const double before = bandit.select("ann", {x, 1}).widths[0];
  bandit.set_alpha(0.3);
  EXPECT_NEAR(bandit.select("ann", {x, 1}).widths[0], 3.0 * before, 1e-12);
  EXPECT_EQ(bandit.options().alpha, 0.3);
  EXPECT_THROW(bandit.set_alpha(-1.0), std::invalid_argument);
  EXPECT_EQ(bandit.options().alpha, 0.3);
}

TEST(Bandit, names_the_user_whose_edges_are_too_heavy) {
  const auto message_of = [](const auto& call) {
    try {
      call();
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  Names names;
  for (const char* name : {"ann", "bob", "cat"}) names.insert(name);
  const Graph heavy(names, std::vector<Edge>{{1, 2, 1e12}});
  EXPECT_THAT(message_of([&] { (void)Bandit::gob_lin(heavy, {.dimension = 2}); }),
              ::testing::StartsWith("degree: 1e+12 of user 'bob' (node 1) (must be at most"));
  auto bandit = Bandit::gob_lin(Graph(names, std::vector<Edge>{{0, 1}}), {.dimension = 2});
  EXPECT_THAT(message_of([&] { bandit.add_edge("bob", "cat", 1e12); }),
              ::testing::HasSubstr("of user 'bob' (node 1) (must be at most"));
  auto numbered = Bandit::gob_lin(Graph(3), {.dimension = 2});
  EXPECT_THAT(message_of([&] { numbered.add_edge(1, 2, 1e12); }), ::testing::HasSubstr("of node 1 (must be at most"));
}

TEST(Bandit, refuses_ridges_that_do_not_fit) {
  const auto refusal = [](std::vector<double> ridges) {
    try {
      (void)Bandit::gob_lin(friends(), {.dimension = 1, .node_ridges = std::move(ridges)});
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("made");
  };
  EXPECT_EQ(refusal({1.0, 2.0}), "node_ridges: 2 numbers (must be none, or one for each of the 3 nodes)");
  EXPECT_EQ(refusal({1.0, 0.0, 1.0}), "node_ridges: 0 (must be between 1e-100 and 1e100)");
  EXPECT_EQ(refusal({1.0, 2.0, 3.0}), "made");
}

/// Edges between two clusters whose weights differ by more than sixteen digits: a sum that is added to and taken from
/// would keep nothing of the light one.
TEST(Bandit, a_light_edge_between_clusters_outlives_a_heavy_one) {
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    const std::vector<NodeId> clusters{0, 0, 1, 1};
    const BanditOptions options{.dimension = 1,
                                .engine = {.kind = kind, .tolerance = 1e-12, .local = {.tolerance = 1e-12}}};
    auto bandit = Bandit::gob_lin_macro(Graph(4), clusters, options);
    const std::vector<double> x{1.0};
    bandit.add_edge(0, 2, 1e-8);
    bandit.add_edge(1, 3, 1e9);
    bandit.update(0, x, 1.0);
    bandit.remove_edge(1, 3);
    EXPECT_EQ(bandit.node_graph().weight(0, 1), 1e-8);
    EXPECT_EQ(bandit.summary().components.size(), 1);
    auto expected = Bandit::gob_lin_macro(Graph(4, std::vector<Edge>{{0, 2, 1e-8}}), clusters, options);
    expected.update(0, x, 1.0);
    EXPECT_NEAR(bandit.mean(0)[0], expected.mean(0)[0], 1e-6);
    EXPECT_NEAR(bandit.mean(2)[0], expected.mean(2)[0], 1e-6);
    bandit.add_edge(0, 3, 0.5);
    bandit.remove_edge(0, 2);
    EXPECT_EQ(bandit.node_graph().weight(0, 1), 0.5);
    bandit.remove_edge(0, 3);
    EXPECT_EQ(bandit.summary().components.size(), 2);
    EXPECT_NEAR(bandit.mean(0)[0], 0.5, 1e-6);
    EXPECT_NEAR(bandit.mean(2)[0], 0.0, 1e-12);
  }
}

}  // namespace bandit_test
}  // namespace goblin
