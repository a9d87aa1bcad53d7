#include "measurement.hpp"

#include "goblin/goblin.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace goblin::bench {
namespace {

/// What a line of a file in /proc says behind a key: "model name : AMD EPYC".
std::string line_of(const char* file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t at = line.find(':');
    const std::size_t begin = at == std::string::npos ? at : line.find_first_not_of(" \t", at + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::string compiler_words() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

const Measurement* find(std::span<const Measurement> measurements, std::string_view family) {
  const auto found = std::find_if(measurements.begin(), measurements.end(),
                                  [&](const Measurement& each) { return each.family == family; });
  return found == measurements.end() ? nullptr : &*found;
}

std::optional<double> value_of(const std::map<std::string, double>& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::string Measurement::name() const {
  std::string text = family;
  if (!variant.empty()) text += "/" + variant;
  for (const auto& [argument, value] : arguments) {
    text += argument.empty() ? fmt::format("/{}", value) : fmt::format("/{}:{}", argument, value);
  }
  return text;
}

std::optional<double> Measurement::argument(const std::string& name) const { return value_of(arguments, name); }
std::optional<double> Measurement::counter(const std::string& name) const { return value_of(counters, name); }

Setup Setup::here(std::string commit) {
  Setup setup;
  setup.commit = std::move(commit);
  setup.time = fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(std::time(nullptr)));
  setup.processor = line_of("/proc/cpuinfo", "model name");
  setup.cores = std::thread::hardware_concurrency();
  setup.memory_gigabytes =
      1e-9 * static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  std::array<double, 1> load{};
  if (::getloadavg(load.data(), 1) == 1) setup.load = load[0];
  setup.compiler = compiler_words();
  return setup;
}

std::string Setup::words() const {
  return fmt::format("{}, {} cores, {:.0f} GB, {}, commit {}, {} UTC, load {:.1f} before", processor, cores,
                     memory_gigabytes, compiler, commit, time, load);
}

std::optional<double> fitted_exponent(std::span<const double> x, std::span<const double> y) {
  if (x.size() < 3) return std::nullopt;
  const auto count = static_cast<double>(x.size());
  double mean_x = 0.0;
  double mean_y = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    mean_x += std::log(x[k]) / count;
    mean_y += std::log(y[k]) / count;
  }
  double products = 0.0;
  double squares = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    products += (std::log(x[k]) - mean_x) * (std::log(y[k]) - mean_y);
    squares += (std::log(x[k]) - mean_x) * (std::log(x[k]) - mean_x);
  }
  return squares > 0.0 ? std::optional(products / squares) : std::nullopt;
}

std::string LastfmRatio::words() const {
  return fmt::format(
      "Last.fm: one dense rank-one update of the 47,300-square inverse {:.0f} ms, one exact round {:.2f} ms: {:.0f} "
      "times faster; after 10,000 rounds its scores are within {:.1e} of those of another solver (Eigen, to 1e-13)",
      1e3 * dense_seconds, 1e3 * round_seconds, ratio(), score_error);
}

std::optional<LastfmRatio> lastfm_ratio(std::span<const Measurement> measurements) {
  const Measurement* round = find(measurements, "round_lastfm");
  const Measurement* dense = find(measurements, "dense_rank_one");
  if (round == nullptr || dense == nullptr) return std::nullopt;
  const auto scaled = dense->counter("scaled_updates");
  const auto error = round->counter("score_error");
  if (!scaled || !error) return std::nullopt;
  return LastfmRatio{.dense_seconds = *scaled, .round_seconds = round->seconds, .score_error = *error};
}

std::string time_words(double seconds) {
  constexpr std::array<std::pair<double, const char*>, 4> units = {
      {{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  const auto unit =
      std::find_if(units.begin(), units.end() - 1, [&](const auto& each) { return seconds >= each.first; });
  return fmt::format("{:.3g} {}", seconds / unit->first, unit->second);
}

std::string table_head() {
  return fmt::format("{:<46} {:>10} {:>10} {:>10} {:>9}  {}\n{:-<110}\n", "benchmark", "processor", "wall",
                     "iterations", "memory", "", "");
}

std::string table_row(const Measurement& measurement) {
  std::string remarks = measurement.label;
  std::string memory;
  for (const auto& [name, value] : measurement.counters) {
    if (name == "MB") {
      memory = fmt::format("{:.3g} MB", value);
    } else {
      remarks += fmt::format("{}{} {:.4g}", remarks.empty() ? "" : ", ", name, value);
    }
  }
  return fmt::format("{:<46} {:>10} {:>10} {:>10} {:>9}  {}\n", measurement.name(), time_words(measurement.seconds),
                     time_words(measurement.wall_seconds), measurement.iterations, memory, remarks);
}

}  // namespace goblin::bench
