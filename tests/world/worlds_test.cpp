#include "goblin/error.hpp"
#include "goblin/graph/generators.hpp"
#include "goblin/world/catalogue.hpp"
#include "goblin/world/cliques.hpp"
#include "goblin/world/linear.hpp"
#include "goblin/world/log.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::world {
namespace worlds_test {

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void expect_same(const Round& a, const Round& b) {
  EXPECT_EQ(a.user, b.user);
  EXPECT_EQ(a.items, b.items);
  EXPECT_EQ(a.contexts, b.contexts);
  EXPECT_EQ(a.payoffs, b.payoffs);
  EXPECT_EQ(a.expected, b.expected);
}

/// Five users of whom the last likes nothing, forty items; user u pays u + 1 for items 10 u ... 10 u + 2, and user 0
/// also -0.5 for item 39.
data::Dataset small_data() {
  data::Dataset data;
  data.name = "small";
  data.graph = generate::cliques(1, 5);
  std::vector<data::Entry> payoffs = {{0, 39, -0.5}};
  for (NodeId user = 0; user < 4; ++user) {
    for (NodeId k = 0; k < 3; ++k) payoffs.push_back({user, 10 * user + k, user + 1.0});
  }
  data.payoffs = data::SparseRows(5, 40, payoffs);
  data.contexts.dimension = 2;
  for (int item = 0; item < 40; ++item) {
    data.items.insert("item " + std::to_string(item));
    data.contexts.numbers.push_back(item);
    data.contexts.numbers.push_back(-1.0);
  }
  return data;
}

std::vector<std::shared_ptr<World>> all_worlds(std::uint64_t seed, std::uint64_t repetition) {
  return {
      std::make_shared<Cliques>(CliquesOptions{
          .dimension = 4, .graph_noise = 50.0, .payoff_noise = 0.5, .seed = seed, .repetition = repetition}),
      std::make_shared<Linear>(
          generate::cliques(3, 4),
          LinearOptions{.dimension = 3, .arms = 6, .payoff_noise = 0.1, .seed = seed, .repetition = repetition}),
      std::make_shared<Catalogue>(small_data(), CatalogueOptions{.arms = 8, .seed = seed, .repetition = repetition})};
}

TEST(Worlds, rounds_can_be_asked_for_in_any_order_and_on_any_thread) {
  constexpr std::size_t count = 200;
  for (const auto& world : all_worlds(7, 0)) {
    std::vector<Round> forwards(count);
    for (std::size_t t = 0; t < count; ++t) world->round(t, forwards[t]);
    for (std::size_t t = count; t-- > 0;) expect_same(world->round(t), forwards[t]);
    std::vector<Round> on_threads(count);
    {
      std::vector<std::jthread> threads;
      for (std::size_t first = 0; first < 4; ++first) {
        threads.emplace_back([&, first] {
          for (std::size_t t = first; t < count; t += 4) world->round(t, on_threads[t]);
        });
      }
    }
    for (std::size_t t = 0; t < count; ++t) expect_same(on_threads[t], forwards[t]);
  }
}

TEST(Worlds, follow_from_seed_and_repetition_alone) {
  const auto first = all_worlds(7, 0);
  const auto again = all_worlds(7, 0);
  const auto other_seed = all_worlds(8, 0);
  const auto other_repetition = all_worlds(7, 1);
  for (std::size_t k = 0; k < first.size(); ++k) {
    expect_same(again[k]->round(3), first[k]->round(3));
    EXPECT_NE(other_seed[k]->round(3).contexts, first[k]->round(3).contexts);
    EXPECT_NE(other_repetition[k]->round(3).contexts, first[k]->round(3).contexts);
  }
}

TEST(Cliques, are_those_of_the_paper) {
  const Cliques world;
  EXPECT_EQ(world.graph().node_count(), 100);
  EXPECT_EQ(world.graph().edge_count(), 1200);
  const auto vectors = world.truth()->user_vectors;
  for (std::size_t user = 0; user < 100; ++user) {
    const auto own = vectors.subspan(user * 25, 25);
    EXPECT_NEAR(dot(own, own), 1.0, 1e-12);
    EXPECT_TRUE(std::equal(own.begin(), own.end(), vectors.subspan(user / 25 * 625, 25).begin()));
  }
  EXPECT_LT(dot(vectors.subspan(0, 25), vectors.subspan(625, 25)), 0.99);
  const Round round = world.round(0);
  EXPECT_EQ(round.payoffs.size(), 10);
  EXPECT_EQ(round.payoffs, round.expected);
}

TEST(Cliques, of_any_number_and_size) {
  const Cliques world({.cliques = 3, .size = 7, .dimension = 2, .arms = 4});
  EXPECT_EQ(world.graph().node_count(), 21);
  EXPECT_EQ(world.graph().edge_count(), 63);
  EXPECT_THROW(Cliques({.cliques = 0}), std::invalid_argument);
  EXPECT_THROW(Cliques({.dimension = 0}), std::invalid_argument);
  EXPECT_THROW(Cliques({.arms = 0}), std::invalid_argument);
  EXPECT_THROW(Cliques({.graph_noise = 4951.0}), std::invalid_argument);
  EXPECT_THROW(Cliques({.payoff_noise = -0.1}), std::invalid_argument);
}

TEST(Cliques, tastes_that_change_are_the_same_world_until_then) {
  const CliquesOptions options{
      .cliques = 3, .size = 4, .dimension = 5, .graph_noise = 6.0, .payoff_noise = 0.25, .seed = 9, .repetition = 2};
  CliquesOptions drifting = options;
  drifting.drift_after = 40;
  const Cliques calm(options);
  const Cliques world(drifting);
  EXPECT_EQ(world.graph().edge_count(), calm.graph().edge_count());
  for (std::uint64_t t = 0; t < 40; ++t) expect_same(world.round(t), calm.round(t));

  // Afterwards users, contexts and noise are the same, but what is expected is that of other vectors.
  for (std::uint64_t t = 40; t < 80; ++t) {
    const Round now = world.round(t);
    const Round otherwise = calm.round(t);
    EXPECT_EQ(now.user, otherwise.user);
    EXPECT_EQ(now.contexts, otherwise.contexts);
    for (std::size_t arm = 0; arm < now.payoffs.size(); ++arm) {
      EXPECT_NE(now.expected[arm], otherwise.expected[arm]);
      EXPECT_LE(std::abs(now.expected[arm]), 1.0) << "a unit vector times a unit vector";
      EXPECT_NEAR(now.payoffs[arm] - now.expected[arm], otherwise.payoffs[arm] - otherwise.expected[arm], 1e-12);
    }
  }
  EXPECT_TRUE(calm.truth());
  EXPECT_FALSE(world.truth()) << "Theorem 1 speaks of users with one vector each";
  drifting.drift_after = 0;
  EXPECT_THROW(Cliques{drifting}, std::invalid_argument);
}

/// The vector of a clique after the change, solved for from what is expected of as many contexts as it has numbers.
TEST(Cliques, everybody_in_a_clique_changes_to_the_same_unit_vector) {
  const Cliques world({.cliques = 2, .size = 3, .dimension = 2, .arms = 2, .drift_after = 1, .seed = 4});
  std::vector<std::vector<double>> vectors(6);
  for (std::uint64_t t = 1; t < 60; ++t) {
    const Round round = world.round(t);
    const auto a = round.context(0);
    const auto b = round.context(1);
    const double determinant = a[0] * b[1] - a[1] * b[0];
    if (std::abs(determinant) < 0.1) continue;
    vectors[round.user] = {(round.expected[0] * b[1] - round.expected[1] * a[1]) / determinant,
                           (round.expected[1] * a[0] - round.expected[0] * b[0]) / determinant};
  }
  for (std::size_t user = 0; user < 6; ++user) {
    ASSERT_EQ(vectors[user].size(), 2U) << "user " << user << " did not come";
    EXPECT_NEAR(dot(vectors[user], vectors[user]), 1.0, 1e-9);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(vectors[user][k], vectors[user / 3 * 3][k], 1e-9);
  }
  EXPECT_GT(std::abs(vectors[0][0] - vectors[3][0]), 1e-3);
}

/// Flips are independent with probability p = 250 / 4950: over 200 graphs, their mean is within 4.5 deviations of 250,
/// and inside cliques (1200 of the pairs) they are as likely as outside.
TEST(Cliques, graph_noise_is_the_expected_number_of_flipped_pairs) {
  const Graph clean = generate::cliques(4, 25);
  constexpr int graphs = 200;
  double broken = 0.0;
  double made = 0.0;
  for (std::uint64_t repetition = 0; repetition < graphs; ++repetition) {
    const Cliques world({.graph_noise = 250.0, .seed = 5, .repetition = repetition});
    double kept = 0.0;
    for (const Edge& edge : world.graph().edges()) {
      EXPECT_EQ(edge.weight, 1.0);
      (clean.weight(edge.a, edge.b) > 0.0 ? kept : made) += 1.0;
    }
    broken += 1200.0 - kept;
  }
  const double p = 250.0 / 4950.0;
  const auto deviation = [&](double pairs) { return std::sqrt(pairs * p * (1.0 - p) / graphs); };
  EXPECT_NEAR(broken / graphs, 1200.0 * p, 4.5 * deviation(1200.0));
  EXPECT_NEAR(made / graphs, 3750.0 * p, 4.5 * deviation(3750.0));
}

TEST(Cliques, every_pair_can_be_flipped) {
  const Cliques world({.cliques = 2, .size = 3, .graph_noise = 15.0});
  EXPECT_EQ(world.graph().edge_count(), 9);
  EXPECT_EQ(world.graph().weight(0, 1), 0.0);
  EXPECT_EQ(world.graph().weight(0, 3), 1.0);
}

TEST(Linear, pays_the_product_plus_bounded_noise) {
  const Linear world(generate::cliques(2, 5), {.dimension = 6, .payoff_noise = 0.3, .seed = 2});
  const auto vectors = world.truth()->user_vectors;
  double lowest = 0.0;
  double highest = 0.0;
  double sum = 0.0;
  std::vector<int> drawn(10, 0);
  for (std::uint64_t t = 0; t < 500; ++t) {
    const Round round = world.round(t);
    ++drawn[round.user];
    for (std::size_t arm = 0; arm < 10; ++arm) {
      EXPECT_NEAR(dot(round.context(arm), round.context(arm)), 1.0, 1e-12);
      EXPECT_NEAR(round.expected[arm], dot(vectors.subspan(round.user * 6, 6), round.context(arm)), 1e-14);
      const double noise = round.payoffs[arm] - round.expected[arm];
      lowest = std::min(lowest, noise);
      highest = std::max(highest, noise);
      sum += noise;
    }
  }
  EXPECT_GE(lowest, -0.3);
  EXPECT_LE(highest, 0.3);
  EXPECT_LT(lowest, -0.29);
  EXPECT_GT(highest, 0.29);
  EXPECT_NEAR(sum / 5000.0, 0.0, 4.5 * 0.3 / std::sqrt(3.0 * 5000.0));
  for (const int count : drawn) EXPECT_NEAR(count, 50.0, 4.5 * std::sqrt(45.0));
}

double roughness(const Linear& world) {
  const auto vectors = world.truth()->user_vectors;
  const std::size_t d = world.dimension();
  double total = 0.0;
  for (const Edge& edge : world.graph().edges()) {
    total += 1.0 - dot(vectors.subspan(edge.a * d, d), vectors.subspan(edge.b * d, d));
  }
  return total / static_cast<double>(world.graph().edge_count());
}

TEST(Linear, friends_are_alike_the_more_the_smoother) {
  const Graph graph = generate::random({.nodes = 60, .edges = 150, .seed = 4});
  double before = 1.0;
  for (const double smoothing : {0.5, 5.0, 50.0}) {
    const double now = roughness(Linear(graph, {.dimension = 8, .smoothing = smoothing}));
    EXPECT_LT(now, 0.8 * before);
    before = now;
  }
  EXPECT_NEAR(roughness(Linear(graph, {.dimension = 8, .smoothing = 0.0})), 1.0, 0.15);
}

TEST(Linear, refuses_what_makes_no_world) {
  const Graph graph = generate::cliques(1, 3);
  EXPECT_THROW(Linear(Graph(), {.dimension = 2}), std::invalid_argument);
  EXPECT_THROW(Linear(graph, {.dimension = 2, .smoothing = -1.0}), std::invalid_argument);
  EXPECT_THROW(Linear(graph, std::vector<double>(5), {.dimension = 2}), std::invalid_argument);
}

TEST(Catalogue, shows_one_paying_item_among_others) {
  const data::Dataset data = small_data();
  const Catalogue world(data, {.arms = 8, .seed = 3});
  std::vector<int> place(8, 0);
  std::set<NodeId> users;
  for (std::uint64_t t = 0; t < 2000; ++t) {
    const Round round = world.round(t);
    users.insert(round.user);
    EXPECT_EQ(std::set<NodeId>(round.items.begin(), round.items.end()).size(), 8);
    EXPECT_TRUE(round.expected.empty());
    double sum = 0.0;
    std::size_t paying = 0;
    for (std::size_t arm = 0; arm < 8; ++arm) {
      EXPECT_EQ(round.context(arm)[0], round.items[arm]);
      EXPECT_EQ(round.payoffs[arm], data.payoffs.at(round.user, round.items[arm]));
      sum += data.payoffs.at(round.user, round.items[arm]);
      if (round.payoffs[arm] != 0.0) ++paying;
    }
    ASSERT_GE(paying, 1);
    EXPECT_NEAR(round.average_payoff(), sum / 8.0, 1e-15);
    const auto found = std::find_if(round.payoffs.begin(), round.payoffs.end(), [](double p) { return p != 0.0; });
    if (paying == 1) ++place[static_cast<std::size_t>(found - round.payoffs.begin())];
  }
  EXPECT_THAT(users, ::testing::ElementsAre(0, 1, 2, 3));  // never the user whom nothing pays
  const int singles = std::accumulate(place.begin(), place.end(), 0);
  for (const int count : place) EXPECT_NEAR(count, singles / 8.0, 4.5 * std::sqrt(singles / 8.0));
}

TEST(Catalogue, may_show_all_items_but_not_more) {
  const Catalogue world(small_data(), {.arms = 40});
  auto items = world.round(0).items;
  std::sort(items.begin(), items.end());
  EXPECT_EQ(items.back(), 39);
  EXPECT_THROW(Catalogue(small_data(), {.arms = 41}), std::invalid_argument);
  EXPECT_THROW(Catalogue(small_data(), {.arms = 0}), std::invalid_argument);
  data::Dataset without = small_data();
  without.payoffs = data::SparseRows(5, 40, {});
  EXPECT_THROW(Catalogue(without, {.arms = 4}), std::invalid_argument);
}

TEST(Log, replays_what_was_recorded) {
  for (const auto& world : all_worlds(1, 2)) {
    const Log log = Log::record(*world, 5, 10);
    EXPECT_EQ(log.round_count(), 10);
    for (std::uint64_t t = 0; t < 10; ++t) expect_same(log.round(t), world->round(5 + t));
    EXPECT_THROW((void)log.round(10), std::invalid_argument);
  }
}

TEST(Log, refuses_rounds_of_another_form) {
  const auto log = [](const Round& round) { return Log(Graph(2), 2, {round}); };
  EXPECT_NO_THROW(log({.user = 1, .items = {}, .contexts = {1, 2, 3, 4}, .payoffs = {0, 1}, .expected = {}}));
  EXPECT_THROW(log({.user = 2, .items = {}, .contexts = {1, 2}, .payoffs = {0}, .expected = {}}),
               std::invalid_argument);
  EXPECT_THROW(log({.user = 0, .items = {}, .contexts = {1, 2, 3}, .payoffs = {0}, .expected = {}}),
               std::invalid_argument);
  EXPECT_THROW(log({.user = 0, .items = {}, .contexts = {}, .payoffs = {}, .expected = {}}), std::invalid_argument);
  EXPECT_THROW(log({.user = 0, .items = {}, .contexts = {1, 2}, .payoffs = {0}, .expected = {0, 1}}),
               std::invalid_argument);
}

}  // namespace worlds_test
}  // namespace goblin::world
