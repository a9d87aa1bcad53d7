#pragma once

#include "goblin/experiment/rivals.hpp"
#include "goblin/report/claims.hpp"
#include "goblin/report/figure.hpp"
#include "goblin/report/page.hpp"

#include <ostream>
#include <string>
#include <vector>

/// The report of the comparison of rivals.
namespace goblin::report {

/// For each world (Results::all), each contender minus gob.lin, seed by seed, labelled by the contender. The intervals
/// of a world hold together with 95 %. A difference that "holds" is a contender who is ahead of gob.lin.
[[nodiscard]] std::vector<Claim> compare_rivals(const experiment::rivals::Results& results);

/// "ahead", "behind", "not decided"
[[nodiscard]] std::string_view standing_of(Verdict verdict);

/// What the differences say to a question, in sentences: one about all its contenders together, one about each.
struct Answer {
  std::string question;
  std::string together;
  std::vector<std::string> each;
};

[[nodiscard]] std::vector<Answer> answers_of(const experiment::rivals::Results& results,
                                             const std::vector<Claim>& comparisons);

/// "rivals-4cliques" (reward against graph noise), "rivals-drift", "rivals-lastfm", "rivals-delicious" (curves): a
/// panel for each question, and for each payoff noise of the grid.
[[nodiscard]] std::vector<Figure> rivals_figures(const experiment::rivals::Results& results);

struct RivalsReport {
  const experiment::rivals::Results& results;
  std::vector<Claim> comparisons;
  std::vector<DrawnFigure> figures;
  std::string command;  ///< that makes the report
  std::string version;
};

/// The whole report as one HTML page that needs nothing else.
[[nodiscard]] std::string rivals_page(const RivalsReport& report);

/// The answers and the tables as Markdown, for docs/rivals.md.
[[nodiscard]] std::string rivals_markdown(const RivalsReport& report);

/// The answers, for a terminal.
[[nodiscard]] std::string rivals_answers(const RivalsReport& report);

/// One row for each world and contender:
/// study,title,world,contender,policy,alpha,scale,grouping,exploration,options,tuning,seeds,rounds,reward,standard_error,
/// difference,difference_low,difference_high,standing,milliseconds,megabytes; the difference is that to gob.lin.
void write_rivals_csv(std::ostream& out, const RivalsReport& report);

/// As write_results_csv and write_times_csv, a row for each seed.
void write_rivals_results_csv(std::ostream& out, const experiment::rivals::Results& results);
void write_rivals_times_csv(std::ostream& out, const experiment::rivals::Results& results);

}  // namespace goblin::report
