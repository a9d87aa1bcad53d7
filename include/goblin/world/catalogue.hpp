#pragma once

#include "goblin/data/dataset.hpp"
#include "goblin/world/world.hpp"

#include <memory>

namespace goblin::world {

struct CatalogueOptions {
  /// Candidates in a round.
  std::size_t arms = 25;
  std::uint64_t seed = 0;
  std::uint64_t repetition = 0;
};

/// The users and items of a dataset, the paper's way: a user uniformly at random, one item that pays something for that
/// user, and arms - 1 others at random from all items, no item twice, in random order. Payoffs are those of the data,
/// so the average payoff of the set is exact; others than the one may pay too. Users whom nothing pays are never drawn.
class Catalogue final : public World {
 public:
  /// Throws std::invalid_argument if there are fewer items than arms, or no payoffs at all.
  Catalogue(data::Dataset data, const CatalogueOptions& options = {});
  /// Shares the data, which many repetitions can do.
  Catalogue(std::shared_ptr<const data::Dataset> data, const CatalogueOptions& options);

  using World::round;
  [[nodiscard]] std::string_view name() const override { return data_->name; }
  [[nodiscard]] const Graph& graph() const override { return data_->graph; }
  [[nodiscard]] std::size_t dimension() const override { return data_->contexts.dimension; }
  [[nodiscard]] const Names* items() const override { return &data_->items; }
  [[nodiscard]] const data::ItemContexts* item_contexts() const override { return &data_->contexts; }
  [[nodiscard]] std::uint64_t seed() const override { return options_.seed; }
  [[nodiscard]] std::uint64_t repetition() const override { return options_.repetition; }
  void round(std::uint64_t t, Round& round) const override;

 private:
  std::shared_ptr<const data::Dataset> data_;
  CatalogueOptions options_;
  std::vector<NodeId> users_;  // whom something pays
};

}  // namespace goblin::world
