// Selecting asks for no memory once it is warm, and memory that runs out does not leave a change half done. A program
// of its own: it replaces operator new, and so do sanitizers.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <vector>

#include <gtest/gtest.h>

namespace {
std::atomic<std::size_t> allocations{0};
std::atomic<std::size_t> fails_at{0};  // which allocation is refused; 0: none
}  // namespace

void* operator new(std::size_t size) {
  if (++allocations == fails_at) throw std::bad_alloc();
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace goblin {
namespace {

TEST(Bandit, select_allocates_nothing_once_warm) {
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    const Scenario scenario{.name = "warm", .graph = generate::cliques(1, 20), .dimension = 25, .arms = 25};
    auto bandit = Bandit::gob_lin(scenario.graph, {.dimension = 25, .engine = {.kind = kind}});
    const auto round = scenario.round(0);
    Decision decision;
    for (int k = 0; k < 12; ++k) bandit.update(round.user, round.context(0), 1.0);
    bandit.select(round.user, {round.contexts, 25}, {}, decision);
    const std::size_t before = allocations;
    for (NodeId user = 0; user < 20; ++user) bandit.select(user, {round.contexts, 25}, {}, decision);
    EXPECT_EQ(allocations, before) << name_of(kind);
    std::vector<Ranked> ranked;
    bandit.rank(0, {round.contexts, 25}, 25, {}, decision, ranked);
    const std::size_t warm = allocations;
    for (NodeId user = 0; user < 20; ++user) bandit.rank(user, {round.contexts, 25}, 5, {}, decision, ranked);
    EXPECT_EQ(allocations, warm) << name_of(kind);
    for (const char* text : {"printed_bound", "epsilon_greedy:0.5", "square_cb:10+epsilon:0.1"}) {
      bandit.set_exploration(exploration_named(text));
      bandit.select(0, {round.contexts, 25}, {}, decision, Draw{.every_arm = true});
      const std::size_t ready = allocations;
      for (NodeId user = 0; user < 20; ++user) {
        bandit.select(user, {round.contexts, 25}, {}, decision, Draw{.decision = user, .every_arm = true});
      }
      EXPECT_EQ(allocations, ready) << name_of(kind) << ' ' << text;
    }
  }
}

/// Tries a change again and again, each time with another allocation that fails, until none does.
void expect_all_or_nothing(const Bandit& before, const std::function<void(Bandit&)>& change, double tolerance) {
  std::vector<std::vector<double>> means;
  std::vector<std::vector<double>> variances;
  for (NodeId user = 0; user < before.user_count(); ++user) {
    means.push_back(before.mean(user));
    variances.push_back(before.covariance(user));
  }
  std::size_t failures = 0;
  for (std::size_t nth = 1;; nth += 1 + nth / 4) {
    Bandit bandit = before;
    fails_at = allocations + nth;
    try {
      change(bandit);
      const bool whole = allocations < fails_at;
      fails_at = 0;
      if (whole) break;
      continue;  // somebody could do without
    } catch (const std::bad_alloc&) {
      fails_at = 0;
      ++failures;
    }
    ASSERT_EQ(bandit.rewards(), before.rewards()) << nth;
    ASSERT_EQ(bandit.graph().edges().size(), before.graph().edges().size()) << nth;
    ASSERT_EQ(bandit.summary().components.size(), before.summary().components.size()) << nth;
    for (NodeId user = 0; user < before.user_count(); ++user) {
      ASSERT_TRUE(std::ranges::equal(bandit.evidence(user).contexts, before.evidence(user).contexts)) << nth;
      ASSERT_TRUE(std::ranges::equal(bandit.evidence(user).rewards, before.evidence(user).rewards)) << nth;
      const auto mean = bandit.mean(user);
      for (std::size_t k = 0; k < mean.size(); ++k) ASSERT_NEAR(mean[k], means[user][k], tolerance) << nth;
      if (user % 10 != 0) continue;
      const auto variance = bandit.covariance(user);
      for (std::size_t k = 0; k < variance.size(); ++k) ASSERT_NEAR(variance[k], variances[user][k], tolerance) << nth;
    }
  }
  EXPECT_GT(failures, 5);
}

TEST(Bandit, is_as_it_was_where_memory_runs_out_half_way) {
  const Scenario scenario{.name = "failing", .graph = generate::random({.nodes = 110, .edges = 300}), .dimension = 3};
  std::vector<Scenario::Round> rounds;
  std::vector<Observation> batch;
  for (std::uint64_t t = 0; t < 1200; ++t) rounds.push_back(scenario.round(t));
  for (const auto& round : rounds) batch.push_back({round.user, round.context(0), round.rewards[0]});
  std::vector<EdgeChange> edges;
  for (NodeId user = 0; user < 10; ++user) edges.push_back({user, user + 50, 0.5});
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    SCOPED_TRACE(name_of(kind));
    auto bandit = Bandit::gob_lin(
        scenario.graph, {.dimension = 3, .engine = {.kind = kind, .local = {.tolerance = 1e-3}, .threads = 1}});
    for (std::size_t t = 0; t < 50; ++t) bandit.update(batch[t].user, batch[t].context, batch[t].reward);
    const double tolerance = kind == EngineKind::local ? 1e-2 : 1e-9;
    for (const std::size_t size : {5, 40, 1200}) {
      SCOPED_TRACE(size);
      expect_all_or_nothing(
          bandit, [&](Bandit& it) { it.update(std::span(batch).first(size)); }, tolerance);
    }
    expect_all_or_nothing(
        bandit, [&](Bandit& it) { it.update_edges(edges); }, tolerance);
    auto other = bandit;
    other.update(batch);
    expect_all_or_nothing(
        bandit, [&](Bandit& it) { it.merge(other); }, tolerance);
  }
}

}  // namespace
}  // namespace goblin
