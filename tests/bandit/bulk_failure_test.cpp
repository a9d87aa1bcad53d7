// What happens to many rewards or edges at once that do not fit, or that something stops half way: nothing.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/bandit/shared_bandit.hpp"
#include "goblin/error.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace bulk_failure_test {

using ::testing::HasSubstr;
using Change = std::function<void(Bandit&)>;

struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("stopped") {}
};

/// Rewards of a world that stay where they are.
struct Rewards {
  Rewards(const Scenario& scenario, std::size_t count, std::uint64_t from = 0) {
    for (std::size_t t = 0; t < count; ++t) rounds.push_back(scenario.round(from + t));
    for (const auto& round : rounds) batch.push_back({round.user, round.context(0), round.rewards[0]});
  }
  std::vector<Scenario::Round> rounds;
  std::vector<Observation> batch;
};

/// One component that every engine takes as a large one, one that it takes as a small one, and a user alone.
Scenario world() {
  const Graph large = generate::random({.nodes = 150, .edges = 600, .lowest_weight = 0.5, .seed = 3});
  std::vector<Edge> edges = large.edges();
  for (NodeId user = 150; user < 159; ++user) edges.push_back({user, user + 1, 1.0});
  return {.name = "failure", .graph = Graph(161, edges), .dimension = 4};
}

BanditOptions options(EngineKind kind, std::size_t memory_limit = 0) {
  return {.dimension = 4,
          .engine = {.kind = kind, .local = {.tolerance = 1e-3}, .threads = 2, .memory_limit = memory_limit}};
}

/// New edges within the large component and between it and the small one, and edges that go.
std::vector<EdgeChange> edge_changes(const Graph& graph) {
  std::vector<EdgeChange> changes;
  for (NodeId user = 0; user < 40; ++user) changes.push_back({user, user + 100, 0.5});
  for (NodeId user = 0; user < 5; ++user) changes.push_back({user, user + 155, 2.0});
  const auto edges = graph.edges();
  for (std::size_t k = 0; k < edges.size(); k += 20) changes.push_back({edges[k].a, edges[k].b, 0.0});
  return changes;
}

void expect_same(const Bandit& a, const Bandit& b, double tolerance) {
  EXPECT_EQ(a.rewards(), b.rewards());
  EXPECT_NEAR(a.log_determinant(), b.log_determinant(), tolerance * b.log_determinant());
  EXPECT_EQ(a.graph().edges().size(), b.graph().edges().size());
  EXPECT_EQ(a.node_graph().edges().size(), b.node_graph().edges().size());
  EXPECT_EQ(a.summary().components.size(), b.summary().components.size());
  for (NodeId user = 0; user < a.user_count(); ++user) {
    const UserEvidence first = a.evidence(user);
    const UserEvidence second = b.evidence(user);
    EXPECT_EQ(first.count, second.count);
    EXPECT_TRUE(std::ranges::equal(first.contexts, second.contexts)) << user;
    EXPECT_TRUE(std::ranges::equal(first.rewards, second.rewards)) << user;
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(a.mean(user)[k], b.mean(user)[k], tolerance) << user;
    if (user % 10 != 0) continue;
    const std::vector<double> covariance = a.covariance(user);
    const std::vector<double> expected = b.covariance(user);
    for (std::size_t k = 0; k < 16; ++k) EXPECT_NEAR(covariance[k], expected[k], tolerance) << user;
  }
}

class BulkFailure : public ::testing::TestWithParam<EngineKind> {
 protected:
  /// Local is as near as its tolerance; a belief that was computed anew differs in the last digits.
  static double tolerance() { return GetParam() == EngineKind::local ? 1e-2 : 1e-9; }

  /// What is learned before, and what is to be done at once.
  Bandit bandit(std::size_t memory_limit = 0) const {
    auto result = Bandit::gob_lin(scenario_.graph, options(GetParam(), memory_limit));
    for (const Observation& one : first_.batch) result.update(one.user, one.context, one.reward);
    return result;
  }
  std::vector<std::pair<std::string, Change>> changes() const {
    return {{"learn", [this](Bandit& it) { it.update(many_.batch); }},
            {"learn some", [this](Bandit& it) { it.update(std::span(many_.batch).first(400)); }},
            {"edges", [this](Bandit& it) { it.update_edges(edge_changes(scenario_.graph)); }},
            {"merge", [this](Bandit& it) { it.merge(other_); }},
            {"rebuild", [](Bandit& it) { it.rebuild(); }}};
  }

  Scenario scenario_ = world();
  Rewards first_{scenario_, 100};
  Rewards many_{scenario_, 6000, 1000};
  Bandit other_ = [this] {
    auto result = Bandit::gob_lin(scenario_.graph, options(GetParam()));
    result.update(many_.batch);
    return result;
  }();
};

TEST_P(BulkFailure, what_is_stopped_half_way_has_not_happened) {
  for (const auto& [name, change] : changes()) {
    SCOPED_TRACE(name);
    const auto before = bandit();
    auto done = before;
    std::size_t calls = 0;
    double last = 0.0;
    done.set_progress([&](double share) {
      EXPECT_GE(share, last - 1e-9);
      EXPECT_LE(share, 1.0 + 1e-9);
      last = share;
      ++calls;
    });
    change(done);
    // Dense is quick, and so is local where edges change or there is nothing new to solve.
    const bool is_local = GetParam() == EngineKind::local;
    const bool quick = GetParam() == EngineKind::dense || (is_local && (name == "edges" || name == "rebuild"));
    EXPECT_GE(calls, quick ? 0 : is_local && name == "learn some" ? 1 : 2);  // reports on the way
    for (std::size_t stop = 0; stop < calls; stop += std::max<std::size_t>(1, calls / 4)) {
      SCOPED_TRACE(stop);
      auto stopped = before;
      std::size_t call = 0;
      stopped.set_progress([&](double /*share*/) {
        if (call++ == stop) throw Stopped();
      });
      EXPECT_THROW(change(stopped), Stopped);
      expect_same(stopped, before, tolerance());
      // It goes on as if nothing had happened, and its file is a good one.
      stopped.set_progress({});
      stopped = Bandit::from_bytes(stopped.to_bytes());
      change(stopped);
      expect_same(stopped, done, tolerance());
    }
  }
}

/// How much a change needs beside what the bandit takes, found by asking; it is refused with less.
TEST_P(BulkFailure, what_would_not_fit_is_refused_before_it_starts) {
  for (const auto& [name, change] : changes()) {
    SCOPED_TRACE(name);
    const std::size_t taken = bandit().summary().bytes;
    std::size_t limit =
        std::max(Bandit::estimate_bytes(Policy::gob_lin, scenario_.graph, {}, options(GetParam())), taken + 1000);
    int refusals = 0;
    for (;; ++refusals) {
      ASSERT_LE(refusals, 50);
      auto it = bandit(limit);
      const std::string before = it.to_bytes();
      try {
        change(it);
        break;
      } catch (const CapacityError& error) {
        EXPECT_GT(error.bytes_needed(), error.bytes_available());
        EXPECT_THAT(error.what(), HasSubstr(" needs "));
        EXPECT_EQ(it.to_bytes(), before);
        std::smatch fits;
        const std::string message = error.what();
        if (std::regex_search(message, fits, std::regex("learning .* what would fit: ([0-9]+) at once"))) {
          auto some = bandit(limit);
          some.update(std::span(many_.batch).first(std::stoul(fits[1])));  // and it does
        }
        limit += error.bytes_needed() - error.bytes_available();
      }
    }
    // Local has no use for memory where edges change.
    EXPECT_GE(refusals, GetParam() == EngineKind::local && name == "edges" ? 0 : 1);
  }
}

/// Where others read, a copy takes the engine's place: that takes the memory of two.
TEST_P(BulkFailure, a_shared_bandit_counts_its_copies) {
  const auto plain = bandit();
  const std::size_t engine = plain.summary().components[0].bytes;
  for (const std::string call : {"learn", "rebuild", "change"}) {
    SCOPED_TRACE(call);
    const std::size_t least = Bandit::estimate_bytes(Policy::gob_lin, scenario_.graph, {}, options(GetParam()));
    SharedBandit shared(bandit(std::max(least, plain.summary().bytes + engine / 2)));
    const auto change = [&] {
      if (call == "learn") shared.update(std::span(many_.batch).first(200));
      if (call == "rebuild") shared.rebuild();
      if (call == "change") shared.change([](Bandit& it) { it.set_alpha(0.2); });
    };
    if (least > plain.summary().bytes + engine) {
      // What the engine may come to need is more than a copy of what it is now: only local grows so much.
      EXPECT_EQ(GetParam(), EngineKind::local);
      continue;
    }
    EXPECT_THROW(change(), CapacityError);
    EXPECT_EQ(shared.rewards(), 100);
  }
}

INSTANTIATE_TEST_SUITE_P(all, BulkFailure, ::testing::Values(EngineKind::dense, EngineKind::sparse, EngineKind::local),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST(BulkFailure, a_batch_that_fits_in_part_says_how_much) {
  const Scenario scenario{.name = "dense", .graph = generate::cliques(1, 20), .dimension = 10};
  BanditOptions limited{.dimension = 10, .engine = {.kind = EngineKind::dense, .threads = 1}};
  const std::size_t least = Bandit::estimate_bytes(Policy::gob_lin, scenario.graph, {}, limited);
  limited.engine.memory_limit = least + 300'000;
  const Rewards rewards(scenario, 1000);
  auto bandit = Bandit::gob_lin(scenario.graph, limited);
  try {
    bandit.update(rewards.batch);
    FAIL() << "learned";
  } catch (const CapacityError& error) {
    // More than two rewards a row are learned by computing the belief anew, which takes three matrices.
    EXPECT_THAT(error.what(), HasSubstr("learning 1000 rewards at once needs "));
    EXPECT_THAT(error.what(), HasSubstr("what would fit: 400 at once"));
  }
  EXPECT_EQ(bandit.rewards(), 0);
}

TEST(SharedBandit, a_batch_is_checked_in_pieces_and_names_the_reward_that_is_bad) {
  const Scenario scenario = world();
  const SharedBandit shared(Bandit::gob_lin(scenario.graph, options(EngineKind::sparse)));
  Rewards rewards(scenario, 2000);
  shared.check(rewards.batch);
  shared.check(std::span<const Observation>{});
  rewards.batch[1234].reward = std::nan("");
  try {
    shared.check(rewards.batch);
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("batch[1234]: reward: nan"));
  }
  EXPECT_THROW(shared.check(RewardTable{.users = {}, .contexts = {}, .rewards = std::vector<double>{1.0}}),
               std::invalid_argument);
}

/// Two components whose contexts were long while they were dense; together they are sparse, which keeps fewer digits.
TEST(Join, into_a_sparse_component_keeps_to_the_limit_of_sparse) {
  std::vector<Edge> edges;
  for (NodeId user = 0; user + 1 < 90; ++user) {
    if (user != 44) edges.push_back({user, user + 1, user == 3 ? 1e8 : 1.0});
  }
  const Graph graph(90, edges);
  auto bandit = Bandit::gob_lin(graph, {.dimension = 30});
  ASSERT_EQ(bandit.summary().components.size(), 2);
  ASSERT_EQ(bandit.summary().components[0].engine, EngineKind::dense);
  const std::vector<double> x(30, 1000.0);
  bandit.update(NodeId{0}, x, 1.0);
  const std::string before = bandit.to_bytes();
  try {
    bandit.add_edge(10, 60);
    FAIL() << "joined into " << name_of(bandit.summary().components[0].engine);
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("degree: 1e+08 of node 3 (must be at most"));
  }
  EXPECT_EQ(bandit.to_bytes(), before);
}

}  // namespace bulk_failure_test
}  // namespace goblin
