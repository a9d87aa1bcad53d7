#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

namespace goblin::app {

/// One line of a recorded log: a decision to take, a decision and the rewards it would have had, or a reward to learn.
struct Event {
  enum class Kind { decide, decide_and_learn, learn };

  Kind kind = Kind::decide;
  std::string user;
  std::vector<double> contexts;  // candidate after candidate; of a learn event, its one context
  std::vector<double> rewards;   // one a candidate; of a learn event, its one reward
};

/// Reads events from JSON lines:
///
///     {"user": "u1", "contexts": [[..], ..], "rewards": [..]}   decides and learns from the chosen candidate's reward
///     {"user": "u1", "contexts": [[..], ..]}                    only decides
///     {"user": "u1", "context": [..], "reward": r}              only learns
///
/// A user is a text, or a whole number that stands for its digits. Other members are passed over.
class EventReader {
 public:
  explicit EventReader(std::size_t dimension) : dimension_(dimension) {}

  /// The event; valid until the next call. Throws std::invalid_argument with the reason if the line is none.
  const Event& read(std::string_view line);
  /// The same of a line after which there are simdjson::SIMDJSON_PADDING more bytes that may be read, whatever they
  /// are: it need not be copied.
  const Event& read_padded(std::string_view line);

 private:
  const Event& read(std::string_view line, bool copy);
  template <typename Name>
  void read_context(simdjson::dom::element element, Name name);

  std::size_t dimension_;
  simdjson::dom::parser parser_;
  Event event_;
};

}  // namespace goblin::app
