// Selecting asks for no memory once it is warm, and memory that runs out does not leave a change half done. A program
// of its own: it takes the place of malloc and operator new, and so do sanitizers.
//
// All memory is counted, what Eigen asks malloc for too. Refused is only what operator new is asked for: a matrix of
// Eigen's that is to get another size and cannot is freed twice.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

namespace {
std::atomic<std::size_t> allocations{0};
std::atomic<std::size_t> asked{0};     // by operator new
std::atomic<std::size_t> fails_at{0};  // which of these is refused; 0: none
}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
}
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)

void* operator new(std::size_t size) {
  if (++asked == fails_at) throw std::bad_alloc();
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (++asked == fails_at) throw std::bad_alloc();
  if (void* memory = aligned_alloc(static_cast<std::size_t>(alignment), size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept { std::free(memory); }

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

TEST(Allocation, is_counted_whoever_asks) {
  const std::size_t before = allocations;
  const Eigen::VectorXd numbers = Eigen::VectorXd::Zero(100);
  const std::size_t after_eigen = allocations;
  EXPECT_GT(after_eigen, before);
  ::operator delete (::operator new (1000, std::align_val_t{64}), std::align_val_t{64});
  const std::size_t after_aligned = allocations;
  EXPECT_GT(after_aligned, after_eigen);
  ::operator delete(::operator new(1000));
  EXPECT_GT(allocations, after_aligned);
  EXPECT_EQ(numbers.sum(), 0.0);
}

/// Tries a change again and again, each time with another allocation that fails, until none does. From the k-th on a
/// `share` of k is left out.
void expect_all_or_nothing(const Bandit& before, const std::function<void(Bandit&)>& change, double tolerance,
                           double share = 0.25, std::size_t fewest_failures = 6) {
  std::vector<std::vector<double>> means;
  std::vector<std::vector<double>> variances;
  for (NodeId user = 0; user < before.user_count(); ++user) {
    means.push_back(before.mean(user));
    variances.push_back(before.covariance(user));
  }
  std::size_t failures = 0;
  for (std::size_t nth = 1;; nth += 1 + static_cast<std::size_t>(share * static_cast<double>(nth))) {
    Bandit bandit = before;
    fails_at = asked + nth;
    try {
      change(bandit);
      const bool whole = asked < fails_at;
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
  EXPECT_GE(failures, fewest_failures);
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

/// A large component, one that hangs on it by an edge, and one beside them.
TEST(Bandit, is_as_it_was_where_memory_runs_out_while_components_join_or_split) {
  std::vector<Edge> links = generate::random({.nodes = 40, .edges = 120, .seed = 2}).edges();
  for (NodeId user = 1; user < 40; ++user) links.push_back({user - 1, user, 0.5});
  for (NodeId user = 41; user < 46; ++user) links.push_back({user - 1, user, 1.0});
  links.push_back({7, 40, 2.0});
  for (NodeId user = 47; user < 50; ++user) links.push_back({user - 1, user, 1.0});
  const Scenario scenario{.name = "joining", .graph = Graph(50, links), .dimension = 3};
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    for (const bool many_ridges : {false, true}) {
      if (many_ridges && kind != EngineKind::local) continue;
      SCOPED_TRACE(std::string(name_of(kind)) + (many_ridges ? ", a ridge for each node" : ""));
      BanditOptions options{.dimension = 3,
                            .engine = {.kind = kind, .local = {.tolerance = 1e-3, .most_nodes = 4}, .threads = 1}};
      for (std::size_t node = 0; many_ridges && node < 50; ++node) {
        options.node_ridges.push_back(node == 41 || node == 48 ? 0.2 : 1.0 + 0.01 * static_cast<double>(node));
      }
      auto bandit = Bandit::gob_lin(scenario.graph, options);
      for (std::uint64_t t = 0; t < 120; ++t) {
        const auto round = scenario.round(t);
        bandit.update(round.user, round.context(0), round.rewards[0]);
      }
      ASSERT_EQ(bandit.summary().components.size(), 2);
      const double tolerance = kind == EngineKind::local ? 2e-2 : 1e-9;
      const auto expect = [&](const char* what, const std::function<void(Bandit&)>& change, std::size_t components,
                              std::size_t fewest_failures) {
        SCOPED_TRACE(what);
        expect_all_or_nothing(bandit, change, tolerance, kind == EngineKind::local ? 0.01 : 0.1, fewest_failures);
        auto done = bandit;
        change(done);
        EXPECT_EQ(done.summary().components.size(), components);
      };
      expect(
          "join", [](Bandit& it) { it.add_edge(3, 48); }, 1, 20);
      expect(
          "split", [](Bandit& it) { it.remove_edge(7, 40); }, 3, 20);
      const std::vector<EdgeChange> both{{7, 40, 0.0}, {3, 48, 1.0}, {46, 47, 0.0}};
      expect(
          "both", [&](Bandit& it) { it.update_edges(both); }, 3, 20);
      const auto round = scenario.round(1000);
      expect(
          "learn", [&](Bandit& it) { it.update(round.user, round.context(0), round.rewards[0]); }, 2,
          kind == EngineKind::dense ? 0 : 2);  // dense takes no memory
    }
  }
}

}  // namespace
}  // namespace goblin
