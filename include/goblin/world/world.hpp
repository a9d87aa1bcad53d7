#pragma once

#include "goblin/data/contexts.hpp"
#include "goblin/graph/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace goblin::world {

/// A user, the candidates, and what each of them would pay.
struct Round {
  NodeId user = 0;
  std::vector<NodeId> items;     ///< one a candidate; empty where they have no names
  std::vector<double> contexts;  ///< of one candidate after the other
  std::vector<double> payoffs;   ///< one a candidate, with their noise
  std::vector<double> expected;  ///< the same without the noise; empty where nobody knows

  [[nodiscard]] std::span<const double> context(std::size_t arm) const {
    const std::size_t dimension = contexts.size() / payoffs.size();
    return std::span(contexts).subspan(arm * dimension, dimension);
  }
  /// What a choice at random pays on average.
  [[nodiscard]] double average_payoff() const;
};

/// Payoffs that are u_i.x plus noise, u_i known: what Theorem 1 speaks of.
struct LinearTruth {
  std::span<const double> user_vectors;  ///< user after user
  double noise = 0.0;                    ///< its largest absolute value
  double context_length = 1.0;           ///< no context is longer
};

/// What a bandit plays in. Round t is the same for everybody who asks, whenever and on whatever thread: its random
/// numbers are keyed by (seed, repetition, t).
class World {
 public:
  World() = default;
  World(const World&) = default;
  World& operator=(const World&) = default;
  World(World&&) = default;
  World& operator=(World&&) = default;
  virtual ~World() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual const Graph& graph() const = 0;
  [[nodiscard]] virtual std::size_t dimension() const = 0;
  /// The names of the items that Round::items speaks of; none where there are no items.
  [[nodiscard]] virtual const Names* items() const { return nullptr; }
  /// The contexts of these items; none where there are no items.
  [[nodiscard]] virtual const data::ItemContexts* item_contexts() const { return nullptr; }
  [[nodiscard]] virtual std::uint64_t seed() const = 0;
  [[nodiscard]] virtual std::uint64_t repetition() const = 0;
  /// Rounds are numbered 0, 1, ... up to here; most worlds never end.
  [[nodiscard]] virtual std::uint64_t round_count() const { return std::numeric_limits<std::uint64_t>::max(); }
  [[nodiscard]] virtual std::optional<LinearTruth> truth() const { return std::nullopt; }

  /// Into a round that is used again: no allocation once its vectors are large enough.
  virtual void round(std::uint64_t t, Round& round) const = 0;
  [[nodiscard]] Round round(std::uint64_t t) const;
};

/// Round numbers that no round has, for what is drawn while a world is built, and for the seed of choices in it.
inline constexpr std::uint64_t graph_stream = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t vector_stream = graph_stream - 1;
inline constexpr std::uint64_t choice_stream = graph_stream - 2;

}  // namespace goblin::world
