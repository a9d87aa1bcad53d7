// Selecting asks for no memory once it is warm, and memory that runs out does not leave a change half done. A program
// of its own: it takes the place of malloc and operator new, and so do sanitizers.
//
// All memory is counted, what Eigen asks malloc for too. Refused is only what operator new is asked for: a matrix of
// Eigen's that is to get another size and cannot is freed twice.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/bandit/shared_bandit.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

namespace {
std::atomic<std::size_t> allocations{0};
std::atomic<std::size_t> asked{0};     // by operator new
std::atomic<std::size_t> fails_at{0};  // which of these is refused; 0: none
std::atomic<bool> for_good{false};     // and all that come after it

bool is_refused() {
  const std::size_t which = ++asked;
  return which == fails_at || (for_good && fails_at > 0 && which > fails_at);
}
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
  if (is_refused()) throw std::bad_alloc();
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (is_refused()) throw std::bad_alloc();
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

/// What a move that failed has counted is taken back, too.
TEST(Bandit, counts_no_solves_of_a_move_that_memory_ran_out_for) {
  const Scenario scenario{.name = "moving", .graph = generate::random({.nodes = 60, .edges = 150}), .dimension = 3};
  std::vector<Edge> edges;  // user 0 has no friends, so that no edge moves
  for (const Edge& edge : scenario.graph.edges()) {
    if (edge.a != 0 && edge.b != 0) edges.push_back(edge);
  }
  std::vector<NodeId> clusters(60);
  for (NodeId user = 0; user < 60; ++user) clusters[user] = user % 30;
  auto before = Bandit::gob_lin_macro(
      Graph(60, edges), clusters,
      {.dimension = 3, .engine = {.kind = EngineKind::sparse, .tolerance = 1e-12, .max_iterations = 1, .threads = 1}});
  for (std::uint64_t t = 0; t < 200; ++t) {
    const auto round = scenario.round(t);
    before.update(round.user, round.context(0), round.rewards[0]);
  }
  auto moved = before;
  moved.move_user(0, 7);
  ASSERT_GT(moved.summary().unconverged_solves, before.summary().unconverged_solves + 1);
  for (std::size_t nth = 1;; ++nth) {
    Bandit bandit = before;
    fails_at = asked + nth;
    try {
      bandit.move_user(0, 7);
      const bool whole = asked < fails_at;
      fails_at = 0;
      if (whole) break;
    } catch (const std::bad_alloc&) {
      fails_at = 0;
      EXPECT_EQ(bandit.summary().unconverged_solves, before.summary().unconverged_solves) << nth;
    }
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
        expect_all_or_nothing(bandit, change, tolerance, kind == EngineKind::local ? 0.03 : 0.1, fewest_failures);
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

/// Tries to add a user again and again, each time with another allocation that fails, until none does. Gives how often
/// one did.
template <typename Owner>
std::size_t expect_user_comes_or_does_not(const Bandit& before, std::string_view name) {
  const auto bandit_of = [](const auto& owner) -> Bandit {
    if constexpr (std::is_same_v<Owner, Bandit>) {
      return owner;
    } else {
      return owner.snapshot();
    }
  };
  Bandit expected = before;
  expected.add_user(name);
  // A new user is joined to the hub, and the way back from there computes the belief anew.
  const bool has_hub = before.policy() == Policy::gob_lin_hub;
  const auto expect_same = [&](const Bandit& a, const Bandit& b) {
    EXPECT_TRUE(has_hub || a.to_bytes() == b.to_bytes());
    EXPECT_EQ(a.user_count(), b.user_count());
    EXPECT_EQ(a.node_graph().edges().size(), b.node_graph().edges().size());
    EXPECT_EQ(a.summary().components.size(), b.summary().components.size());
    EXPECT_NEAR(a.log_determinant(), b.log_determinant(), 1e-9);
    for (NodeId user = 0; user < std::min(a.user_count(), b.user_count()); ++user) {
      for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(a.mean(user)[k], b.mean(user)[k], 1e-3);
    }
  };
  for (std::size_t nth = 1, failures = 0;; ++nth) {
    SCOPED_TRACE(nth);
    Owner owner{Bandit(before)};
    fails_at = asked + nth;
    try {
      owner.add_user(name);
      const bool whole = asked < fails_at;
      fails_at = 0;
      if (whole) return failures;
    } catch (const std::bad_alloc&) {
      fails_at = 0;
      ++failures;
      expect_same(bandit_of(owner), before);
      owner.add_user(name);
    }
    expect_same(bandit_of(owner), expected);
    if (::testing::Test::HasFailure()) return failures;
  }
}

TEST(Bandit, a_user_for_whom_memory_runs_out_has_not_come) {
  Names names;
  for (const char* name : {"ann", "bob", "cat", "dan", "eve"}) names.insert(name);
  const std::vector<Edge> edges{{0, 1, 1.0}, {1, 2, 2.0}, {3, 4, 1.0}};
  for (const bool named : {false, true}) {
    const Graph graph = named ? Graph(names, edges) : Graph(5, edges);
    for (const Policy policy : all_policies) {
      for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
        if (policy == Policy::linucb_hash && kind != EngineKind::dense) continue;
        for (const Laplacian laplacian : {Laplacian::combinatorial, Laplacian::normalized}) {
          if (laplacian == Laplacian::normalized && policy != Policy::gob_lin) continue;
          SCOPED_TRACE(std::string(name_of(policy)) + ", " + std::string(name_of(kind)));
          const std::vector<NodeId> clusters =
              uses_clusters(policy) ? std::vector<NodeId>{0, 0, 1, 1, 1} : std::vector<NodeId>{};
          auto bandit = Bandit::make(policy, graph, clusters,
                                     {.dimension = 2,
                                      .laplacian = laplacian,
                                      .hash = {.buckets = 32},
                                      .club = {.separation = 0.3},
                                      .engine = {.kind = kind, .local = {.tolerance = 1e-5}, .threads = 1}});
          for (std::size_t t = 0; t < 20; ++t) {
            const double angle = static_cast<double>(t);
            bandit.update(static_cast<NodeId>(t % 5), std::vector{std::sin(angle), std::cos(angle)},
                          std::sin(3 * angle));
          }
          for (const char* name : {"fay", "gus"}) {
            const std::string_view called = named ? name : "";
            EXPECT_GE(expect_user_comes_or_does_not<Bandit>(bandit, called), 3);
            EXPECT_GE(expect_user_comes_or_does_not<SharedBandit>(bandit, called), 3);
            bandit.add_user(called);
          }
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(Bandit, a_user_stays_in_the_cluster_where_memory_runs_out_for_the_move) {
  const Scenario scenario{.name = "moving", .graph = generate::random({.nodes = 24, .edges = 50}), .dimension = 3};
  std::vector<NodeId> clusters(24);
  for (NodeId user = 0; user < 24; ++user) clusters[user] = user % 8;
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    for (const Policy policy : {Policy::gob_lin_macro, Policy::gob_lin_block}) {
      SCOPED_TRACE(std::string(name_of(policy)) + ", " + std::string(name_of(kind)));
      auto bandit =
          Bandit::make(policy, scenario.graph, clusters,
                       {.dimension = 3, .engine = {.kind = kind, .local = {.tolerance = 1e-3}, .threads = 1}});
      for (std::uint64_t t = 0; t < 100; ++t) {
        const auto round = scenario.round(t);
        bandit.update(round.user, round.context(0), round.rewards[0]);
      }
      for (const NodeId to : {NodeId{5}, NodeId{8}}) {
        SCOPED_TRACE(to);
        expect_all_or_nothing(
            bandit, [&](Bandit& it) { it.move_user(0, to); }, kind == EngineKind::local ? 2e-2 : 1e-9, 0.02);
      }
    }
  }
}

/// Where no memory is left for the way back either, a user may have come, or a cluster. Nobody else is harmed.
TEST(Bandit, outlives_memory_that_is_gone_for_good_while_somebody_comes) {
  const Graph graph = generate::random({.nodes = 12, .edges = 24});
  const std::vector<NodeId> clusters{0, 0, 1, 1, 2, 2, 3, 3, 0, 1, 2, 3};
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    for (const Policy policy : {Policy::gob_lin_hub, Policy::gob_lin_macro}) {
      SCOPED_TRACE(std::string(name_of(policy)) + ", " + std::string(name_of(kind)));
      auto before = Bandit::make(policy, graph, uses_clusters(policy) ? clusters : std::vector<NodeId>{},
                                 {.dimension = 2, .engine = {.kind = kind, .threads = 1}});
      for (std::size_t t = 0; t < 24; ++t) {
        const double angle = static_cast<double>(t);
        before.update(static_cast<NodeId>(t % 12), std::vector{std::sin(angle), std::cos(angle)}, std::sin(3 * angle));
      }
      for (std::size_t nth = 1;; nth += 1 + nth / 16) {
        Bandit bandit = before;
        for_good = true;
        fails_at = asked + nth;
        bool whole = true;
        try {
          policy == Policy::gob_lin_hub ? static_cast<void>(bandit.add_user())
                                        : static_cast<void>(bandit.move_user(0, 4));
        } catch (const std::bad_alloc&) {
          whole = false;
        }
        fails_at = 0;
        for_good = false;
        if (whole) break;
        ASSERT_GE(bandit.user_count(), 12);
        for (NodeId user = 0; user < 12; ++user) {
          for (const double value : bandit.mean(user)) ASSERT_TRUE(std::isfinite(value)) << nth;
        }
        ASSERT_FALSE(bandit.summary().components.empty()) << nth;
      }
    }
  }
}

}  // namespace
}  // namespace goblin
