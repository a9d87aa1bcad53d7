#pragma once

#include "goblin/world/world.hpp"

namespace goblin::world {

/// Recorded rounds, replayed. Every candidate's payoff must have been recorded, for a bandit may choose otherwise.
class Log final : public World {
 public:
  /// Throws std::invalid_argument on a round whose user is not in the graph, without candidates, or with a number of
  /// context numbers other than dimension for each payoff.
  Log(Graph graph, std::size_t dimension, std::vector<Round> rounds);

  /// Rounds first, ..., first + count - 1 of another world.
  [[nodiscard]] static Log record(const World& world, std::uint64_t first, std::uint64_t count);

  using World::round;
  [[nodiscard]] std::string_view name() const override { return "log"; }
  [[nodiscard]] const Graph& graph() const override { return graph_; }
  [[nodiscard]] std::size_t dimension() const override { return dimension_; }
  [[nodiscard]] std::uint64_t seed() const override { return 0; }
  [[nodiscard]] std::uint64_t repetition() const override { return 0; }
  [[nodiscard]] std::uint64_t round_count() const override { return rounds_.size(); }
  /// Throws std::invalid_argument if there is no such round.
  void round(std::uint64_t t, Round& round) const override;

 private:
  Graph graph_;
  std::size_t dimension_;
  std::vector<Round> rounds_;
};

}  // namespace goblin::world
