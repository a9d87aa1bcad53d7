#pragma once

#include "goblin/data/hetrec.hpp"
#include "goblin/graph/edge_file.hpp"

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace goblin::app {

/// Where datasets are, and what is made of them: the options that subcommands share.
struct DataRequest {
  /// An option of the command line that sets a field of ContextOptions.
  struct ContextOption {
    std::string field;
    CLI::Option* option;
  };

  std::string folder;
  std::string cache;
  bool no_cache = false;
  std::string reading;            ///< the name of one, or nothing
  data::ContextOptions contexts;  ///< as given, beside the reading
  std::vector<ContextOption> context_options;

  /// The folder; throws CLI::RequiredError if none was given.
  [[nodiscard]] std::string required_folder() const;
  /// The options of the reading, if there is one, and those that were given. Throws std::invalid_argument if they
  /// contradict each other.
  [[nodiscard]] data::ContextOptions chosen_contexts() const { return chosen_contexts(reading); }
  [[nodiscard]] data::ContextOptions chosen_contexts(const std::string& name) const;
  [[nodiscard]] data::ReadOptions read_options() const { return read_options(reading); }
  [[nodiscard]] data::ReadOptions read_options(const std::string& name) const;
  /// An option was given that a reading may set: the default reading does not hold then.
  [[nodiscard]] bool is_read_by_options() const;
  /// The options from tags to contexts that were given, as on the command line: " --tf binary --no-centre".
  [[nodiscard]] std::string context_words() const;
};

/// --data, with GOBLIN_DATA as its default.
void add_data_folder(CLI::App& command, DataRequest& request);
/// --cache and --no-cache.
void add_cache_options(CLI::App& command, DataRequest& request);
/// --reading: the name of one.
void add_reading(CLI::App& command, DataRequest& request);
/// One for each step from tags to contexts.
void add_context_options(CLI::App& command, DataRequest& request);

/// --drop-self-loops, for commands that read an edge file. What the reader warns of goes to standard error.
CLI::Option* add_drop_self_loops(CLI::App& command, EdgeFileOptions& options);

/// Whole numbers, at least 0 or 1: CLI11 reads "-1" as a very large one.
[[nodiscard]] CLI::Validator whole_number();
[[nodiscard]] CLI::Validator positive_whole_number();
/// The name of a file or a folder: not an empty one, as of a variable that is not set.
[[nodiscard]] CLI::Validator name_of_a(const std::string& kind);

}  // namespace goblin::app
