#include "report/figure_parts.hpp"

#include <cmath>

namespace goblin::report {

double tic_step(double length) {
  const double rough = length / 4.0;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10.0 * power;
}

using experiment::Finalist;
using experiment::Outcome;
using experiment::Point;

Series series_named(std::string_view label) {
  return {
      .label = std::string(label), .colour = std::string(colour_of(label)), .x = {}, .y = {}, .low = {}, .high = {}};
}

double margin_of(std::size_t count) { return count < 2 ? 0.0 : experiment::student_quantile(count, 0.95); }

void add_mean(Series& series, double x, std::span<const double> values, double margin) {
  const auto estimate = experiment::estimate(values);
  series.x.push_back(x);
  series.y.push_back(estimate.mean);
  if (!estimate.standard_error) return;
  series.low.push_back(estimate.mean - margin * *estimate.standard_error);
  series.high.push_back(estimate.mean + margin * *estimate.standard_error);
}

Series curve(std::string_view label, const Finalist& finalist, const std::function<double(const Point&)>& value) {
  Series series = series_named(label);
  const double margin = margin_of(finalist.outcomes.size());
  for (std::size_t k = 0; k < finalist.outcomes.front().curve.size(); ++k) {
    std::vector<double> values;
    for (const Outcome& outcome : finalist.outcomes) values.push_back(value(outcome.curve[k]));
    add_mean(series, static_cast<double>(finalist.outcomes.front().curve[k].round) / 1000.0, values, margin);
  }
  return series;
}

std::vector<double> final_rewards(const Finalist& finalist) {
  std::vector<double> values;
  for (const Outcome& outcome : finalist.outcomes) values.push_back(outcome.normalized_reward());
  return values;
}

}  // namespace goblin::report
