#pragma once

#include "goblin/offline/evaluate.hpp"

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

/// The report of `goblin evaluate`.
namespace goblin::report {

struct EvaluationReport {
  std::vector<offline::Evaluated> results;  ///< one for each bandit, all of the same log; at least one
  std::string events;                       ///< the log's name
  std::size_t lines = 0;                    ///< of the log, that were read
  std::size_t passed_over = 0;              ///< of them, that hold no reward
  std::size_t new_users = 0;                ///< who are not in the graph
  std::string unfinished;                   ///< why this is not the whole log, as a sentence; empty if it is
  std::string command;                      ///< that makes the report
  std::string version;

  [[nodiscard]] const offline::Summary& log() const { return results.front().summary; }
  [[nodiscard]] bool has_decisions() const { return !log().estimates.empty(); }
};

/// "gob.lin", and the exploration where it is not the same for all.
[[nodiscard]] std::string label_of(const EvaluationReport& report, const offline::Evaluated& result);

/// Whether a bandit would earn more than the log, by the interval of the gain of dr: "more", "less", "not decided"
/// (also where that interval says nothing: Evaluated::decidable).
[[nodiscard]] std::string_view verdict_of(const offline::Evaluated& result);

/// The same as a sentence; where the log has no decisions, how well it foretells rewards.
[[nodiscard]] std::string answer_of(const EvaluationReport& report, const offline::Evaluated& result);

/// "0.2412 (0.23 to 0.2523)"; a dash where there is nothing to say
[[nodiscard]] std::string words_of(const offline::Value& value);

/// Numbers, diagnostics and warnings, for a terminal.
[[nodiscard]] std::string evaluation_table(const EvaluationReport& report);

/// All estimates with their intervals, one below the other, and a band for what the log earned: an SVG element.
[[nodiscard]] std::string evaluation_svg(const EvaluationReport& report);

/// The whole report as one HTML page that needs nothing else.
[[nodiscard]] std::string evaluation_page(const EvaluationReport& report);

/// policy,exploration,estimator,value,low,high,gain,gain_low,gain_high,bernstein_low,bernstein_high,clopper_pearson_low,
/// clopper_pearson_high; the first row is that of the log.
void write_evaluation_csv(std::ostream& out, const EvaluationReport& report);

}  // namespace goblin::report
