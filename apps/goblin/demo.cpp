#include "commands.hpp"
#include "goblin/goblin.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>

namespace goblin::app {
namespace {

constexpr std::size_t clique_count = 4;
constexpr std::size_t clique_size = 25;
constexpr std::size_t users = clique_count * clique_size;
constexpr std::size_t dimension = 10;
constexpr std::size_t arms = 10;
constexpr std::size_t rounds = 2000;
constexpr double payoff_noise = 0.25;

/// Users in cliques that share a taste, a vector of unit length; a payoff is taste times context, plus noise.
class Toy {
 public:
  Toy() : tastes_(clique_count * dimension) {
    Random random(seed);
    for (std::size_t clique = 0; clique < clique_count; ++clique) {
      unit_vector(random, std::span(tastes_).subspan(clique * dimension, dimension));
    }
  }

  struct Round {
    NodeId user = 0;
    std::vector<double> contexts;
    std::vector<double> payoffs;
  };

  [[nodiscard]] Round round(std::size_t t) const {
    Random random(seed, 1, t);
    Round round{static_cast<NodeId>(random.below(users)), std::vector<double>(arms * dimension), {}};
    const auto taste = std::span(tastes_).subspan(round.user / clique_size * dimension, dimension);
    for (std::size_t arm = 0; arm < arms; ++arm) {
      const auto context = std::span(round.contexts).subspan(arm * dimension, dimension);
      unit_vector(random, context);
      double payoff = random.uniform(-payoff_noise, payoff_noise);
      for (std::size_t k = 0; k < dimension; ++k) payoff += taste[k] * context[k];
      round.payoffs.push_back(payoff);
    }
    return round;
  }

 private:
  static constexpr std::uint64_t seed = 4;

  static void unit_vector(Random& random, std::span<double> vector) {
    double squares = 0.0;
    for (double& value : vector) {
      value = random.uniform(-1.0, 1.0);
      squares += value * value;
    }
    for (double& value : vector) value /= std::sqrt(squares);
  }

  std::vector<double> tastes_;
};

}  // namespace

void run_demo() {
  const Toy toy;
  const Graph graph = generate::cliques(clique_count, clique_size);
  std::vector<NodeId> cliques(users);
  for (std::size_t user = 0; user < users; ++user) cliques[user] = static_cast<NodeId>(user / clique_size);
  std::vector<NodeId> halves(users);  // five users each: what a clustering that is too fine would give
  for (std::size_t user = 0; user < users; ++user) halves[user] = static_cast<NodeId>(user / 5);

  fmt::print(
      "A worked example. {} users in {} cliques of friends, who share a taste nobody knows. In each of {} rounds one\n"
      "user is offered {} items (vectors of {} numbers), takes the one the policy picks, and pays taste times item, "
      "plus\n"
      "noise up to {}. Every policy meets the same rounds. Reward is counted above that of a random pick.\n\n",
      users, clique_count, rounds, arms, dimension, payoff_noise);
  fmt::print("{:<15}{:>8}{:>16}{:>22}{:>14}   {}\n", "policy", "reward", "% of the best", "after 500 rounds",
             "us a round", "what it knows of the graph");
  for (const Policy policy : all_policies) {
    const std::span<const NodeId> clusters = policy == Policy::gob_lin_macro   ? std::span<const NodeId>(cliques)
                                             : policy == Policy::gob_lin_block ? std::span<const NodeId>(halves)
                                                                               : std::span<const NodeId>();
    auto bandit = Bandit::make(policy, graph, clusters, {.dimension = dimension, .alpha = 0.1});
    Decision decision;
    double reward = 0.0;
    double early = 0.0;
    double best = 0.0;
    std::chrono::duration<double> busy{};
    for (std::size_t t = 0; t < rounds; ++t) {
      const auto round = toy.round(t);
      double average = 0.0;
      for (const double payoff : round.payoffs) average += payoff / static_cast<double>(arms);
      const auto start = std::chrono::steady_clock::now();
      bandit.select(round.user, {round.contexts, dimension}, {}, decision);
      bandit.update(round.user, std::span(round.contexts).subspan(decision.arm * dimension, dimension),
                    round.payoffs[decision.arm]);
      busy += std::chrono::steady_clock::now() - start;
      reward += round.payoffs[decision.arm] - average;
      best += *std::max_element(round.payoffs.begin(), round.payoffs.end()) - average;
      if (t + 1 == 500) early = reward;
    }
    constexpr const char* known[] = {"nothing: one bandit for everybody", "nothing: one bandit a user", "all of it",
                                     "a node for each clique", "the edges inside groups of five"};
    fmt::print("{:<15}{:>8.0f}{:>15.0f}%{:>22.0f}{:>14.1f}   {}\n", name_of(policy), reward, 100.0 * reward / best,
               early, 1e6 * busy.count() / static_cast<double>(rounds), known[static_cast<int>(policy)]);
  }
  fmt::print("\nNext: `goblin replay --help` runs a policy over your own log; the README has the C++ library.\n");
}

}  // namespace goblin::app
