#pragma once

#include "goblin/data/dataset.hpp"
#include "goblin/experiment/paper.hpp"
#include "goblin/experiment/study.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// All policies and all ways to choose, in the same worlds and tuned with the same budget.
namespace goblin::experiment::rivals {

struct Options {
  /// The real data sets; none leaves that one out. 4Cliques and the drifting world are always played.
  std::shared_ptr<const data::Dataset> lastfm = {};
  std::shared_ptr<const data::Dataset> delicious = {};
  /// Fewer worlds, rounds, seeds and settings, to see what there is.
  bool quick = false;
  /// Other numbers of rounds and of evaluation seeds than those of the full or the quick run.
  std::optional<std::uint64_t> rounds = {};
  std::optional<std::size_t> seeds = {};
};

/// Everybody is compared with this contender.
inline constexpr std::string_view reference = "gob.lin";

/// The noise of the world whose vectors change: so many pairs of users are flipped, and payoffs are off by up to so
/// much.
inline constexpr double drift_graph_noise = 100.0;
inline constexpr double drift_payoff_noise = 0.25;

/// Contenders that answer the same question, beside the reference.
struct Question {
  std::string name;  ///< in a word or two: "graph"
  std::string text;  ///< for people: "Does the social graph pay?"
  std::vector<std::string> contenders;
};

struct Plan {
  Options options;
  /// How many settings each contender may try in each world.
  std::size_t budget = 0;
  std::vector<Question> questions;
  /// 4Cliques: graph noise after graph noise, in each the payoff noise ascending.
  std::vector<paper::GridStudy> grid;
  /// "drift", and then "lastfm" and "delicious" where there are data.
  std::vector<Study> others;

  [[nodiscard]] std::size_t cell_count() const;
  /// All worlds that cells are played in.
  [[nodiscard]] std::vector<Condition> conditions() const;
  /// Roughly what running all of it takes one core, in seconds, from what a round took on one machine.
  [[nodiscard]] double rough_seconds() const;
};

[[nodiscard]] Plan plan(const Options& options);

/// The first `count` different points of the Halton sequence over a grid: of each point, which of its values every axis
/// takes. The sequence starts at 1 and has base 2 for the first axis, 3 for the second and so on through the primes, so
/// that every axis is covered evenly from the first points on. Throws std::invalid_argument if the grid has fewer
/// points, an axis has no values, or there are more than six axes.
[[nodiscard]] std::vector<std::vector<std::size_t>> halton_points(const std::vector<std::size_t>& axis_sizes,
                                                                  std::size_t count);

struct Results {
  Plan plan;
  std::vector<paper::GridResult> grid;
  std::vector<StudyResult> others;

  /// Those of the grid and then the others.
  [[nodiscard]] std::vector<const StudyResult*> all() const;
};

/// Runs all that the store does not have. Nothing if it was stopped.
[[nodiscard]] std::optional<Results> run(const Plan& plan, const CellStore& store, const RunOptions& options);

}  // namespace goblin::experiment::rivals
