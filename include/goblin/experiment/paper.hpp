#pragma once

#include "goblin/data/dataset.hpp"
#include "goblin/experiment/study.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The Experiments section of the paper, and what goes beyond it, as studies.
namespace goblin::experiment::paper {

/// The data sets in another reading of the preprocessing.
struct OtherReading {
  std::string name;
  std::shared_ptr<const data::Dataset> lastfm = {};
  std::shared_ptr<const data::Dataset> delicious = {};
};

struct Options {
  /// 4Cliques: the grid, Theorem 1 without noise, the cost of graph noise.
  bool cliques = false;
  /// The real data sets; none leaves that part out.
  std::shared_ptr<const data::Dataset> lastfm = {};
  std::shared_ptr<const data::Dataset> delicious = {};
  /// How the preprocessing is read for these, by name.
  std::string reading = {};
  /// Other readings, to be tuned and judged in the same way: without Theorem 1, numbers of clusters, balanced clusters
  /// and hindsight.
  std::vector<OtherReading> others = {};
  /// Fewer rounds, seeds and settings, to see what there is.
  bool quick = false;
  /// Other numbers of rounds and of evaluation seeds than those of the full or the quick run.
  std::optional<std::uint64_t> rounds = {};
  std::optional<std::size_t> seeds = {};
};

/// The contenders: a policy by its name and, for clusters, the reading of the paper's "cluster sizes", with our own
/// clusters or with balanced ones as the paper's Graclus makes them.
inline constexpr std::string_view by_number = " (number of clusters)";
inline constexpr std::string_view by_size = " (users per cluster)";
inline constexpr std::string_view by_number_balanced = " (number of balanced clusters)";
inline constexpr std::string_view by_size_balanced = " (users per balanced cluster)";

/// The paper's algorithm with the width that its experiments take, where gob.lin has that of its Figure 2.
inline constexpr std::string_view simplified_width = "gob.lin (simplified width)";

struct GridStudy {
  double graph_noise = 0.0;   ///< expected number of flipped pairs
  double payoff_noise = 0.0;  ///< largest absolute value
  Study study;
};

struct ReadingStudies {
  std::string name;
  std::vector<Study> datasets;
};

/// What is to be run.
struct Plan {
  Options options;
  std::vector<GridStudy> grid;   ///< graph noise after graph noise, in each the payoff noise ascending
  std::vector<GridStudy> curve;  ///< graph noise ascending
  std::vector<Study> theorem;
  std::vector<Study> datasets;
  std::vector<ReadingStudies> others;
  std::vector<std::size_t> cluster_counts;  ///< for the trade-off, on every data set
  std::size_t trade_off_seeds = 0;

  [[nodiscard]] std::size_t cell_count() const;
  /// All worlds that cells are played in.
  [[nodiscard]] std::vector<Condition> conditions() const;
};

[[nodiscard]] Plan plan(const Options& options);

struct GridResult {
  double graph_noise = 0.0;
  double payoff_noise = 0.0;
  StudyResult result;
};

/// A data set with, for the policies with clusters, the reading that tuned better.
struct DatasetResult {
  StudyResult result;
  std::size_t users = 0;
  /// Reward and time against the number of clusters: contenders "gob.lin.macro 50" and so on, at the alpha and scale
  /// that were tuned for the policy.
  StudyResult trade_off;

  /// By the policy's name alone: of two readings, the one that did better on the tuning seeds.
  [[nodiscard]] const Entry& entry(std::string_view policy) const;
};

/// The data sets in another reading.
struct ReadingResult {
  std::string name;
  std::vector<DatasetResult> datasets;
};

struct Results {
  Plan plan;
  std::vector<GridResult> grid;
  std::vector<GridResult> curve;
  std::vector<StudyResult> theorem;
  std::vector<DatasetResult> datasets;
  std::vector<ReadingResult> others;
};

/// Runs all that the store does not have. Nothing if it was stopped.
[[nodiscard]] std::optional<Results> run(const Plan& plan, const CellStore& store, const RunOptions& options);

/// Edges of 4Cliques before the noise: what graph noise is a share of.
inline constexpr double clique_edges = 1200.0;

}  // namespace goblin::experiment::paper
