// Many rewards or edges at once, with the engine local: its scores stay within the bounds it proves, however the log
// was cut and whatever came in between.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace bulk_local_test {

using ::testing::HasSubstr;

struct BulkCase {
  std::string name;
  Graph graph;
  std::size_t dimension = 3;
  double ridge = 1.0;
  double coupling = 1.0;
  double context_scale = 1.0;
  bool many_ridges = false;
  LocalOptions local = {};
};

Graph hub() {
  std::vector<Edge> edges;
  for (NodeId leaf = 1; leaf < 120; ++leaf) edges.push_back({0, leaf, 0.5 + 0.01 * leaf});
  for (NodeId leaf = 2; leaf < 120; leaf += 3) edges.push_back({leaf - 1, leaf, 2.0});
  return {121, edges};  // the last node is alone
}

std::vector<BulkCase> bulk_cases() {
  const Graph social = generate::communities({.nodes = 150, .communities = 3, .average_degree = 10, .seed = 3}).graph;
  const Graph loose =
      generate::random({.nodes = 160, .edges = 110, .lowest_weight = 0.5, .highest_weight = 2.0, .seed = 1});
  std::vector<BulkCase> all;
  all.push_back({.name = "communities", .graph = social});
  all.push_back({.name = "isolated_nodes_and_components", .graph = loose});
  all.push_back({.name = "hub", .graph = hub()});
  all.push_back({.name = "little_ridge", .graph = social, .ridge = 0.01, .coupling = 2.0});
  all.push_back({.name = "ridge_for_each_node", .graph = social, .many_ridges = true});
  all.push_back({.name = "long_contexts", .graph = social, .context_scale = 1000.0});
  all.push_back({.name = "fine", .graph = social, .local = {.tolerance = 1e-9}});
  all.push_back({.name = "few_nodes_looked_at", .graph = social, .local = {.most_nodes = 2}});
  all.push_back({.name = "ten_dimensions", .graph = social, .dimension = 10});
  return all;
}

class BulkLocal : public ::testing::TestWithParam<std::size_t> {
 protected:
  BulkCase test = bulk_cases()[GetParam()];
  Scenario scenario{
      .name = test.name, .graph = test.graph, .dimension = test.dimension, .context_scale = test.context_scale};
  std::vector<Scenario::Round> rounds;

  void SetUp() override {
    for (std::size_t t = 0; t < 6000; ++t) rounds.push_back(scenario.round(t));
  }
  [[nodiscard]] Bandit make(EngineKind kind, std::size_t threads = 1) const {
    BanditOptions options{.dimension = test.dimension,
                          .alpha = 0.3,
                          .ridge = test.ridge,
                          .coupling = test.coupling,
                          .engine = {.kind = kind, .local = test.local, .threads = threads}};
    for (std::size_t node = 0; test.many_ridges && node < test.graph.node_count(); ++node) {
      options.node_ridges.push_back(test.ridge * (0.1 + 0.9 * static_cast<double>(node * 7 % 11) / 10.0));
    }
    return Bandit::gob_lin(test.graph, options);
  }
  /// Learns rewards [from, to) in batches of so many.
  SolveSummary learn(Bandit& bandit, std::size_t from, std::size_t to, std::size_t batch) const {
    SolveSummary summary;
    for (std::size_t first = from; first < to; first += batch) {
      std::vector<Observation> observations;
      for (std::size_t t = first; t < std::min(to, first + batch); ++t) {
        observations.push_back({rounds[t].user, rounds[t].context(0), rounds[t].rewards[0]});
      }
      summary.add(bandit.update(observations));
    }
    return summary;
  }
  void expect_within_bounds(const Bandit& local, const Bandit& exact) const {
    const double rounding = 1e-7;
    const auto printed = [](const Bandit& bandit) {
      Bandit copy = bandit;
      copy.set_exploration(Exploration::printed_bound({.noise = 0.2, .delta = 0.05, .norm = 0.5}));
      return copy;
    };
    const Bandit printed_local = printed(local);
    const Bandit printed_exact = printed(exact);
    for (std::size_t t = 0; t < 150; ++t) {
      auto round = scenario.round(100'000 + t);
      round.user = static_cast<NodeId>(t % local.user_count());
      const Decision decision = local.select(round.user, {round.contexts, test.dimension});
      const Decision expected = exact.select(round.user, {round.contexts, test.dimension});
      for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
        const double slack = rounding * (1.0 + std::abs(expected.scores[arm]));
        ASSERT_LE(std::abs(decision.scores[arm] - expected.scores[arm]), decision.bounds[arm] + slack) << "user " << t;
        ASSERT_LE(std::abs(decision.widths[arm] - expected.widths[arm]), decision.bounds[arm] + slack) << "user " << t;
      }
      const Decision upper = printed_local.select(round.user, {round.contexts, test.dimension});
      const Decision least = printed_exact.select(round.user, {round.contexts, test.dimension});
      for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
        ASSERT_GE(upper.widths[arm], least.widths[arm] - rounding * (1.0 + least.widths[arm])) << "user " << t;
      }
    }
    EXPECT_LE(exact.log_determinant(), local.log_determinant() + 1e-6);
    EXPECT_GE(exact.log_determinant(), local.log_determinant() - local.log_determinant_error() - 1e-6);
  }
};

TEST_P(BulkLocal, is_within_the_bounds_however_the_log_is_cut) {
  auto exact = make(EngineKind::dense);
  learn(exact, 0, 6000, 6000);
  for (const std::size_t batch : {6000, 1500, 40}) {
    auto local = make(EngineKind::local);
    const SolveSummary summary = learn(local, 0, 6000, batch);
    EXPECT_EQ(local.rewards(), 6000);
    if (batch >= 1000) {  // fewer are settled by pushes, which have their limit
      EXPECT_TRUE(summary.converged) << batch;
    }
    expect_within_bounds(local, exact);
  }
}

TEST_P(BulkLocal, mixes_with_single_rewards_edits_and_model_files) {
  auto exact = make(EngineKind::dense);
  auto local = make(EngineKind::local);
  const auto both = [&](auto change) {
    for (Bandit* bandit : {&exact, &local}) change(*bandit);
    expect_within_bounds(local, exact);
  };
  both([&](Bandit& bandit) { learn(bandit, 0, 20, 1); });
  both([&](Bandit& bandit) { learn(bandit, 20, 2000, 1980); });
  const Edge gone = test.graph.edges()[7];
  both([&](Bandit& bandit) { bandit.remove_edge(gone.a, gone.b); });
  both([&](Bandit& bandit) { learn(bandit, 2000, 3500, 1500); });
  both([&](Bandit& bandit) {
    const NodeId user = bandit.add_user();
    bandit.add_edge(user, 3, 0.7);
    bandit.add_edge(user, gone.a, 0.2);
  });
  both([&](Bandit& bandit) { learn(bandit, 3500, 3530, 1); });
  local = Bandit::from_bytes(local.to_bytes());
  both([&](Bandit& bandit) { learn(bandit, 3530, 6000, 2470); });
  both([](Bandit& bandit) { bandit.rebuild(); });
  both([&](Bandit& bandit) { bandit.add_edge(gone.a, gone.b, 3.0); });
}

TEST_P(BulkLocal, is_the_same_for_any_number_of_threads) {
  auto one = make(EngineKind::local, 1);
  auto three = make(EngineKind::local, 3);
  for (Bandit* bandit : {&one, &three}) {
    learn(*bandit, 0, 4000, 2000);
    bandit->rebuild();
  }
  EXPECT_EQ(one.to_bytes(), three.to_bytes());
}

INSTANTIATE_TEST_SUITE_P(all, BulkLocal, ::testing::Range<std::size_t>(0, bulk_cases().size()),
                         [](const auto& test) { return bulk_cases()[test.param].name; });

/// Where everybody has rewards, contexts are of length 1 and alpha is 0.15, every score is as good as the tolerance
/// says.
TEST(BulkLocalBatch, leaves_every_score_within_the_tolerance) {
  constexpr std::size_t users = 6000;
  constexpr std::size_t d = 10;
  const Scenario scenario{
      .name = "many users",
      .graph = generate::communities({.nodes = users, .communities = 60, .average_degree = 14, .seed = 1}).graph,
      .dimension = d,
      .arms = 10};
  auto bandit = Bandit::gob_lin(scenario.graph,
                                {.dimension = d, .alpha = 0.15, .engine = {.kind = EngineKind::local, .threads = 2}});
  const auto unit = [&](Scenario::Round& round) {
    for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
      double* context = round.contexts.data() + arm * d;
      const double length = std::sqrt(std::inner_product(context, context + d, context, 0.0));
      for (std::size_t k = 0; k < d; ++k) context[k] /= length;
    }
  };
  std::vector<Scenario::Round> rounds;
  for (std::size_t t = 0; t < users; ++t) unit(rounds.emplace_back(scenario.round(t)));
  std::vector<Observation> log;
  for (std::size_t user = 0; user < users; ++user) {
    for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
      log.push_back({static_cast<NodeId>(user), rounds[user].context(arm), rounds[user].rewards[arm]});
    }
  }
  bandit.update(log);
  double largest = 0.0;
  for (std::size_t t = 0; t < 500; ++t) {
    auto round = scenario.round(users + t);
    unit(round);
    const Decision decision = bandit.select(round.user, {round.contexts, d});
    ASSERT_EQ(decision.engine, EngineKind::local);
    largest = std::max(largest, *std::max_element(decision.bounds.begin(), decision.bounds.end()));
  }
  EXPECT_LE(largest, bandit.options().engine.local.tolerance);
  EXPECT_GT(largest, 0.0);
}

TEST(BulkLocalBatch, that_would_not_fit_is_refused_before_anything_is_learned) {
  const Scenario scenario{
      .name = "memory",
      .graph = generate::communities({.nodes = 2000, .communities = 20, .average_degree = 8, .seed = 3}).graph,
      .dimension = 20};
  const BanditOptions free{.dimension = 20, .engine = {.kind = EngineKind::local}};
  const std::size_t bytes = Bandit::gob_lin(scenario.graph, free).summary().bytes;
  BanditOptions limited = free;
  limited.engine.memory_limit = bytes + 2'000'000;
  auto bandit = Bandit::gob_lin(scenario.graph, limited);
  std::vector<Scenario::Round> rounds;
  std::vector<Observation> batch;
  for (std::size_t t = 0; t < 4000; ++t) rounds.push_back(scenario.round(t));
  for (const auto& round : rounds) batch.push_back({round.user, round.context(0), round.rewards[0]});
  const std::string before = bandit.to_bytes();
  try {
    bandit.update(batch);
    FAIL() << "learned";
  } catch (const CapacityError& error) {
    EXPECT_THAT(error.what(), HasSubstr("learning 4000 rewards at once needs"));
  }
  EXPECT_EQ(bandit.to_bytes(), before);
  limited.engine.memory_limit = 100'000'000;
  bandit = Bandit::gob_lin(scenario.graph, limited);
  bandit.update(batch);
  EXPECT_EQ(bandit.rewards(), 4000);
}

/// Of contexts as long as those that were learned: means are within the tolerance, and standard deviations on
/// average.
TEST(AfterABulk, decisions_are_about_within_the_tolerance) {
  constexpr std::size_t d = 12;
  constexpr std::size_t users = 2000;
  constexpr std::size_t rewards = 12'000;
  const Graph graph = generate::communities({.nodes = users, .communities = 20, .seed = 5}).graph;
  auto bandit = Bandit::gob_lin(graph, {.dimension = d, .engine = {.kind = EngineKind::local}});
  const auto unit_contexts = [](std::uint64_t stream, std::size_t count) {
    std::vector<double> numbers(count * d);
    Random random(stream);
    for (std::size_t k = 0; k < numbers.size(); k += d) {
      double squared = 0.0;
      for (std::size_t c = 0; c < d; ++c) squared += std::pow(numbers[k + c] = random.normal(), 2);
      for (std::size_t c = 0; c < d; ++c) numbers[k + c] /= std::sqrt(squared);
    }
    return numbers;
  };
  const std::vector<double> learned = unit_contexts(1, rewards);
  std::vector<Observation> batch;
  Random random(2);
  for (std::size_t t = 0; t < rewards; ++t) {
    batch.push_back({static_cast<NodeId>(random.below(users)), std::span(learned).subspan(t * d, d), random.normal()});
  }
  bandit.update(batch);

  const double tolerance = bandit.options().engine.local.tolerance;
  const double width_of_a_deviation = std::sqrt(std::log(1.0 + rewards));
  const std::vector<double> contexts = unit_contexts(3, 8);
  double total = 0.0;
  std::size_t count = 0;
  for (NodeId user = 0; user < users; user += 20) {
    bandit.set_alpha(0.0);
    const Decision means = bandit.select(user, {contexts, d});
    bandit.set_alpha(1.0);
    const Decision scores = bandit.select(user, {contexts, d});
    for (std::size_t arm = 0; arm < 8; ++arm, ++count) {
      EXPECT_LE(means.bounds[arm], tolerance);
      total += (scores.bounds[arm] - means.bounds[arm]) / width_of_a_deviation;
    }
  }
  EXPECT_LT(total / static_cast<double>(count), 0.75 * tolerance);
}

// update_edges

class UpdateEdges : public ::testing::TestWithParam<EngineKind> {
 protected:
  [[nodiscard]] static BanditOptions options() {
    return {.dimension = 3,
            .alpha = 0.3,
            .ridge = 0.7,
            .engine = {.kind = GetParam(), .tolerance = 1e-12, .local = {.tolerance = 1e-10, .most_edges = 1'000'000}}};
  }
  [[nodiscard]] static Graph graph() {
    return generate::random({.nodes = 40, .edges = 45, .lowest_weight = 0.5, .highest_weight = 2.0, .seed = 4});
  }
  static void learn(Bandit& bandit, std::uint64_t from) {
    for (std::uint64_t t = from; t < from + 60; ++t) {
      Random random(3, 0, t);
      const std::vector<double> x{random.normal(), random.normal(), random.normal()};
      bandit.update(static_cast<NodeId>(random.below(bandit.user_count())), x, random.normal());
    }
  }
  static void expect_same(const Bandit& a, const Bandit& b) {
    for (NodeId user = 0; user < a.user_count(); ++user) {
      const auto means = std::pair(a.mean(user), b.mean(user));
      for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(means.first[k], means.second[k], 1e-8) << user;
    }
    EXPECT_NEAR(a.log_determinant(), b.log_determinant(), 1e-8 + a.log_determinant_error() + b.log_determinant_error());
    EXPECT_EQ(a.graph().edge_count(), b.graph().edge_count());
    EXPECT_EQ(a.node_graph().edge_count(), b.node_graph().edge_count());
    EXPECT_EQ(a.summary().components.size(), b.summary().components.size());
  }
};

TEST_P(UpdateEdges, is_as_if_one_came_after_the_other) {
  auto one_by_one = Bandit::gob_lin(graph(), options());
  learn(one_by_one, 0);
  auto at_once = one_by_one;
  for (std::uint64_t round = 0; round < 12; ++round) {
    Random random(8, 0, round);
    std::vector<EdgeChange> changes;
    auto follower = one_by_one;  // knows which edges there are
    for (int k = 0; k < 25; ++k) {
      const auto edges = follower.graph().edges();
      if (random.below(2) == 0 && !edges.empty()) {
        const Edge edge = edges[random.below(edges.size())];
        changes.push_back({edge.b, edge.a, 0.0});
      } else {
        const auto a = static_cast<NodeId>(random.below(40));
        changes.push_back({a, static_cast<NodeId>((a + 1 + random.below(39)) % 40), random.uniform(0.1, 2.0)});
      }
      const EdgeChange& change = changes.back();
      for (Bandit* bandit : {&follower, &one_by_one}) {
        if (change.weight > 0.0) {
          bandit->add_edge(change.a, change.b, change.weight);
        } else {
          bandit->remove_edge(change.a, change.b);
        }
      }
    }
    at_once.update_edges(changes);
    expect_same(one_by_one, at_once);
    for (Bandit* bandit : {&one_by_one, &at_once}) learn(*bandit, 1000 + 100 * round);
    at_once = Bandit::from_bytes(at_once.to_bytes());
  }
}

TEST_P(UpdateEdges, cuts_everything_apart_and_joins_it_again) {
  auto bandit = Bandit::gob_lin(graph(), options());
  learn(bandit, 0);
  const auto whole = bandit;
  std::vector<EdgeChange> cuts;
  std::vector<EdgeChange> joins;
  for (const Edge& edge : bandit.graph().edges()) {
    cuts.push_back({edge.a, edge.b, 0.0});
    joins.push_back({edge.a, edge.b, edge.weight});
  }
  bandit.update_edges(cuts);
  EXPECT_EQ(bandit.summary().components.size(), 40);
  auto alone = Bandit::gob_lin(Graph(40), options());
  learn(alone, 0);
  expect_same(bandit, alone);
  bandit.update_edges(joins);
  expect_same(bandit, whole);
}

TEST_P(UpdateEdges, all_or_none) {
  auto bandit = Bandit::gob_lin(graph(), options());
  learn(bandit, 0);
  const std::string before = bandit.to_bytes();
  const Edge edge = bandit.graph().edges()[0];
  const auto refuse = [&](const std::vector<EdgeChange>& changes, const std::string& message) {
    try {
      bandit.update_edges(changes);
      FAIL() << message;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
    EXPECT_EQ(bandit.to_bytes(), before);
  };
  refuse({{0, 1, 2.0}, {0, 99}}, "edges[1]: user: 99 (must be below the number of users, 40)");
  refuse({{0, 1, 2.0}, {5, 5}}, "edges[1]: edge: joins user 5 to itself");
  refuse({{0, 1, 2.0}, {2, 3}, {4, 5, -1.0}}, "edges[2]: weight: -1 (must be finite and positive)");
  refuse({{0, 1, 2.0}, {4, 5, std::nan("")}}, "edges[1]: weight: nan");
  refuse({{edge.a, edge.b, 0.0}, {edge.a, edge.b, 0.0}}, "edges[1]: edge: ");
  refuse({{2, 3}, {0, 1, 1e12}, {7, 8}}, "edges[1]: degree: 1e+12");
  bandit.update_edges({});
  EXPECT_EQ(bandit.to_bytes(), before);
  // Too heavy for a while, but not in the end.
  bandit.update_edges(std::vector<EdgeChange>{{0, 1, 1e12}, {0, 1, 0.0}});
  EXPECT_EQ(bandit.graph().weight(0, 1), 0.0);
}

INSTANTIATE_TEST_SUITE_P(all, UpdateEdges, ::testing::Values(EngineKind::dense, EngineKind::sparse, EngineKind::local),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST(UpdateEdgesOfClusters, adds_up_between_clusters) {
  const Graph friends(6, std::vector<Edge>{{0, 1}, {2, 3}, {4, 5}});
  const std::vector<NodeId> clusters{0, 0, 1, 1, 2, 2};
  for (const Policy policy : {Policy::gob_lin_macro, Policy::gob_lin_block, Policy::linucb_sin, Policy::linucb_ind}) {
    auto bandit =
        Bandit::make(policy, friends, uses_clusters(policy) ? clusters : std::vector<NodeId>{}, {.dimension = 1});
    bandit.update_edges(std::vector<EdgeChange>{{0, 2, 0.5}, {1, 3, 0.25}, {0, 1, 0.0}, {3, 4, 2.0}, {3, 4, 0.0}});
    EXPECT_EQ(bandit.graph().edge_count(), 4) << name_of(policy);
    if (policy == Policy::gob_lin_macro) {
      EXPECT_EQ(bandit.node_graph().weight(0, 1), 0.75);
    }
    if (policy == Policy::gob_lin_macro) {
      EXPECT_EQ(bandit.node_graph().edge_count(), 1);
    }
    if (policy == Policy::gob_lin_block) {
      EXPECT_EQ(bandit.node_graph().edge_count(), 2);
    }
  }
}

}  // namespace bulk_local_test
}  // namespace goblin
