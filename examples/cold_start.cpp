// A user who has just joined: no reward of her own yet, but friends. The bandit is saved, loaded and grown while it
// runs.

#include <goblin/bandit/bandit.hpp>
#include <goblin/graph/generators.hpp>
#include <goblin/random.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <vector>

int main() {
  constexpr std::size_t dimension = 5;
  constexpr std::size_t arms = 10;
  const goblin::Graph graph = goblin::generate::cliques(2, 20);
  auto bandit = goblin::Bandit::gob_lin(graph, {.dimension = dimension, .alpha = 0.1});

  // Each clique likes one coordinate and dislikes another.
  const auto payoff = [](std::size_t user, std::span<const double> item) {
    return user < 20 ? item[0] - item[1] : item[2] - item[3];
  };
  const auto items = [](std::uint64_t round) {
    goblin::Random random(1, 0, round);
    std::vector<double> numbers(arms * dimension);
    for (double& value : numbers) value = random.uniform(-1.0, 1.0) / std::sqrt(5.0);
    return numbers;
  };
  goblin::Decision decision;
  for (std::uint64_t round = 0; round < 2000; ++round) {
    const std::size_t user = round * 7 % 40;
    const auto offered = items(round);
    bandit.select(user, {offered, dimension}, {}, decision);
    const auto item = std::span(offered).subspan(decision.arm * dimension, dimension);
    bandit.update(user, item, payoff(user, item));
  }

  const auto file = std::filesystem::temp_directory_path() / "goblin-example-cold-start.model";
  bandit.save(file);
  auto served = goblin::Bandit::load(file);
  std::filesystem::remove(file);

  const goblin::NodeId dora = served.add_user();  // 40, knows nobody
  const auto offered = items(5000);
  const auto share_of_best = [&] {
    served.select(dora, {offered, dimension}, {}, decision);
    double best = 0.0;
    for (std::size_t arm = 0; arm < arms; ++arm) {
      best = std::max(best, payoff(0, std::span(offered).subspan(arm * dimension, dimension)));
    }
    return payoff(0, std::span(offered).subspan(decision.arm * dimension, dimension)) / best;
  };
  const double before = share_of_best();
  for (const int other : {3, 8, 12}) served.add_edge(dora, other);
  const double after = share_of_best();
  std::cout << "Dora's first pick, of the best there is: " << 100.0 * before << " % as a stranger, " << 100.0 * after
            << " % with three friends\n";
  return after > 0.99 ? 0 : 1;
}
