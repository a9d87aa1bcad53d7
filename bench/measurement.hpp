#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goblin::bench {

/// One row: a benchmark at given arguments. Of several repetitions, the one with the median processor time.
struct Measurement {
  std::string family;                       ///< "round_time"
  std::string variant;                      ///< what stands behind the first slash: "dense"; may be empty
  std::map<std::string, double> arguments;  ///< "users": 100
  double seconds = 0.0;                     ///< processor time of the measuring thread, one iteration
  double wall_seconds = 0.0;                ///< time on the wall, one iteration
  std::uint64_t iterations = 0;
  std::uint64_t repetitions = 1;
  std::string label;
  std::map<std::string, double> counters;

  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::optional<double> argument(const std::string& name) const;
  [[nodiscard]] std::optional<double> counter(const std::string& name) const;
};

/// Where and from what the measurements are.
struct Setup {
  std::string commit;
  std::string time;  ///< when the run began, UTC
  std::string processor;
  std::uint64_t cores = 0;
  double memory_gigabytes = 0.0;
  double load = 0.0;  ///< processes that wanted to run in the minute before: the cores are shared with them
  std::string compiler;

  /// Of this machine, at this moment.
  [[nodiscard]] static Setup here(std::string commit);
  /// "AMD EPYC, 2 cores, 24 GB, g++ 12.2.0, commit 41a417e"
  [[nodiscard]] std::string words() const;
};

/// How y grows with x: the slope of the least-squares line through the logarithms. Nothing below three points.
[[nodiscard]] std::optional<double> fitted_exponent(std::span<const double> x, std::span<const double> y);

/// One dense rank-one update against one exact round on Last.fm, where both were measured.
struct LastfmRatio {
  double dense_seconds = 0.0;
  double round_seconds = 0.0;
  double score_error = 0.0;

  [[nodiscard]] double ratio() const { return dense_seconds / round_seconds; }
  [[nodiscard]] std::string words() const;
};
[[nodiscard]] std::optional<LastfmRatio> lastfm_ratio(std::span<const Measurement> measurements);

/// The table, line by line: the head, and what a measurement has to say in it.
[[nodiscard]] std::string table_head();
[[nodiscard]] std::string table_row(const Measurement& measurement);

/// A time with its unit, three digits: "3.71 ms".
[[nodiscard]] std::string time_words(double seconds);

}  // namespace goblin::bench
