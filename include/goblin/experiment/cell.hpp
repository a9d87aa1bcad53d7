#pragma once

#include "goblin/bandit/exploration.hpp"
#include "goblin/bandit/policy.hpp"
#include "goblin/bandit/policy_options.hpp"
#include "goblin/shard.hpp"
#include "goblin/world/world.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goblin::experiment {

/// A world at any seed, for all cells that play in it.
struct Condition {
  /// What the cells' files go by: two conditions with the same key must be the same world, so that the key of one that
  /// is made from data has to hold a checksum of the data. Letters, digits, '.', '-' and '/'.
  std::string key;
  std::function<std::shared_ptr<const world::World>(std::uint64_t seed)> world_at;
  /// Whether the graph is the same at every seed; its clusterings are then made once.
  bool fixed_graph = false;
};

/// How users are grouped for the policies with clusters: so many clusters, or clusters of so many users on average. One
/// of the two; none for other policies.
struct Grouping {
  std::size_t clusters = 0;
  std::size_t cluster_size = 0;
  /// Clusters of about the same size, as Graclus makes them: cluster::Options::imbalance is then this, else the
  /// default.
  bool balanced = false;
  static constexpr double balanced_imbalance = 1.2;

  [[nodiscard]] bool operator==(const Grouping&) const = default;
};

/// "50 clusters", "20 users each", "50 clusters (balanced)"; empty for none.
[[nodiscard]] std::string name_of(const Grouping& grouping);

/// A policy with all that can be tuned about it.
struct Setting {
  Policy policy = Policy::gob_lin;
  double alpha = 0.1;
  /// All contexts times this; done by dividing by scale^2 what A has: PolicyInfo::usual_ridge, the coupling
  /// and HubOptions. That is the same.
  double scale = 1.0;
  Grouping grouping = {};
  /// The confidence bound of the paper's Figures 1 and 2 in the place of alpha, with the true norm and noise. For
  /// worlds with known vectors and policies with a node for every user.
  bool printed_bound = false;
  /// In the place of alpha, if it is set.
  std::optional<Exploration> exploration = {};
  /// How strongly friends are drawn to each other; 0: not at all.
  double coupling = 1.0;
  /// What one policy has that the others have not, as in BanditOptions.
  Laplacian laplacian = Laplacian::combinatorial;
  HubOptions hub = {};
  HashOptions hash = {};
  ClubOptions club = {};
  DynucbOptions dynucb = {};
  Forgetting forgetting = {};

  [[nodiscard]] bool operator==(const Setting&) const = default;
};

/// The rule that a setting chooses by: "ucb:0.1", "thompson:0.2", or "printed_bound" with the true norm and noise.
[[nodiscard]] std::string exploration_of(const Setting& setting);

/// What differs from the defaults beside policy, rule, scale and grouping, as names and values: "window" and "500".
[[nodiscard]] std::vector<std::pair<std::string_view, std::string>> options_of(const Setting& setting);

/// One simulation.
struct Cell {
  const Condition* condition = nullptr;
  Setting setting;
  std::uint64_t seed = 0;
  std::uint64_t rounds = 0;
};

/// The sums up to a round.
struct Point {
  std::uint64_t round = 0;
  double reward = 0.0;
  double random_reward = 0.0;
  double log_determinant = 0.0;
  std::optional<double> regret = {};
  std::optional<double> regret_bound = {};  ///< Theorem 1 up to here

  /// The paper's measure: the sum of a_t - (average payoff at t).
  [[nodiscard]] double normalized_reward() const { return reward - random_reward; }
};

/// What a cell found: about a hundred points, the last of them at the last round.
struct Outcome {
  std::vector<Point> curve;
  /// For the simulation alone. Not known where the file with the costs was lost.
  std::optional<double> seconds;
  /// Of the bandit at the end, with the graph and the evidence. Not known where the seconds are not.
  std::optional<std::uint64_t> bytes;

  [[nodiscard]] const Point& last() const { return curve.back(); }
  [[nodiscard]] double normalized_reward() const { return last().normalized_reward(); }
};

/// Finished cells as files in a folder: CONDITION/SETTING/rounds-T-seed-S.cell holds what was found, which is the same
/// on every run, and .costs beside it the time and the memory it took, which may not be. Each is written all at once or
/// not at all, has a checksum, and says which goblin wrote it: what another version found is not taken, the cell is run
/// again.
class CellStore {
 public:
  /// Makes the folder. Throws std::system_error if nothing can be written there.
  explicit CellStore(std::filesystem::path folder);

  /// Nothing if there is no such file, or if it is damaged or of another version: the cell is then to be run again.
  /// Where only the file with the costs is so, they are not known.
  [[nodiscard]] std::optional<Outcome> load(const Cell& cell) const;
  /// Throws std::system_error if it cannot be written.
  void save(const Cell& cell, const Outcome& outcome) const;
  [[nodiscard]] std::filesystem::path path(const Cell& cell) const;

 private:
  [[nodiscard]] std::filesystem::path costs_path(const Cell& cell) const;

  std::filesystem::path folder_;
};

struct RunOptions {
  std::size_t threads = 1;
  /// Of several runs that share a store; each runs its own part of the cells.
  Shard shard = {};
  /// Seconds since some moment; the library has no clock of its own.
  std::function<double()> clock = {};
  /// Asked after every round, from several threads; false stops. Cells that were not finished leave nothing behind.
  std::function<bool()> keep_going = {};
  /// Called after every cell, from several threads, with whether it was found in the store.
  std::function<void(bool found)> on_cell = {};
  /// Runs its own cells somewhere else, in other processes say: gets those that the store does not have, and calls
  /// done(k, outcome) for each, from one thread. False stops.
  using Done = std::function<void(std::size_t k, const Outcome& outcome)>;
  std::function<bool(std::span<const Cell> cells, const Done& done)> elsewhere = {};
  /// Called with the cells of other shards that are still not there when this one has run its own.
  std::function<void(std::span<const Cell> missing)> on_missing = {};
};

/// Runs the cells that the store does not have, and saves each as it ends: outcomes in the order of the cells. Nothing
/// if it was stopped, or if cells of other shards are missing. What an outcome is does not depend on the threads, on
/// the shards or on what was there before. Throws std::invalid_argument if there is no such shard.
[[nodiscard]] std::optional<std::vector<Outcome>> run_cells(std::span<const Cell> cells, const CellStore& store,
                                                            const RunOptions& options);

}  // namespace goblin::experiment
