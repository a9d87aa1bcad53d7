// club and dynucb against the formulas, written down plainly and computed anew in every round.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/bandit/shared_bandit.hpp"
#include "goblin/error.hpp"
#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <Eigen/Dense>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin {
namespace online_clusters_test {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::size_t d = 3;
constexpr double ridge = 0.7;
constexpr double alpha = 0.2;

double uncertainty(std::size_t rewards) {
  const auto t = static_cast<double>(rewards);
  return std::sqrt((1.0 + std::log(1.0 + t)) / (1.0 + t));
}

/// What the two have in common: a LinUCB on the summed evidence of everybody in the user's cluster.
class Plain {
 public:
  explicit Plain(std::size_t users) { resize(users); }
  virtual ~Plain() = default;

  void learn(std::size_t user, std::span<const double> context, double reward) {
    const VectorXd x = Eigen::Map<const VectorXd>(context.data(), d);
    contexts[user] += x * x.transpose();
    rewards[user] += reward * x;
    ++counts[user];
    ++total;
    follow(user);
  }
  [[nodiscard]] std::vector<double> scores(std::size_t user, std::span<const double> numbers) const {
    MatrixXd m = ridge * MatrixXd::Identity(d, d);
    VectorXd c = VectorXd::Zero(d);
    for (std::size_t other = 0; other < labels.size(); ++other) {
      if (labels[other] != labels[user]) continue;
      m += contexts[other];
      c += rewards[other];
    }
    const MatrixXd inverse = m.inverse();
    std::vector<double> result;
    for (std::size_t k = 0; k < numbers.size(); k += d) {
      const VectorXd x = Eigen::Map<const VectorXd>(numbers.data() + k, d);
      const double t = static_cast<double>(total) + 1.0;
      result.push_back(x.dot(inverse * c) + alpha * std::sqrt(x.dot(inverse * x) * std::log(t + 1.0)));
    }
    return result;
  }
  [[nodiscard]] VectorXd own(std::size_t user) const {
    return (ridge * MatrixXd::Identity(d, d) + contexts[user]).inverse() * rewards[user];
  }
  void resize(std::size_t users) {
    contexts.resize(users, MatrixXd::Zero(d, d));
    rewards.resize(users, VectorXd::Zero(d));
    counts.resize(users, 0);
    labels.resize(users, 0);
  }

  std::vector<MatrixXd> contexts;
  std::vector<VectorXd> rewards;
  std::vector<std::size_t> counts;
  std::vector<NodeId> labels;
  std::size_t total = 0;

 private:
  virtual void follow(std::size_t user) = 0;
};

class PlainClub final : public Plain {
 public:
  PlainClub(const Graph& graph, double the_separation) : Plain(graph.node_count()), separation_(the_separation) {
    for (const Edge& edge : graph.edges()) edges.insert({edge.a, edge.b});
    label();
  }
  void label() {
    std::vector<Edge> left;
    for (const auto& [a, b] : edges) left.push_back({a, b});
    const Components components = Graph(labels.size(), left).components();
    for (NodeId user = 0; user < labels.size(); ++user) labels[user] = components.of(user);
  }
  std::set<std::pair<NodeId, NodeId>> edges;

 private:
  void follow(std::size_t user) override {
    std::erase_if(edges, [&](const auto& edge) {
      if (edge.first != user && edge.second != user) return false;
      const double distance = (own(edge.first) - own(edge.second)).norm();
      return distance > separation_ * (uncertainty(counts[edge.first]) + uncertainty(counts[edge.second]));
    });
    label();
  }
  double separation_;
};

class PlainDynucb final : public Plain {
 public:
  PlainDynucb(std::size_t users, std::size_t clusters) : Plain(users), clusters_(clusters) {}

 private:
  void follow(std::size_t user) override {
    const VectorXd mine = own(user);
    double nearest = std::numeric_limits<double>::infinity();
    NodeId to = 0;
    for (NodeId cluster = 0; cluster < clusters_; ++cluster) {
      VectorXd sum = VectorXd::Zero(d);
      double members = 0.0;
      for (std::size_t other = 0; other < labels.size(); ++other) {
        if (labels[other] != cluster) continue;
        sum += own(other);
        members += 1.0;
      }
      const double distance = (mine - sum / members).squaredNorm();  // not a number where nobody is
      if (distance < nearest) {
        nearest = distance;
        to = cluster;
      }
    }
    labels[user] = to;
  }
  std::size_t clusters_;
};

/// Users of three tastes, by their number modulo 3.
struct World {
  struct Round {
    NodeId user;
    std::vector<double> contexts;
    std::vector<double> rewards;
    [[nodiscard]] std::span<const double> context(std::size_t arm) const {
      return std::span(contexts).subspan(arm * d, d);
    }
  };
  [[nodiscard]] static Round round(std::uint64_t t, std::size_t users) {
    Random random(5, 1, t);
    Round round{.user = static_cast<NodeId>(random.below(users)), .contexts = {}, .rewards = {}};
    for (std::size_t arm = 0; arm < 4; ++arm) {
      for (std::size_t k = 0; k < d; ++k) round.contexts.push_back(random.uniform(-1.0, 1.0));
      round.rewards.push_back(round.contexts[arm * d + round.user % 3] + random.uniform(-0.1, 0.1));
    }
    return round;
  }
};

BanditOptions options() { return {.dimension = d, .alpha = alpha, .ridge = ridge}; }

BanditOptions club_options(ClubGraph graph, double separation = 0.3) {
  BanditOptions result = options();
  result.club = {.graph = graph, .separation = separation, .seed = 4};
  return result;
}

BanditOptions dynucb_options(std::size_t clusters) {
  BanditOptions result = options();
  result.dynucb = {.clusters = clusters, .seed = 4};
  return result;
}

constexpr std::size_t crowd = 36;
Graph friends() { return generate::random({.nodes = crowd, .edges = 110, .seed = 8}); }

/// Everybody's cluster by its lowest user, whatever numbers the clusters have.
std::vector<NodeId> by_lowest_user(const std::vector<NodeId>& labels) {
  std::vector<NodeId> result(labels.size());
  for (std::size_t user = 0; user < labels.size(); ++user) {
    result[user] = static_cast<NodeId>(std::find(labels.begin(), labels.end(), labels[user]) - labels.begin());
  }
  return result;
}

std::vector<NodeId> clusters_of(const Bandit& bandit) {
  std::vector<NodeId> labels;
  for (NodeId user = 0; user < bandit.user_count(); ++user) labels.push_back(bandit.cluster(user).value());
  return labels;
}

/// Plays rounds [from, to), choosing as the bandit does, and compares everything in each of them.
void play(Bandit& bandit, Plain& plain, std::size_t from, std::size_t to) {
  for (std::size_t t = from; t < to; ++t) {
    const auto round = World::round(t, bandit.user_count());
    const Decision decision = bandit.select(round.user, {round.contexts, d});
    const auto expected = plain.scores(round.user, round.contexts);
    for (std::size_t arm = 0; arm < expected.size(); ++arm) {
      ASSERT_NEAR(decision.scores[arm], expected[arm], 1e-9) << "round " << t;
    }
    bandit.update(round.user, round.context(decision.arm), round.rewards[decision.arm]);
    plain.learn(round.user, round.context(decision.arm), round.rewards[decision.arm]);
    ASSERT_EQ(by_lowest_user(clusters_of(bandit)), by_lowest_user(plain.labels)) << "round " << t;
  }
}

std::size_t different(std::vector<NodeId> labels) {
  std::sort(labels.begin(), labels.end());
  return static_cast<std::size_t>(std::unique(labels.begin(), labels.end()) - labels.begin());
}

TEST(Club, is_the_formula_round_by_round_on_every_first_graph) {
  const Graph social = friends();
  const double probability = std::min(1.0, 3.0 * std::log(double{crowd}) / double{crowd});
  const std::array<std::pair<ClubGraph, Graph>, 3> cases = {{
      {ClubGraph::social, social},
      {ClubGraph::complete, generate::cliques(1, crowd)},
      {ClubGraph::random, generate::random_pairs(crowd, probability, Random(4))},
  }};
  for (const auto& [kind, first] : cases) {
    SCOPED_TRACE(name_of(kind));
    for (const EngineKind engine : {EngineKind::automatic, EngineKind::sparse}) {
      BanditOptions wanted = club_options(kind);
      wanted.engine.kind = engine;
      auto bandit = Bandit::club(social, wanted);
      PlainClub plain(first, 0.3);
      ASSERT_EQ(by_lowest_user(clusters_of(bandit)), by_lowest_user(plain.labels));
      play(bandit, plain, 0, 700);
      const std::size_t found = different(plain.labels);
      EXPECT_GE(found, 3);  // or nothing was tried
      EXPECT_LT(found, crowd);
      EXPECT_EQ(bandit.summary().clusters, found);
      double log_determinant = 0.0;
      for (const NodeId cluster : std::set(plain.labels.begin(), plain.labels.end())) {
        MatrixXd m = MatrixXd::Identity(d, d);
        for (std::size_t user = 0; user < crowd; ++user) {
          if (plain.labels[user] == cluster) m += plain.contexts[user] / ridge;
        }
        log_determinant += std::log(m.determinant());
      }
      EXPECT_NEAR(bandit.log_determinant(), log_determinant, 1e-8);
    }
  }
}

TEST(Club, finds_the_tastes_in_a_complete_graph) {
  auto bandit = Bandit::club(Graph(12), club_options(ClubGraph::complete, 0.5));
  EXPECT_EQ(bandit.summary().clusters, 1);
  for (std::size_t t = 0; t < 2000; ++t) {
    const auto round = World::round(t, 12);
    bandit.update(round.user, round.context(0), round.rewards[0]);
  }
  EXPECT_EQ(by_lowest_user(clusters_of(bandit)), (std::vector<NodeId>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

TEST(Club, parts_users_above_the_threshold_and_not_at_it) {
  const Graph pair(2, std::vector<Edge>{{0, 1}});
  const double separation = 0.45;
  const std::vector<double> x{1.0};
  for (const bool above : {false, true}) {
    auto bandit = Bandit::club(pair, {.dimension = 1, .club = {.separation = separation}});
    const double threshold = separation * (std::sqrt((1.0 + std::log1p(1.0)) / 2.0) + 1.0);  // T = 1 and T = 0
    const double estimate = above ? std::nextafter(threshold, 2.0) : threshold;
    bandit.update(0, x, 2.0 * estimate);  // w = a / (1 + 1)
    EXPECT_EQ(bandit.summary().clusters, above ? 2 : 1);
    EXPECT_EQ(bandit.cluster(0) == bandit.cluster(1), !above);
  }
}

TEST(Club, never_parts_users_of_whom_nothing_is_known) {
  auto bandit = Bandit::club(generate::cliques(1, 5), {.dimension = 1, .club = {.separation = 0.0}});
  const std::vector<double> x{1.0};
  bandit.update(2, x, 0.0);  // says nothing: w = 0 as it was
  EXPECT_EQ(bandit.summary().clusters, 1);
  bandit.update(2, x, 1.0);
  EXPECT_EQ(by_lowest_user(clusters_of(bandit)), (std::vector<NodeId>{0, 0, 2, 0, 0}));
  const std::vector<double> nothing{0.0};
  bandit.update(3, nothing, 1.0);
  EXPECT_EQ(bandit.summary().clusters, 2);
}

TEST(Club, parts_a_hub_from_all_its_friends_at_once) {
  constexpr NodeId leaves = 3000;
  std::vector<Edge> edges;
  for (NodeId leaf = 1; leaf <= leaves; ++leaf) edges.push_back({0, leaf});
  auto bandit = Bandit::club(Graph(leaves + 1, edges), {.dimension = 1, .club = {.separation = 0.1}});
  const std::vector<double> x{1.0};
  bandit.update(7, x, 0.05);
  bandit.update(0, x, 5.0);
  EXPECT_EQ(bandit.summary().clusters, leaves + 1);
  EXPECT_DOUBLE_EQ(bandit.mean(0)[0], 2.5);
  EXPECT_DOUBLE_EQ(bandit.mean(7)[0], 0.025);
  EXPECT_EQ(bandit.mean(8)[0], 0.0);
}

TEST(Club, follows_the_social_graph) {
  const Graph two_pairs(5, std::vector<Edge>{{0, 1}, {2, 3}});
  auto bandit = Bandit::club(two_pairs, club_options(ClubGraph::social, 10.0));
  PlainClub plain(two_pairs, 10.0);
  play(bandit, plain, 0, 40);
  EXPECT_EQ(by_lowest_user(clusters_of(bandit)), (std::vector<NodeId>{0, 0, 2, 2, 4}));
  bandit.add_edge(3, 1, 0.5);
  plain.edges.insert({1, 3});
  plain.label();
  play(bandit, plain, 40, 80);
  EXPECT_EQ(by_lowest_user(clusters_of(bandit)), (std::vector<NodeId>{0, 0, 0, 0, 4}));
  EXPECT_EQ(bandit.summary().clusters, 2);
  bandit.update_edges(std::vector<EdgeChange>{{0, 1, 0.0}, {4, 1}, {1, 3, 0.0}, {2, 4}});
  plain.edges = {{1, 4}, {2, 3}, {2, 4}};
  plain.label();
  play(bandit, plain, 80, 120);
  EXPECT_EQ(by_lowest_user(clusters_of(bandit)), (std::vector<NodeId>{0, 1, 1, 1, 1}));
  EXPECT_EQ(bandit.node_count(), 3);  // numbers of clusters are used again

  // Once rewards have parted two friends, more of the same friendship does not join them.
  auto parted = Bandit::club(two_pairs, club_options(ClubGraph::social, 0.0));
  const auto round = World::round(0, 1);
  parted.update(0, round.context(0), 1.0);
  EXPECT_NE(parted.cluster(0), parted.cluster(1));
  parted.add_edge(0, 1);
  EXPECT_NE(parted.cluster(0), parted.cluster(1));
  parted.remove_edge(0, 1);
  EXPECT_EQ(parted.summary().clusters, 4);
  parted.add_edge(0, 1);  // friends anew
  EXPECT_EQ(parted.cluster(0), parted.cluster(1));

  // The other graphs have nothing to do with friends.
  for (const ClubGraph kind : {ClubGraph::complete, ClubGraph::random}) {
    auto other = Bandit::club(Graph(4), club_options(kind));
    const auto before = clusters_of(other);
    const NodeId joined = other.add_user();
    other.add_edge(joined, 0);
    EXPECT_EQ(other.graph().edge_count(), 1);
    EXPECT_NE(other.cluster(joined), other.cluster(0));
    other.remove_edge(joined, 0);
    auto now = clusters_of(other);
    now.pop_back();
    EXPECT_EQ(now, before);
  }
}

TEST(Club, users_who_join_are_alone_until_they_have_friends) {
  const Graph social = friends();
  auto bandit = Bandit::club(social, club_options(ClubGraph::social));
  PlainClub plain(social, 0.3);
  play(bandit, plain, 0, 150);
  for (NodeId user = crowd; user < crowd + 6; ++user) {
    EXPECT_EQ(bandit.add_user(), user);
    plain.resize(user + 1);
    plain.label();
    play(bandit, plain, 150 + 20 * user, 160 + 20 * user);
    bandit.add_edge(user, user % 7);
    bandit.add_edge(user - 1, user);
    plain.edges.insert({user % 7, user});
    plain.edges.insert({user - 1, user});
    plain.label();
    play(bandit, plain, 160 + 20 * user, 170 + 20 * user);
  }
}

TEST(Dynucb, is_the_formula_round_by_round) {
  for (const std::size_t clusters : {1, 2, 5, 60}) {
    SCOPED_TRACE(clusters);
    for (const EngineKind engine : {EngineKind::automatic, EngineKind::sparse}) {
      BanditOptions wanted = dynucb_options(clusters);
      wanted.engine.kind = engine;
      auto bandit = Bandit::dynucb(friends(), wanted);
      PlainDynucb plain(crowd, clusters);
      plain.labels = clusters_of(bandit);
      EXPECT_EQ(bandit.node_count(), clusters);
      play(bandit, plain, 0, 500);
      EXPECT_EQ(clusters_of(bandit), plain.labels);
      for (NodeId user = crowd; user < crowd + 4; ++user) {
        EXPECT_EQ(bandit.add_user(), user);
        plain.resize(user + 1);
        plain.labels[user] = bandit.cluster(user).value();
        play(bandit, plain, 500 + 20 * user, 520 + 20 * user);
      }
      EXPECT_EQ(bandit.node_count(), clusters);
      EXPECT_EQ(bandit.summary().clusters, different(plain.labels));
    }
  }
}

TEST(Dynucb, puts_users_into_clusters_by_seed_and_number) {
  const auto at_first = [](std::size_t users, std::uint64_t seed) {
    return clusters_of(Bandit::dynucb(Graph(users), {.dimension = 1, .dynucb = {.clusters = 4, .seed = seed}}));
  };
  const auto labels = at_first(1000, 3);
  EXPECT_NE(labels, at_first(1000, 4));
  for (NodeId cluster = 0; cluster < 4; ++cluster) {
    EXPECT_NEAR(static_cast<double>(std::count(labels.begin(), labels.end(), cluster)), 250.0, 60.0);
  }
  // Whether they come at first or later.
  auto grown = Bandit::dynucb(Graph(10), {.dimension = 1, .dynucb = {.clusters = 4, .seed = 3}});
  while (grown.user_count() < 1000) grown.add_user();
  EXPECT_EQ(clusters_of(grown), labels);
}

TEST(Dynucb, of_equals_takes_the_lowest_and_of_empty_clusters_none) {
  // With one user a cluster, whose own estimate is the centroid. A user of whom nothing is known is like another.
  const std::vector<double> x{1.0};
  BanditOptions wanted{.dimension = 1};
  wanted.dynucb = {.clusters = 50, .seed = 1};
  auto bandit = Bandit::dynucb(Graph(3), wanted);
  std::vector<NodeId> labels = clusters_of(bandit);
  ASSERT_EQ(different(labels), 3);
  const NodeId lowest = *std::min_element(labels.begin(), labels.end());
  for (NodeId user = 0; user < 3; ++user) bandit.update(user, x, 0.0);
  EXPECT_EQ(clusters_of(bandit), std::vector<NodeId>(3, lowest));
  bandit.update(1, x, 9.0);  // farther from the others than from nobody, but nobody has no centroid
  EXPECT_EQ(clusters_of(bandit), std::vector<NodeId>(3, lowest));
}

TEST(Dynucb, sums_stay_exact_over_many_rewards) {
  auto bandit = Bandit::dynucb(Graph(12), dynucb_options(3));
  PlainDynucb plain(12, 3);
  plain.labels = clusters_of(bandit);
  play(bandit, plain, 0, 6000);
}

/// Both, and what they have learned so far.
std::vector<std::pair<std::string, Bandit>> both() {
  std::vector<std::pair<std::string, Bandit>> result;
  result.emplace_back("club, social", Bandit::club(friends(), club_options(ClubGraph::social)));
  result.emplace_back("club, complete", Bandit::club(friends(), club_options(ClubGraph::complete)));
  result.emplace_back("club, random", Bandit::club(friends(), club_options(ClubGraph::random)));
  result.emplace_back("dynucb", Bandit::dynucb(friends(), dynucb_options(4)));
  return result;
}

struct Log {
  explicit Log(std::size_t count, std::size_t from = 0) {
    for (std::size_t t = 0; t < count; ++t) rounds.push_back(World::round(from + t, crowd));
    for (const auto& round : rounds) {
      batch.push_back({round.user, round.context(0), round.rewards[0]});
      users.push_back(round.user);
      contexts.insert(contexts.end(), round.contexts.begin(), round.contexts.begin() + d);
      rewards.push_back(round.rewards[0]);
    }
  }
  std::vector<World::Round> rounds;
  std::vector<Observation> batch;
  std::vector<NodeId> users;
  std::vector<double> contexts;
  std::vector<double> rewards;
};

TEST(OnlineClusters, do_not_depend_on_how_a_log_is_cut) {
  const Log log(600);
  for (auto& [name, one_by_one] : both()) {
    SCOPED_TRACE(name);
    Bandit halves(one_by_one);
    Bandit sevens(one_by_one);
    Bandit table(one_by_one);
    for (const Observation& one : log.batch) one_by_one.update(one.user, one.context, one.reward);
    const std::string expected = one_by_one.to_bytes();
    halves.update(std::span(log.batch).first(300));
    halves.update(std::span(log.batch).subspan(300));
    EXPECT_EQ(halves.to_bytes(), expected);
    for (std::size_t at = 0; at < 600; at += 7) {
      sevens.update(std::span(log.batch).subspan(at, std::min<std::size_t>(7, 600 - at)));
    }
    EXPECT_EQ(sevens.to_bytes(), expected);
    table.update(RewardTable{.users = log.users, .contexts = log.contexts, .rewards = log.rewards});
    EXPECT_EQ(table.to_bytes(), expected);
  }
}

TEST(OnlineClusters, go_on_from_a_file_as_if_nothing_had_happened) {
  const Log log(900);
  for (auto& [name, made] : both()) {
    SCOPED_TRACE(name);
    Bandit& bandit = made;
    for (std::size_t t = 0; t < 900; ++t) {
      if (t % 90 == 45) bandit.add_edge(t % crowd, (t + 1 + t % 5) % crowd);
      if (t == 500) bandit.add_user();
      bandit.update(log.batch[t].user, log.batch[t].context, log.batch[t].reward);
      if (t % 150 != 149) continue;
      Bandit loaded = Bandit::from_bytes(bandit.to_bytes());
      EXPECT_EQ(loaded.to_bytes(), bandit.to_bytes());
      std::swap(loaded, bandit);  // and the other one goes on here
      for (std::size_t k = t + 1; k < std::min<std::size_t>(t + 60, 900); ++k) {
        loaded.update(log.batch[k].user, log.batch[k].context, log.batch[k].reward);
      }
      Bandit again(bandit);
      for (std::size_t k = t + 1; k < std::min<std::size_t>(t + 60, 900); ++k) {
        again.update(log.batch[k].user, log.batch[k].context, log.batch[k].reward);
      }
      ASSERT_EQ(again.to_bytes(), loaded.to_bytes()) << t;
    }
  }
}

TEST(OnlineClusters, believe_what_macro_does_without_edges) {
  const Log log(800);
  for (auto& [name, made] : both()) {
    SCOPED_TRACE(name);
    Bandit& bandit = made;
    bandit.update(log.batch);
    auto macro = Bandit::gob_lin_macro(Graph(crowd), by_lowest_user(clusters_of(bandit)), options());
    macro.update(log.batch);
    for (NodeId user = 0; user < crowd; ++user) {
      for (std::size_t k = 0; k < d; ++k) EXPECT_NEAR(bandit.mean(user)[k], macro.mean(user)[k], 1e-9);
      for (std::size_t k = 0; k < d * d; ++k) EXPECT_NEAR(bandit.covariance(user)[k], macro.covariance(user)[k], 1e-9);
    }
    EXPECT_NEAR(bandit.log_determinant(), macro.log_determinant(), 1e-8);
    const Explanation why = bandit.explain(3, log.batch[0].context);
    double sum = why.rest;
    for (const Contribution& one : why.contributions) {
      EXPECT_EQ(bandit.cluster(one.user), bandit.cluster(3));
      sum += one.value;
    }
    EXPECT_NEAR(sum, why.mean, 1e-9);
    Bandit rebuilt(bandit);
    rebuilt.rebuild();
    for (std::size_t k = 0; k < d; ++k) EXPECT_NEAR(rebuilt.mean(5)[k], bandit.mean(5)[k], 1e-9);
  }
}

TEST(OnlineClusters, what_is_stopped_half_way_has_not_happened) {
  const Log first(200);
  const Log log(900, 1000);
  for (auto& [name, made] : both()) {
    SCOPED_TRACE(name);
    Bandit& bandit = made;
    bandit.update(first.batch);
    const std::string before = bandit.to_bytes();
    for (const int stop : {1, 3, 4}) {
      int calls = 0;
      bandit.set_progress([&](double) {
        if (++calls == stop) throw std::runtime_error("stopped");
      });
      EXPECT_THROW(bandit.update(log.batch), std::runtime_error);
      EXPECT_EQ(calls, stop);
      EXPECT_EQ(bandit.to_bytes(), before);
    }
    bandit.set_progress({});
    std::vector<Observation> bad = log.batch;
    bad.back().user = 99;
    EXPECT_THROW(bandit.update(bad), UnknownUser);
    const auto refused = [&] { bandit.update_edges(std::vector<EdgeChange>{{0, 1, 2.0}, {0, 3, 1.0}, {5, 5, 1.0}}); };
    EXPECT_THAT(refused, ThrowsMessage<std::invalid_argument>(HasSubstr("edges[2]: edge: joins user 5 to itself")));
    EXPECT_THROW(bandit.add_user("ann"), std::invalid_argument);
    EXPECT_EQ(bandit.to_bytes(), before);
    BanditOptions tight = bandit.options();
    tight.engine.memory_limit = Bandit::estimate_bytes(bandit.policy(), friends(), {}, tight) - 1;
    EXPECT_THROW((void)Bandit::make(bandit.policy(), friends(), {}, tight), CapacityError);
  }
}

TEST(OnlineClusters, say_what_they_cannot_do) {
  for (auto& [name, made] : both()) {
    SCOPED_TRACE(name);
    Bandit& bandit = made;
    const std::string policy(name_of(bandit.policy()));
    const std::string before = bandit.to_bytes();
    EXPECT_THAT([&] { bandit.move_user(0, 1); },
                ThrowsMessage<std::invalid_argument>(
                    "policy: " + policy + " (must be one whose clusters are given: this one moves users itself)"));
    EXPECT_THAT([&] { bandit.merge(Bandit(bandit)); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("policy: " + policy + " (must be one whose clusters")));
    EXPECT_THAT([&] { bandit.add_user({}, 0); }, ThrowsMessage<std::invalid_argument>(HasSubstr("must not be given")));
    EXPECT_EQ(bandit.to_bytes(), before);
    BanditOptions per_node = options();
    per_node.evidence_per_node = true;
    EXPECT_THAT(
        [&] { (void)Bandit::make(bandit.policy(), friends(), {}, per_node); },
        ThrowsMessage<std::invalid_argument>(HasSubstr("evidence_per_node: true (must be false for " + policy)));
    BanditOptions ridges = options();
    ridges.node_ridges.assign(crowd, 1.0);
    EXPECT_THAT([&] { (void)Bandit::make(bandit.policy(), friends(), {}, ridges); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("node_ridges: 36 numbers (must be none for " + policy)));
    EXPECT_THROW((void)Bandit::make(bandit.policy(), friends(), std::vector<NodeId>(crowd, 0), options()),
                 std::invalid_argument);
  }
  EXPECT_THAT(
      [] { (void)Bandit::club(Graph(4001), club_options(ClubGraph::complete)); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("club_graph: complete for 4001 users (must be at most 4000")));
}

TEST(OnlineClusters, need_no_users_at_first) {
  for (const Policy policy : {Policy::club, Policy::dynucb}) {
    for (const ClubGraph graph : {ClubGraph::social, ClubGraph::complete, ClubGraph::random}) {
      auto bandit = Bandit::make(policy, Graph(), {}, club_options(graph));
      EXPECT_EQ(bandit.summary().clusters, 0);
      EXPECT_EQ(bandit.add_user(), 0);
      EXPECT_EQ(bandit.add_user(), 1);
      const auto round = World::round(3, 2);
      bandit.update(1, round.context(0), 0.7);
      EXPECT_GE(bandit.mean(1)[0] * round.contexts[0], 0.0);
      EXPECT_EQ(Bandit::from_bytes(bandit.to_bytes()).to_bytes(), bandit.to_bytes());
    }
  }
}

TEST(OnlineClusters, are_shared_by_threads) {
  const Log log(500);
  for (auto& [name, made] : both()) {
    SCOPED_TRACE(name);
    Bandit& bandit = made;
    SharedBandit shared{Bandit(bandit)};
    {
      std::vector<std::jthread> readers;
      for (int k = 0; k < 2; ++k) {
        readers.emplace_back([&](const std::stop_token& stop) {
          for (std::size_t t = 0; !stop.stop_requested(); ++t) {
            const auto& round = log.rounds[t % 500];
            const Decision decision = shared.select(round.user, {round.contexts, d});
            ASSERT_TRUE(std::isfinite(decision.scores[0]));
          }
        });
      }
      for (std::size_t t = 0; t < 300; ++t) shared.update(log.batch[t].user, log.batch[t].context, log.batch[t].reward);
      shared.add_edge(0, 17);
      shared.add_user();
      shared.update(std::span(log.batch).subspan(300));
    }
    for (std::size_t t = 0; t < 300; ++t) bandit.update(log.batch[t].user, log.batch[t].context, log.batch[t].reward);
    bandit.add_edge(0, 17);
    bandit.add_user();
    bandit.update(std::span(log.batch).subspan(300));
    EXPECT_EQ(shared.snapshot().to_bytes(), bandit.to_bytes());
  }
}

TEST(OnlineClusters, keep_to_the_limits_of_what_is_admitted) {
  // The longest contexts and the smallest ridge.
  for (auto policy : {Policy::club, Policy::dynucb}) {
    BanditOptions wanted{.dimension = d, .alpha = alpha, .ridge = 1e-100};
    wanted.club = {.graph = ClubGraph::complete, .separation = 1e100};
    auto bandit = Bandit::make(policy, Graph(6), {}, wanted);
    for (std::size_t t = 0; t < 200; ++t) {
      auto round = World::round(t, 6);
      for (double& value : round.contexts) value *= 1.7e4 * 1e-50;
      bandit.update(round.user, round.context(0), 1e-10 * round.rewards[0]);
      for (const double value : bandit.mean(round.user)) ASSERT_TRUE(std::isfinite(value));
    }
    EXPECT_EQ(Bandit::from_bytes(bandit.to_bytes()).to_bytes(), bandit.to_bytes());
  }
}

}  // namespace online_clusters_test
}  // namespace goblin
