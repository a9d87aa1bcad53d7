// Selecting asks for no memory once it is warm. A program of its own: it replaces operator new, and so do sanitizers.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

namespace {
std::atomic<std::size_t> allocations{0};
}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
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

}  // namespace
}  // namespace goblin
