#pragma once

#include "goblin/experiment/cell.hpp"
#include "goblin/experiment/sweep.hpp"

#include <span>
#include <string>
#include <vector>

namespace goblin::experiment {

/// A policy that competes in a study, with what may be tuned about it.
struct Contender {
  std::string name;  ///< of its own within the study
  Policy policy = Policy::gob_lin;
  std::vector<double> alphas;
  std::vector<double> scales = {1.0};
  std::vector<Grouping> groupings = {Grouping{}};
  bool printed_bound = false;
  /// These, one by one, in the place of all of the above but the name.
  std::vector<Setting> given = {};

  /// Those given, or every combination.
  [[nodiscard]] std::vector<Setting> settings() const;
};

/// Contenders in the same world. Each is tuned on its own on the tuning seeds, over fewer rounds perhaps, and reported
/// on the evaluation seeds, which no choice has seen.
struct Study {
  std::string name;   ///< for files: "lastfm"
  std::string title;  ///< for people: "Last.fm"
  Condition condition;
  std::vector<Contender> contenders;
  std::vector<std::uint64_t> tuning_seeds;
  std::vector<std::uint64_t> evaluation_seeds;
  std::uint64_t tuning_rounds = 0;
  /// Tuning in two heats: all settings of a contender play the first tuning seed, and those that did best there, a
  /// quarter of them but three at least, play the others. Saves a third, where most settings are far behind.
  bool in_heats = false;
  std::uint64_t rounds = 0;
  /// So many settings, those that tuned best, are run on the evaluation seeds: the first is the contender's result, the
  /// others are for the best in hindsight. every_setting: all of them.
  std::size_t finalists = 1;
  static constexpr std::size_t every_setting = static_cast<std::size_t>(-1);
  /// The best in hindsight in two heats: the finalists behind the first play so many evaluation seeds, and those of
  /// them that did best there, a third but three at least, play the others, too. 0: all play all. Saves half, where
  /// finalists are many.
  std::size_t first_heat_seeds = 0;
};

struct Finalist {
  Setting setting;
  /// The mean normalized reward on the tuning seeds that it played; none where there was nothing to choose.
  std::optional<double> tuning;
  std::vector<Outcome> outcomes;  ///< one for each evaluation seed that it played

  /// Of the normalized rewards at the end.
  [[nodiscard]] Estimate estimate() const;
};

/// How a contender did.
struct Entry {
  std::string name;
  /// The best on the tuning seeds first, before all that played fewer of them; of equals, the earlier setting.
  std::vector<Finalist> finalists;

  [[nodiscard]] const Finalist& tuned() const { return finalists.front(); }
  /// Of the finalists that played all evaluation seeds, the one that did best on them: the paper's way of choosing.
  [[nodiscard]] const Finalist& hindsight() const;
};

struct StudyResult {
  Study study;
  std::vector<Entry> entries;  ///< in the order of the contenders

  [[nodiscard]] const Entry& entry(std::string_view name) const;
};

/// How many cells the studies have, those for tuning and those for the evaluation.
[[nodiscard]] std::size_t cell_count(std::span<const Study> studies);

/// The worlds of the studies, each once: what another process needs to run their cells.
[[nodiscard]] std::vector<Condition> conditions_of(std::span<const Study> studies);

/// Tunes and evaluates. Nothing if it was stopped, or if cells of other shards are missing; what was finished by then
/// is in the store.
[[nodiscard]] std::optional<std::vector<StudyResult>> run_studies(std::span<const Study> studies,
                                                                  const CellStore& store, const RunOptions& options);

}  // namespace goblin::experiment
