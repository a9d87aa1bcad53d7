#include "goblin/bandit/shared_bandit.hpp"

#include "bandit/scenario.hpp"
#include "goblin/error.hpp"
#include "temporary_folder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace goblin {
namespace shared_bandit_test {

constexpr std::array<EngineKind, 3> kinds = {EngineKind::dense, EngineKind::sparse, EngineKind::local};

Scenario small_world() {
  return {.name = "small", .graph = generate::random({.nodes = 30, .edges = 60, .seed = 3}), .dimension = 5};
}

/// Learns round t of a scenario, always the first arm.
template <typename AnyBandit>
void learn(AnyBandit& bandit, const Scenario& world, std::uint64_t t) {
  const auto round = world.round(t);
  bandit.update(round.user, round.context(0), round.rewards[0]);
}

/// That two bandits believe the same, within what their engines promise.
void expect_alike(const Bandit& bandit, const Bandit& other, const Scenario& world, double tolerance = 1e-8) {
  EXPECT_EQ(bandit.rewards(), other.rewards());
  for (NodeId user = 0; user < bandit.user_count(); ++user) {
    const auto round = world.round(1000 + user);
    const Decision one = bandit.select(user, {round.contexts, world.dimension});
    const Decision two = other.select(user, {round.contexts, world.dimension});
    for (std::size_t arm = 0; arm < one.scores.size(); ++arm) {
      EXPECT_NEAR(one.scores[arm], two.scores[arm], tolerance + one.bounds[arm] + two.bounds[arm]) << "user " << user;
    }
  }
}

class SharedBanditTest : public testing::TestWithParam<EngineKind> {
 protected:
  [[nodiscard]] Bandit made(const Scenario& world, Policy policy = Policy::gob_lin, double alpha = 0.1) const {
    return Bandit::make(policy, world.graph, world.clusters_for(policy),
                        {.dimension = world.dimension,
                         .alpha = alpha,
                         .hash = few_buckets,
                         .engine = {.kind = GetParam(), .local = {.tolerance = 1e-6}, .threads = 2}});
  }
};
INSTANTIATE_TEST_SUITE_P(all, SharedBanditTest, testing::ValuesIn(kinds),
                         [](const auto& test) { return std::string(name_of(test.param)); });

/// What a service sees that learns rewards one by one.
TEST_P(SharedBanditTest, has_the_bits_of_a_bandit_that_nobody_shares) {
  const Scenario world = small_world();
  Bandit plain = made(world);
  SharedBandit shared(made(world));
  for (std::uint64_t t = 0; t < 100; ++t) {
    const auto round = world.round(t);
    const Decision expected = plain.select(round.user, {round.contexts, world.dimension});
    const Decision decision = shared.select(round.user, {round.contexts, world.dimension});
    ASSERT_EQ(decision.scores, expected.scores);
    ASSERT_EQ(decision.bounds, expected.bounds);
    ASSERT_EQ(shared.mean(round.user), plain.mean(round.user));
    ASSERT_EQ(shared.covariance(round.user), plain.covariance(round.user));
    ASSERT_EQ(shared.explain(round.user, round.context(0)).mean, plain.explain(round.user, round.context(0)).mean);
    learn(plain, world, t);
    learn(shared, world, t);
    ASSERT_EQ(shared.log_determinant(), plain.log_determinant());
  }
  EXPECT_EQ(shared.snapshot().to_bytes(), plain.to_bytes());
}

/// Whatever changes, in place or by a copy.
TEST_P(SharedBanditTest, changes_as_a_bandit_does) {
  const Scenario world = small_world();
  for (const Policy policy : all_policies) {
    SCOPED_TRACE(name_of(policy));
    Bandit plain = made(world, policy);
    SharedBandit shared(made(world, policy));
    std::uint64_t t = 0;
    const auto both = [&](auto work) {
      work(plain);
      work(shared);
      const auto round = world.round(t);
      const auto expected = plain.select(round.user, {round.contexts, world.dimension}).scores;
      const auto decision = shared.select(round.user, {round.contexts, world.dimension});
      for (std::size_t arm = 0; arm < expected.size(); ++arm) {
        ASSERT_NEAR(decision.scores[arm], expected[arm], 1e-8 + 2.0 * decision.bounds[arm]);
      }
    };
    const auto learn_batch = [&](std::size_t count) {
      std::vector<Scenario::Round> rounds;
      std::vector<Observation> batch;
      for (std::size_t k = 0; k < count; ++k) rounds.push_back(world.round(t++));
      for (const auto& round : rounds) batch.push_back({round.user, round.context(1), round.rewards[1]});
      both([&](auto& bandit) { bandit.update(batch); });
    };
    learn_batch(5);
    learn_batch(200);
    NodeId joined = 0;
    both([&](auto& bandit) { joined = bandit.add_user(); });
    both([&](auto& bandit) { bandit.add_edge(joined, 0, 2.0); });
    const auto some_round = world.round(7);
    both([&](auto& bandit) { bandit.update(joined, some_round.context(0), 1.0); });
    both([](auto& bandit) { bandit.set_alpha(0.3); });
    both([](auto& bandit) { bandit.set_threads(1); });
    const std::vector<EdgeChange> changes = {{joined, 1, 1.0}, {joined, 0, 0.0}, {joined, 0, 3.0}, {joined, 1, 0.0}};
    both([&](auto& bandit) { bandit.update_edges(changes); });
    if (uses_clusters(policy)) both([&](auto& bandit) { bandit.move_user(joined, 1); });
    learn_batch(30);
    both([&](auto& bandit) { bandit.remove_edge(joined, 0); });
    both([](auto& bandit) { bandit.rebuild(); });
    learn_batch(3);
    EXPECT_EQ(shared.exploration(), Exploration::ucb(0.3));
    EXPECT_EQ(shared.options().engine.threads, 1);
    EXPECT_EQ(shared.rewards(), plain.rewards());
    EXPECT_EQ(shared.graph().edge_count(), plain.graph().edge_count());
    EXPECT_EQ(shared.cluster(joined), plain.cluster(joined));
    EXPECT_EQ(shared.node(joined), plain.node(joined));
    EXPECT_EQ(shared.evidence(joined).count, plain.evidence(joined).count);
    EXPECT_EQ(shared.summary().components.size(), plain.summary().components.size());
    expect_alike(shared.snapshot(), plain, world);
  }
}

/// While one thread learns, every decision is that after some number of rewards: mean and covariance belong together,
/// and are not older than the rewards there were when it began.
TEST_P(SharedBanditTest, a_decision_is_that_of_one_moment) {
  if (GetParam() == EngineKind::local) GTEST_SKIP() << "decides on the way from one to the next, too";
  const Scenario world = small_world();
  constexpr std::size_t rewards = 300;
  constexpr NodeId user = 4;
  const auto contexts = world.round(5000).contexts;
  Bandit plain = made(world);
  std::vector<Decision> moments;
  for (std::uint64_t t = 0; t <= rewards; ++t) {
    moments.push_back(plain.select(user, {contexts, world.dimension}));
    learn(plain, world, t);
  }
  SharedBandit shared(made(world));
  std::atomic<bool> done = false;
  const auto decide = [&] {
    Decision decision;
    std::size_t decisions = 0;
    while (!done || decisions == 0) {
      const std::size_t before = shared.rewards();
      shared.select(user, {contexts, world.dimension}, {}, decision);
      ++decisions;
      // The last such moment: rewards of other components do not change the means.
      const auto oldest = moments.rend() - static_cast<std::ptrdiff_t>(before);
      const auto moment =
          std::find_if(moments.rbegin(), oldest, [&](const Decision& one) { return one.means == decision.means; });
      ASSERT_NE(moment, oldest) << "no number of rewards from " << before << " on gives these means";
      // t may be older than the covariance, but it is the same for all arms.
      if (before == 0) continue;
      const double factor = decision.widths[0] / moment->widths[0];
      ASSERT_LE(factor, 1.0 + 1e-9);
      for (std::size_t arm = 0; arm < decision.widths.size(); ++arm) {
        ASSERT_NEAR(decision.widths[arm], factor * moment->widths[arm], 1e-9 * moment->widths[arm]);
      }
    }
  };
  std::jthread one(decide);
  std::jthread two(decide);
  for (std::uint64_t t = 0; t < rewards; ++t) learn(shared, world, t);
  done = true;
}

/// With n rewards of 1 for the context 1 the mean is n / (n + 1) and the variance 1 / (n + 1): they sum up to 1.
TEST_P(SharedBanditTest, thompson_draws_from_the_belief_of_one_moment) {
  if (GetParam() == EngineKind::local) GTEST_SKIP() << "decides on the way from one to the next, too";
  SharedBandit shared(Bandit::linucb_ind(
      Graph(1), {.dimension = 1, .exploration = Exploration::thompson(1.0), .engine = {.kind = GetParam()}}));
  const std::vector<double> context = {1.0};
  std::atomic<int> readers = 2;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t reader = 0; reader < 2; ++reader) {
      threads.emplace_back([&, reader] {
        Decision decision;
        double off = 0.0;
        for (std::uint64_t k = 0; k < 20'000; ++k) {
          shared.select(0, {context, 1}, {}, decision, Draw{.seed = reader, .decision = k, .samples = 1});
          off = std::max(off, std::abs(decision.means[0] + decision.widths[0] * decision.widths[0] - 1.0));
        }
        EXPECT_LT(off, 1e-9);
        EXPECT_EQ(decision.probability, 1.0);
        --readers;
      });
    }
    while (readers > 0) {
      shared.update(0, context, 1.0);
      shared.set_exploration(Exploration::thompson(1.0).mixed(0.5));
    }
  }
  EXPECT_EQ(shared.exploration(), Exploration::thompson(1.0).mixed(0.5));
}

/// The engine local lets decisions in while a reward spreads: their bounds hold then, too.
TEST(SharedBandit, bounds_hold_while_a_reward_spreads) {
  const Scenario world{
      .name = "large", .graph = generate::random({.nodes = 200, .edges = 1000, .seed = 5}), .dimension = 3};
  constexpr std::size_t rewards = 40;
  constexpr NodeId user = 17;
  const auto contexts = world.round(5000).contexts;
  const auto options = [&](EngineKind kind) {
    return BanditOptions{.dimension = world.dimension,
                         .alpha = 0.0,
                         .ridge = 0.1,
                         .engine = {.kind = kind, .local = {.tolerance = 1e-5, .most_edges = 10'000'000}}};
  };
  auto exact = Bandit::gob_lin(world.graph, options(EngineKind::sparse));
  std::vector<std::vector<double>> means;
  for (std::uint64_t t = 0; t <= rewards; ++t) {
    means.push_back(exact.select(user, {contexts, world.dimension}).means);
    learn(exact, world, t);
  }
  SharedBandit shared(Bandit::gob_lin(world.graph, options(EngineKind::local)));
  std::atomic<bool> done = false;
  std::jthread decider([&] {
    Decision decision;
    std::size_t decisions = 0;
    while (!done || decisions == 0) {
      const std::size_t before = shared.rewards();
      shared.select(user, {contexts, world.dimension}, {}, decision);
      const std::size_t after = std::min(shared.rewards() + 1, rewards);
      ++decisions;
      bool within = false;
      for (std::size_t t = before; t <= after && !within; ++t) {
        within = true;
        for (std::size_t arm = 0; arm < decision.means.size(); ++arm) {
          within = within && std::abs(decision.means[arm] - means[t][arm]) <= decision.bounds[arm] + 1e-9;
        }
      }
      ASSERT_TRUE(within) << "between " << before << " and " << after << " rewards";
    }
  });
  for (std::uint64_t t = 0; t < rewards; ++t) learn(shared, world, t);
  done = true;
}

/// Rewards that leave a window, or count less, while others decide.
TEST_P(SharedBanditTest, forgets_while_others_decide) {
  const Scenario world = small_world();
  for (const Forgetting& forgetting : {Forgetting{.window = 20}, Forgetting{.discount = 0.8}}) {
    for (const Policy policy : {Policy::gob_lin, Policy::gob_lin_macro}) {
      BanditOptions options = made(world).options();
      options.forgetting = forgetting;
      const auto make = [&] { return Bandit::make(policy, world.graph, world.clusters_for(policy), options); };
      const auto play = [&](auto& bandit) {
        for (std::uint64_t t = 0; t < 80; ++t) learn(bandit, world, t);
        std::vector<Scenario::Round> rounds;
        std::vector<Observation> batch;
        for (std::uint64_t t = 80; t < 100; ++t) rounds.push_back(world.round(t));
        for (const auto& round : rounds) batch.push_back({round.user, round.context(0), round.rewards[0]});
        bandit.update(std::span(batch).first(4));
        bandit.update(batch);
        bandit.add_edge(3, 9, 0.5);
        // Long contexts come and go: the belief is computed anew.
        std::vector<double> context(world.dimension, 5000.0);
        bandit.update(4, context, 1.0);
        for (std::uint64_t t = 100; t < 130; ++t) learn(bandit, world, t);
      };
      Bandit plain = make();
      play(plain);
      SharedBandit shared(make());
      const auto contexts = world.round(5000).contexts;
      std::atomic<bool> done = false;
      {
        std::vector<std::jthread> readers;
        for (NodeId reader = 0; reader < 2; ++reader) {
          readers.emplace_back([&, reader] {
            Decision decision;
            for (NodeId user = reader; !done; user = (user + 1) % 30) {
              shared.select(user, {contexts, world.dimension}, {}, decision);
              EXPECT_TRUE(std::ranges::all_of(decision.scores, [](double score) { return std::isfinite(score); }));
              EXPECT_EQ(shared.covariance(user).size(), world.dimension * world.dimension);
            }
          });
        }
        play(shared);
        done = true;
      }
      expect_alike(shared.snapshot(), plain, world);
      EXPECT_NEAR(shared.log_determinant(), plain.log_determinant(), 1e-6 + plain.log_determinant_error());
    }
  }
}

/// Threads that do everything at once leave what one that did it all would leave.
TEST_P(SharedBanditTest, everything_at_the_same_time) {
  const Scenario world = small_world();
  for (const Policy policy : {Policy::gob_lin, Policy::gob_lin_macro, Policy::linucb_ind, Policy::gob_lin_hub,
                              Policy::club, Policy::dynucb}) {
    SCOPED_TRACE(name_of(policy));
    SharedBandit shared(made(world, policy));
    std::atomic<std::size_t> at_work = 4;
    const auto contexts = world.round(5000).contexts;
    {
      std::vector<std::jthread> threads;
      const auto work = [&](auto job) {
        threads.emplace_back([&at_work, job] {
          job();
          --at_work;
        });
      };
      work([&] {
        for (std::uint64_t t = 0; t < 100; ++t) learn(shared, world, t);
      });
      work([&] {
        for (std::uint64_t t = 100; t < 200; t += 20) {
          std::vector<Scenario::Round> rounds;
          std::vector<Observation> batch;
          for (std::uint64_t k = t; k < t + 20; ++k) rounds.push_back(world.round(k));
          for (const auto& round : rounds) batch.push_back({round.user, round.context(0), round.rewards[0]});
          shared.update(batch);
        }
      });
      work([&] {
        for (NodeId k = 0; k < 10; ++k) {
          const NodeId user = shared.add_user();
          shared.add_edge(user, k);
          shared.add_edge(user, k + 1);
          if (uses_clusters(policy)) shared.move_user(k, 1);
          if (k % 2 == 0) {
            const std::vector<EdgeChange> ends = {{user, k, 0.0}, {user, k + 1, 0.0}};
            shared.update_edges(ends);
          }
          shared.set_alpha(0.1 * k);
          shared.set_threads(1 + k % 2);
        }
        shared.rebuild();
      });
      work([&] {
        std::size_t rewards = 0;
        for (int k = 0; k < 20; ++k) {
          const Bandit copy = shared.snapshot();
          EXPECT_GE(copy.rewards(), rewards);
          rewards = copy.rewards();
          std::size_t counted = 0;
          for (NodeId user = 0; user < copy.user_count(); ++user) counted += copy.evidence(user).count;
          EXPECT_EQ(counted, rewards);
          EXPECT_LE(shared.evidence(0).count, shared.rewards());
          const Explanation explained = shared.explain(0, std::span(contexts).first(world.dimension), 3);
          double sum = explained.rest;
          for (const Contribution& one : explained.contributions) sum += one.value;
          EXPECT_NEAR(sum, explained.mean, 1e-9 + explained.unexplained);
        }
      });
      for (int reader = 0; reader < 2; ++reader) {
        threads.emplace_back([&, reader] {
          Decision decision;
          std::vector<Ranked> ranked;
          for (auto user = static_cast<NodeId>(reader); at_work > 0; user = (user + 1) % 30) {
            shared.select(user, {contexts, world.dimension}, {}, decision);
            shared.rank(user, {contexts, world.dimension}, 2, {}, decision, ranked);
            EXPECT_EQ(ranked.front().arm, decision.arm);
            EXPECT_LT(shared.node(user), shared.node_count());
            EXPECT_LT(user, shared.user_count());
            shared.check(user, std::span(contexts).first(world.dimension), 1.0);
            EXPECT_EQ(shared.mean(user).size(), world.dimension);
            EXPECT_EQ(shared.covariance(user).size(), world.dimension * world.dimension);
          }
        });
      }
    }
    Bandit anew = shared.snapshot();
    EXPECT_EQ(anew.rewards(), 200);
    EXPECT_EQ(anew.user_count(), 40);
    anew.rebuild();
    expect_alike(shared.snapshot(), anew, world);
  }
}

/// Both sides without pause, and each waits for the other to have done so much.
TEST_P(SharedBanditTest, nobody_starves) {
  const Scenario world = small_world();
  SharedBandit shared(made(world));
  const auto contexts = world.round(5000).contexts;
  const std::size_t enough = GetParam() == EngineKind::local ? 30 : 300;
  std::atomic<std::size_t> learned = 0;
  std::atomic<std::size_t> copied = 0;
  std::array<std::atomic<std::size_t>, 2> decided = {};
  const auto all_have_enough = [&] {
    return learned >= enough && copied >= 10 &&
           std::all_of(decided.begin(), decided.end(), [&](const auto& count) { return count >= enough; });
  };
  std::vector<std::jthread> threads;
  threads.emplace_back([&] {
    for (; !all_have_enough(); ++learned) learn(shared, world, learned);
  });
  threads.emplace_back([&] {
    for (; !all_have_enough(); ++copied) EXPECT_EQ(shared.snapshot().user_count(), 30);
  });
  for (auto& count : decided) {
    threads.emplace_back([&] {
      Decision decision;
      for (; !all_have_enough(); ++count) shared.select(count % 30, {contexts, world.dimension}, {}, decision);
    });
  }
  threads.clear();
  EXPECT_TRUE(all_have_enough());
}

TEST(SharedBandit, a_change_that_fails_changes_nothing) {
  const Scenario world = small_world();
  SharedBandit shared(Bandit::gob_lin(world.graph, {.dimension = world.dimension}));
  learn(shared, world, 0);
  const auto before = shared.snapshot().to_bytes();
  EXPECT_THROW(shared.change([&](Bandit& bandit) {
    learn(bandit, world, 1);
    throw std::runtime_error("enough");
  }),
               std::runtime_error);
  EXPECT_THROW(shared.move_user(0, 0), std::invalid_argument);
  EXPECT_THROW(shared.add_edge(0, 0), std::invalid_argument);
  const std::vector<EdgeChange> second_is_bad = {{0, 1, 1.0}, {0, 0, 1.0}};
  EXPECT_THROW(shared.update_edges(second_is_bad), std::invalid_argument);
  EXPECT_THROW(shared.check(99, world.round(0).context(0), 1.0), UnknownUser);
  EXPECT_THROW(shared.update(0, std::vector<double>{1.0}, 1.0), std::invalid_argument);
  EXPECT_THROW(shared.update(99, world.round(0).context(0), 1.0), UnknownUser);
  EXPECT_THROW(shared.set_alpha(-1.0), std::invalid_argument);
  EXPECT_THROW((void)shared.rank(0, {world.round(0).contexts, world.dimension}, 0), std::invalid_argument);
  EXPECT_THROW((void)shared.select("nobody", {world.round(0).contexts, world.dimension}), UnknownUser);
  EXPECT_EQ(shared.snapshot().to_bytes(), before);

  shared.change([&](Bandit& bandit) { learn(bandit, world, 1); });
  EXPECT_EQ(shared.rewards(), 2);
}

TEST(SharedBandit, saves_what_a_snapshot_holds) {
  const Scenario world = small_world();
  const TemporaryFolder folder;
  SharedBandit shared(Bandit::gob_lin(world.graph, {.dimension = world.dimension}));
  for (std::uint64_t t = 0; t < 10; ++t) learn(shared, world, t);
  shared.save(folder.path() / "model");
  EXPECT_EQ(Bandit::load(folder.path() / "model").to_bytes(), shared.snapshot().to_bytes());
}

TEST(SharedBandit, is_not_made_of_a_bandit_that_was_moved_from) {
  Bandit bandit = Bandit::gob_lin(Graph(2), {.dimension = 1});
  const Bandit other = std::move(bandit);
  EXPECT_THROW(SharedBandit shared(std::move(bandit)), std::logic_error);  // NOLINT(bugprone-use-after-move)
}

}  // namespace shared_bandit_test
}  // namespace goblin
