// ./dev bench: every benchmark as one row of a table, and with --out FOLDER as results.json and a page with plots.
//
//     goblin_bench [--out FOLDER] [--commit NAME] [ARGUMENTS OF GOOGLE BENCHMARK]

#include "page.hpp"
#include "suite.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

namespace goblin::bench {
namespace {

/// What a bare run leaves out: minutes each, and asked for by name.
constexpr const char* default_filter =
    "-^cluster_communities|^local_tolerance|^local_reward|^bulk_local|^lastfm_batches|^engine_costs|^lastfm_tolerance|"
    "^python_";

/// "users:100/arms:25" as names and numbers; a number without a name has the empty one.
std::map<std::string, double> arguments_of(const std::string& text) {
  std::map<std::string, double> arguments;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t colon = part.find(':');
    const std::string name = colon == std::string::npos ? "" : part.substr(0, colon);
    arguments[name] = std::stod(colon == std::string::npos ? part : part.substr(colon + 1));
    begin = end + 1;
  }
  return arguments;
}

Measurement measurement_of(const benchmark::BenchmarkReporter::Run& run, std::uint64_t repetitions) {
  const std::string& function = run.run_name.function_name;
  const std::size_t slash = std::min(function.find('/'), function.size());
  const double iterations = static_cast<double>(std::max<benchmark::IterationCount>(1, run.iterations));
  Measurement measurement{.family = function.substr(0, slash),
                          .variant = function.substr(std::min(slash + 1, function.size())),
                          .arguments = arguments_of(run.run_name.args),
                          .seconds = run.cpu_accumulated_time / iterations,
                          .wall_seconds = run.real_accumulated_time / iterations,
                          .iterations = static_cast<std::uint64_t>(run.iterations),
                          .repetitions = repetitions,
                          .label = run.report_label,
                          .counters = {}};
  for (const auto& [name, counter] : run.counters) measurement.counters[name] = counter.value;
  return measurement;
}

/// Prints a row when a benchmark is done, and keeps it.
class Table : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override {
    fmt::print("{}", table_head());
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> repetitions;
    for (const Run& run : runs) {
      if (run.error_occurred) {
        fmt::print("{:<46} not measured: {}\n", run.run_name.function_name, run.error_message);
      } else if (run.run_type == Run::RT_Iteration) {
        repetitions.push_back(run);
      }
    }
    if (repetitions.empty()) return;
    const auto middle = repetitions.begin() + static_cast<std::ptrdiff_t>(repetitions.size() / 2);
    std::nth_element(repetitions.begin(), middle, repetitions.end(),
                     [](const Run& a, const Run& b) { return a.GetAdjustedCPUTime() < b.GetAdjustedCPUTime(); });
    measurements_.push_back(measurement_of(*middle, repetitions.size()));
    fmt::print("{}", table_row(measurements_.back()));
    std::fflush(stdout);
  }

  [[nodiscard]] const std::vector<Measurement>& measurements() const { return measurements_; }

 private:
  std::vector<Measurement> measurements_;
};

/// Takes "--name value" out of the arguments.
std::string take_option(int& count, char** arguments, std::string_view name) {
  std::string value;
  for (int k = 1; k + 1 < count;) {
    if (arguments[k] != name) {
      ++k;
      continue;
    }
    value = arguments[k + 1];
    std::copy(arguments + k + 2, arguments + count, arguments + k);
    count -= 2;
  }
  return value;
}

int run(int argc, char** argv) {
  const std::string folder = take_option(argc, argv, "--out");
  const std::string commit = take_option(argc, argv, "--commit");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  if (benchmark::GetBenchmarkFilter().empty()) benchmark::SetBenchmarkFilter(default_filter);
  register_suite();
  const Setup setup = Setup::here(commit.empty() ? "unknown" : commit);
  Table table;
  benchmark::RunSpecifiedBenchmarks(&table);
  if (table.measurements().empty()) return 0;
  fmt::print("\n{}\n", setup.words());
  if (const auto ratio = lastfm_ratio(table.measurements())) fmt::print("{}\n", ratio->words());
  if (folder.empty()) return 0;
  write_results(setup, table.measurements(), folder);
  fmt::print("written: {0}/results.json, {0}/index.html\n", folder);
  return 0;
}

}  // namespace
}  // namespace goblin::bench

int main(int argc, char** argv) {
  try {
    return goblin::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "goblin_bench: {}\n", error.what());
    return 1;
  }
}
