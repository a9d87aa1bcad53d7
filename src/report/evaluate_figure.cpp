#include "goblin/report/evaluate.hpp"
#include "goblin/report/figure.hpp"
#include "goblin/report/html.hpp"
#include "report/figure_parts.hpp"
#include "report/page_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace goblin::report {
namespace {

using offline::Evaluated;

constexpr double width = 760.0;
constexpr double left = 130.0;   // of the axis
constexpr double right = 650.0;  // the numbers stand after it
constexpr double row_height = 24.0;
constexpr double head_height = 34.0;  // of a policy's name
constexpr double margin = 12.0;

/// What the axis shows.
struct Axis {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void include(const offline::Value& value) {
    include(value.value);
    include(value.interval.low);
    include(value.interval.high);
  }
  [[nodiscard]] double at(double value) const { return left + (right - left) * (value - low) / (high - low); }
};

Axis axis_of(const EvaluationReport& report) {
  Axis axis;
  axis.include(report.log().log);
  for (const Evaluated& result : report.results) {
    for (const offline::Estimate& each : result.summary.estimates) axis.include(each.value);
  }
  const double air = axis.high > axis.low ? 0.04 * (axis.high - axis.low) : 1.0;
  return {axis.low - air, axis.high + air};
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text, std::string_view style = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, style,
                     html_escaped(text));
}

/// A dot with its interval, and its number at the right border.
std::string row_at(double y, const Axis& axis, const offline::Estimate& estimate, std::string_view colour) {
  std::string text = text_at(left - 10.0, y + 4.0, "end", name_of(estimate.estimator));
  const offline::Value& value = estimate.value;
  if (!std::isfinite(value.value)) return text + text_at(right + 12.0, y + 4.0, "start", "-");
  if (std::isfinite(value.interval.low)) {
    append(text, "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"3\"/>\n",
           axis.at(value.interval.low), y, axis.at(value.interval.high), y, colour);
  }
  // What the bandit says of itself is no evidence: its dot is hollow.
  const bool hollow = estimate.estimator == offline::Estimator::dm;
  append(text, "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\"{} stroke=\"{}\" stroke-width=\"2\"/>\n",
         axis.at(value.value), y, hollow ? "white" : colour, hollow ? " style=\"fill: var(--back, white)\"" : "",
         colour);
  return text + text_at(right + 12.0, y + 4.0, "start", fmt::format("{:.4g}", value.value));
}

}  // namespace

std::string evaluation_svg(const EvaluationReport& report) {
  const Axis axis = axis_of(report);
  const auto policies = static_cast<double>(report.results.size());
  const double bottom =
      margin + policies * (head_height + row_height * static_cast<double>(offline::estimator_table.size()));
  const double height = bottom + 44.0;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" font-family=\"sans-serif\" "
      "font-size=\"13\" "
      "fill=\"currentColor\" role=\"img\" aria-label=\"Estimates of every policy with their intervals, and what the "
      "log "
      "earned itself\">\n",
      width, height);
  const offline::Value& log = report.log().log;
  if (std::isfinite(log.interval.low)) {
    append(
        text,
        "<rect x=\"{:.1f}\" y=\"{:g}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"currentColor\" opacity=\"0.12\"/>\n",
        axis.at(log.interval.low), margin, axis.at(log.interval.high) - axis.at(log.interval.low), bottom - margin);
  }
  append(text,
         "<line x1=\"{0:.1f}\" y1=\"{1:g}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"currentColor\" "
         "stroke-dasharray=\"5 4\"/>\n",
         axis.at(log.value), margin, bottom);
  double y = margin;
  for (const Evaluated& result : report.results) {
    text += text_at(6.0, y + head_height - 12.0, "start", label_of(report, result), " font-weight=\"600\"");
    y += head_height;
    for (const offline::Estimate& each : result.summary.estimates) {
      text += row_at(y + row_height / 2.0 - 4.0, axis, each, colour_of(result.policy));
      y += row_height;
    }
  }
  append(text, "<line x1=\"{:g}\" y1=\"{:.1f}\" x2=\"{:g}\" y2=\"{:.1f}\" stroke=\"currentColor\"/>\n", left, bottom,
         right, bottom);
  const double step = tic_step(axis.high - axis.low);
  const auto first = std::llround(std::ceil(axis.low / step));
  const auto last = std::llround(std::floor(axis.high / step));
  for (auto number = first; number <= last; ++number) {
    const double tic = static_cast<double>(number) * step;
    append(text, "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"currentColor\"/>\n",
           axis.at(tic), bottom, bottom + 5.0);
    text += text_at(axis.at(tic), bottom + 19.0, "middle", fmt::format("{:.6g}", tic));
  }
  text += text_at((left + right) / 2.0, bottom + 38.0, "middle", "reward a decision; dashed: what the log earned");
  return text + "</svg>";
}

}  // namespace goblin::report
