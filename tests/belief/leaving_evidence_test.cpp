// Evidence that leaves again, one reward or many, in any order with rewards, batches and edges: the engine local stays
// within the bounds it proves, and so does ln|M|. The engine dense is the oracle.

#include "belief/engine_factory.hpp"
#include "binary.hpp"
#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace goblin {
namespace leaving_evidence_test {

struct LeavingCase {
  std::string name;
  std::size_t dimension = 3;
  LocalOptions local = {};
  double ridge = 1.0;
  double coupling = 1.0;
  double context_scale = 1.0;
  bool many_ridges = false;  // between a tenth of the ridge and the ridge
  double rounding = 1e-8;
};

std::vector<LeavingCase> leaving_cases() {
  return {
      {.name = "nearly_whole"},
      {.name = "few_nodes", .local = {.most_nodes = 16}},
      {.name = "one_number", .dimension = 1, .local = {.most_nodes = 16}},
      {.name = "ten_numbers", .dimension = 10, .local = {.most_nodes = 10}},
      {.name = "little_ridge", .local = {.most_nodes = 12}, .ridge = 0.05, .coupling = 2.0},
      {.name = "ridge_for_each_node", .local = {.tolerance = 0.01, .most_nodes = 16}, .many_ridges = true},
      {.name = "long_contexts", .local = {.most_nodes = 16}, .context_scale = 300.0, .rounding = 1e-6},
      {.name = "short_contexts", .local = {.tolerance = 0.1, .most_nodes = 16}, .context_scale = 0.01},
      {.name = "no_time", .local = {.most_nodes = 16, .most_edges = 40}},
  };
}

/// Both engines, the rewards they have learned, and the weight that each has left.
class LeavingEvidence : public ::testing::TestWithParam<std::size_t> {
 protected:
  struct Reward {
    NodeId node;
    std::vector<double> context;
    double reward;
    double weight = 1.0;
  };
  static constexpr std::size_t nodes = 150;

  const LeavingCase test = leaving_cases()[GetParam()];
  const std::size_t d = test.dimension;
  Evidence evidence{d, nodes};
  std::vector<NodeId> all_nodes = std::vector<NodeId>(nodes);
  std::vector<std::unique_ptr<Engine>> engines;  // local, dense
  std::vector<Engine::Changed> changed = std::vector<Engine::Changed>(2);
  std::vector<Reward> rewards;
  Random random{11};

  void SetUp() override {
    std::iota(all_nodes.begin(), all_nodes.end(), NodeId{0});
    std::vector<double> ridges(nodes, test.ridge);
    for (std::size_t node = 0; test.many_ridges && node < nodes; ++node) {
      ridges[node] *= 0.1 + 0.9 * static_cast<double>(node * 7 % 11) / 10.0;
    }
    const Graph graph =
        generate::communities({.nodes = nodes, .communities = 3, .average_degree = 10, .seed = 3}).graph;
    const PriorMatrix prior(graph, ridges, test.coupling);
    for (const EngineKind kind : {EngineKind::local, EngineKind::dense}) {
      engines.push_back(engine_factory().make(kind, prior, d, {.local = test.local}));
    }
  }

  [[nodiscard]] ComponentEvidence of_all() const { return {evidence, all_nodes}; }
  [[nodiscard]] std::vector<double> context() {
    std::vector<double> numbers(d);
    for (double& number : numbers) number = test.context_scale * random.normal() / std::sqrt(static_cast<double>(d));
    return numbers;
  }
  Reward new_reward() { return {static_cast<NodeId>(random.below(nodes)), context(), random.normal()}; }

  void add(Evidence& to, const Reward& one, double weight) const {
    std::vector<double> scaled = one.context;
    for (double& number : scaled) number *= std::sqrt(weight);
    to.add(one.node, scaled, std::sqrt(weight) * one.reward);
  }
  /// The evidence of a node, summed anew.
  void sum_up(NodeId node) {
    evidence.clear(node);
    for (const Reward& one : rewards) {
      if (one.node == node) add(evidence, one, one.weight);
    }
  }

  template <typename Change>
  void both(Change change) {
    for (std::size_t k = 0; k < 2; ++k) changed[k].add(change(*engines[k]));
  }

  void learn() {
    const Reward one = new_reward();
    rewards.push_back(one);
    both([&](Engine& engine) { return engine.learn(one.node, one.context, one.reward).change(); });
    add(evidence, one, 1.0);
  }
  void learn_many(std::size_t count) {
    std::vector<Reward> batch;
    for (std::size_t k = 0; k < count; ++k) batch.push_back(new_reward());
    std::sort(batch.begin(), batch.end(), [](const Reward& a, const Reward& b) { return a.node < b.node; });
    std::vector<NodeReward> lessons;
    for (const Reward& one : batch) {
      add(evidence, one, 1.0);
      lessons.push_back({one.node, one.context.data(), one.reward});
    }
    both([&](Engine& engine) { return engine.learn_many(lessons, of_all(), {}); });
    rewards.insert(rewards.end(), batch.begin(), batch.end());
  }
  /// Changes the weights of some rewards of a node by these amounts, all of them up or all down.
  void reweigh(NodeId node, const std::vector<std::pair<std::size_t, double>>& amounts, int sign) {
    Evidence sums(d, nodes);
    for (const auto& [k, amount] : amounts) {
      add(sums, rewards[k], amount);
      rewards[k].weight += sign * amount;
    }
    std::erase_if(rewards, [](const Reward& one) { return one.weight <= 0.0; });
    sum_up(node);
    both([&](Engine& engine) { return engine.change_evidence(node, sums.at(node), sign, of_all()); });
  }
  void forget_oldest() { reweigh(rewards.front().node, {{0, rewards.front().weight}}, -1); }
  /// All rewards of a node lose or gain a share of what they say; those with none left are gone.
  void scale(NodeId node, double share, int sign) {
    std::vector<std::pair<std::size_t, double>> amounts;
    for (std::size_t k = 0; k < rewards.size(); ++k) {
      if (rewards[k].node == node) amounts.emplace_back(k, share * rewards[k].weight);
    }
    if (!amounts.empty()) reweigh(node, amounts, sign);
  }
  void change_edge() {
    const auto a = static_cast<NodeId>(random.below(nodes));
    const auto b = static_cast<NodeId>((a + 1 + random.below(nodes - 1)) % nodes);
    const Edge edge{a, b, random.uniform(0.1, 3.0)};
    both([&](Engine& engine) { return engine.set_edges(std::span(&edge, 1), of_all(), {}); });
  }

  void save_and_load() {
    std::vector<char> bytes;
    BinaryWriter out([&](const char* from, std::size_t count) { bytes.insert(bytes.end(), from, from + count); });
    engines[0]->save(out);
    BinaryReader in(bytes, "engine");
    engines[0] = engine_factory().load(in, EngineKind::local, engines[0]->prior(), d, {.local = test.local});
  }

  struct Known {
    explicit Known(std::size_t count) : means(count), variances(count), mean_errors(count), variance_errors(count) {}
    std::vector<double> means, variances, mean_errors, variance_errors;
  };
  [[nodiscard]] Known known(const Engine& engine, NodeId node, const std::vector<double>& contexts) const {
    Known result(contexts.size() / d);
    engine.evaluate(node, contexts, {},
                    {.means = result.means,
                     .variances = result.variances,
                     .mean_errors = result.mean_errors,
                     .variance_errors = result.variance_errors});
    return result;
  }
  void compare(const std::string& after) {
    for (std::size_t k = 0; k < 4; ++k) {
      const auto node = static_cast<NodeId>(random.below(nodes));
      std::vector<double> contexts;
      for (std::size_t arm = 0; arm < 3; ++arm) {
        const auto one = context();
        contexts.insert(contexts.end(), one.begin(), one.end());
      }
      const Known local = known(*engines[0], node, contexts);
      const Known exact = known(*engines[1], node, contexts);
      for (std::size_t arm = 0; arm < 3; ++arm) {
        const double mean_slack = test.rounding * (1.0 + std::abs(exact.means[arm]));
        ASSERT_LE(std::abs(local.means[arm] - exact.means[arm]), local.mean_errors[arm] + mean_slack) << after;
        const double slack = test.rounding * (exact.variances[arm] + 1e-3);
        ASSERT_GE(local.variances[arm], exact.variances[arm] - slack) << after;
        ASSERT_LE(local.variances[arm] - local.variance_errors[arm], exact.variances[arm] + slack) << after;
      }
    }
    ASSERT_LE(changed[1].log_determinant, changed[0].log_determinant + 1e-6) << after;
    ASSERT_GE(changed[1].log_determinant, changed[0].log_determinant - changed[0].error - 1e-6) << after;
  }
  /// What is kept about all nodes together is what computing it anew gives. With short contexts what is said about them
  /// ends at a bound that depends on the past.
  void expect_same_when_made_anew() {
    if (test.context_scale < 1.0) return;
    const auto copy = engines[0]->extract(all_nodes, of_all());
    for (NodeId node = 0; node < nodes; node += 10) {
      const auto x = context();
      const Known kept = known(*engines[0], node, x);
      const Known anew = known(*copy, node, x);
      EXPECT_NEAR(kept.means[0], anew.means[0], 1e-7 * (1.0 + test.context_scale));
      EXPECT_NEAR(kept.variances[0], anew.variances[0], test.rounding * (kept.variances[0] + 1e-3));
    }
  }
};

TEST_P(LeavingEvidence, stays_within_the_bounds) {
  for (std::size_t step = 0; step < 400; ++step) {
    const std::size_t what = random.below(100);
    const auto node = static_cast<NodeId>(random.below(nodes));
    if (step == 150) {
      learn_many(1100);
    } else if (step == 250) {
      for (const auto& engine : engines) engine->rebuild(of_all(), {});
    } else if (what < 40 || rewards.empty()) {
      learn();
    } else if (what < 75) {
      forget_oldest();
    } else if (what < 82) {
      scale(node, 1.0, -1);
    } else if (what < 88) {
      scale(node, 0.3, -1);
    } else if (what < 92) {
      scale(node, 0.5, 1);
    } else if (what < 96) {
      learn_many(10);
    } else {
      change_edge();
    }
    compare("step " + std::to_string(step) + ", " + std::to_string(what));
    if (HasFatalFailure()) return;
    if (step % 50 == 49) expect_same_when_made_anew();
    if (step % 20 == 19) save_and_load();
  }
}

TEST_P(LeavingEvidence, leaves_nothing_behind) {
  for (std::size_t k = 0; k < 60; ++k) learn();
  while (!rewards.empty()) forget_oldest();
  compare("the last one");
  for (NodeId node = 0; node < nodes; node += 7) {
    const auto x = context();
    const Known local = known(*engines[0], node, x);
    EXPECT_NEAR(local.means[0], 0.0, local.mean_errors[0] + test.rounding);
  }
  EXPECT_LE(changed[0].log_determinant - changed[0].error, 1e-9);
  EXPECT_GE(changed[0].log_determinant, -1e-9);
}

INSTANTIATE_TEST_SUITE_P(all, LeavingEvidence, ::testing::Range<std::size_t>(0, leaving_cases().size()),
                         [](const auto& test) { return leaving_cases()[test.param].name; });

}  // namespace leaving_evidence_test
}  // namespace goblin
