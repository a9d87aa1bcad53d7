#pragma once

#include "goblin/data/own_files.hpp"
#include "goblin/offline/evaluate.hpp"

#include <cstddef>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace goblin::app {

/// The lines of a log. The first can be looked at before it is read: the dimension of the contexts stands in it.
class LogLines {
 public:
  /// The name is for messages; both must live as long as this.
  LogLines(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  /// The next line that is not empty; false at the end. Throws DataError if it cannot be read.
  bool next(std::string& line);
  /// The same, and the next call gives it again.
  [[nodiscard]] std::optional<std::string> peek();

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Of the line that was read last: 1, 2, ...
  [[nodiscard]] std::size_t number() const { return number_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::istream& in_;
  std::string name_;
  std::optional<std::string> kept_;
  std::size_t number_ = 0;
  std::size_t bytes_ = 0;
};

struct EvaluateOptions {
  /// What the items are that events name.
  std::shared_ptr<const data::Items> items = {};
  /// A line without a probability was chosen uniformly: 1 / candidates.
  bool uniform = false;
  /// A line that names one item was chosen from all items.
  bool all_items = false;
  /// Bandits that are at work at the same time. The results do not depend on it.
  std::size_t threads = 1;
  /// Asked before each line; false stops.
  std::function<bool()> keep_going = {};
  /// Called now and then with the bytes that were read.
  std::function<void(std::size_t)> progress = {};
};

/// How far it came, up to date at every moment.
struct EvaluateSummary {
  std::size_t lines = 0;  ///< that were read and judged
  std::size_t decisions = 0;
  std::size_t rewards = 0;  ///< without decisions
  std::size_t passed_over = 0;
  std::size_t new_users = 0;  ///< whom a bandit did not know
};

/// Goes through a log with several bandits at once; a user whom a bandit does not know joins it without friends. Throws
/// DataError with the line of an event that is bad.
void evaluate(std::vector<offline::Evaluation>& evaluations, LogLines& lines, const EvaluateOptions& options,
              EvaluateSummary& summary);

}  // namespace goblin::app
