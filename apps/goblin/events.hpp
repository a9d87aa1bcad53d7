#pragma once

#include "goblin/data/own_files.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

namespace goblin::app {

using data::Items;

/// One line of a recorded log: a decision to take, a decision and the rewards it would have had, a decision that was
/// taken and its reward, or a reward to learn.
struct Event {
  enum class Kind { decide, decide_and_learn, logged, learn };

  Kind kind = Kind::decide;
  std::string user;
  std::vector<std::string> items;  // one a candidate; none where the line has contexts
  std::vector<double> contexts;    // candidate after candidate; of a learn event, its one context
  std::vector<double> rewards;     // one a candidate; of a logged decision and of a learn event, its one reward
  std::size_t action = 0;          // of a logged decision: which candidate was shown; else 0
  std::optional<double>
      probability;  // that with which `action` was chosen, if anybody knows; of a learn event unchecked

  /// One of the contexts. That of `action` has the reward rewards[0], in logged decisions and learn events alike.
  [[nodiscard]] std::span<const double> context(std::size_t candidate, std::size_t dimension) const {
    return std::span(contexts).subspan(candidate * dimension, dimension);
  }
};

/// Reads events from JSON lines:
///
///     {"user": "u1", "contexts": [[..], ..], "rewards": [..]}   decides and learns from the chosen candidate's reward
///     {"user": "u1", "contexts": [[..], ..]}                    only decides
///     {"user": "u1", "contexts": [[..], ..], "action": k, "reward": r, "probability": p}
///                                                               a logged decision: k was shown, with probability p
///     {"user": "u1", "context": [..], "reward": r}              only learns
///
/// `"items": ["a", ..]` in the place of contexts, and `"item": "a"` in the place of a context, name items, whose
/// contexts are looked up. A user or an item is a text, or a whole number that stands for its digits. The probability
/// may be left out. Other members are passed over.
class EventReader {
 public:
  /// Throws std::invalid_argument if the items are of another dimension.
  explicit EventReader(std::size_t dimension, std::shared_ptr<const Items> items = nullptr);

  /// The event; valid until the next call. Throws std::invalid_argument with the reason if the line is none.
  const Event& read(std::string_view line);
  /// The same of a line after which there are simdjson::SIMDJSON_PADDING more bytes that may be read, whatever they
  /// are: it need not be copied.
  const Event& read_padded(std::string_view line);

 private:
  struct Members;

  const Event& read(std::string_view line, bool copy);
  void read_one(const Members& members);
  void read_candidates(const Members& members);
  void read_logged(const Members& members, std::size_t candidates);
  template <typename Name>
  void read_context(simdjson::dom::element element, Name name);
  template <typename Name>
  void read_item(simdjson::dom::element element, Name name);

  std::size_t dimension_;
  std::shared_ptr<const Items> items_;
  simdjson::dom::parser parser_;
  Event event_;
};

/// The dimension of a bandit's contexts: that of the items, if there are some and 0 is given. Throws
/// std::invalid_argument if they are of another one.
[[nodiscard]] std::size_t dimension_with(const Items* items, std::size_t dimension);

/// How many numbers the contexts of a line have: the first of them. Throws std::invalid_argument if there is none.
[[nodiscard]] std::size_t dimension_of(std::string_view line);

}  // namespace goblin::app
