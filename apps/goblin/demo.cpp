#include "commands.hpp"
#include "goblin/goblin.hpp"

#include <chrono>
#include <span>
#include <vector>

#include <fmt/format.h>

namespace goblin::app {

void run_demo() {
  constexpr std::uint64_t rounds = 2000;
  constexpr std::uint64_t early = 500;
  constexpr world::CliquesOptions options{.dimension = 10, .payoff_noise = 0.25, .seed = 4};
  const world::Cliques world(options);
  const std::size_t users = world.graph().node_count();
  std::vector<NodeId> cliques(users);
  std::vector<NodeId> fives(users);  // what a clustering that is too fine would give
  for (std::size_t user = 0; user < users; ++user) {
    cliques[user] = static_cast<NodeId>(user / options.size);
    fives[user] = static_cast<NodeId>(user / 5);
  }

  fmt::print(
      "A worked example. {} users in {} cliques of friends, who share a taste nobody knows. In each of {} rounds one\n"
      "user is offered {} items (vectors of {} numbers), takes the one the policy picks, and pays taste times item, "
      "plus\n"
      "noise up to {}. Every policy meets the same rounds. Reward is counted above that of a random pick.\n\n",
      users, options.cliques, rounds, options.arms, options.dimension, options.payoff_noise);
  fmt::print("{:<15}{:>8}{:>9}{:>19}{:>13}   {}\n", "policy", "reward", "regret", "after 500 rounds", "us a round",
             "what it knows of the graph");
  const auto clock = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  for (const Policy policy : paper_policies) {
    std::span<const NodeId> clusters;
    if (policy == Policy::gob_lin_macro) clusters = cliques;
    if (policy == Policy::gob_lin_block) clusters = fives;
    auto bandit = Bandit::make(policy, world.graph(), clusters, {.dimension = options.dimension, .alpha = 0.1});
    const auto trace = experiment::simulate(bandit, world, {.rounds = rounds, .record_every = early, .clock = clock});
    fmt::print("{:<15}{:>8.0f}{:>9.0f}{:>19.0f}{:>13.1f}   {}\n", name_of(policy), trace.normalized_reward(),
               *trace.regret, trace.rows.front().normalized_reward,
               1e6 * trace.seconds / static_cast<double>(trace.rounds), info_of(policy).knows);
  }
  fmt::print(
      "\nNext: `goblin simulate --help` plays policies in other worlds, `goblin replay --help` over your own log; the\n"
      "README has the C++ library.\n");
}

}  // namespace goblin::app
