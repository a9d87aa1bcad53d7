#include "goblin/world/log.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace goblin::world {

Log::Log(Graph graph, std::size_t dimension, std::vector<Round> rounds)
    : graph_(std::move(graph)), dimension_(dimension), rounds_(std::move(rounds)) {
  for (std::size_t t = 0; t < rounds_.size(); ++t) {
    const Round& round = rounds_[t];
    if (round.user >= graph_.node_count()) {
      throw std::invalid_argument(
          fmt::format("rounds[{}]: user {} (must be below {})", t, round.user, graph_.node_count()));
    }
    const std::size_t arms = round.payoffs.size();
    const bool known = round.expected.empty() || round.expected.size() == arms;
    if (arms == 0 || round.contexts.size() != arms * dimension || !known) {
      throw std::invalid_argument(fmt::format(
          "rounds[{}]: {} context numbers and {} expected payoffs for {} payoffs (must be at least 1 payoff, "
          "{} numbers for each, and an expected payoff for each or none)",
          t, round.contexts.size(), round.expected.size(), arms, dimension));
    }
  }
}

Log Log::record(const World& world, std::uint64_t first, std::uint64_t count) {
  std::vector<Round> rounds(count);
  for (std::uint64_t k = 0; k < count; ++k) world.round(first + k, rounds[k]);
  return {world.graph(), world.dimension(), std::move(rounds)};
}

void Log::round(std::uint64_t t, Round& round) const {
  if (t >= rounds_.size()) throw std::invalid_argument(fmt::format("t: {} (must be below {})", t, rounds_.size()));
  round = rounds_[t];
}

}  // namespace goblin::world
