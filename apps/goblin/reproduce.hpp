#pragma once

#include "data_options.hpp"
#include "goblin/experiment/cell.hpp"
#include "json.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

/// What the two halves of `goblin reproduce` share: the paper's experiments and the comparison of rivals.
namespace goblin::app {

struct ReproduceRequest {
  std::string part = "all";
  bool quick = false;
  std::optional<std::uint64_t> rounds;
  std::optional<std::size_t> seeds;
  std::string out = "reproduction";
  std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  DataRequest data;
  std::vector<std::string> readings;  ///< as given
  bool json = false;
  /// Which part of the simulations to run; others run the rest, into the same folder.
  Shard shard;
  /// Runs simulations in other processes, if it is set.
  decltype(experiment::RunOptions::elsewhere) elsewhere;
  /// Gets what --json prints in the place of standard output, if it is set.
  std::function<void(const std::string& text)> take_json;
};

/// The options of `goblin reproduce`, and what was given. It refers to the command, which has to live as long.
[[nodiscard]] std::shared_ptr<ReproduceRequest> add_reproduce_options(CLI::App& command);

/// Runs what is missing and writes the report.
void reproduce(const ReproduceRequest& request);

/// The worlds of all simulations: what another process needs to run them.
[[nodiscard]] std::vector<experiment::Condition> conditions_of(const ReproduceRequest& request);

/// The command that would make the same report: what it says does not depend on folders and threads.
[[nodiscard]] std::string command_of(const ReproduceRequest& request);

/// The readings to run, that of the full report first. None where steps from tags to contexts are given one by one, and
/// for rivals if none is given: then the data is prepared with those steps and the defaults. Throws
/// std::invalid_argument on a name that is none or stands twice.
[[nodiscard]] std::vector<std::string> readings_of(const ReproduceRequest& request);

/// "1, 2, 3"
[[nodiscard]] std::string list_of(const std::vector<std::uint64_t>& seeds);

/// Throws std::runtime_error if gnuplot is not there: it is better to hear of it before hours of simulations.
void check_gnuplot();

struct Played {
  std::size_t done = 0;
  std::size_t found = 0;  ///< of them, in the store
};

/// Calls `run` with a store under OUT/cells, a progress bar and a stop on signals; OUT/figures and OUT/csv are there
/// afterwards. `run` says whether it came to its end. If not, it was stopped or simulations of other shards are
/// missing: this says what was kept and throws CLI::RuntimeError with the exit code.
Played play_cells(const ReproduceRequest& request, std::size_t cell_count,
                  const std::function<bool(const experiment::CellStore&, const experiment::RunOptions&)>& run);

/// `goblin reproduce rivals`
void reproduce_rivals(const ReproduceRequest& request);
[[nodiscard]] std::vector<experiment::Condition> rivals_conditions(const ReproduceRequest& request);

void print_json(const ReproduceRequest& request, const Json& json);

}  // namespace goblin::app
