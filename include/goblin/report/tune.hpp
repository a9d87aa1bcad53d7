#pragma once

#include "goblin/offline/tune.hpp"
#include "goblin/report/figure.hpp"
#include "goblin/report/page.hpp"

#include <string>
#include <vector>

/// The report of `goblin tune`.
namespace goblin::report {

struct TuneReport {
  const offline::TuneResult& result;
  std::vector<DrawnFigure> figures;
  std::string command;             ///< that makes the report
  std::vector<std::string> ready;  ///< command lines with the settings that were chosen
  std::string version;
};

/// The verdict, the policies with their settings and errors, and the alphas that were tried, for a terminal.
[[nodiscard]] std::string tune_table(const offline::TuneResult& result);

/// "tune-error": squared error against the share of the log, "tune-gain": how many users gain how much.
[[nodiscard]] std::vector<Figure> tune_figures(const offline::TuneResult& result);

/// The whole report as one HTML page that needs nothing else.
[[nodiscard]] std::string tune_page(const TuneReport& report);

}  // namespace goblin::report
