// A bandit with an intercept is one that has a number more, whose contexts have a 1 there: to the last bit.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/bandit/shared_bandit.hpp"
#include "goblin/error.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace intercept_test {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Scenario world() {
  return {.name = "intercept",
          .graph = generate::random({.nodes = 12, .edges = 24, .lowest_weight = 0.2, .highest_weight = 3.0, .seed = 5}),
          .dimension = 4};
}

std::vector<double> with_ones(std::span<const double> contexts, std::size_t dimension) {
  std::vector<double> result;
  for (std::size_t k = 0; k < contexts.size(); ++k) {
    result.push_back(contexts[k]);
    if ((k + 1) % dimension == 0) result.push_back(1.0);
  }
  return result;
}

/// Ways to be of one policy.
struct Variant {
  std::string name;
  Policy policy;
  Laplacian laplacian = Laplacian::combinatorial;
  Forgetting forgetting = {};
  bool per_node = false;
  std::optional<Exploration> exploration = {};
};

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const Policy policy : all_policies) all.push_back({.name = test_name(policy), .policy = policy});
  for (const Policy policy : {Policy::gob_lin, Policy::linucb_sin, Policy::linucb_hash}) {
    all.push_back({.name = test_name(policy) + "_window", .policy = policy, .forgetting = {.window = 25}});
    all.push_back({.name = test_name(policy) + "_discount", .policy = policy, .forgetting = {.discount = 0.75}});
  }
  all.push_back({.name = "normalized", .policy = Policy::gob_lin, .laplacian = Laplacian::normalized});
  all.push_back({.name = "macro_per_node", .policy = Policy::gob_lin_macro, .per_node = true});
  all.push_back({.name = "thompson", .policy = Policy::gob_lin, .exploration = Exploration::thompson(0.5)});
  all.push_back({.name = "square_cb", .policy = Policy::gob_lin, .exploration = Exploration::square_cb(10)});
  return all;
}

class Intercept : public ::testing::TestWithParam<std::tuple<Variant, EngineKind>> {
 protected:
  Intercept() {
    options_.forgetting = variant().forgetting;
    options_.laplacian = variant().laplacian;
    options_.evidence_per_node = variant().per_node;
    options_.exploration = variant().exploration;
    options_.engine.kind = std::get<1>(GetParam());
  }
  [[nodiscard]] Variant variant() const { return std::get<0>(GetParam()); }
  [[nodiscard]] Policy policy() const { return variant().policy; }
  /// One with an intercept, and one that gets the constant from whoever calls.
  [[nodiscard]] std::pair<Bandit, Bandit> both() const {
    BanditOptions wider = options_;
    wider.dimension = 5;
    BanditOptions options = options_;
    options.intercept = true;
    const auto clusters = world().clusters_for(policy());
    return {Bandit::make(policy(), world().graph, clusters, options),
            Bandit::make(policy(), world().graph, clusters, wider)};
  }

  BanditOptions options_{.dimension = 4, .alpha = 0.4, .hash = few_buckets};
};

void expect_same(const Bandit& bandit, const Bandit& wider) {
  EXPECT_EQ(bandit.rewards(), wider.rewards());
  EXPECT_EQ(bandit.log_determinant(), wider.log_determinant());
  EXPECT_EQ(bandit.prior_precision(), wider.prior_precision());
  const auto round = world().round(1000);
  const auto contexts = with_ones(round.contexts, 4);
  const Draw draw{.seed = 3, .decision = 5, .samples = 100};
  for (NodeId user = 0; user < bandit.user_count(); ++user) {
    if (!bandit.has_user(user)) continue;
    EXPECT_EQ(bandit.mean(user), wider.mean(user));
    EXPECT_EQ(bandit.covariance(user), wider.covariance(user));
    EXPECT_EQ(bandit.cluster(user), wider.cluster(user));
    const Decision decision = bandit.select(user, {round.contexts, 4}, {}, draw);
    const Decision expected = wider.select(user, {contexts, 5}, {}, draw);
    EXPECT_EQ(decision.arm, expected.arm);
    EXPECT_EQ(decision.scores, expected.scores);
    EXPECT_EQ(decision.means, expected.means);
    EXPECT_EQ(decision.widths, expected.widths);
    EXPECT_EQ(decision.bounds, expected.bounds);
    EXPECT_EQ(decision.probability, expected.probability);
    EXPECT_EQ(bandit.probabilities(user, {round.contexts, 4}, {}, draw),
              wider.probabilities(user, {contexts, 5}, {}, draw));
    const auto ranked = bandit.rank(user, {round.contexts, 4}, 3, {}, draw);
    const auto ranked_there = wider.rank(user, {contexts, 5}, 3, {}, draw);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(ranked[k].arm, ranked_there[k].arm);
    const Explanation explained = bandit.explain(user, round.context(0), 3);
    const Explanation explained_there = wider.explain(user, std::span(contexts).first(5), 3);
    EXPECT_EQ(explained.mean, explained_there.mean);
    EXPECT_EQ(explained.width, explained_there.width);
    EXPECT_EQ(explained.rest, explained_there.rest);
    EXPECT_EQ(explained.contributions.size(), explained_there.contributions.size());
    if (bandit.options().evidence_per_node) continue;
    const UserEvidence evidence = bandit.evidence(user);
    const UserEvidence evidence_there = wider.evidence(user);
    EXPECT_EQ(evidence.count, evidence_there.count);
    EXPECT_TRUE(std::ranges::equal(evidence.contexts, evidence_there.contexts));
    EXPECT_TRUE(std::ranges::equal(evidence.rewards, evidence_there.rewards));
  }
}

TEST_P(Intercept, is_a_constant_in_every_context) {
  auto [bandit, wider] = both();
  EXPECT_EQ(bandit.weight_count(), 5);
  EXPECT_EQ(wider.weight_count(), 5);
  EXPECT_EQ(bandit.options().dimension, 4);
  for (std::size_t t = 0; t < 20; ++t) {
    const auto round = world().round(t);
    bandit.update(round.user, round.context(0), round.rewards[0]);
    wider.update(round.user, with_ones(round.context(0), 4), round.rewards[0]);
  }
  expect_same(bandit, wider);

  // Many at once, in both forms.
  std::vector<Scenario::Round> rounds;
  std::vector<std::vector<double>> longer;
  for (std::size_t t = 20; t < 60; ++t) {
    rounds.push_back(world().round(t));
    longer.push_back(with_ones(rounds.back().context(1), 4));
  }
  std::vector<Observation> batch;
  std::vector<Observation> batch_there;
  for (std::size_t k = 0; k < rounds.size(); ++k) {
    batch.push_back({rounds[k].user, rounds[k].context(1), rounds[k].rewards[1]});
    batch_there.push_back({rounds[k].user, longer[k], rounds[k].rewards[1]});
  }
  bandit.check(batch);
  bandit.update(batch);
  wider.update(batch_there);
  expect_same(bandit, wider);
  std::vector<NodeId> users;
  std::vector<double> contexts;
  std::vector<double> rewards;
  for (std::size_t t = 60; t < 100; ++t) {
    const auto round = world().round(t);
    users.push_back(round.user);
    contexts.insert(contexts.end(), round.context(0).begin(), round.context(0).end());
    rewards.push_back(round.rewards[0]);
  }
  bandit.check({users, contexts, rewards});
  bandit.update({users, contexts, rewards});
  wider.update({users, with_ones(contexts, 4), rewards});
  expect_same(bandit, wider);

  for (Bandit* each : {&bandit, &wider}) {
    const NodeId added = each->add_user();
    each->add_edge(added, 0, 0.5);
    if (!each->options().evidence_per_node) each->remove_user(3);
    each->rebuild();
  }
  expect_same(bandit, wider);
  auto loaded = Bandit::from_bytes(bandit.to_bytes());
  EXPECT_TRUE(loaded.options().intercept);
  EXPECT_EQ(loaded.to_bytes(), bandit.to_bytes());
  wider = Bandit::from_bytes(wider.to_bytes());  // local settles its residuals in another order then
  for (std::size_t t = 100; t < 110; ++t) {
    const auto round = world().round(t);
    if (round.user == 3) continue;
    loaded.update(round.user, round.context(0), round.rewards[0]);
    wider.update(round.user, with_ones(round.context(0), 4), round.rewards[0]);
  }
  expect_same(loaded, wider);
}

TEST_P(Intercept, takes_as_much_memory_as_a_number_more) {
  const auto [bandit, wider] = both();
  const auto clusters = world().clusters_for(policy());
  EXPECT_EQ(Bandit::estimate_bytes(policy(), world().graph, clusters, bandit.options()),
            Bandit::estimate_bytes(policy(), world().graph, clusters, wider.options()));
}

TEST_P(Intercept, is_merged_with_another_only) {
  if (finds_clusters(policy()) || variant().forgetting != Forgetting{}) GTEST_SKIP() << "cannot be merged";
  auto first = both();
  auto& [bandit, wider] = first;
  auto [other, wider_other] = both();
  const auto round = world().round(0);
  other.update(round.user, round.context(0), 1.0);
  wider_other.update(round.user, with_ones(round.context(0), 4), 1.0);
  bandit.merge(other);
  wider.merge(wider_other);
  expect_same(bandit, wider);
  const auto plain = Bandit::make(policy(), world().graph, world().clusters_for(policy()), options_);
  EXPECT_THAT([&] { first.first.merge(plain); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("other: intercept false (must be true, as here)")));
}

INSTANTIATE_TEST_SUITE_P(all, Intercept,
                         ::testing::Combine(::testing::ValuesIn(variants()),
                                            ::testing::Values(EngineKind::dense, EngineKind::sparse,
                                                              EngineKind::local)),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + "_" + std::string(name_of(std::get<1>(test.param)));
                         });

/// One item is shown, a quarter of the time it is clicked, and contexts are centred: what a click rate looks like.
TEST(InterceptOfAClickRate, is_what_a_mean_prediction_needs) {
  constexpr double rate = 0.24;
  const Graph friends = world().graph;
  const auto mean_prediction = [&](bool intercept) {
    auto bandit = Bandit::gob_lin(friends, {.dimension = 4, .intercept = intercept});
    const auto for_each = [](std::uint64_t seed, const auto& call) {
      Random random(seed);
      for (int k = 0; k < 2000; ++k) {
        std::vector<double> context(4);
        for (double& value : context) value = random.normal();
        const auto user = static_cast<NodeId>(random.below(12));
        call(user, context, random.uniform() < rate ? 1.0 : 0.0);
      }
    };
    for_each(1, [&](NodeId user, const auto& context, double click) { bandit.update(user, context, click); });
    double total = 0.0;
    for_each(2, [&](NodeId user, const auto& context, double /*click*/) {
      total += bandit.select(user, {context, 4}).means[0] / 2000.0;
    });
    return total;
  };
  EXPECT_NEAR(mean_prediction(false), 0.0, 0.02);
  EXPECT_NEAR(mean_prediction(true), rate, 0.02);
}

TEST(InterceptAndLength, the_constant_counts_in) {
  constexpr double longest = 30'000.0;
  const auto plain = Bandit::linucb_ind(Graph(1), {.dimension = 1});
  auto bandit = Bandit::linucb_ind(Graph(1), {.dimension = 1, .intercept = true});
  const std::vector<double> whole{longest};
  const std::vector<double> fits{std::nextafter(std::sqrt(longest * longest - 1.0), 0.0)};
  plain.check(0, whole, 1.0);
  bandit.check(0, fits, 1.0);
  bandit.check_new_user(fits);
  bandit.update(0, fits, 1.0);
  (void)bandit.select(0, {fits, 1});
  for (const auto& call : std::initializer_list<std::function<void()>>{[&] { bandit.update(0, whole, 1.0); },
                                                                       [&] {
                                                                         (void)bandit.select(0, {whole, 1});
                                                                       },
                                                                       [&] { bandit.check_new_user(whole); },
                                                                       [&] { (void)bandit.explain(0, whole); }}) {
    EXPECT_THAT(call, ThrowsMessage<std::invalid_argument>(HasSubstr("context: length 30000 (must be at most 30000")));
  }
  // The caller's own numbers are what a message counts.
  const std::vector<double> two{1.0, 1.0};
  EXPECT_THAT([&] { bandit.update(0, two, 1.0); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("context: 2 numbers (must be the dimension, 1)")));
  EXPECT_THAT(
      [&] {
        (void)bandit.select(0, {two, 2});
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("contexts: dimension 2 (must be 1)")));
  EXPECT_EQ(bandit.rewards(), 1);
}

TEST(InterceptAndMasks, candidates_that_are_left_out_may_be_anything) {
  const auto bandit = Bandit::linucb_ind(Graph(1), {.dimension = 2, .intercept = true});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> contexts{nan, nan, 0.0, 0.0};
  const std::vector<std::uint8_t> allowed{0, 1};
  const Decision decision = bandit.select(0, {contexts, 2}, allowed);
  EXPECT_EQ(decision.arm, 1);
  EXPECT_GT(decision.widths[1], 0.0);  // a context of zeros is not nothing here
}

TEST(InterceptAndSmoothness, vectors_have_a_number_more) {
  const Graph pair(2, std::vector<Edge>{{0, 1}});
  const auto bandit = Bandit::gob_lin(pair, {.dimension = 1, .intercept = true});
  EXPECT_DOUBLE_EQ(bandit.smoothness(std::vector{1.0, 2.0, 3.0, 4.0}), 30.0 + 8.0);
  EXPECT_THAT(
      [&] {
        (void)bandit.smoothness(std::vector{1.0, 2.0});
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("2 numbers (must be 2 for each of the 2 users)")));
}

TEST(InterceptInASharedBandit, is_the_same) {
  auto bandit = Bandit::gob_lin(world().graph, {.dimension = 4, .intercept = true});
  SharedBandit shared(bandit);
  EXPECT_EQ(shared.dimension(), 4);
  EXPECT_EQ(shared.weight_count(), 5);
  const auto round = world().round(0);
  bandit.update(round.user, round.context(0), 1.0);
  shared.update(round.user, round.context(0), 1.0);
  EXPECT_EQ(shared.mean(round.user), bandit.mean(round.user));
  EXPECT_EQ(shared.select(round.user, {round.contexts, 4}).scores,
            bandit.select(round.user, {round.contexts, 4}).scores);
  EXPECT_EQ(shared.evidence(round.user).rewards.size(), 5);
}

}  // namespace intercept_test
}  // namespace goblin
