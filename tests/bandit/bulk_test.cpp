// Many rewards at once: whatever way an engine takes and however a log is cut, the belief is that of N = A (x) I + sum
// of phi phi^T, computed here with more digits.

#include "goblin/bandit/bandit.hpp"
#include "goblin/error.hpp"
#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"
#include "oracle/inverse.hpp"
#include "oracle/printed_algorithm.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

namespace goblin {
namespace bulk_test {

using Eigen::Index;
using oracle::Matrix;
using oracle::Vector;

struct Setting {
  std::string name;
  Graph graph;
  std::size_t dimension = 3;
  std::size_t rewards = 500;
  double length = 1.0;  // of contexts, in sqrt(ridge)
  double ridge = 1.0;
  double coupling = 1.0;
  bool ridge_per_node = false;
  std::size_t users_with_rewards = 1000;  // the first of them
  double tolerance = 1e-8;
  double determinant_tolerance = 0.0;  // where it is another

  [[nodiscard]] BanditOptions options(const EngineOptions& engine) const {
    BanditOptions result{.dimension = dimension, .alpha = 0.3, .ridge = ridge, .coupling = coupling, .engine = engine};
    for (std::size_t user = 0; ridge_per_node && user < graph.node_count(); ++user) {
      result.node_ridges.push_back(ridge * (1.0 + static_cast<double>(user * user % 7)));
    }
    return result;
  }
};

Graph random_graph(std::size_t nodes, std::size_t edges, double low = 1.0, double high = 1.0) {
  return generate::random(
      {.nodes = nodes, .edges = edges, .lowest_weight = low, .highest_weight = high, .seed = nodes});
}

Graph with_hub(std::size_t nodes) {
  std::vector<Edge> edges;
  for (NodeId user = 1; user < nodes; ++user) {
    edges.push_back({0, user, 1.0});
    edges.push_back({user, static_cast<NodeId>(user % (nodes - 1) + 1), 0.5});
  }
  return {nodes, edges};
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  all.push_back({.name = "thin", .graph = random_graph(60, 120), .dimension = 8, .rewards = 100});
  all.push_back({.name = "thick", .graph = random_graph(40, 90), .dimension = 5, .rewards = 3000});
  all.push_back({.name = "one_user_again_and_again",
                 .graph = random_graph(30, 60),
                 .dimension = 4,
                 .rewards = 900,
                 .users_with_rewards = 1});
  all.push_back({.name = "ridge_per_node",
                 .graph = random_graph(50, 100, 0.05, 6.0),
                 .ridge = 0.3,
                 .coupling = 2.5,
                 .ridge_per_node = true});
  all.push_back({.name = "small_ridge", .graph = random_graph(50, 100), .length = 30.0, .ridge = 1e-3});
  all.push_back({.name = "hub", .graph = with_hub(120), .dimension = 4, .rewards = 700});
  all.push_back({.name = "one_dimension", .graph = random_graph(70, 150), .dimension = 1});
  all.push_back({.name = "more_than_eight_packs", .graph = random_graph(12, 20), .dimension = 37, .rewards = 600});
  all.push_back({.name = "one_node", .graph = Graph(1), .dimension = 6, .rewards = 700});
  all.push_back({.name = "several_components", .graph = generate::cliques(4, 6), .dimension = 4, .rewards = 400});
  all.push_back({.name = "everybody_knows_everybody", .graph = generate::cliques(1, 40), .dimension = 6});
  all.push_back(
      {.name = "long_contexts", .graph = random_graph(20, 40), .dimension = 4, .length = 1e3, .tolerance = 1e-7});
  all.push_back({.name = "longest_contexts",
                 .graph = random_graph(20, 40),
                 .dimension = 4,
                 .length = 29'999.0,
                 .tolerance = 1e-6});
  all.push_back({.name = "heavy_edges",
                 .graph = random_graph(20, 40, 1e4, 1e4),
                 .dimension = 4,
                 .length = 100.0,
                 .tolerance = 1e-6});
  // At the end of what sparse admits ln|M| depends on the order of the rewards, one by one too.
  all.push_back({.name = "heaviest_edges_and_longest_contexts",
                 .graph = random_graph(20, 40, 1.0, 3e5),
                 .dimension = 4,
                 .length = 29'999.0,
                 .tolerance = 3e-6,
                 .determinant_tolerance = 1e-4});
  return all;
}

struct Event {
  NodeId user;
  std::vector<double> context;
  double reward;
};

std::vector<Event> events_of(const Setting& setting) {
  std::vector<Event> events;
  const std::size_t users = std::min(setting.users_with_rewards, setting.graph.node_count());
  for (std::size_t t = 0; t < setting.rewards; ++t) {
    Random random(3, 0, t);
    Event event{.user = static_cast<NodeId>(random.below(users)), .context = {}, .reward = random.normal()};
    double squared = 0.0;
    for (std::size_t k = 0; k < setting.dimension; ++k) {
      event.context.push_back(random.normal());
      squared += event.context.back() * event.context.back();
    }
    // Some say nothing, and some the same as the one before.
    double length = t % 17 == 16 ? 0.0 : setting.length * std::sqrt(setting.ridge) * (1.0 - 0.5 * random.uniform());
    if (t % 50 == 0) length = setting.length * std::sqrt(setting.ridge);
    for (double& value : event.context) value *= length / std::sqrt(squared);
    if (t % 13 == 12) event = events.back();
    events.push_back(std::move(event));
  }
  return events;
}

/// What is believed, with more digits than a double has.
struct Truth {
  Matrix inverse;
  Vector mean;
  long double log_determinant = 0.0L;

  Truth(const Setting& setting, const std::vector<Event>& events) {
    const auto d = static_cast<Index>(setting.dimension);
    const auto n = static_cast<Index>(setting.graph.node_count());
    const auto options = setting.options({});
    Matrix precision = Matrix::Zero(n * d, n * d);
    for (Index i = 0; i < n; ++i) {
      const double ridge =
          options.node_ridges.empty() ? setting.ridge : options.node_ridges[static_cast<std::size_t>(i)];
      precision.block(i * d, i * d, d, d).diagonal().setConstant(ridge);
    }
    for (const Edge& edge : setting.graph.edges()) {
      const auto a = static_cast<Index>(edge.a) * d;
      const auto b = static_cast<Index>(edge.b) * d;
      for (Index k = 0; k < d; ++k) {
        const long double weight = static_cast<long double>(setting.coupling) * edge.weight;
        precision(a + k, a + k) += weight;
        precision(b + k, b + k) += weight;
        precision(a + k, b + k) -= weight;
        precision(b + k, a + k) -= weight;
      }
    }
    log_determinant = -oracle::log_determinant_of(precision);
    Vector rewards = Vector::Zero(n * d);
    for (const Event& event : events) {
      const auto first = static_cast<Index>(event.user) * d;
      const Vector x = Eigen::Map<const Eigen::VectorXd>(event.context.data(), d).cast<long double>();
      precision.block(first, first, d, d) += x * x.transpose();
      rewards.segment(first, d) += static_cast<long double>(event.reward) * x;
    }
    log_determinant += oracle::log_determinant_of(precision);
    inverse = oracle::inverse_of(precision);
    mean = inverse * rewards;
  }
};

void expect_belief(const Bandit& bandit, const Setting& setting, const Truth& truth) {
  const auto d = static_cast<Index>(setting.dimension);
  double largest_mean = 0.0;
  for (Index k = 0; k < truth.mean.size(); ++k) {
    largest_mean = std::max(largest_mean, static_cast<double>(std::abs(truth.mean[k])));
  }
  for (NodeId user = 0; user < setting.graph.node_count(); ++user) {
    const auto first = static_cast<Index>(user) * d;
    const auto mean = bandit.mean(user);
    for (Index k = 0; k < d; ++k) {
      ASSERT_NEAR(mean[static_cast<std::size_t>(k)], static_cast<double>(truth.mean[first + k]),
                  setting.tolerance * largest_mean)
          << "user " << user;
    }
    const auto covariance = bandit.covariance(user);
    const Matrix block = truth.inverse.block(first, first, d, d);
    const auto largest = static_cast<double>(block.cwiseAbs().maxCoeff());
    for (Index k = 0; k < d * d; ++k) {
      ASSERT_NEAR(covariance[static_cast<std::size_t>(k)], static_cast<double>(block.data()[k]),
                  setting.tolerance * largest)
          << "user " << user;
    }
  }
  EXPECT_NEAR(bandit.log_determinant(), static_cast<double>(truth.log_determinant),
              std::max(setting.tolerance, setting.determinant_tolerance) *
                  std::max(1.0, static_cast<double>(truth.log_determinant)));
}

Bandit learned(const Setting& setting, const std::vector<Event>& events, const EngineOptions& engine,
               std::size_t batch_size) {
  auto bandit = Bandit::gob_lin(setting.graph, setting.options(engine));
  for (std::size_t first = 0; first < events.size(); first += batch_size) {
    std::vector<Observation> batch;
    for (std::size_t t = first; t < std::min(first + batch_size, events.size()); ++t) {
      batch.push_back({events[t].user, events[t].context, events[t].reward});
    }
    const auto summary = bandit.update(batch);
    EXPECT_TRUE(summary.converged || setting.tolerance > 1e-8);
  }
  EXPECT_EQ(bandit.rewards(), events.size());
  return bandit;
}

class Bulk : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Bulk, the_belief_does_not_depend_on_how_the_log_is_cut) {
  const Setting setting = settings()[GetParam()];
  const auto events = events_of(setting);
  const Truth truth(setting, events);
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse}) {
    EngineOptions engine{.kind = kind, .threads = 2};
    // Without memory to spare, sparse does not invert N but solves for many columns at once.
    for (const bool to_spare : {true, false}) {
      if (!to_spare && kind == EngineKind::dense) continue;
      for (const std::size_t batch_size : {std::size_t{1}, std::size_t{7}, std::size_t{64}, events.size()}) {
        if (batch_size == 1 && !to_spare) continue;
        SCOPED_TRACE(std::string(name_of(kind)) + ", batches of " + std::to_string(batch_size) +
                     (to_spare ? "" : ", no memory to spare"));
        engine.memory_limit = 0;
        if (to_spare) {
          expect_belief(learned(setting, events, engine, batch_size), setting, truth);
          continue;
        }
        engine.memory_limit = Bandit::estimate_bytes(Policy::gob_lin, setting.graph, {}, setting.options(engine));
        for (bool done = false; !done;) {
          try {
            expect_belief(learned(setting, events, engine, batch_size), setting, truth);
            done = true;
          } catch (const CapacityError& error) {
            engine.memory_limit += error.bytes_needed() - error.bytes_available();  // just enough
          }
        }
      }
    }
  }
}

/// A belief that began in one way and went on in another is the same, too, and so is one that is computed anew.
TEST_P(Bulk, ways_follow_each_other) {
  const Setting setting = settings()[GetParam()];
  const auto events = events_of(setting);
  const Truth truth(setting, events);
  for (const EngineKind kind : {EngineKind::dense, EngineKind::sparse}) {
    SCOPED_TRACE(name_of(kind));
    auto bandit = Bandit::gob_lin(setting.graph, setting.options({.kind = kind, .threads = 1}));
    std::size_t first = 0;
    for (const std::size_t size : {std::size_t{5}, events.size() / 2, std::size_t{3}, std::size_t{20}, events.size()}) {
      std::vector<Observation> batch;
      for (; batch.size() < size && first < events.size(); ++first) {
        batch.push_back({events[first].user, events[first].context, events[first].reward});
      }
      bandit.update(batch);
    }
    expect_belief(bandit, setting, truth);
    EXPECT_TRUE(bandit.rebuild().converged);
    expect_belief(bandit, setting, truth);
  }
}

TEST_P(Bulk, the_number_of_threads_changes_no_bit) {
  const Setting setting = settings()[GetParam()];
  const auto events = events_of(setting);
  for (const std::size_t batch_size : {std::size_t{64}, events.size()}) {
    const Bandit one = learned(setting, events, {.kind = EngineKind::sparse, .threads = 1}, batch_size);
    const Bandit three = learned(setting, events, {.kind = EngineKind::sparse, .threads = 3}, batch_size);
    for (NodeId user = 0; user < setting.graph.node_count(); ++user) {
      ASSERT_EQ(one.mean(user), three.mean(user));
      ASSERT_EQ(one.covariance(user), three.covariance(user));
    }
    EXPECT_EQ(one.log_determinant(), three.log_determinant());
  }
}

TEST_P(Bulk, scores_are_those_of_the_printed_algorithm) {
  const Setting setting = settings()[GetParam()];
  if (setting.length > 100.0 || setting.tolerance > 1e-8) return;  // the oracle works with plain doubles
  const auto events = events_of(setting);
  const auto options = setting.options({.kind = EngineKind::sparse});
  oracle::PrintedAlgorithm printed(setting.graph, options);
  for (const Event& event : events) printed.update(event.user, event.context, event.reward);
  const Bandit bandit = learned(setting, events, {.kind = EngineKind::sparse}, events.size());
  for (NodeId user = 0; user < setting.graph.node_count(); ++user) {
    const Decision decision = bandit.select(user, {events.front().context, setting.dimension});
    const Decision expected = printed.select(user, events.front().context);
    EXPECT_NEAR(decision.scores[0], expected.scores[0], 1e-6 * std::max(1.0, std::abs(expected.scores[0])));
  }
  EXPECT_NEAR(bandit.log_determinant(), printed.log_determinant(), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(all, Bulk, ::testing::Range<std::size_t>(0, settings().size()),
                         [](const auto& test) { return settings()[test.param].name; });

}  // namespace bulk_test
}  // namespace goblin
