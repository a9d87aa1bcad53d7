// What is forgotten: the belief is that of the rewards that remain, or of all with their weights, computed from the
// formula with more digits than the engines have.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/error.hpp"
#include "goblin/random.hpp"
#include "oracle/inverse.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace forgetting_test {

using Eigen::Index;
using oracle::Matrix;
using oracle::Vector;
using ::testing::HasSubstr;

struct Reward {
  NodeId user;
  std::vector<double> context;
  double value;
};

/// All rewards that were ever given, and how much each counts.
struct Log {
  std::vector<Reward> rewards;

  [[nodiscard]] std::vector<double> weights(const Forgetting& forgetting) const {
    std::vector<double> result(rewards.size(), 1.0);
    std::map<NodeId, double> later;  // of a user: what the next older reward counts
    for (std::size_t k = rewards.size(); k-- > 0;) {
      double& weight = later.emplace(rewards[k].user, 1.0).first->second;
      if (forgetting.window > 0) {
        result[k] = rewards.size() - k <= forgetting.window ? 1.0 : 0.0;
      } else {
        result[k] = weight;
        weight *= forgetting.discount;
      }
    }
    return result;
  }
};

/// N^{-1}, w and ln|M| from the formula.
struct Exact {
  Exact(const Bandit& bandit, const Log& log) : d(static_cast<Index>(bandit.options().dimension)) {
    const Graph graph = bandit.node_graph();
    const BanditOptions& options = bandit.options();
    const auto n = static_cast<Index>(graph.node_count());
    Matrix prior = Matrix::Zero(n, n);
    for (Index i = 0; i < n; ++i) {
      const auto node = static_cast<std::size_t>(i);
      prior(i, i) = node < options.node_ridges.size() ? options.node_ridges[node] : options.ridge.value_or(1.0);
    }
    for (const Edge& edge : graph.edges()) {
      const long double weight = static_cast<long double>(options.coupling) * edge.weight;
      prior(edge.a, edge.a) += weight;
      prior(edge.b, edge.b) += weight;
      prior(edge.a, edge.b) -= weight;
      prior(edge.b, edge.a) -= weight;
    }
    Matrix precision = Matrix::Zero(n * d, n * d);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) precision.block(i * d, j * d, d, d).diagonal().setConstant(prior(i, j));
    }
    Vector rewards = Vector::Zero(n * d);
    const auto weights = log.weights(options.forgetting);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      if (weights[k] == 0.0) continue;
      Vector x(d);
      for (Index c = 0; c < d; ++c) x[c] = log.rewards[k].context[static_cast<std::size_t>(c)];
      const Index first = static_cast<Index>(bandit.node(log.rewards[k].user)) * d;
      precision.block(first, first, d, d) += static_cast<long double>(weights[k]) * x * x.transpose();
      rewards.segment(first, d) += static_cast<long double>(weights[k]) * log.rewards[k].value * x;
    }
    inverse = oracle::inverse_of(precision);
    mean = inverse * rewards;
    log_determinant = static_cast<double>(oracle::log_determinant_of(precision) -
                                          static_cast<long double>(d) * oracle::log_determinant_of(prior));
  }

  Index d;
  Matrix inverse;
  Vector mean;
  double log_determinant = 0.0;
};

/// How far a bandit's belief is off, relatively: means beside the largest of them, covariances beside their own size.
double error_of(const Bandit& bandit, const Log& log) {
  const Exact exact(bandit, log);
  const Index d = exact.d;
  const auto largest = static_cast<double>(exact.mean.cwiseAbs().maxCoeff());
  double worst = 0.0;
  for (NodeId user = 0; user < bandit.user_count(); ++user) {
    const Index first = static_cast<Index>(bandit.node(user)) * d;
    const auto mean = bandit.mean(user);
    const auto covariance = bandit.covariance(user);
    for (Index r = 0; r < d; ++r) {
      const auto difference = std::abs(mean[static_cast<std::size_t>(r)] - static_cast<double>(exact.mean[first + r]));
      if (difference > 0.0) worst = std::max(worst, difference / largest);
      for (Index c = 0; c < d; ++c) {
        const auto size =
            std::sqrt(static_cast<double>(exact.inverse(first + r, first + r) * exact.inverse(first + c, first + c)));
        worst = std::max(worst, std::abs(covariance[static_cast<std::size_t>(c * d + r)] -
                                         static_cast<double>(exact.inverse(first + r, first + c))) /
                                    size);
      }
    }
  }
  const double of_determinant = std::abs(bandit.log_determinant() - exact.log_determinant);
  return std::max(worst, of_determinant / std::max(1.0, exact.log_determinant));
}

std::string name_of_case(Policy policy, EngineKind kind) {
  return test_name(policy) + "_" + std::string(name_of(kind));
}

constexpr std::size_t dimension = 3;

Scenario world() {
  return {.name = "forgetting",
          .graph = generate::random({.nodes = 12, .edges = 20, .lowest_weight = 0.2, .highest_weight = 3.0, .seed = 4}),
          .dimension = dimension};
}

BanditOptions options_for(EngineKind kind, const Forgetting& forgetting) {
  return {.dimension = dimension,
          .ridge = 0.7,
          .coupling = 1.2,
          .forgetting = forgetting,
          .engine = {.kind = kind, .local = {.tolerance = 1e-9, .most_edges = 1'000'000}}};
}

Bandit make(Policy policy, EngineKind kind, const Forgetting& forgetting) {
  return Bandit::make(policy, world().graph, world().clusters_for(policy), options_for(kind, forgetting));
}

Reward reward_of(std::uint64_t t, double length = 1.0) {
  const auto round = world().round(t);
  std::vector<double> context(round.context(0).begin(), round.context(0).end());
  for (double& value : context) value *= length;
  return {round.user, std::move(context), round.rewards[0]};
}

std::vector<Observation> observations(std::span<const Reward> rewards) {
  std::vector<Observation> batch;
  for (const Reward& one : rewards) batch.push_back({one.user, one.context, one.value});
  return batch;
}

/// Learns some rewards at once.
void learn(Bandit& bandit, Log& log, std::uint64_t from, std::size_t count, double length = 1.0) {
  for (std::size_t k = 0; k < count; ++k) log.rewards.push_back(reward_of(from + k, length));
  if (count == 1) {
    const Reward& one = log.rewards.back();
    bandit.update(one.user, one.context, one.value);
  } else {
    bandit.update(observations(std::span(log.rewards).last(count)));
  }
}

using Case = std::tuple<Policy, EngineKind>;

class ForgettingTest : public ::testing::TestWithParam<Case> {
 protected:
  static Policy policy() { return std::get<0>(GetParam()); }
  static EngineKind kind() { return std::get<1>(GetParam()); }
  static double tolerance() { return 1e-8; }

  /// Rewards one by one and in batches, edges, users who come and who move, saving and loading.
  static void expect_exact_through_changes(const Forgetting& forgetting) {
    auto bandit = make(policy(), kind(), forgetting);
    Log log;
    Random random(3, 1, 0);
    std::uint64_t t = 0;
    for (std::size_t step = 0; step < 150; ++step) {
      const auto user = static_cast<NodeId>(random.below(bandit.user_count()));
      const auto other = static_cast<NodeId>((user + 1 + random.below(bandit.user_count() - 1)) % bandit.user_count());
      const std::size_t choice = random.below(12);
      if (choice == 0) {
        bandit.add_edge(user, other, 0.3);
      } else if (choice == 1) {
        const auto edges = bandit.graph().edges();
        const Edge& edge = edges[random.below(edges.size())];
        bandit.remove_edge(edge.a, edge.b);
      } else if (choice == 2 && uses_clusters(policy())) {
        bandit.move_user(user, static_cast<NodeId>(random.below(4)));
      } else if (choice == 3) {
        bandit = Bandit::from_bytes(bandit.to_bytes());
      } else if (choice == 4 && bandit.user_count() < 15) {
        bandit.add_user();
      } else if (choice == 5) {
        bandit.rebuild();
      } else {
        const std::size_t count = choice == 6 ? 1 + random.below(60) : choice == 7 ? 1 + random.below(6) : 1;
        learn(bandit, log, t, count);
        t += count;
        // Users who have come give rewards, too.
        if (bandit.user_count() > 12) {
          log.rewards.push_back({static_cast<NodeId>(12), {0.3, -0.2, random.normal()}, 0.4});
          bandit.update(12, log.rewards.back().context, 0.4);
        }
      }
      ASSERT_LT(error_of(bandit, log), tolerance()) << "step " << step << ", what " << choice;
      ASSERT_EQ(bandit.rewards(), log.rewards.size());
    }
  }
};

TEST_P(ForgettingTest, window_is_exact_through_all_that_changes) { expect_exact_through_changes({.window = 25}); }
TEST_P(ForgettingTest, discount_is_exact_through_all_that_changes) { expect_exact_through_changes({.discount = 0.8}); }

TEST_P(ForgettingTest, window_stays_exact_over_many_windows) {
  auto bandit = make(policy(), kind(), {.window = 20});
  Log log;
  const std::uint64_t rounds = kind() == EngineKind::local ? 600 : 4000;
  for (std::uint64_t t = 0; t < rounds; ++t) {
    learn(bandit, log, t, 1);
    if (t % 200 == 199) {
      ASSERT_LT(error_of(bandit, log), tolerance()) << "after " << t + 1;
    }
  }
}

TEST_P(ForgettingTest, discount_stays_exact_over_many_rewards) {
  auto bandit = make(policy(), kind(), {.discount = 0.9});
  Log log;
  for (std::uint64_t t = 0; t < 1500; ++t) {
    learn(bandit, log, t, 1);
    if (t % 150 == 149) {
      ASSERT_LT(error_of(bandit, log), tolerance()) << "after " << t + 1;
    }
  }
}

/// The same belief however a log is cut, and the same evidence to the last bit.
TEST_P(ForgettingTest, does_not_depend_on_how_a_log_is_cut) {
  for (const Forgetting& forgetting : {Forgetting{.window = 30}, Forgetting{.discount = 0.85}}) {
    for (const std::size_t size : {2, 11, 30, 31, 300}) {
      SCOPED_TRACE(size);
      auto bandit = make(policy(), kind(), forgetting);
      Log log;
      for (std::uint64_t t = 0; t < 300; t += size) learn(bandit, log, t, std::min<std::size_t>(size, 300 - t));
      EXPECT_LT(error_of(bandit, log), tolerance());
      EXPECT_EQ(bandit.rewards(), 300);
    }
  }
}

/// Contexts that go from short to long and back, each as long as it may be.
TEST_P(ForgettingTest, window_keeps_its_digits_with_long_contexts) {
  for (const double longest : {100.0, 3'000.0, 30'000.0}) {
    SCOPED_TRACE(longest);
    auto bandit = make(policy(), kind(), {.window = 12});
    Log log;
    for (std::uint64_t t = 0; t < 300; ++t) {
      Reward one = reward_of(t);
      double squared = 0.0;
      for (const double value : one.context) squared += value * value;
      const double length = (t / 20) % 2 == 0 ? 0.8 : longest * std::sqrt(0.7) * 0.999;
      for (double& value : one.context) value *= length / std::sqrt(squared);
      log.rewards.push_back(one);
      bandit.update(one.user, one.context, one.value);
      if (t % 7 == 6 && kind() != EngineKind::local) {
        ASSERT_LT(error_of(bandit, log), 1e-6) << "after " << t + 1;
      }
    }
    // All of the long ones are gone.
    EXPECT_LT(error_of(bandit, log), 1e-6);
  }
}

TEST_P(ForgettingTest, evidence_is_that_of_the_rewards_that_remain) {
  auto bandit = make(policy(), kind(), {.window = 10});
  Log log;
  const auto learn_one = [&](std::uint64_t t, NodeId user, double length) {
    log.rewards.push_back(reward_of(t, length));
    log.rewards.back().user = user;
    bandit.update(user, log.rewards.back().context, log.rewards.back().value);
  };
  // Nobody is ever without rewards while the long contexts leave, and then nobody of the first two is left.
  for (std::uint64_t t = 0; t < 40; ++t) learn_one(t, static_cast<NodeId>(t % 2), 10'000.0);
  for (std::uint64_t t = 40; t < 60; ++t) learn_one(t, static_cast<NodeId>(t % 2), 1.0);
  for (const NodeId newcomer : {NodeId{0}, NodeId{2}}) {
    auto expected = make(policy(), kind(), {});
    for (const Reward& one : std::span(log.rewards).last(10)) expected.update(one.user, one.context, one.value);
    for (NodeId user = 0; user < 12; ++user) {
      const UserEvidence seen = bandit.evidence(user);
      const UserEvidence wanted = expected.evidence(user);
      EXPECT_EQ(seen.count, wanted.count);
      ASSERT_EQ(seen.contexts.size(), wanted.contexts.size());
      // The expected sums are rounded after every reward.
      for (std::size_t k = 0; k < seen.contexts.size(); ++k) EXPECT_NEAR(seen.contexts[k], wanted.contexts[k], 1e-14);
      for (std::size_t k = 0; k < seen.rewards.size(); ++k) EXPECT_NEAR(seen.rewards[k], wanted.rewards[k], 1e-14);
      EXPECT_NEAR(seen.squared_rewards, wanted.squared_rewards, 1e-13);
    }
    for (std::uint64_t t = 60; t < 70; ++t) learn_one(t, newcomer + 2U, 1.0);
  }
}

TEST_P(ForgettingTest, goes_on_after_loading_as_if_nothing_had_happened) {
  for (const Forgetting& forgetting : {Forgetting{.window = 30}, Forgetting{.discount = 0.85}}) {
    auto bandit = make(policy(), kind(), forgetting);
    Log log;
    for (std::uint64_t t = 0; t < 77; ++t) learn(bandit, log, t, 1);
    auto loaded = Bandit::from_bytes(bandit.to_bytes());
    EXPECT_EQ(loaded.options().forgetting, forgetting);
    EXPECT_EQ(loaded.to_bytes(), bandit.to_bytes());
    Log same = log;
    for (std::uint64_t t = 77; t < 130; ++t) {
      learn(bandit, log, t, 1);
      learn(loaded, same, t, 1);
    }
    EXPECT_EQ(loaded.to_bytes(), bandit.to_bytes());
  }
}

TEST_P(ForgettingTest, contributions_still_add_up_to_the_mean) {
  for (const Forgetting& forgetting : {Forgetting{.window = 15}, Forgetting{.discount = 0.7}}) {
    auto bandit = make(policy(), kind(), forgetting);
    Log log;
    for (std::uint64_t t = 0; t < 60; ++t) learn(bandit, log, t, 1);
    const std::vector<double> x = {0.4, -0.3, 0.6};
    for (NodeId user = 0; user < 12; ++user) {
      const Explanation explanation = bandit.explain(user, x, 3);
      double total = explanation.rest;
      for (const Contribution& one : explanation.contributions) total += one.value;
      EXPECT_NEAR(total, explanation.mean, 1e-9);
      const auto mean = bandit.mean(user);
      EXPECT_NEAR(explanation.mean, std::inner_product(mean.begin(), mean.end(), x.begin(), 0.0), 1e-7);
    }
  }
}

TEST_P(ForgettingTest, what_is_refused_or_stopped_changes_nothing) {
  struct Stopped {};
  for (const Forgetting& forgetting :
       {Forgetting{.window = 600}, Forgetting{.window = 30}, Forgetting{.discount = 0.8}}) {
    auto bandit = make(policy(), kind(), forgetting);
    Log log;
    learn(bandit, log, 0, 700);
    const auto before = bandit;
    Log more;
    for (std::size_t k = 0; k < 280; ++k) more.rewards.push_back(reward_of(1000 + k));
    auto batch = observations(more.rewards);
    batch.push_back({99, more.rewards[0].context, 1.0});
    EXPECT_THROW(bandit.update(batch), UnknownUser);
    EXPECT_EQ(bandit.to_bytes(), before.to_bytes());
    batch.pop_back();
    // At every time that it tells how far it is.
    for (int stop_at = 0; stop_at < 4; ++stop_at) {
      int calls = 0;
      bandit.set_progress([&](double /*share*/) {
        if (calls++ == stop_at) throw Stopped{};
      });
      bool stopped = false;
      try {
        bandit.update(batch);
      } catch (const Stopped&) {
        stopped = true;
      }
      if (!stopped) break;
      bandit.set_progress({});
      EXPECT_LT(error_of(bandit, log), tolerance());
      EXPECT_EQ(bandit.rewards(), before.rewards());
      for (NodeId user = 0; user < 12; ++user) {
        const UserEvidence seen = bandit.evidence(user);
        const UserEvidence wanted = before.evidence(user);
        EXPECT_EQ(seen.count, wanted.count);
        EXPECT_TRUE(std::ranges::equal(seen.contexts, wanted.contexts));
        EXPECT_TRUE(std::ranges::equal(seen.rewards, wanted.rewards));
      }
    }
    bandit.set_progress({});
    bandit = before;
    learn(bandit, log, 1000, 280);
    EXPECT_LT(error_of(bandit, log), tolerance());
  }
}

INSTANTIATE_TEST_SUITE_P(
    all, ForgettingTest,
    ::testing::Combine(::testing::ValuesIn(paper_policies),
                       ::testing::Values(EngineKind::dense, EngineKind::sparse, EngineKind::local)),
    [](const auto& test) { return name_of_case(std::get<0>(test.param), std::get<1>(test.param)); });

/// Local promises bounds: every score is within them, in a graph larger than what a decision looks at.
TEST(Forgetting, local_keeps_its_bounds_while_rewards_leave) {
  const Scenario large{
      .name = "large",
      .graph = generate::random({.nodes = 150, .edges = 500, .lowest_weight = 0.2, .highest_weight = 2.0, .seed = 9}),
      .dimension = 4};
  for (const Forgetting& forgetting : {Forgetting{.window = 120}, Forgetting{.discount = 0.8}}) {
    const auto make_one = [&](EngineKind kind) {
      return Bandit::gob_lin(large.graph, {.dimension = 4,
                                           .ridge = 0.5,
                                           .forgetting = forgetting,
                                           .engine = {.kind = kind, .local = {.most_nodes = 8, .most_edges = 2000}}});
    };
    auto dense = make_one(EngineKind::dense);
    auto local = make_one(EngineKind::local);
    for (std::uint64_t t = 0; t < 700; ++t) {
      const auto round = large.round(t);
      const Decision exact = dense.select(round.user, {round.contexts, 4});
      const Decision close = local.select(round.user, {round.contexts, 4});
      for (std::size_t arm = 0; arm < exact.scores.size(); ++arm) {
        ASSERT_LE(std::abs(exact.scores[arm] - close.scores[arm]), close.bounds[arm] + 1e-9) << t;
        ASSERT_LE(std::abs(close.widths[arm] - exact.widths[arm]), close.bounds[arm] + 1e-9) << t;
      }
      if (t % 10 == 0) {
        const Exploration usual = local.exploration();
        for (Bandit* bandit : {&local, &dense}) bandit->set_exploration(Exploration::printed_bound({.noise = 0.2}));
        const Decision least = dense.select(round.user, {round.contexts, 4});
        const Decision upper = local.select(round.user, {round.contexts, 4});
        for (std::size_t arm = 0; arm < exact.scores.size(); ++arm) {
          ASSERT_GE(upper.widths[arm], least.widths[arm] - 1e-8) << t;
        }
        for (Bandit* bandit : {&local, &dense}) bandit->set_exploration(usual);
      }
      dense.update(round.user, round.context(0), round.rewards[0]);
      local.update(round.user, round.context(0), round.rewards[0]);
      ASSERT_GE(local.log_determinant(), dense.log_determinant() - 1e-9) << t;
      ASSERT_LE(local.log_determinant() - local.log_determinant_error(), dense.log_determinant() + 1e-9) << t;
    }
  }
}

TEST(Forgetting, is_checked_when_a_bandit_is_made) {
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  const auto make_with = [](Policy policy, const Forgetting& forgetting, bool per_node = false) {
    BanditOptions options = options_for(EngineKind::automatic, forgetting);
    options.evidence_per_node = per_node;
    return Bandit::make(policy, world().graph, world().clusters_for(policy), options);
  };
  EXPECT_EQ(message([&] { make_with(Policy::gob_lin, {.discount = 0.0}); }),
            "discount: 0 (must be above 0 and at most 1)");
  EXPECT_EQ(message([&] { make_with(Policy::gob_lin, {.discount = 1.5}); }),
            "discount: 1.5 (must be above 0 and at most 1)");
  EXPECT_EQ(message([&] { make_with(Policy::gob_lin, {.window = 5, .discount = 0.5}); }),
            "window: 5 (must be 0 where discount is 0.5)");
  EXPECT_THAT(message([&] { make_with(Policy::linucb_sin, {.discount = 0.5}, true); }),
              HasSubstr("evidence_per_node: true (must be false with linucb-sin where discount is 0.5"));
  make_with(Policy::linucb_ind, {.discount = 0.5}, true);  // where every user has a node it makes no difference
  make_with(Policy::gob_lin_macro, {.window = 5}, true);
  EXPECT_THAT(message([&] { make_with(Policy::gob_lin, {.window = 1'000'000'000'000}); }),
              HasSubstr("take a smaller window, which takes 36.0 TB"));
  EXPECT_THROW(make_with(Policy::gob_lin, {.window = 1'000'000'000'000}), CapacityError);

  auto bandit = make_with(Policy::gob_lin, {.window = 5});
  EXPECT_THAT(message([&] { bandit.merge(make_with(Policy::gob_lin, {.window = 5})); }),
              HasSubstr("window: 5 (must be 0 where bandits are merged"));
  auto other = make_with(Policy::gob_lin, {.discount = 0.5});
  EXPECT_THAT(message([&] { make_with(Policy::gob_lin, {}).merge(other); }),
              HasSubstr("discount: 0.5 (must be 1 where bandits are merged"));
}

/// A window that only the nodes' evidence follows.
TEST(Forgetting, window_works_with_evidence_of_nodes_only) {
  BanditOptions options = options_for(EngineKind::dense, {.window = 15});
  options.evidence_per_node = true;
  auto bandit = Bandit::make(Policy::gob_lin_macro, world().graph, world().clusters(), options);
  Log log;
  for (std::uint64_t t = 0; t < 60; ++t) learn(bandit, log, t, 1);
  EXPECT_LT(error_of(bandit, log), 1e-9);
}

TEST(Forgetting, window_counts_in_what_a_bandit_takes) {
  const auto bytes = [](std::size_t window) {
    return Bandit::estimate_bytes(Policy::gob_lin, world().graph, {},
                                  options_for(EngineKind::local, {.window = window}));
  };
  EXPECT_EQ(bytes(2'000'000) - bytes(1'000'000), 1'000'000 * (4 + 4 * 8));
  auto bandit = make(Policy::gob_lin, EngineKind::local, {.window = 10'000});
  Log log;
  const std::size_t before = bandit.summary().bytes;
  learn(bandit, log, 0, 5'000);
  EXPECT_GE(bandit.summary().bytes - before, 5'000 * (4 + 4 * 8));
}

/// Contexts of zeros, as items without a description have, count as rewards.
TEST(Forgetting, contexts_of_zeros_pass_through_the_window) {
  auto bandit = make(Policy::gob_lin, EngineKind::dense, {.window = 3});
  Log log;
  for (std::uint64_t t = 0; t < 20; ++t) {
    log.rewards.push_back(t % 2 == 0 ? reward_of(t) : Reward{3, {0.0, 0.0, 0.0}, 1.0});
    bandit.update(log.rewards.back().user, log.rewards.back().context, log.rewards.back().value);
    EXPECT_LT(error_of(bandit, log), 1e-9);
  }
}

/// A ridge for each node, and a small one.
TEST(Forgetting, window_is_exact_with_a_ridge_for_each_node) {
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    BanditOptions options = options_for(kind, {.window = 20});
    for (std::size_t node = 0; node < 12; ++node)
      options.node_ridges.push_back(std::pow(10.0, -0.3 * static_cast<double>(node)));
    auto bandit = Bandit::gob_lin(world().graph, options);
    Log log;
    for (std::uint64_t t = 0; t < 500; ++t) learn(bandit, log, t, 1);
    EXPECT_LT(error_of(bandit, log), 1e-7) << name_of(kind);
  }
}

}  // namespace forgetting_test
}  // namespace goblin
