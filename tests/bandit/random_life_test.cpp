// Users who come and go, friendships, moves, rewards, merging, saving and loading, in any order: what is believed of
// those who are there is always what a bandit believes that was made as things are now, and learned what they said.

#include "bandit/scenario.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/error.hpp"
#include "goblin/random.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace goblin {
namespace random_life_test {

constexpr std::size_t dimension = 2;

struct Way {
  std::string name;
  Policy policy = Policy::gob_lin;
  EngineKind engine = EngineKind::dense;
  Laplacian laplacian = Laplacian::combinatorial;
  Forgetting forgetting = {};
  bool intercept = false;
  bool names = false;
  bool exact = true;  // else with bounds that count
};

struct User {
  bool there = true;
  std::string name;
  NodeId label = 0;
  double ridge = 0.0;  // of a node of one's own
};

struct Reward {
  NodeId user;
  std::vector<double> context;
  double value;
};

class Life {
 public:
  Life(Way way, std::uint64_t seed) : way_(std::move(way)), seed_(seed), bandit_(make_first()) {}

  void step(std::uint64_t t) {
    Random random(seed_, 1, t);
    switch (random.below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        learn(random, 1);
        break;
      case 4:
        learn(random, 1 + random.below(12));
        break;
      case 5:
      case 6:
        add_edge(random);
        break;
      case 7:
        remove_edge(random);
        break;
      case 8:
        if (uses_clusters(way_.policy)) move(random);
        break;
      case 9:
        add_user(random);
        break;
      case 10:
        remove(random);
        break;
      default:
        keep(random);
    }
  }

  void check(std::uint64_t t) {
    SCOPED_TRACE("seed " + std::to_string(seed_) + ", step " + std::to_string(t));
    const auto there = present();
    std::vector<NodeId> place(users_.size(), 0);
    const bool compact = way_.policy != Policy::linucb_hash;
    for (NodeId k = 0; k < there.size(); ++k) place[there[k]] = compact ? k : there[k];
    ASSERT_EQ(bandit_.user_count(), users_.size());
    ASSERT_EQ(bandit_.summary().users, there.size());
    ASSERT_EQ(bandit_.rewards(), counted_);
    ASSERT_EQ(bandit_.graph().edge_count(), weights_.size());
    for (const auto& [ends, weight] : weights_) {
      ASSERT_NEAR(bandit_.graph().weight(ends.first, ends.second), weight, 1e-9 * weight);
    }
    for (NodeId user = 0; user < users_.size(); ++user) {
      ASSERT_EQ(bandit_.has_user(user), users_[user].there);
      if (way_.names && users_[user].there) {
        ASSERT_EQ(bandit_.user(users_[user].name), user);
      }
    }
    if (there.empty()) return;
    const Bandit wanted = expected(there, place, compact);
    std::vector<double> contexts;
    Random random(seed_, 2, t);
    for (std::size_t k = 0; k < 5 * dimension; ++k) contexts.push_back(random.normal() * (k % 2 == 0 ? 1.0 : 0.3));
    const double tolerance = 1e-8;
    for (const NodeId user : there) {
      const auto is = bandit_.select(user, {contexts, dimension});
      auto should_be = wanted.select(place[user], {contexts, dimension});
      for (std::size_t k = 0; k < 5; ++k) {
        // Rewards that were forgotten count in how much uncertainty attracts.
        const auto log_rounds = [](const Bandit& of) { return std::log(static_cast<double>(of.rewards() + 2)); };
        const double more = std::sqrt(log_rounds(bandit_) / log_rounds(wanted));
        should_be.widths[k] *= more;
        should_be.scores[k] = should_be.means[k] + should_be.widths[k];
      }
      for (std::size_t k = 0; k < 5; ++k) {
        if (way_.exact) {
          ASSERT_NEAR(is.means[k], should_be.means[k], tolerance) << user;
          ASSERT_NEAR(is.widths[k], should_be.widths[k], tolerance) << user;
        }
        ASSERT_LE(std::abs(is.scores[k] - should_be.scores[k]), is.bounds[k] + should_be.bounds[k] + tolerance) << user;
      }
      const auto said = bandit_.evidence(user);
      const auto should_have_said = wanted.evidence(place[user]);
      ASSERT_EQ(said.count, should_have_said.count) << user;
      for (std::size_t k = 0; k < said.contexts.size(); ++k) {
        ASSERT_NEAR(said.contexts[k], should_have_said.contexts[k], tolerance);
      }
      const auto why = bandit_.explain(user, std::span(contexts).first(dimension));
      if (way_.exact) {
        ASSERT_NEAR(why.mean, should_be.means[0], 10.0 * tolerance) << user;
      }
    }
    if (way_.exact) {
      ASSERT_NEAR(bandit_.log_determinant(), wanted.log_determinant(), 1e-7);
      if (way_.policy != Policy::linucb_hash && !finds_clusters(way_.policy)) {
        ASSERT_NEAR(bandit_.smoothness(ones(users_.size())), wanted.smoothness(ones(wanted.user_count())), 1e-6);
      }
    }
  }

  [[nodiscard]] const Bandit& bandit() const { return bandit_; }

 private:
  [[nodiscard]] std::vector<double> ones(std::size_t count) const {
    std::vector<double> all;
    for (std::size_t k = 0; k < count * bandit_.weight_count(); ++k) {
      all.push_back(1.0 + 0.1 * static_cast<double>(k % bandit_.weight_count()));
    }
    return all;
  }

  [[nodiscard]] BanditOptions options(EngineKind engine) const {
    BanditOptions options{.dimension = dimension,
                          .intercept = way_.intercept,
                          .alpha = 0.7,
                          .coupling = 1.3,
                          .laplacian = way_.laplacian,
                          .hub = {.weight = 0.6, .ridge = 0.4},
                          .hash = few_buckets,
                          .engine = {.kind = engine}};
    if (way_.exact || engine == EngineKind::dense) {
      options.engine.tolerance = 1e-12;
      options.engine.local = {.tolerance = 1e-12, .most_edges = 1'000'000};
    } else {
      options.engine.local = {.tolerance = 0.02, .most_nodes = 2};
    }
    if (way_.policy != Policy::gob_lin_hub) options.ridge = 0.7;
    return options;
  }

  [[nodiscard]] double usual_ridge() const { return way_.policy == Policy::gob_lin_hub ? 0.01 : 0.7; }

  Bandit make_first() {
    const NodeId count = way_.exact ? 7 : 40;
    BanditOptions options = this->options(way_.engine);
    options.forgetting = way_.forgetting;
    Names names;
    for (NodeId user = 0; user < count; ++user) {
      users_.push_back({.name = "user" + std::to_string(user), .label = user % 3});
      users_.back().ridge = has_ridges() ? 0.3 + 0.1 * (user % 5) : usual_ridge();
      names.insert(users_.back().name);
    }
    if (has_ridges()) {
      for (const User& user : users_) options.node_ridges.push_back(user.ridge);
    }
    std::vector<NodeId> labels;
    for (const User& user : users_) labels.push_back(user.label);
    clusters_ = 3;
    if (!way_.exact) {
      Random random(seed_, 3, 0);
      for (NodeId k = 0; k < 50; ++k) {
        const auto a = static_cast<NodeId>(random.below(count));
        const auto b = static_cast<NodeId>(random.below(count));
        if (a != b) weights_[std::minmax(a, b)] += 0.5 + 0.25 * (k % 3);
      }
    }
    const auto edges = this->edges({});
    return Bandit::make(way_.policy, way_.names ? Graph(std::move(names), edges) : Graph(count, edges),
                        uses_clusters(way_.policy) ? labels : std::vector<NodeId>(), options);
  }

  [[nodiscard]] bool has_ridges() const {
    return way_.policy == Policy::gob_lin || way_.policy == Policy::gob_lin_hub || way_.policy == Policy::linucb_ind;
  }

  [[nodiscard]] std::vector<Edge> edges(const std::vector<NodeId>& place) const {
    std::vector<Edge> all;
    for (const auto& [ends, weight] : weights_) {
      all.push_back(place.empty() ? Edge{ends.first, ends.second, weight}
                                  : Edge{place[ends.first], place[ends.second], weight});
    }
    return all;
  }

  [[nodiscard]] Bandit expected(const std::vector<NodeId>& there, const std::vector<NodeId>& place,
                                bool compact) const {
    BanditOptions options = this->options(EngineKind::dense);
    options.forgetting.discount = way_.forgetting.discount;
    const std::size_t count = compact ? there.size() : users_.size();
    std::vector<NodeId> labels(count, 0);
    if (has_ridges()) options.node_ridges.assign(count, usual_ridge());
    for (const NodeId user : there) {
      labels[place[user]] = users_[user].label;
      if (has_ridges()) options.node_ridges[place[user]] = users_[user].ridge;
    }
    Policy policy = way_.policy;
    Graph graph(count, edges(place));
    if (finds_clusters(policy)) {
      policy = Policy::gob_lin_macro;
      options.coupling = 0.0;
      for (const NodeId user : there) labels[place[user]] = *bandit_.cluster(user);
    }
    std::map<NodeId, NodeId> numbers;  // of clusters, without those that nobody is in
    for (NodeId& label : labels) label = numbers.try_emplace(label, static_cast<NodeId>(numbers.size())).first->second;
    Bandit bandit = Bandit::make(policy, graph, uses_clusters(policy) ? labels : std::vector<NodeId>(), options);
    for (const Reward& reward : rewards_) bandit.update(place[reward.user], reward.context, reward.value);
    return bandit;
  }

  [[nodiscard]] std::vector<NodeId> present() const {
    std::vector<NodeId> all;
    for (NodeId user = 0; user < users_.size(); ++user) {
      if (users_[user].there) all.push_back(user);
    }
    return all;
  }
  [[nodiscard]] std::optional<NodeId> somebody(Random& random) const {
    const auto all = present();
    if (all.empty()) return {};
    return all[random.below(all.size())];
  }

  void note(Reward reward) {
    rewards_.push_back(std::move(reward));
    ++counted_;
    if (way_.forgetting.window > 0 && rewards_.size() > way_.forgetting.window) rewards_.erase(rewards_.begin());
  }

  void learn(Random& random, std::size_t count) {
    std::vector<Reward> some;
    for (std::size_t k = 0; k < count; ++k) {
      const auto user = somebody(random);
      if (!user) return;
      some.push_back({*user, {random.normal(), random.normal()}, random.normal()});
    }
    if (count == 1) {
      bandit_.update(some[0].user, some[0].context, some[0].value);
    } else {
      std::vector<Observation> batch;
      for (const Reward& one : some) batch.push_back({one.user, one.context, one.value});
      bandit_.update(batch);
    }
    for (Reward& one : some) note(std::move(one));
  }

  void add_edge(Random& random) {
    const auto a = somebody(random);
    const auto b = somebody(random);
    if (!a || *a == *b) return;
    const double weight = std::min(way_.exact ? 50.0 : 3.0, std::exp(random.normal()));
    bandit_.add_edge(*a, *b, weight);
    weights_[std::minmax(*a, *b)] += weight;
  }

  void remove_edge(Random& random) {
    if (weights_.empty()) return;
    auto edge = weights_.begin();
    std::advance(edge, random.below(weights_.size()));
    bandit_.remove_edge(edge->first.first, edge->first.second);
    weights_.erase(edge);
  }

  void move(Random& random) {
    const auto user = somebody(random);
    if (!user) return;
    const auto to = static_cast<NodeId>(random.below(std::min<NodeId>(clusters_ + 1, 6)));
    bandit_.move_user(*user, to);
    users_[*user].label = to;
    clusters_ = std::max(clusters_, to + 1);
  }

  void add_user(Random& random) {
    if (present().size() > (way_.exact ? 9 : 45)) return;
    User user;
    user.ridge = usual_ridge();
    if (way_.names) {
      user.name = "user" + std::to_string(random.below(users_.size() + 3));  // sometimes of one who went
      if (bandit_.has_user(user.name)) {
        EXPECT_THROW(bandit_.add_user(user.name), std::invalid_argument);
        return;
      }
    }
    std::optional<NodeId> cluster;
    if (uses_clusters(way_.policy)) {
      cluster = static_cast<NodeId>(random.below(std::min<NodeId>(clusters_ + 1, 6)));
      user.label = *cluster;
      clusters_ = std::max(clusters_, *cluster + 1);
    }
    const NodeId index = bandit_.add_user(user.name, cluster);
    ASSERT_EQ(index, users_.size());
    users_.push_back(user);
  }

  void remove(Random& random) {
    const auto first = somebody(random);
    if (!first) return;
    std::vector<NodeId> gone{*first};
    if (const auto second = somebody(random); random.below(4) == 0 && *second != *first) gone.push_back(*second);
    std::vector<UserRef> refs;
    for (const NodeId user : gone) {
      if (way_.names && random.below(2) == 0) {
        refs.emplace_back(std::string_view(users_[user].name));
      } else {
        refs.emplace_back(user);
      }
    }
    bandit_.remove_users(refs);
    for (const NodeId user : gone) {
      users_[user].there = false;
      std::erase_if(weights_, [&](const auto& edge) { return edge.first.first == user || edge.first.second == user; });
      counted_ -= std::erase_if(rewards_, [&](const Reward& reward) { return reward.user == user; });
      EXPECT_THROW(bandit_.update(user, std::vector<double>(dimension, 1.0), 1.0), UnknownUser);
    }
  }

  void keep(Random& random) {
    if (random.below(3) == 0 && way_.forgetting == Forgetting{} && !finds_clusters(way_.policy) && counted_ < 60) {
      bandit_.merge(Bandit(bandit_));
      const auto twice = rewards_;
      for (const Reward& reward : twice) note(reward);
      return;
    }
    const std::string bytes = bandit_.to_bytes();
    bandit_ = Bandit::from_bytes(bytes);
    // What bounds the residuals of local is found anew, in the last digit.
    const bool may_differ = way_.engine == EngineKind::local || way_.engine == EngineKind::automatic;
    if (!may_differ) {
      ASSERT_EQ(bandit_.to_bytes(), bytes);
    }
  }

  Way way_;
  std::uint64_t seed_;
  std::vector<User> users_;
  std::map<std::pair<NodeId, NodeId>, double> weights_;
  std::vector<Reward> rewards_;
  std::size_t counted_ = 0;
  NodeId clusters_ = 0;
  Bandit bandit_;
};

std::vector<Way> ways() {
  std::vector<Way> all;
  const auto add = [&](Way way) {
    if (!info_of(way.policy).cannot_forget.empty() && way.forgetting != Forgetting{}) return;
    way.name = test_name(way.policy) + "_" + std::string(name_of(way.engine)) + way.name;
    all.push_back(std::move(way));
  };
  for (const Policy policy :
       {Policy::gob_lin, Policy::gob_lin_macro, Policy::gob_lin_block, Policy::gob_lin_hub, Policy::linucb_ind,
        Policy::linucb_sin, Policy::linucb_hash, Policy::club, Policy::dynucb}) {
    for (const EngineKind engine : {EngineKind::dense, EngineKind::sparse, EngineKind::local, EngineKind::automatic}) {
      add({.name = "", .policy = policy, .engine = engine});
      add({.name = "_named", .policy = policy, .engine = engine, .intercept = true, .names = true});
      add({.name = "_window", .policy = policy, .engine = engine, .forgetting = {.window = 15}, .names = true});
      add({.name = "_discount",
           .policy = policy,
           .engine = engine,
           .forgetting = {.discount = 0.9},
           .intercept = true});
    }
  }
  for (const EngineKind engine : {EngineKind::dense, EngineKind::sparse, EngineKind::local}) {
    add({.name = "_normalized", .engine = engine, .laplacian = Laplacian::normalized, .intercept = true});
    add({.name = "_normalized_window",
         .engine = engine,
         .laplacian = Laplacian::normalized,
         .forgetting = {.window = 15},
         .names = true});
  }
  for (const Policy policy : {Policy::gob_lin, Policy::gob_lin_hub}) {
    add({.name = "_bounds", .policy = policy, .engine = EngineKind::local, .exact = false});
    add({.name = "_bounds_window",
         .policy = policy,
         .engine = EngineKind::local,
         .forgetting = {.window = 60},
         .intercept = true,
         .exact = false});
  }
  return all;
}

class RandomLife : public ::testing::TestWithParam<Way> {};

TEST_P(RandomLife, leaves_no_trace) {
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    Life life(GetParam(), seed);
    for (std::uint64_t t = 0; t < 60; ++t) {
      try {
        life.step(t);
      } catch (const std::exception& error) {
        FAIL() << "seed " << seed << ", step " << t << ": " << error.what();
      }
      if (HasFatalFailure()) return;
      if (t % 5 == 4) life.check(t);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, RandomLife, ::testing::ValuesIn(ways()),
                         [](const auto& test) { return test.param.name; });

}  // namespace random_life_test
}  // namespace goblin
