#include "goblin/report/tune.hpp"
#include "report/figure_parts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace goblin::report {
namespace {

using offline::CurvePoint;
using offline::LossPoint;
using offline::TunedPolicy;
using offline::TuneResult;
using offline::UserGain;

constexpr const char* share_axis = "share of the log (%)";

/// One line for each policy, against the share of the log.
template <typename Points, typename Value>
Panel over_the_log(const TuneResult& result, std::string title, Points points, Value value) {
  Panel panel{.title = title, .x_label = share_axis, .y_label = std::move(title), .series = {}};
  for (const TunedPolicy& tuned : result.policies) {
    Series series = series_named(name_of(tuned.policy));
    for (const auto& point : points(tuned)) {
      series.x.push_back(100.0 * static_cast<double>(point.rewards) / static_cast<double>(result.rewards));
      series.y.push_back(value(point));
    }
    panel.series.push_back(std::move(series));
  }
  return panel;
}

Figure error_figure(const TuneResult& result) {
  return {.name = "tune-error",
          .caption =
              "Progressive validation: the mean squared error, and the mean log loss, of all rewards up to a "
              "share of the log, each predicted from those before it.",
          .panels = {over_the_log(
                         result, "squared error", [](const TunedPolicy& tuned) -> auto& { return tuned.curve; },
                         [](const CurvePoint& point) { return point.squared_error; }),
                     over_the_log(
                         result, "log loss", [](const TunedPolicy& tuned) -> auto& { return tuned.losses; },
                         [](const LossPoint& point) { return point.log_loss; })},
          .columns = 2};
}

/// How many users have a gain up to so much more than the one before: a line that goes up and down like stairs. The
/// outermost fiftieth on each side stands at the ends.
Figure gain_figure(const TuneResult& result) {
  constexpr std::size_t bins = 24;
  std::vector<double> gains;
  for (const UserGain& user : result.user_gains) gains.push_back(user.gain);
  std::sort(gains.begin(), gains.end());
  const std::size_t cut = gains.size() / 50;
  double low = std::min(0.0, gains[cut]);
  double high = std::max(0.0, gains[gains.size() - 1 - cut]);
  if (!(high > low)) high = low + 1.0;
  const double width = (high - low) / static_cast<double>(bins);
  std::vector<double> counts(bins);
  for (const double gain : gains) {
    const double bin = std::floor((gain - low) / width);
    counts[static_cast<std::size_t>(std::clamp(bin, 0.0, static_cast<double>(bins - 1)))] += 1.0;
  }
  Series worse = series_named("loses");
  Series better = series_named("gains");
  worse.colour = "#b42318";
  better.colour = "#157347";
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const double begin = low + width * static_cast<double>(bin);
    Series& series = begin + 0.5 * width < 0.0 ? worse : better;
    for (const double x : {begin, begin + width}) {
      series.x.push_back(x);
      series.y.push_back(counts[bin]);
    }
  }
  Panel panel{.title = "users by their gain",
              .x_label = "squared error of linucb-ind minus that of gob.lin, a reward",
              .y_label = "users",
              .series = {}};
  for (Series* series : {&worse, &better}) {
    if (!series->x.empty()) panel.series.push_back(std::move(*series));
  }
  return {.name = "tune-gain",
          .caption =
              "How many users gain how much by the graph: the squared error of linucb-ind minus that of gob.lin, "
              "a reward. The outermost fiftieth of the users on each side stands at the ends.",
          .panels = {std::move(panel)},
          .columns = 1};
}

}  // namespace

std::vector<Figure> tune_figures(const TuneResult& result) {
  std::vector<Figure> figures = {error_figure(result)};
  if (!result.user_gains.empty()) figures.push_back(gain_figure(result));
  return figures;
}

}  // namespace goblin::report
