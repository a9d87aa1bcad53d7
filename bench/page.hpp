#pragma once

#include "goblin/report/page.hpp"
#include "measurement.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goblin::bench {

/// A line's exponent, where its panel is about growth.
struct Fit {
  std::string figure;
  std::string panel;
  std::string line;
  double exponent = 0.0;
};

/// The figures that the measurements give: those of which nothing was measured are left out. Where a panel is
/// about growth, lines of three points and more carry their exponents in the label; `fits` has the same numbers.
[[nodiscard]] std::vector<report::Figure> figures_of(std::span<const Measurement> measurements,
                                                     std::vector<Fit>* fits = nullptr);

/// Everything that was measured, where and from what: docs/performance.md says what the fields mean.
[[nodiscard]] std::string json_of(const Setup& setup, std::span<const Measurement> measurements);

/// One HTML page that needs nothing else. `served` is what ./dev bench serve found, as HTML; it puts that in its place
/// on a page that is there already, too.
[[nodiscard]] std::string page_of(const Setup& setup, std::span<const Measurement> measurements,
                                  std::span<const report::DrawnFigure> figures, std::string_view served = {});

/// results.json, index.html and an SVG for each figure, into a folder that is made where it is missing. Without gnuplot
/// there are no figures. The page has what served.html in that folder has.
void write_results(const Setup& setup, std::span<const Measurement> measurements, const std::filesystem::path& folder);

}  // namespace goblin::bench
