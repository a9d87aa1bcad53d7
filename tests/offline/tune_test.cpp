#include "goblin/offline/tune.hpp"

#include "goblin/graph/generators.hpp"
#include "goblin/offline/evaluate.hpp"
#include "goblin/random.hpp"
#include "goblin/world/cliques.hpp"
#include "offline/random_choices.hpp"
#include "offline/replay.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::offline {
namespace tune_test {

using test::RandomChoices;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t d = 5;
constexpr double payoff_noise = 0.5;

world::Cliques small_world(std::uint64_t seed) {
  return world::Cliques({.cliques = 4, .size = 10, .dimension = d, .payoff_noise = payoff_noise, .seed = seed});
}

TuneOptions options_with(std::size_t resamples = 500) {
  TuneOptions options;
  options.dimension = d;
  options.resamples = resamples;
  return options;
}

std::string error_of(const Graph& graph, const RewardTable& table, const TuneOptions& options) {
  try {
    static_cast<void>(tune(graph, table, options));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(Tune, recovers_that_the_graph_helps_and_the_noise) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto world = small_world(seed);
    const RandomChoices log(world, 1500);
    const TuneResult result = tune(world.graph(), log.table(), options_with());
    EXPECT_EQ(result.graph_helps, GraphHelps::yes) << result.reasons.front();
    // Uniform noise between -0.5 and 0.5.
    const double noise = payoff_noise / std::sqrt(3.0);
    EXPECT_NEAR(result.of(Policy::gob_lin).noise, noise, 0.1 * noise);
    EXPECT_EQ(result.of(Policy::gob_lin).alpha, result.of(Policy::gob_lin).noise);
    EXPECT_EQ(result.policies[result.best].policy, Policy::gob_lin);
    EXPECT_EQ(result.rewirings.size(), 5U);
    ASSERT_EQ(result.comparisons.size(), 3U);
    EXPECT_EQ(result.comparisons[2].rival, "rewired");
    // Everything that gob.lin can do with the least coupling is what linucb-ind does.
    EXPECT_GT(result.of(Policy::gob_lin).log_likelihood, result.of(Policy::linucb_ind).log_likelihood);
  }
}

/// The world of the paper: 100 users in 4 cliques, contexts of 25 numbers.
TEST(Tune, recovers_the_truth_in_the_world_of_the_paper) {
  const world::Cliques world({.payoff_noise = payoff_noise, .seed = 1});
  ASSERT_EQ(world.graph().node_count(), 100U);
  ASSERT_EQ(world.graph().edge_count(), 4U * 25U * 24U / 2U);
  ASSERT_EQ(world.dimension(), 25U);
  const RandomChoices log(world, 5000);
  TuneOptions options = options_with();
  options.dimension = world.dimension();
  const TuneResult result = tune(world.graph(), log.table(), options);
  EXPECT_EQ(result.graph_helps, GraphHelps::yes) << result.reasons.front();
  const double noise = payoff_noise / std::sqrt(3.0);
  EXPECT_NEAR(result.of(Policy::gob_lin).noise, noise, 0.1 * noise);
  const Graph rewired = generate::rewired(world.graph(), Random(1, 99)).graph;
  const TuneResult other = tune(rewired, log.table(), options);
  EXPECT_EQ(other.graph_helps, GraphHelps::no) << other.reasons.front();
}

TEST(Tune, says_that_a_rewired_graph_does_not_help) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto world = small_world(seed);
    const RandomChoices log(world, 1500);
    const Graph rewired = generate::rewired(world.graph(), Random(seed, 99)).graph;
    const TuneResult result = tune(rewired, log.table(), options_with());
    EXPECT_EQ(result.graph_helps, GraphHelps::no) << result.reasons.front();
    EXPECT_THAT(result.reasons.front(), HasSubstr("does not help"));
  }
}

TEST(Tune, does_not_decide_from_thirty_rewards) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto world = small_world(seed);
    const RandomChoices log(world, 30);
    EXPECT_EQ(tune(world.graph(), log.table(), options_with()).graph_helps, GraphHelps::not_decided);
    const Graph rewired = generate::rewired(world.graph(), Random(seed, 99)).graph;
    EXPECT_EQ(tune(rewired, log.table(), options_with()).graph_helps, GraphHelps::not_decided);
  }
}

/// The settings are those of the highest likelihood among all that were tried.
TEST(Tune, chooses_the_most_probable_settings) {
  const auto world = small_world(3);
  const RandomChoices log(world, 400);
  const TuneResult result = tune(world.graph(), log.table(), options_with());
  for (const TunedPolicy& tuned : result.policies) {
    ASSERT_GE(tuned.tried.size(), 7U);
    if (!tuned.by_validation) {
      for (const LikelihoodPoint& point : tuned.tried) EXPECT_LE(point.log_likelihood, tuned.log_likelihood);
    }
    EXPECT_NEAR(tuned.log_loss * 400.0, -tuned.log_likelihood, 1e-9);
    ASSERT_EQ(tuned.losses.size(), 10U);
    EXPECT_EQ(tuned.losses.back().rewards, 400U);
    ASSERT_FALSE(tuned.curve.empty());
    EXPECT_EQ(tuned.curve.back().rewards, 400U);
    EXPECT_NEAR(tuned.curve.back().squared_error, tuned.squared_error, 1e-12);
  }
  EXPECT_FALSE(result.of(Policy::linucb_ind).coupling.has_value());
  EXPECT_THROW(static_cast<void>(result.of(Policy::club)), std::invalid_argument);
}

/// Where a few rewards are much noisier than the others, the most probable settings trust single rewards too much.
TEST(Tune, takes_settings_that_predict_better) {
  const auto world = small_world(5);
  RandomChoices log(world, 1500);
  Random random(11);
  for (std::size_t row = 0; row < log.rewards.size(); ++row) {
    // Long contexts are rare, and their rewards are noise.
    const bool strange = random.below(20) == 0;
    for (std::size_t k = 0; k < d; ++k) log.contexts[row * d + k] *= strange ? 10.0 : 0.1;
    log.rewards[row] = strange ? 20.0 * random.normal() : 0.0;
  }
  const TuneResult result = tune(world.graph(), log.table(), options_with(200));
  EXPECT_TRUE(result.of(Policy::linucb_ind).by_validation);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("do not predict best")));
}

/// While nothing was learned, all policies predict 0; a block is predicted from what was learned before it.
TEST(Tune, predicts_each_reward_from_those_before_it) {
  const Graph graph(2, std::vector<Edge>{{0, 1}});
  const std::vector<NodeId> users = {0, 0, 0, 0};
  const std::vector<double> contexts = {1.0, 1.0, 1.0, 1.0};
  const std::vector<double> rewards = {3.0, 1.0, 2.0, 2.5};
  TuneOptions options;
  options.dimension = 1;
  const TuneResult result = tune(graph, {users, contexts, rewards}, options);
  const TunedPolicy& tuned = result.of(Policy::linucb_ind);
  double expected = 0.0;
  double sum = 0.0;
  for (std::size_t k = 0; k < rewards.size(); ++k) {
    expected += std::pow(rewards[k] - sum / (tuned.ridge + static_cast<double>(k)), 2.0) / 4.0;
    sum += rewards[k];
  }
  EXPECT_NEAR(tuned.squared_error, expected, 1e-6);
  EXPECT_NEAR(result.constant_error, (9.0 + 4.0 + 0.0 + 0.25) / 4.0, 1e-12);
  EXPECT_EQ(result.graph_helps, GraphHelps::not_decided);
}

TEST(Tune, does_not_depend_on_the_number_of_threads) {
  const auto world = small_world(2);
  const RandomChoices log(world, 300);
  TuneOptions options = options_with(200);
  for (NodeId user = 0; user < 40; ++user) options.clusters.push_back(user / 10);
  options.policies = {Policy::gob_lin_macro, Policy::gob_lin_block, Policy::gob_lin_hub};
  options.threads = 1;
  const TuneResult one = tune(world.graph(), log.table(), options);
  options.threads = 3;
  const TuneResult three = tune(world.graph(), log.table(), options);
  ASSERT_EQ(one.policies.size(), 6U);
  for (std::size_t k = 0; k < one.policies.size(); ++k) {
    EXPECT_EQ(one.policies[k].log_likelihood, three.policies[k].log_likelihood);
    EXPECT_EQ(one.policies[k].squared_error, three.policies[k].squared_error);
    EXPECT_EQ(one.policies[k].ridge, three.policies[k].ridge);
  }
  EXPECT_EQ(one.reasons, three.reasons);
  EXPECT_EQ(one.comparisons[2].gain.low, three.comparisons[2].gain.low);
  EXPECT_TRUE(one.of(Policy::gob_lin_hub).hub_weight.has_value());
}

TEST(Tune, groups_add_up_to_all_users) {
  const auto world = small_world(4);
  const RandomChoices log(world, 500);
  const TuneResult result = tune(world.graph(), log.table(), options_with());
  for (const auto* groups : {&result.by_cluster, &result.by_degree, &result.by_rewards}) {
    std::size_t users = 0;
    std::size_t rewards = 0;
    for (const GroupGain& group : *groups) {
      users += group.users;
      rewards += group.rewards;
      EXPECT_EQ(std::isnan(group.gain.low), group.users == 1);
      if (group.users == 1) continue;
      EXPECT_LE(group.gain.low, group.gain.mean);
      EXPECT_GE(group.gain.high, group.gain.mean);
    }
    EXPECT_EQ(users, result.users_with_rewards);
    EXPECT_EQ(rewards, 500U);
  }
  EXPECT_EQ(result.user_gains.size(), result.users_with_rewards);
  ASSERT_EQ(result.by_degree.size(), 1U);
  EXPECT_EQ(result.by_degree[0].group, "6 to 10 friends");
}

TEST(Tune, does_not_ask_about_a_graph_without_edges) {
  const auto world = small_world(1);
  const RandomChoices log(world, 200);
  const TuneResult result = tune(Graph(40), log.table(), options_with());
  EXPECT_EQ(result.graph_helps, GraphHelps::not_decided);
  EXPECT_THAT(result.reasons, ElementsAre(HasSubstr("no edges")));
  EXPECT_TRUE(result.comparisons.empty());
}

TEST(Tune, says_that_a_complete_graph_cannot_be_rewired) {
  const Graph complete = generate::cliques(1, 40);
  const auto world = small_world(1);
  const RandomChoices log(world, 200);
  const TuneResult result = tune(complete, log.table(), options_with());
  EXPECT_NE(result.graph_helps, GraphHelps::yes);
  EXPECT_TRUE(result.rewirings.empty());
  EXPECT_THAT(result.reasons.back(), HasSubstr("same degrees"));
}

TEST(Tune, says_that_a_constant_is_missing) {
  const auto world = small_world(1);
  RandomChoices log(world, 400);
  for (double& reward : log.rewards) reward = reward > 0.2 ? 1.0 : 0.0;
  for (double& reward : log.rewards) reward += 5.0;
  const TuneResult result = tune(world.graph(), log.table(), options_with());
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_THAT(result.warnings.front(), HasSubstr("intercept"));
}

TEST(Tune, does_not_ask_for_a_constant_that_is_there) {
  const auto world = small_world(1);
  RandomChoices log(world, 400);
  Random random(1);
  for (double& reward : log.rewards) reward = 5.0 + random.normal();
  for (std::size_t row = 0; row < log.rewards.size(); ++row) log.contexts[row * d] = 1.0;
  const TuneResult result = tune(world.graph(), log.table(), options_with());
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_THAT(result.warnings.front(), HasSubstr("the contexts say nothing"));
}

TEST(Tune, refuses_what_it_cannot_tune) {
  const Graph graph(2, std::vector<Edge>{{0, 1}});
  const std::vector<NodeId> users = {0, 1, 0};
  const std::vector<double> contexts = {1.0, 2.0, 3.0};
  const std::vector<double> rewards = {1.0, 0.0, 1.0};
  TuneOptions options;
  options.dimension = 1;
  const std::vector<double> same = {2.0, 2.0, 2.0};
  const std::vector<double> zeros = {0.0, 0.0, 0.0};
  const std::vector<double> infinite = {1.0, std::numeric_limits<double>::infinity(), 1.0};
  const std::vector<NodeId> stranger = {0, 2, 0};
  EXPECT_THAT(error_of(graph, {}, options), HasSubstr("rewards: 0 (must be at least 2"));
  EXPECT_THAT(
      error_of(graph, {std::span(users).first(1), std::span(contexts).first(1), std::span(rewards).first(1)}, options),
      HasSubstr("rewards: 1 (must be at least 2"));
  EXPECT_THAT(error_of(graph, {users, contexts, same}, options), HasSubstr("rewards: all are 2 (must differ"));
  EXPECT_THAT(error_of(graph, {users, zeros, rewards}, options), HasSubstr("contexts: all are 0"));
  EXPECT_THAT(error_of(graph, {users, contexts, infinite}, options), HasSubstr("reward"));
  EXPECT_THAT(error_of(graph, {users, infinite, rewards}, options), HasSubstr("context"));
  EXPECT_THAT(error_of(graph, {stranger, contexts, rewards}, options), HasSubstr("users[1]: 2 (must be below"));
  EXPECT_THAT(error_of(graph, {users, std::span(contexts).first(2), rewards}, options), HasSubstr("as many of each"));
  options.policies = {Policy::club};
  EXPECT_THAT(error_of(graph, {users, contexts, rewards}, options), HasSubstr("policy: club (must be linucb-sin, "));
  options.policies = {Policy::gob_lin_macro};
  EXPECT_THAT(error_of(graph, {users, contexts, rewards}, options), HasSubstr("clusters"));
  options.policies = {};
  options.dimension = 0;
  EXPECT_THAT(error_of(graph, {users, contexts, rewards}, options), HasSubstr("dimension: 0"));
}

TEST(Tune, stops_when_progress_throws) {
  const auto world = small_world(1);
  const RandomChoices log(world, 300);
  struct Enough {};
  double last = 0.0;
  TuneOptions options = options_with();
  options.threads = 2;
  options.progress = [&](double share) {
    EXPECT_GE(share, last);
    EXPECT_LE(share, 1.0);
    last = share;
    if (share > 0.2) throw Enough();
  };
  EXPECT_THROW(static_cast<void>(tune(world.graph(), log.table(), options)), Enough);
}

/// The first candidate pays a little, and all others cost something that friends have in common. Whoever never explores
/// stays with the first, which is best; the noise as alpha tries them all.
TEST(TuneReplay, takes_an_alpha_that_earns_more) {
  const Graph graph = generate::cliques(4, 10);
  const auto pays = [](std::size_t user, std::size_t candidate) {
    return candidate == 0 ? 0.3 : -0.5 - static_cast<double>((candidate + user / 10) % 3);
  };
  const RandomChoices log(40, 10, pays, 0.1, 4000);
  TuneOptions options = options_with();
  options.dimension = 10;
  options.replay = log.rounds();
  const TuneResult result = tune(graph, log.table(), options);
  for (const TunedPolicy& tuned : result.policies) {
    ASSERT_TRUE(tuned.replay);
    EXPECT_EQ(tuned.replay->answer, ReplayAnswer::another) << tuned.replay->reason;
    const auto& tried = tuned.replay->tried;
    ASSERT_EQ(tried.size(), tuned.coupling ? 10U : 6U);
    EXPECT_NEAR(tried[0].value.mean, 0.3, 0.03);
    EXPECT_EQ(tried[4].alpha, tuned.noise);
    EXPECT_EQ(tried[4].gain.mean, 0.0);
    EXPECT_LE(tried[5].value.mean, tried[4].value.mean);
    ASSERT_TRUE(tuned.replay->chosen);
    const TriedAlpha& chosen = tried[*tuned.replay->chosen];
    EXPECT_LE(chosen.of_noise, 0.01);
    EXPECT_GT(chosen.gain.low, 0.0);
    EXPECT_EQ(tuned.alpha, chosen.alpha);
    // Of two that do the same, the one that explores more.
    if (tried[0].value.mean == chosen.value.mean && tried[1].value.mean == chosen.value.mean) {
      EXPECT_EQ(tuned.replay->chosen, 1U);
    }
    for (const TriedAlpha& each : tried) {
      EXPECT_TRUE(each.trusted);
      EXPECT_LT(each.value.low, each.value.mean);
      EXPECT_GT(each.value.high, each.value.mean);
      EXPECT_NEAR(each.gain.mean, each.value.mean - tried[4].value.mean, 1e-12);
      EXPECT_LE(each.value.mean, chosen.value.mean) << "a better one was left";
    }
    EXPECT_THAT(tuned.replay->reason, AllOf(HasSubstr("earns clearly more than the noise"), HasSubstr("not decided")));
  }
}

/// Each user loves another candidate than friends do: the less coupling, the sooner that is found.
TEST(TuneReplay, takes_less_coupling_where_that_earns_more) {
  const Graph graph = generate::cliques(4, 5);
  const auto pays = [](std::size_t user, std::size_t candidate) { return candidate == user % 5 ? 1.0 : -0.5; };
  const RandomChoices log(20, 5, pays, 0.1, 10'000);
  const auto rounds = log.rounds();
  Work work(1, {});
  AlphaReplays replays(rounds, work, {.seed = 1, .resamples = 500, .dimension = 5, .rewards = 10'000, .work = 1.0});
  const auto with = [&](std::optional<double> coupling) {
    return replays.of(1.0, coupling, [&](const TriedMultiples& tried) {
      return Bandit::gob_lin(
          graph, {.dimension = 5, .alpha = tried.noise, .coupling = tried.coupling * coupling.value_or(0.0)});
    });
  };
  const AlphaReplay replay = with(100.0);
  ASSERT_EQ(replay.answer, ReplayAnswer::another) << replay.reason;
  const TriedAlpha& taken = replay.tried[*replay.chosen];
  EXPECT_EQ(taken.of_coupling, 0.03);
  EXPECT_EQ(taken.coupling, 3.0);
  EXPECT_THAT(replay.reason,
              AllOf(HasSubstr(" with coupling 3, that is "),
                    HasSubstr(" times the noise and 0.03 times the coupling that predicts best, earns")));
  EXPECT_EQ(with(std::nullopt).tried.size(), 6U);
}

/// Whoever never explores stays with the first candidate, which pays something, and never sees that the second pays
/// more.
TEST(TuneReplay, sees_where_exploring_pays) {
  const Graph graph = generate::cliques(4, 10);
  const auto pays = [](std::size_t, std::size_t candidate) { return candidate == 0 ? 0.3 : 1.0; };
  const RandomChoices log(40, 2, pays, 0.1, 3000);
  TuneOptions options = options_with();
  options.dimension = 2;
  options.replay = log.rounds();
  const TuneResult result = tune(graph, log.table(), options);
  for (const TunedPolicy& tuned : result.policies) {
    ASSERT_TRUE(tuned.replay);
    const auto& tried = tuned.replay->tried;
    ASSERT_EQ(tried.size(), tuned.coupling ? 10U : 6U) << tuned.replay->reason;
    EXPECT_NEAR(tried[0].value.mean, 0.3, 0.05) << name_of(tuned.policy);
    EXPECT_LT(tried[0].gain.high, 0.0);
    EXPECT_GT(tried[4].value.mean, 0.8);
    EXPECT_GT(tuned.alpha, 0.0);
    EXPECT_GE(tried[*tuned.replay->chosen].of_noise, 0.3);
  }
}

/// What it says of an alpha is what evaluate says of a bandit with these settings: snips, where the log did not choose
/// uniformly.
TEST(TuneReplay, estimates_what_evaluate_does) {
  const auto world = small_world(2);
  const RandomChoices log(world, 3000);
  // One in three rounds had to show what it showed in two of ten cases.
  const auto skew = [](LoggedRound& round) {
    if (round.place % 3 == 0) round.probability = 0.2;
    if (round.place % 7 == 0) {
      round.contexts = round.contexts.subspan(round.action * d, d);
      round.action = 0;
      round.is_decision = false;
    }
  };
  TuneOptions options = options_with();
  options.replay = log.rounds(skew);
  const TuneResult result = tune(world.graph(), log.table(), options);
  const TunedPolicy& tuned = result.of(Policy::gob_lin);
  ASSERT_TRUE(tuned.replay);
  ASSERT_EQ(tuned.replay->tried.size(), 10U);
  for (const TriedAlpha& tried : tuned.replay->tried) {
    Evaluation evaluation(Bandit::gob_lin(
        world.graph(),
        {.dimension = d, .alpha = tried.alpha, .ridge = tuned.ridge, .coupling = tried.coupling.value()}));
    log.rounds(skew)([&](const LoggedRound& round) {
      if (!round.is_decision) {
        evaluation.add_reward(round.user, round.user, round.contexts, round.reward);
        return;
      }
      evaluation.add(round.user, round.user,
                     {.contexts = round.contexts,
                      .action = round.action,
                      .reward = round.reward,
                      .probability = round.probability.value()});
    });
    const Evaluated evaluated = evaluation.result();
    EXPECT_NEAR(tried.value.mean, evaluated.summary.estimates[3].value.value, 1e-12);
    EXPECT_NE(tried.value.mean, evaluated.summary.estimates[0].value.value);
    EXPECT_EQ(tried.matched, evaluated.summary.diagnostics.matched);
  }
}

TEST(TuneReplay, says_why_the_log_does_not_allow_it) {
  const auto world = small_world(1);
  const RandomChoices log(world, 1200);
  const auto reason_with = [&](const std::function<void(LoggedRound&)>& change) {
    TuneOptions options = options_with(100);
    options.rewirings = 0;
    options.replay = log.rounds(change);
    const TuneResult result = tune(world.graph(), log.table(), options);
    const TunedPolicy& tuned = result.of(Policy::gob_lin);
    EXPECT_EQ(tuned.replay->answer, ReplayAnswer::not_done);
    EXPECT_EQ(tuned.alpha, tuned.noise);
    EXPECT_FALSE(tuned.alpha_by_replay());
    return tuned.replay->reason;
  };
  const auto shown_alone = [](LoggedRound& round) {
    round.contexts = round.contexts.subspan(round.action * d, d);
    round.action = 0;
  };
  EXPECT_THAT(reason_with([&](LoggedRound& round) {
                shown_alone(round);
                round.is_decision = false;
                round.probability.reset();
              }),
              HasSubstr("The log has no decisions"));
  EXPECT_THAT(reason_with([](LoggedRound& round) {
                if (round.place < 7) round.probability.reset();
              }),
              HasSubstr("7 of 1200 decisions have no probability"));
  EXPECT_THAT(reason_with([&](LoggedRound& round) {
                shown_alone(round);
                round.probability = 1.0;
              }),
              HasSubstr("No decision of the log has two candidates"));
  // A tenth of some decisions matches.
  EXPECT_THAT(reason_with([&](LoggedRound& round) {
                if (round.place < 600) return;
                shown_alone(round);
                round.is_decision = false;
              }),
              AllOf(HasSubstr("of 600 decisions"), HasSubstr("must be at least 100): too few")));
  EXPECT_THAT(reason_with([](LoggedRound& round) { round.probability = 1.0; }), HasSubstr("and should be 1"));
}

TEST(TuneReplay, keeps_the_noise_where_nothing_is_decided) {
  const auto world = small_world(1);
  RandomChoices log(world, 3000);
  Random random(3);
  for (double& reward : log.rewards) reward = random.normal();  // nobody can choose well
  TuneOptions options = options_with();
  options.replay = log.rounds();
  const TuneResult result = tune(world.graph(), log.table(), options);
  for (const TunedPolicy& tuned : result.policies) {
    EXPECT_EQ(tuned.replay->answer, ReplayAnswer::not_decided) << tuned.replay->reason;
    EXPECT_EQ(tuned.alpha, tuned.noise);
    EXPECT_THAT(tuned.replay->reason, HasSubstr("No alpha earns clearly more than the noise"));
  }
}

TEST(TuneReplay, does_not_depend_on_the_number_of_threads) {
  const auto world = small_world(2);
  const RandomChoices log(world, 2500);
  TuneOptions options = options_with(200);
  for (NodeId user = 0; user < 40; ++user) options.clusters.push_back(user / 10);
  options.policies = {Policy::gob_lin_macro, Policy::gob_lin_block, Policy::gob_lin_hub};
  options.rewirings = 0;
  options.replay = log.rounds();
  options.threads = 1;
  const TuneResult one = tune(world.graph(), log.table(), options);
  options.threads = 3;
  const TuneResult three = tune(world.graph(), log.table(), options);
  for (std::size_t k = 0; k < one.policies.size(); ++k) {
    EXPECT_EQ(one.policies[k].replay->reason, three.policies[k].replay->reason);
    const std::size_t tried = one.policies[k].coupling ? 10 : 6;
    ASSERT_EQ(one.policies[k].replay->tried.size(), tried) << one.policies[k].replay->reason;
    for (std::size_t at = 0; at < tried; ++at) {
      EXPECT_EQ(one.policies[k].replay->tried[at].value.low, three.policies[k].replay->tried[at].value.low);
      EXPECT_EQ(one.policies[k].replay->tried[at].gain.high, three.policies[k].replay->tried[at].gain.high);
    }
  }
}

TEST(TuneReplay, names_a_round_that_cannot_be_judged) {
  const auto world = small_world(1);
  RandomChoices log(world, 400);
  const std::size_t other = log.actions[321] == 0 ? 1 : 0;
  log.candidates[321][other * d] = std::numeric_limits<double>::infinity();
  TuneOptions options = options_with(100);
  options.rewirings = 0;
  options.replay = log.rounds();
  try {
    static_cast<void>(tune(world.graph(), log.table(), options));
    FAIL() << "a candidate is infinite";
  } catch (const BadRound& error) {
    EXPECT_EQ(error.place, 321U);
    EXPECT_THAT(error.what(), HasSubstr("finite"));
  }
}

TEST(TuneReplay, stops_when_progress_throws) {
  const auto world = small_world(1);
  const RandomChoices log(world, 3000);
  struct Enough {};
  std::size_t reads = 0;
  TuneOptions options = options_with(100);
  options.rewirings = 0;
  options.threads = 2;
  double last = 0.0;
  options.replay = [&](const auto& take) {
    ++reads;
    log.rounds()(take);
  };
  options.progress = [&](double share) {
    EXPECT_GE(share, last);
    last = share;
    if (reads == 2) throw Enough();
  };
  EXPECT_THROW(static_cast<void>(tune(world.graph(), log.table(), options)), Enough);
  EXPECT_EQ(reads, 2U);
}

}  // namespace tune_test
}  // namespace goblin::offline
