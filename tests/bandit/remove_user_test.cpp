// A user who is removed leaves nothing behind: the bandit is what it would be had the user never been there.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/bandit/shared_bandit.hpp"
#include "goblin/error.hpp"
#include "temporary_folder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <thread>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace remove_user_test {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::size_t dimension = 4;

Scenario world() {
  return {.name = "users who go",
          .graph = generate::random({.nodes = 13, .edges = 34, .lowest_weight = 0.2, .highest_weight = 3.0, .seed = 6}),
          .dimension = dimension};
}

BanditOptions options_for(EngineKind kind) {
  return {.dimension = dimension,
          .alpha = 0.4,
          .ridge = 0.7,
          .hash = few_buckets,
          .engine = {.kind = kind, .tolerance = 1e-12, .local = {.tolerance = 1e-12, .most_edges = 1'000'000}}};
}

/// The index of a user once `gone` had never been there.
NodeId without(NodeId user, NodeId gone) { return user < gone ? user : user - 1; }

Graph without(const Graph& graph, NodeId gone) {
  std::vector<Edge> edges;
  for (const Edge& edge : graph.edges()) {
    if (edge.a == gone || edge.b == gone) continue;
    edges.push_back({without(edge.a, gone), without(edge.b, gone), edge.weight});
  }
  return {graph.node_count() - 1, edges};
}

template <typename Value>
std::vector<Value> without(std::vector<Value> values, NodeId gone) {
  if (!values.empty()) values.erase(values.begin() + gone);
  return values;
}

/// The rewards of rounds [from, to), but for those of one user; `index` says who is who.
template <typename Index>
void learn(Bandit& bandit, std::size_t from, std::size_t to, NodeId but_for, Index index) {
  const Scenario scenario = world();
  for (std::size_t t = from; t < to; ++t) {
    const auto round = scenario.round(t);
    if (round.user != but_for) bandit.update(index(round.user), round.context(0), round.rewards[0]);
  }
}
constexpr NodeId nobody = 1000;
constexpr auto same = [](NodeId user) { return user; };

void expect_near(std::span<const double> a, std::span<const double> b, double tolerance, NodeId user) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], tolerance) << "user " << user;
}

/// Everybody but `gone` is believed what `never` believes, which has had the others only.
void expect_as_if_never_there(const Bandit& bandit, const Bandit& never, NodeId gone, double tolerance = 1e-9) {
  const auto contexts = world().round(999).contexts;
  EXPECT_EQ(bandit.rewards(), never.rewards());
  EXPECT_NEAR(bandit.log_determinant(), never.log_determinant(), 10.0 * tolerance);
  for (NodeId user = 0; user < bandit.user_count(); ++user) {
    if (user == gone) continue;
    const NodeId there = without(user, gone);
    expect_near(bandit.mean(user), never.mean(there), tolerance, user);
    expect_near(bandit.covariance(user), never.covariance(there), tolerance, user);
    expect_near(bandit.select(user, {contexts, dimension}).scores, never.select(there, {contexts, dimension}).scores,
                tolerance, user);
    EXPECT_EQ(bandit.evidence(user).count, never.evidence(there).count);
    expect_near(bandit.evidence(user).contexts, never.evidence(there).contexts, tolerance, user);
  }
}

/// Ways to be of one policy.
struct Variant {
  std::string name;
  Policy policy;
  Laplacian laplacian = Laplacian::combinatorial;
  bool node_ridges = false;
  Forgetting forgetting = {};
};

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const Policy policy : policies_with_fixed_nodes()) {
    all.push_back({.name = test_name(policy), .policy = policy});
    all.push_back({.name = test_name(policy) + "_window", .policy = policy, .forgetting = {.window = 500}});
    all.push_back({.name = test_name(policy) + "_discount", .policy = policy, .forgetting = {.discount = 0.75}});
  }
  all.push_back({.name = "normalized", .policy = Policy::gob_lin, .laplacian = Laplacian::normalized});
  all.push_back({.name = "normalized_window",
                 .policy = Policy::gob_lin,
                 .laplacian = Laplacian::normalized,
                 .forgetting = {.window = 500}});
  all.push_back({.name = "node_ridges", .policy = Policy::gob_lin, .node_ridges = true});
  all.push_back({.name = "hub_with_node_ridges", .policy = Policy::gob_lin_hub, .node_ridges = true});
  return all;
}

class RemoveUser : public ::testing::TestWithParam<std::tuple<Variant, EngineKind>> {
 protected:
  [[nodiscard]] Variant variant() const { return std::get<0>(GetParam()); }
  [[nodiscard]] Policy policy() const { return variant().policy; }
  [[nodiscard]] BanditOptions options() const {
    BanditOptions options = options_for(std::get<1>(GetParam()));
    options.laplacian = variant().laplacian;
    options.forgetting = variant().forgetting;
    for (std::size_t k = 0; variant().node_ridges && k < world().graph.node_count(); ++k) {
      options.node_ridges.push_back(0.4 + 0.1 * static_cast<double>(k));
    }
    return options;
  }
  [[nodiscard]] Bandit fresh() const {
    return Bandit::make(policy(), world().graph, world().clusters_for(policy()), options());
  }
  [[nodiscard]] Bandit fresh_without(NodeId gone) const {
    BanditOptions changed = options();
    changed.node_ridges = without(changed.node_ridges, gone);
    return Bandit::make(policy(), without(world().graph, gone), without(world().clusters_for(policy()), gone), changed);
  }
};

TEST_P(RemoveUser, leaves_the_belief_of_a_bandit_that_never_had_the_user) {
  const auto last = static_cast<NodeId>(world().graph.node_count() - 1);
  for (const NodeId gone : {last, NodeId{4}}) {
    if (gone != last && policy() == Policy::linucb_hash) continue;  // buckets are keyed by the index
    const auto index = [gone](NodeId user) { return without(user, gone); };
    auto bandit = fresh();
    auto never = fresh_without(gone);
    learn(bandit, 0, 60, nobody, same);
    learn(never, 0, 60, gone, index);
    ASSERT_GT(bandit.evidence(gone).count, 0);
    EXPECT_TRUE(bandit.remove_user(gone).converged);
    expect_as_if_never_there(bandit, never, gone);
    learn(bandit, 60, 80, gone, same);
    learn(never, 60, 80, gone, index);
    expect_as_if_never_there(bandit, never, gone);
    EXPECT_EQ(bandit.summary().users, never.summary().users);
    EXPECT_NEAR(bandit.prior_precision(), never.prior_precision(), 1e-12);
    auto loaded = Bandit::from_bytes(bandit.to_bytes());
    EXPECT_EQ(loaded.to_bytes(), bandit.to_bytes());
    EXPECT_FALSE(loaded.has_user(gone));
    bandit.rebuild();
    expect_as_if_never_there(bandit, never, gone);
    learn(loaded, 80, 90, gone, same);
    learn(never, 80, 90, gone, index);
    expect_as_if_never_there(loaded, never, gone);
  }
}

TEST_P(RemoveUser, of_several_is_as_one_after_the_other) {
  auto together = fresh();
  learn(together, 0, 60, nobody, same);
  Bandit one_by_one(together);
  const std::array<UserRef, 3> users{2, 12, 7};
  together.remove_users(users);
  for (const UserRef& user : users) one_by_one.remove_user(user);
  EXPECT_EQ(together.to_bytes(), one_by_one.to_bytes());
  EXPECT_EQ(together.summary().users, 10);
  EXPECT_EQ(together.user_count(), 13);
}

TEST_P(RemoveUser, of_everybody_leaves_what_was_there_before_the_first_reward) {
  auto bandit = fresh();
  learn(bandit, 0, 40, nobody, same);
  for (NodeId user = 0; user < 13; ++user) bandit.remove_user(user);
  EXPECT_EQ(bandit.rewards(), 0);
  EXPECT_EQ(bandit.graph().edge_count(), 0);
  EXPECT_NEAR(bandit.log_determinant(), 0.0, 1e-8);
  const NodeId user = bandit.add_user();
  for (const double value : bandit.mean(user)) EXPECT_NEAR(value, 0.0, 1e-10);
}

INSTANTIATE_TEST_SUITE_P(all, RemoveUser,
                         ::testing::Combine(::testing::ValuesIn(variants()),
                                            ::testing::Values(EngineKind::dense, EngineKind::sparse,
                                                              EngineKind::local)),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + "_" + std::string(name_of(std::get<1>(test.param)));
                         });

/// With clusters as a policy found them, and no edges between them.
Bandit with_clusters_of(const Bandit& found, NodeId gone) {
  std::map<NodeId, NodeId> numbers;
  std::vector<NodeId> clusters;
  for (NodeId user = 0; user < found.user_count(); ++user) {
    if (user == gone) continue;
    clusters.push_back(numbers.emplace(*found.cluster(user), static_cast<NodeId>(numbers.size())).first->second);
  }
  return Bandit::gob_lin_macro(Graph(clusters.size()), clusters, options_for(EngineKind::dense));
}

TEST(RemoveUserOfFoundClusters, leaves_the_belief_of_the_others_in_their_clusters) {
  for (const Policy policy : {Policy::club, Policy::dynucb}) {
    for (const NodeId gone : {NodeId{12}, NodeId{4}}) {
      BanditOptions options = options_for(EngineKind::dense);
      options.club.separation = 0.6;
      options.dynucb.clusters = 3;
      auto bandit = Bandit::make(policy, world().graph, {}, options);
      learn(bandit, 0, 80, nobody, same);
      ASSERT_GT(bandit.summary().clusters, 1);
      bandit.remove_user(gone);
      const auto expect_right = [&](const Bandit& it, std::size_t rounds) {
        auto expected = with_clusters_of(it, gone);
        learn(expected, 0, rounds, gone, [gone](NodeId user) { return without(user, gone); });
        expect_as_if_never_there(it, expected, gone);
      };
      expect_right(bandit, 80);
      auto loaded = Bandit::from_bytes(bandit.to_bytes());
      EXPECT_EQ(loaded.to_bytes(), bandit.to_bytes());
      learn(bandit, 80, 120, gone, same);
      learn(loaded, 80, 120, gone, same);
      EXPECT_EQ(loaded.to_bytes(), bandit.to_bytes());
      expect_right(bandit, 120);
    }
  }
}

TEST(RemoveUserOfClub, lets_a_cluster_fall_apart_that_the_user_held_together) {
  const Graph path(5, std::vector<Edge>{{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  auto bandit = Bandit::club(path, {.dimension = 1, .club = {.separation = 100.0}});
  ASSERT_EQ(bandit.summary().clusters, 1);
  bandit.update(0, std::vector{1.0}, 1.0);
  bandit.remove_user(2);
  EXPECT_EQ(bandit.summary().clusters, 2);
  EXPECT_EQ(bandit.cluster(0), bandit.cluster(1));
  EXPECT_EQ(bandit.cluster(3), bandit.cluster(4));
  EXPECT_GT(bandit.mean(1)[0], 0.0);
  EXPECT_EQ(bandit.mean(3)[0], 0.0);
  const NodeId added = bandit.add_user();  // takes a number that nobody has
  EXPECT_EQ(bandit.summary().clusters, 3);
  EXPECT_LT(*bandit.cluster(added), 3);
  EXPECT_EQ(Bandit::from_bytes(bandit.to_bytes()).cluster(added), bandit.cluster(added));
}

TEST(RemoveUserOfDynucb, takes_the_user_out_of_the_centroid) {
  // With one other member the centroid is that member's own estimate.
  BanditOptions options{.dimension = 1, .dynucb = {.clusters = 1}};
  auto bandit = Bandit::dynucb(Graph(2), options);
  auto never = Bandit::dynucb(Graph(1), options);
  for (int t = 0; t < 5; ++t) {
    bandit.update(0, std::vector{1.0}, 1.0);
    never.update(0, std::vector{1.0}, 1.0);
    bandit.update(1, std::vector{1.0}, -1.0);
  }
  bandit.remove_user(1);
  const std::string ours = bandit.to_bytes();
  const std::string theirs = never.to_bytes();
  // What the file says at its end: the sum of estimates, and how many changes it has followed.
  const auto sum = [](const std::string& bytes) { return bytes.substr(bytes.size() - 24, 8); };
  EXPECT_EQ(sum(ours), sum(theirs));
}

TEST(RemoveUserFromAWindow, leaves_the_rewards_of_the_others_that_were_in_it) {
  for (const Policy policy : policies_with_fixed_nodes()) {
    BanditOptions options = options_for(EngineKind::dense);
    auto expected = Bandit::make(policy, world().graph, world().clusters_for(policy), options);
    options.forgetting.window = 20;
    auto bandit = Bandit::make(policy, world().graph, world().clusters_for(policy), options);
    learn(bandit, 0, 50, nobody, same);
    bandit.remove_user(4);
    learn(expected, 30, 50, 4, same);
    expected.remove_user(4);
    for (NodeId user = 0; user < 13; ++user) {
      if (user == 4) continue;
      expect_near(bandit.mean(user), expected.mean(user), 1e-9, user);
      EXPECT_EQ(bandit.evidence(user).count, expected.evidence(user).count);
    }
    // There is room for as many more before the oldest leaves.
    std::size_t in_window = 0;
    for (std::size_t t = 30; t < 50; ++t) in_window += world().round(t).user == 4 ? 0 : 1;
    ASSERT_LT(in_window, 20);
    const std::vector<double> x{1.0, 0.0, 0.0, 0.0};
    const std::size_t before = bandit.evidence(0).count;
    for (std::size_t k = in_window; k < 20; ++k) bandit.update(0, x, 1.0);
    EXPECT_EQ(bandit.evidence(0).count, before + 20 - in_window);
    std::size_t count = 0;
    bandit.update(0, x, 1.0);
    for (NodeId user = 0; user < 13; ++user) count += user == 4 ? 0 : bandit.evidence(user).count;
    EXPECT_EQ(count, 20);
    EXPECT_EQ(Bandit::from_bytes(bandit.to_bytes()).to_bytes(), bandit.to_bytes());
  }
}

/// The user who goes has had the longest contexts there can be, and the others short ones: what is left of them must
/// not have lost its digits.
TEST(RemoveUserWithTheLongestContexts, leaves_the_others_exact) {
  constexpr double ridge = 1e-6;
  constexpr NodeId gone = 12;
  for (const Policy policy : policies_with_fixed_nodes()) {
    for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
      if (policy == Policy::linucb_hash && kind != EngineKind::dense) continue;
      BanditOptions options = options_for(kind);
      options.ridge = ridge;
      options.coupling = ridge;
      options.hub = {.weight = ridge, .ridge = ridge};
      auto bandit = Bandit::make(policy, world().graph, world().clusters_for(policy), options);
      auto never =
          Bandit::make(policy, without(world().graph, gone), without(world().clusters_for(policy), gone), options);
      for (std::size_t t = 0; t < 100; ++t) {
        const auto round = world().round(t);
        std::vector<double> context(round.context(0).begin(), round.context(0).end());
        double length = 0.0;
        for (const double value : context) length = std::hypot(length, value);
        const double longest = (policy == Policy::linucb_hash ? 0.49 : 0.99) * 30'000.0 / length;
        for (double& value : context) value *= std::sqrt(ridge) * (round.user == gone ? longest : 1.0);
        bandit.update(round.user, context, round.rewards[0]);
        if (round.user != gone) never.update(round.user, context, round.rewards[0]);
      }
      ASSERT_GT(bandit.evidence(gone).count, 3);
      bandit.remove_user(gone);
      for (NodeId user = 0; user < gone; ++user) {
        for (const auto& [is, should_be] : {std::pair(bandit.mean(user), never.mean(user)),
                                            std::pair(bandit.covariance(user), never.covariance(user))}) {
          double largest = 0.0;
          for (const double value : should_be) largest = std::max(largest, std::abs(value));
          for (std::size_t k = 0; k < is.size(); ++k) {
            ASSERT_NEAR(is[k], should_be[k], 1e-6 * largest) << name_of(policy) << " " << name_of(kind) << " " << user;
          }
        }
      }
    }
  }
}

Bandit named() {
  Names names;
  for (const char* name : {"ann", "bob", "cat"}) names.insert(name);
  return Bandit::gob_lin(Graph(names, std::vector<Edge>{{0, 1}, {1, 2}}), {.dimension = 2});
}

TEST(RemovedUser, is_unknown_and_the_name_is_free_again) {
  auto bandit = named();
  bandit.add_user("dan");
  bandit.update("bob", std::vector{1.0, 0.0}, 1.0);
  bandit.remove_user("bob");
  EXPECT_FALSE(bandit.has_user("bob"));
  EXPECT_FALSE(bandit.has_user(1));
  EXPECT_FALSE(bandit.has_user(""));
  EXPECT_THROW((void)bandit.mean("bob"), UnknownUser);
  EXPECT_THAT([&] { (void)bandit.mean(1); }, ThrowsMessage<UnknownUser>(HasSubstr("user: 1 (must not be one who was")));
  EXPECT_THROW(bandit.update(1, std::vector{1.0, 0.0}, 1.0), UnknownUser);
  EXPECT_THROW(bandit.add_edge(0, 1), UnknownUser);
  EXPECT_THROW(bandit.remove_user("bob"), UnknownUser);
  EXPECT_EQ(bandit.user("cat"), 2);
  EXPECT_EQ(bandit.user("dan"), 3);
  EXPECT_EQ(bandit.user_count(), 4);
  EXPECT_EQ(bandit.graph().names()[1], "");
  EXPECT_EQ(bandit.graph().edge_count(), 0);

  EXPECT_EQ(bandit.add_user("bob"), 4);
  EXPECT_EQ(bandit.mean("bob"), std::vector<double>(2, 0.0));
  bandit.add_edge("bob", "ann");
  bandit.remove_users(std::array<UserRef, 2>{"bob", "ann"});
  EXPECT_EQ(bandit.add_user("bob"), 5);
  auto loaded = Bandit::from_bytes(bandit.to_bytes());
  EXPECT_EQ(loaded.user("bob"), 5);
  EXPECT_EQ(loaded.user("dan"), 3);
  for (const NodeId gone : {0, 1, 4}) EXPECT_FALSE(loaded.has_user(gone));
  EXPECT_FALSE(loaded.has_user(""));
  EXPECT_EQ(loaded.add_user("ann"), 6);
  EXPECT_EQ(loaded.to_bytes().size(), [&] {
    bandit.add_user("ann");
    return bandit.to_bytes().size();
  }());
}

TEST(RemovedUser, has_no_name_in_a_file_with_other_names) {
  auto bandit = Bandit::gob_lin(Graph(3), {.dimension = 1});
  bandit.remove_user(1);
  Names names;
  for (const char* name : {"ann", "bob", "cat"}) names.insert(name);
  const TemporaryFolder folder;
  bandit.save(folder / "model", names);
  const auto loaded = Bandit::load(folder / "model");
  EXPECT_TRUE(loaded.has_user("cat"));
  EXPECT_FALSE(loaded.has_user("bob"));
}

TEST(RemovedUser, must_be_removed_in_both_that_are_merged) {
  auto ours = named();
  auto theirs = named();
  theirs.remove_user("bob");
  EXPECT_THAT([&] { ours.merge(theirs); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("other: user 1 is removed (must be there, as here)")));
  EXPECT_THROW(theirs.merge(ours), std::invalid_argument);
  ours.remove_user("bob");
  ours.update("ann", std::vector{1.0, 0.0}, 1.0);
  theirs.merge(ours);
  EXPECT_EQ(theirs.rewards(), 1);
}

TEST(RemovedUser, does_not_count_in_smoothness) {
  for (const Policy policy : {Policy::gob_lin, Policy::gob_lin_hub}) {
    const Graph path(4, std::vector<Edge>{{0, 1}, {1, 2}, {2, 3}});
    auto bandit = Bandit::make(policy, path, {}, {.dimension = 1});
    const auto never = Bandit::make(policy, without(path, 1), {}, {.dimension = 1});
    bandit.remove_user(1);
    EXPECT_DOUBLE_EQ(bandit.smoothness(std::vector{1.0, 7.0, 2.0, 4.0}), never.smoothness(std::vector{1.0, 2.0, 4.0}));
  }
}

TEST(RemoveUserThatIsRefused, leaves_everything_as_it_was) {
  for (const Policy policy : all_policies) {
    auto bandit = Bandit::make(policy, world().graph, world().clusters_for(policy), options_for(EngineKind::automatic));
    learn(bandit, 0, 40, nobody, same);
    const std::string before = bandit.to_bytes();
    EXPECT_THAT(
        [&] {
          bandit.remove_users(std::array<UserRef, 2>{3, 3});
        },
        ThrowsMessage<UnknownUser>(HasSubstr("users[1]: user: 3 (must not be one who was removed)")));
    EXPECT_THAT([&] { bandit.remove_user(99); },
                ThrowsMessage<UnknownUser>(HasSubstr("user: 99 (must be below the number of users, 13)")));
    bandit.set_progress([](double /*share*/) { throw std::runtime_error("stopped"); });
    EXPECT_THROW(bandit.remove_user(3), std::runtime_error);
    bandit.set_progress({});
    EXPECT_EQ(bandit.to_bytes(), before) << name_of(policy);
  }
  BanditOptions tight = options_for(EngineKind::dense);
  tight.engine.memory_limit = Bandit::estimate_bytes(Policy::gob_lin, world().graph, {}, tight);
  auto full = Bandit::gob_lin(world().graph, tight);
  learn(full, 0, 60, nobody, same);
  const std::string before = full.to_bytes();
  EXPECT_THROW(full.remove_user(3), CapacityError);  // there is no room for a copy
  EXPECT_EQ(full.to_bytes(), before);
}

TEST(RemoveUserThatIsRefused, is_one_whose_evidence_cannot_be_told_apart) {
  for (const Policy policy : policies_with_fixed_nodes()) {
    BanditOptions options = options_for(EngineKind::automatic);
    options.evidence_per_node = true;
    auto bandit = Bandit::make(policy, world().graph, world().clusters_for(policy), options);
    learn(bandit, 0, 10, nobody, same);
    if (has_node_per_user(policy)) {
      bandit.remove_user(3);
    } else {
      EXPECT_THAT([&] { bandit.remove_user(3); }, ThrowsMessage<std::invalid_argument>(
                                                      HasSubstr("evidence_per_node: true (must be false where users")));
    }
  }
}

TEST(RemoveUserFromASharedBandit, lets_others_decide_meanwhile) {
  for (const Policy policy : all_policies) {
    auto bandit = Bandit::make(policy, world().graph, world().clusters_for(policy), options_for(EngineKind::dense));
    learn(bandit, 0, 40, nobody, same);
    SharedBandit shared(bandit);
    const auto contexts = world().round(999).contexts;
    std::atomic<bool> done = false;
    std::jthread decides([&] {
      while (!done) (void)shared.select(0, {contexts, dimension});
    });
    for (const NodeId user : {3, 12}) {
      shared.remove_user(user);
      bandit.remove_user(user);
    }
    shared.remove_users(std::array<UserRef, 2>{5, 6});
    bandit.remove_users(std::array<UserRef, 2>{5, 6});
    done = true;
    EXPECT_EQ(shared.snapshot().to_bytes(), bandit.to_bytes()) << name_of(policy);
    EXPECT_FALSE(shared.has_user(3));
    EXPECT_THROW((void)shared.select(3, {contexts, dimension}), UnknownUser);
    EXPECT_EQ(shared.rewards(), bandit.rewards());
  }
}

TEST(RemoveUsers, tell_progress_that_never_goes_back) {
  const Graph graph = generate::random({.nodes = 60, .edges = 400, .seed = 3});
  for (const Policy policy : {Policy::gob_lin, Policy::gob_lin_hub}) {
    auto bandit = Bandit::make(policy, graph, {}, options_for(EngineKind::sparse));
    for (std::size_t t = 0; t < 120; ++t) {
      const auto angle = static_cast<double>(t);
      const std::array<double, dimension> context{std::sin(angle), std::cos(angle), 0.3, 1.0};
      bandit.update(static_cast<NodeId>(t % 60), context, std::sin(3.0 * angle));
    }
    std::vector<double> told;
    bandit.set_progress([&](double share) { told.push_back(share); });
    const std::array<UserRef, 3> users{2, 12, 7};
    bandit.remove_users(users);
    EXPECT_GT(told.size(), 3);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_EQ(told.back(), 1.0);
    told.clear();
    bandit.remove_user(3);  // told as before
    EXPECT_GT(told.size(), 1);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  }
}

}  // namespace remove_user_test
}  // namespace goblin
