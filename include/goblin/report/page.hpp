#pragma once

#include "goblin/experiment/paper.hpp"
#include "goblin/report/claims.hpp"
#include "goblin/report/figure.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace goblin::report {

/// A figure and what is drawn of it: for each panel an SVG that can stand in a page.
struct DrawnFigure {
  Figure figure;
  std::vector<std::string> panels;
};

struct Report {
  const experiment::paper::Results& results;
  std::vector<Claim> tuned;      ///< judged with the settings chosen on the tuning seeds
  std::vector<Claim> hindsight;  ///< the same claims with those chosen on the evaluation seeds
  /// The claims about the data sets in every reading that was run, that of the full study first.
  std::vector<ReadingClaims> readings = {};
  std::vector<DrawnFigure> figures;
  std::string command;  ///< that makes the report
  std::string version;
};

/// The whole report as one HTML page that needs nothing else.
[[nodiscard]] std::string page(const Report& report);

/// The claims with their verdicts, for a terminal.
[[nodiscard]] std::string verdict_table(std::span<const Claim> claims);

/// claim,choice,verdict,difference,difference_verdict,seeds,mean,standard_error,low,high,unit,text
void write_verdicts_csv(std::ostream& out, const Report& report);

/// reading,claim,verdict,difference,seeds,mean,standard_error,low,high,unit,text: for each reading and claim, the
/// difference that the verdict hangs on.
void write_readings_csv(std::ostream& out, const Report& report);

/// The claims in all readings, for a terminal: which hold in every reading, in some, in none.
[[nodiscard]] std::string readings_table(const std::vector<ReadingClaims>& readings);

/// One row for each contender, finalist and evaluation seed:
/// study,world,contender,role,policy,alpha,scale,grouping,exploration,options,seed,rounds,reward,random_reward,
/// normalized_reward,regret,regret_bound,log_determinant; the study is grid, graph-noise, theorem, dataset, clusters,
/// or the name of another reading; the role is tuned, hindsight for what would have been better, or other.
void write_results_csv(std::ostream& out, const experiment::paper::Results& results);

/// study,world,contender,policy,alpha,scale,grouping,exploration,options,seed,seconds,bytes: the time and the memory
/// that the simulations took, where that is known.
void write_times_csv(std::ostream& out, const experiment::paper::Results& results);

}  // namespace goblin::report
