#include "belief/engine_factory.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace goblin {
namespace progressive_means_test {

/// After every batch, the means are those of a bandit that learned the same.
TEST(ProgressiveMeans, are_those_of_a_bandit) {
  constexpr std::size_t d = 4;
  const Graph graph = generate::communities({.nodes = 30, .communities = 2, .average_degree = 3, .seed = 1}).graph;
  for (const double coupling : {0.1, 100.0}) {
    const auto means = engine_factory().progressive_means(PriorMatrix(graph, 0.5, coupling), d);
    auto bandit = Bandit::gob_lin(graph, {.dimension = d, .ridge = 0.5, .coupling = coupling});
    Random random(7);
    std::vector<double> context(d);
    for (int batch = 0; batch < 6; ++batch) {
      for (int row = 0; row < 1 + 20 * batch; ++row) {
        for (double& number : context) number = random.normal();
        const auto user = static_cast<NodeId>(random.below(30));
        const double reward = random.normal();
        means->learn(user, context, reward);
        bandit.update(user, context, reward);
      }
      means->settle(1e-5);
      for (NodeId user = 0; user < 30; ++user) {
        EXPECT_NEAR(means->mean(user, context), bandit.select(user, {context, d}).means[0], 1e-4);
      }
    }
  }
}

}  // namespace progressive_means_test
}  // namespace goblin
