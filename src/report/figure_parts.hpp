#pragma once

#include "goblin/experiment/study.hpp"
#include "goblin/report/figure.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

/// What figures of studies are put together from: lines with their confidence bands.
namespace goblin::report {

inline constexpr const char* reward_axis = "normalized reward";
inline constexpr const char* rounds_axis = "rounds (thousands)";

/// The distance of tics that shows about four of them.
[[nodiscard]] double tic_step(double length);

/// A line without points, in the colour of the policy whose name the label starts with.
[[nodiscard]] Series series_named(std::string_view label);

/// How many standard errors wide a 95 % confidence interval is to each side; 0 for a single value.
[[nodiscard]] double margin_of(std::size_t count);

/// Adds the mean at x with its confidence interval, where there are at least two values.
void add_mean(Series& series, double x, std::span<const double> values, double margin);

/// The mean over seeds at every recorded round, in thousands.
[[nodiscard]] Series curve(std::string_view label, const experiment::Finalist& finalist,
                           const std::function<double(const experiment::Point&)>& value);

/// What most curves show.
[[nodiscard]] inline double normalized(const experiment::Point& point) { return point.normalized_reward(); }

/// One number for each evaluation seed.
[[nodiscard]] std::vector<double> final_rewards(const experiment::Finalist& finalist);

}  // namespace goblin::report
