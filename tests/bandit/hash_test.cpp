// linucb.hash: LinUCB on contexts that are hashed, against that computed plainly, and what it is without collisions.

#include "bandit/scenario.hpp"
#include "belief/lens.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/bandit/shared_bandit.hpp"
#include "goblin/error.hpp"
#include "oracle/inverse.hpp"

#include <atomic>
#include <cmath>
#include <functional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace hash_test {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using ::testing::HasSubstr;

void expect_same(const Bandit& a, const Bandit& b, double tolerance) {
  ASSERT_EQ(a.user_count(), b.user_count());
  for (NodeId user = 0; user < a.user_count(); ++user) {
    const auto means = std::pair(a.mean(user), b.mean(user));
    const auto covariances = std::pair(a.covariance(user), b.covariance(user));
    for (std::size_t k = 0; k < means.first.size(); ++k) EXPECT_NEAR(means.first[k], means.second[k], tolerance);
    for (std::size_t k = 0; k < covariances.first.size(); ++k) {
      EXPECT_NEAR(covariances.first[k], covariances.second[k], tolerance);
    }
  }
  EXPECT_NEAR(a.log_determinant(), b.log_determinant(), tolerance + a.log_determinant_error());
  EXPECT_EQ(a.rewards(), b.rewards());
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

void learn(Bandit& bandit, const Scenario& scenario, std::size_t from, std::size_t to) {
  for (std::size_t t = from; t < to; ++t) {
    const auto round = scenario.round(t);
    bandit.update(round.user, round.context(0), round.rewards[0]);
  }
}

struct Batch {
  Batch(const Scenario& scenario, std::size_t count) {
    for (std::size_t t = 0; t < count; ++t) rounds.push_back(scenario.round(t));
    for (const auto& round : rounds) rewards.push_back({round.user, round.context(0), round.rewards[0]});
  }
  std::vector<Scenario::Round> rounds;
  std::vector<Observation> rewards;
};

class Hash : public ::testing::TestWithParam<EngineKind> {
 protected:
  static constexpr std::size_t buckets = 24;  // for 12 users and 4 numbers: many collide

  [[nodiscard]] BanditOptions options() const {
    return {.dimension = 4,
            .alpha = 0.4,
            .ridge = 0.7,
            .hash = {.buckets = buckets, .seed = 5},
            .engine = {.kind = GetParam(), .tolerance = 1e-12, .local = {.tolerance = 1e-12}, .threads = 2}};
  }
  [[nodiscard]] Bandit fresh() const { return Bandit::linucb_hash(scenario.graph, options()); }

  Scenario scenario{
      .name = "hash", .graph = generate::random({.nodes = 12, .edges = 20, .seed = 5}), .dimension = 4, .arms = 5};
};

TEST_P(Hash, is_linucb_on_hashed_contexts) {
  auto bandit = fresh();
  MatrixXd precision = 0.7 * MatrixXd::Identity(buckets, buckets);
  VectorXd rewards = VectorXd::Zero(buckets);
  const auto hashed = [](NodeId user, std::span<const double> context) {
    VectorXd result(static_cast<Index>(buckets));
    Lens::hashing(4, buckets, 5, user).to_node(context, {result.data(), buckets});
    return result;
  };
  for (std::size_t t = 0; t < 100; ++t) {
    const auto round = scenario.round(t);
    const Decision decision = bandit.select(round.user, {round.contexts, 4});
    const MatrixXd inverse = oracle::inverse_of(precision);
    const VectorXd mean = inverse * rewards;
    for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
      const VectorXd x = hashed(round.user, round.context(arm));
      const double variance = x.dot(inverse * x);
      ASSERT_NEAR(decision.means[arm], x.dot(mean), 1e-10);
      ASSERT_NEAR(decision.widths[arm], 0.4 * std::sqrt(variance * std::log(static_cast<double>(t) + 2.0)), 1e-8);
    }
    const auto covariance = bandit.covariance(round.user);
    const auto own_mean = bandit.mean(round.user);
    for (std::size_t a = 0; a < 4; ++a) {
      const std::vector<double> unit{a == 0 ? 1.0 : 0.0, a == 1 ? 1.0 : 0.0, a == 2 ? 1.0 : 0.0, a == 3 ? 1.0 : 0.0};
      const VectorXd x = hashed(round.user, unit);
      ASSERT_NEAR(own_mean[a], x.dot(mean), 1e-10);
      ASSERT_NEAR(covariance[a * 4 + a], x.dot(inverse * x), 1e-10);
    }
    bandit.update(round.user, round.context(0), round.rewards[0]);
    const VectorXd x = hashed(round.user, round.context(0));
    precision += x * x.transpose();
    rewards += round.rewards[0] * x;
  }
  const double expected = oracle::log_determinant_of(MatrixXd(precision / 0.7));
  EXPECT_GE(bandit.log_determinant(), expected - 1e-9);
  EXPECT_LE(bandit.log_determinant(), expected + bandit.log_determinant_error() + 1e-9);
  EXPECT_EQ(bandit.node_count(), 1);
}

TEST_P(Hash, a_batch_is_its_rewards_one_by_one) {
  for (const std::size_t count : {2U, 10U, 13U, 300U}) {  // those that are many for the buckets as sums
    SCOPED_TRACE(count);
    const Batch batch(scenario, count);
    auto at_once = fresh();
    learn(at_once, scenario, 1000, 1010);
    auto one_by_one = at_once;
    at_once.update(batch.rewards);
    learn(one_by_one, scenario, 0, count);
    expect_same(at_once, one_by_one, 1e-9);
    for (NodeId user = 0; user < 12; ++user) {
      EXPECT_TRUE(std::ranges::equal(at_once.evidence(user).contexts, one_by_one.evidence(user).contexts));
      EXPECT_EQ(at_once.evidence(user).count, one_by_one.evidence(user).count);
    }
    learn(at_once, scenario, 2000, 2005);
    learn(one_by_one, scenario, 2000, 2005);
    expect_same(at_once, one_by_one, 1e-9);
    at_once.rebuild();
    expect_same(at_once, one_by_one, 1e-9);
  }
}

TEST_P(Hash, halves_are_merged_and_files_go_on) {
  auto whole = fresh();
  auto first = fresh();
  auto second = fresh();
  learn(whole, scenario, 0, 120);
  learn(first, scenario, 0, 60);
  learn(second, scenario, 60, 120);
  first.merge(second);
  expect_same(first, whole, 1e-9);
  auto loaded = Bandit::from_bytes(whole.to_bytes());
  EXPECT_EQ(loaded.options().hash, whole.options().hash);
  expect_same(loaded, whole, 0.0);
  learn(loaded, scenario, 120, 140);
  learn(whole, scenario, 120, 140);
  expect_same(loaded, whole, 0.0);

  for (const HashOptions& other : {HashOptions{.buckets = buckets, .seed = 6}, HashOptions{.buckets = 25, .seed = 5}}) {
    BanditOptions given = options();
    given.hash = other;
    EXPECT_THAT(message_of([&] { first.merge(Bandit::linucb_hash(scenario.graph, given)); }),
                HasSubstr(other.seed == 6 ? "other: hash_seed 6 (must be 5, as here)"
                                          : "other: buckets 25 (must be 24, as here)"));
  }
}

TEST_P(Hash, users_keep_their_buckets_when_others_join) {
  auto bandit = fresh();
  auto larger = Bandit::linucb_hash(Graph(14), options());
  learn(bandit, scenario, 0, 50);
  learn(larger, scenario, 0, 50);
  const std::vector<double> x{0.3, 0.1, -0.4, 0.2};
  bandit.check_new_user(x);
  EXPECT_EQ(bandit.add_user(), 12);
  EXPECT_EQ(bandit.add_user(), 13);
  bandit.update(13, x, 1.0);
  larger.update(13, x, 1.0);
  expect_same(bandit, larger, 1e-12);
  const double before = bandit.mean(2)[0];
  bandit.add_edge(12, 3);  // which says nothing here
  EXPECT_EQ(bandit.mean(2)[0], before);
}

TEST_P(Hash, contributions_add_up_to_the_mean) {
  for (const bool per_node : {false, true}) {
    BanditOptions given = options();
    given.evidence_per_node = per_node;
    auto bandit = Bandit::linucb_hash(scenario.graph, given);
    learn(bandit, scenario, 0, 80);
    for (std::size_t t = 80; t < 90; ++t) {
      const auto round = scenario.round(t);
      const Explanation explained = bandit.explain(round.user, round.context(0), 100);
      const Decision decision = bandit.select(round.user, {round.contexts, 4});
      EXPECT_EQ(explained.per_node, per_node);
      EXPECT_EQ(explained.contributions.size(), per_node ? 1 : 12);
      double sum = explained.rest;
      for (const Contribution& one : explained.contributions) sum += one.value;
      EXPECT_NEAR(sum, explained.mean, 1e-9 + explained.unexplained);
      EXPECT_NEAR(explained.mean, decision.means[0], 1e-9 + explained.unexplained + decision.bounds[0]);
      EXPECT_NEAR(explained.width, decision.widths[0], 1e-8);
      const auto& shares = explained.width_shares;
      EXPECT_NEAR(shares.own + shares.others + shares.prior + shares.unexplained, 1.0, 1e-9);
    }
    if (per_node) {
      EXPECT_THROW((void)bandit.evidence(0), std::invalid_argument);
    }
  }
}

TEST_P(Hash, thompson_draws_with_the_users_covariance) {
  auto bandit = fresh();
  learn(bandit, scenario, 0, 40);
  bandit.set_exploration(exploration_named("thompson:0.5"));
  const auto round = scenario.round(50);
  const Decision decision = bandit.select(round.user, {round.contexts, 4}, {}, Draw{});
  const auto covariance = bandit.covariance(round.user);
  for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
    double variance = 0.0;
    for (std::size_t k = 0; k < 16; ++k) {
      variance += covariance[k] * round.context(arm)[k / 4] * round.context(arm)[k % 4];
    }
    EXPECT_NEAR(decision.widths[arm], 0.5 * std::sqrt(variance), 1e-8);
  }
}

TEST_P(Hash, what_stops_a_batch_half_way_leaves_everything_as_it_was) {
  auto bandit = fresh();
  learn(bandit, scenario, 1000, 1020);
  const Bandit before(bandit);
  const Batch batch(scenario, 3000);
  std::size_t told = 0;
  for (std::size_t stop = 1; stop <= 3; ++stop) {
    told = 0;
    bandit.set_progress([&](double) {
      if (++told == stop) throw std::runtime_error("enough");
    });
    EXPECT_THROW(bandit.update(batch.rewards), std::runtime_error);
    expect_same(bandit, before, 0.0);
    for (NodeId user = 0; user < 12; ++user) {
      EXPECT_TRUE(std::ranges::equal(bandit.evidence(user).contexts, before.evidence(user).contexts));
    }
  }
}

TEST_P(Hash, decides_while_it_learns) {
  SharedBandit shared(fresh());
  auto expected = fresh();
  std::atomic<bool> stop = false;
  std::atomic<std::size_t> decisions = 0;
  std::thread reader([&] {
    for (std::size_t t = 0; !stop; ++t) {
      const auto round = scenario.round(t % 50);
      const Decision decision = shared.select(round.user, {round.contexts, 4});
      for (const double width : decision.widths) EXPECT_GT(width, 0.0);
      ++decisions;
    }
  });
  const Batch batch(scenario, 40);
  shared.update(batch.rewards);
  expected.update(batch.rewards);
  for (std::size_t t = 100; t < 200 || decisions < 20; ++t) {
    const auto round = scenario.round(t);
    shared.update(round.user, round.context(0), round.rewards[0]);
    expected.update(round.user, round.context(0), round.rewards[0]);
  }
  stop = true;
  reader.join();
  expect_same(shared.snapshot(), expected, 1e-9);
}

/// Also while rewards that have left still wait to be put into the covariances.
TEST_P(Hash, forgets_one_by_one) {
  BanditOptions given = options();
  given.forgetting.window = 5;
  given.hash.buckets = 128;
  auto bandit = Bandit::linucb_hash(scenario.graph, given);
  given.forgetting = {};
  for (std::size_t t = 0; t < 40; ++t) {
    const auto round = scenario.round(t);
    bandit.update(round.user, round.context(0), round.rewards[0]);
    if (t < 8) continue;
    auto expected = Bandit::linucb_hash(scenario.graph, given);
    const std::vector<double> nothing(scenario.dimension, 0.0);
    for (std::size_t k = 0; k <= t; ++k) {
      const auto seen = scenario.round(k);
      const bool is_kept = k + 5 > t;
      expected.update(seen.user, is_kept ? seen.context(0) : nothing, is_kept ? seen.rewards[0] : 0.0);
    }
    expect_same(bandit, expected, 1e-8);
  }
}

/// The belief is that of the rewards that are left, or of all with their weights.
TEST_P(Hash, forgets) {
  constexpr std::size_t count = 90;
  for (const Forgetting& forgetting : {Forgetting{.window = 25}, Forgetting{.discount = 0.8}}) {
    SCOPED_TRACE(forgetting.window);
    BanditOptions given = options();
    given.forgetting = forgetting;
    auto bandit = Bandit::linucb_hash(scenario.graph, given);
    for (std::size_t t = 0; t < 40; ++t) {
      const auto round = scenario.round(t);
      bandit.update(round.user, round.context(0), round.rewards[0]);
    }
    std::vector<Scenario::Round> rounds;
    std::vector<Observation> batch;
    for (std::size_t t = 40; t < count; ++t) rounds.push_back(scenario.round(t));
    for (const auto& round : rounds) batch.push_back({round.user, round.context(0), round.rewards[0]});
    bandit.update(std::span(batch).first(8));
    bandit.update(std::span(batch).subspan(8));
    bandit.add_edge(0, 7, 1.5);
    bandit = Bandit::from_bytes(bandit.to_bytes());

    given.forgetting = {};
    auto expected = Bandit::linucb_hash(scenario.graph, given);
    expected.add_edge(0, 7, 1.5);
    std::vector<double> weights(scenario.graph.node_count(), 1.0);  // of a user's next older reward
    for (std::size_t t = count; t-- > 0;) {
      const auto round = scenario.round(t);
      double weight = forgetting.window == 0 || count - t <= forgetting.window ? 1.0 : 0.0;
      if (forgetting.window == 0) weight = std::exchange(weights[round.user], 0.8 * weights[round.user]);
      std::vector<double> x(round.context(0).begin(), round.context(0).end());
      for (double& value : x) value *= std::sqrt(weight);
      expected.update(round.user, x, std::sqrt(weight) * round.rewards[0]);
    }
    expect_same(bandit, expected, 1e-8);
  }
}

INSTANTIATE_TEST_SUITE_P(all, Hash, ::testing::Values(EngineKind::dense, EngineKind::sparse, EngineKind::local),
                         [](const auto& test) { return std::string(name_of(test.param)); });

/// A seed with which no two coordinates of these users share a bucket.
std::uint64_t seed_without_collisions(std::size_t users, std::size_t dimension, std::size_t buckets) {
  for (std::uint64_t seed = 0;; ++seed) {
    std::set<std::uint32_t> places;
    for (NodeId user = 0; user < users; ++user) {
      const Lens lens = Lens::hashing(dimension, buckets, seed, user);
      places.insert(lens.places().begin(), lens.places().end());
    }
    if (places.size() == (users + 1) * dimension) return seed;
  }
}

/// What users have in common, and what each has beyond it: the prior is (1 / ridge) (I + 1 1^T), whose inverse is that
/// of gob.lin on the complete graph, or with one more node that is joined to everybody.
TEST(HashWithoutCollisions, is_gob_lin_on_the_complete_graph_and_with_a_hub) {
  constexpr std::size_t users = 3;
  constexpr std::size_t d = 2;
  constexpr double ridge = 0.8;
  const Scenario scenario{.name = "free", .graph = Graph(users), .dimension = d};
  const std::uint64_t seed = seed_without_collisions(users, d, 64);
  auto hash =
      Bandit::linucb_hash(scenario.graph, {.dimension = d, .ridge = ridge, .hash = {.buckets = 64, .seed = seed}});
  const Graph complete(users, std::vector<Edge>{{0, 1}, {0, 2}, {1, 2}});
  auto gob = Bandit::gob_lin(complete, {.dimension = d, .ridge = ridge / 4.0, .coupling = ridge / 4.0});
  // With a hub users have no ridge of their own; it has to be there, but may be small.
  const Graph star(users + 1, std::vector<Edge>{{0, 3}, {1, 3}, {2, 3}});
  const double small = ridge * 1e-6;
  auto hub = Bandit::gob_lin(
      star, {.dimension = d, .ridge = ridge, .coupling = ridge, .node_ridges = {small, small, small, ridge}});
  auto hub_policy = Bandit::gob_lin_hub(
      scenario.graph, {.dimension = d, .ridge = small, .coupling = 0.0, .hub = {.weight = ridge, .ridge = ridge}});
  for (std::size_t t = 0; t < 200; ++t) {
    const auto round = scenario.round(t);
    const Decision decision = hash.select(round.user, {round.contexts, d});
    const Decision with_friends = gob.select(round.user, {round.contexts, d});
    const Decision with_hub = hub.select(round.user, {round.contexts, d});
    for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
      ASSERT_NEAR(decision.means[arm], with_friends.means[arm], 1e-10);
      ASSERT_NEAR(decision.widths[arm], with_friends.widths[arm], 1e-10);
      ASSERT_NEAR(decision.scores[arm], with_hub.scores[arm], 1e-5);
    }
    ASSERT_NEAR(hash.log_determinant(), gob.log_determinant(), 1e-10);
    const Decision with_hub_policy = hub_policy.select(round.user, {round.contexts, d});
    for (std::size_t arm = 0; arm < scenario.arms; ++arm) {
      ASSERT_NEAR(decision.scores[arm], with_hub_policy.scores[arm], 1e-5);
    }
    for (Bandit* bandit : {&hash, &gob, &hub, &hub_policy})
      bandit->update(round.user, round.context(0), round.rewards[0]);
  }
  const auto round = scenario.round(500);
  const Explanation by_hash = hash.explain(1, round.context(0));
  const Explanation by_gob = gob.explain(1, round.context(0));
  ASSERT_EQ(by_hash.contributions.size(), users);
  for (std::size_t k = 0; k < users; ++k) {
    EXPECT_EQ(by_hash.contributions[k].user, by_gob.contributions[k].user);
    EXPECT_NEAR(by_hash.contributions[k].value, by_gob.contributions[k].value, 1e-10);
  }
  EXPECT_NEAR(by_hash.width_shares.own, by_gob.width_shares.own, 1e-9);
}

TEST(LinucbHash, says_what_is_wrong) {
  const Graph pair(2, std::vector<Edge>{{0, 1}});
  EXPECT_THAT(message_of([&] { (void)Bandit::linucb_hash(pair, {.dimension = 1, .hash = {.buckets = 0}}); }),
              HasSubstr("buckets: 0 (must be between 1 and 65536)"));
  auto bandit = Bandit::linucb_hash(pair, {.dimension = 2, .hash = {.buckets = 4096}});
  // Without collisions a context becomes sqrt(2) times as long.
  const double longest = 30'000 / std::sqrt(2.0);
  bandit.check(0, std::vector<double>{0.999 * longest, 0.0}, 1.0);
  EXPECT_THAT(message_of([&] {
                bandit.check(0, std::vector<double>{1.001 * longest, 0.0}, 1.0);
              }),
              HasSubstr("context: length 21234.4 (must be at most 21213.2"));
  EXPECT_THAT(message_of([&] { (void)bandit.smoothness(std::vector<double>(4, 0.0)); }),
              HasSubstr("policy: linucb.hash (must be"));
  EXPECT_THAT(message_of([&] { bandit.move_user(0, 1); }), HasSubstr("policy: linucb.hash"));
}

TEST(LinucbHash, is_refused_where_it_does_not_fit) {
  const Graph pair(2, std::vector<Edge>{{0, 1}});
  BanditOptions options{.dimension = 2, .hash = {.buckets = 3000}};
  const std::size_t needed = Bandit::estimate_bytes(Policy::linucb_hash, pair, {}, options);
  EXPECT_GT(needed, 3000 * 3000 * 12);  // N^{-1}, and the sums
  options.engine.memory_limit = needed / 4;
  EXPECT_THROW((void)Bandit::linucb_hash(pair, options), CapacityError);
  EXPECT_THAT(message_of([&] { (void)Bandit::linucb_hash(pair, options); }), HasSubstr(" buckets"));
  options.engine.memory_limit = needed + 1000;
  (void)Bandit::linucb_hash(pair, options);
}

/// To the edge of what is admitted: the longest contexts, the smallest ridge, and few buckets.
TEST(LinucbHash, long_contexts_are_learned_to_six_digits) {
  constexpr std::size_t buckets = 16;
  using oracle::Matrix;
  using oracle::Vector;
  for (const double ridge : {1e-6, 1.0}) {
    auto bandit = Bandit::linucb_hash(Graph(4), {.dimension = 3, .ridge = ridge, .hash = {.buckets = buckets}});
    Matrix precision = Matrix::Identity(buckets, buckets) * ridge;
    Vector rewards = Vector::Zero(buckets);
    const auto hashed = [](NodeId user, std::span<const double> context) {
      std::vector<double> at_node(buckets);
      Lens::hashing(3, buckets, 0, user).to_node(context, at_node);
      Vector result(static_cast<Index>(buckets));
      for (std::size_t k = 0; k < buckets; ++k) result[static_cast<Index>(k)] = at_node[k];
      return result;
    };
    Random random(8, 0, 0);
    for (int t = 0; t < 30; ++t) {
      const NodeId user = static_cast<NodeId>(t % 4);
      const double longest = 30'000 * std::sqrt(ridge) / Lens::hashing(3, buckets, 0, user).stretch();
      std::vector<double> x{random.normal(), random.normal(), random.normal()};
      const double norm = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
      const double length = t % 3 == 0 ? std::sqrt(ridge) : 0.9999 * longest;
      for (double& value : x) value *= length / norm;
      const double reward = random.normal();
      bandit.update(user, x, reward);
      const Vector seen = hashed(user, x);
      precision += seen * seen.transpose();
      rewards += reward * seen;
    }
    const Matrix inverse = oracle::inverse_of(precision);
    for (NodeId user = 0; user < 4; ++user) {
      const auto covariance = bandit.covariance(user);
      const auto mean = bandit.mean(user);
      for (std::size_t k = 0; k < 3; ++k) {
        std::vector<double> unit(3, 0.0);
        unit[k] = 1.0;
        const Vector seen = hashed(user, unit);
        const auto exact = static_cast<double>(seen.dot(inverse * seen));
        EXPECT_NEAR(covariance[4 * k], exact, 1e-6 * exact + 1e-12);
        EXPECT_NEAR(mean[k], static_cast<double>(seen.dot(inverse * rewards)), 1e-6 * std::sqrt(exact) + 1e-9);
      }
    }
  }
}

}  // namespace hash_test
}  // namespace goblin
