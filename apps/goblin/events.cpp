#include "events.hpp"

#include <array>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin::app {
namespace {

using simdjson::dom::element;

template <typename... Parts>
[[noreturn]] void fail(fmt::format_string<Parts...> reason, Parts&&... parts) {
  throw std::invalid_argument(fmt::format(reason, std::forward<Parts>(parts)...));
}

/// name() is only asked for where something is wrong.
template <typename Name>
double number(element value, Name name) {
  double result = 0.0;
  if (value.get(result) != simdjson::SUCCESS) fail("{} is not a number", name());
  return result;
}

simdjson::dom::array array(element value, const char* name) {
  simdjson::dom::array result;
  if (value.get(result) != simdjson::SUCCESS) fail("'{}' is not an array", name);
  return result;
}

/// The name of a user or an item: a text, or the digits of a whole number.
template <typename Name>
void read_name(element value, Name name, std::string& result) {
  result.clear();
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) {
    if (text.empty()) fail("{} is empty", name());
    result = text;
    return;
  }
  std::int64_t whole = 0;
  std::uint64_t large = 0;
  if (value.get(whole) == simdjson::SUCCESS) {
    fmt::format_to(std::back_inserter(result), "{}", whole);
    return;
  }
  if (value.get(large) == simdjson::SUCCESS) {
    fmt::format_to(std::back_inserter(result), "{}", large);
    return;
  }
  fail("{} is {} (must be a text or a whole number)", name(), simdjson::minify(value));
}

}  // namespace

/// The members of a line that mean something; of those that stand there twice, the first.
struct EventReader::Members {
  using Member = std::optional<element>;

  Member user, contexts, items, context, item, rewards, action, reward, probability;

  explicit Members(simdjson::dom::object object) {
    static constexpr std::array<std::pair<std::string_view, Member Members::*>, 9> known = {
        {{"user", &Members::user},
         {"contexts", &Members::contexts},
         {"items", &Members::items},
         {"context", &Members::context},
         {"item", &Members::item},
         {"rewards", &Members::rewards},
         {"action", &Members::action},
         {"reward", &Members::reward},
         {"probability", &Members::probability}}};
    for (const auto field : object) {
      for (const auto& [name, place] : known) {
        if (field.key != name) continue;
        if (!(this->*place)) this->*place = field.value;
        break;
      }
    }
  }
};

std::size_t dimension_with(const Items* items, std::size_t dimension) {
  if (items == nullptr) return dimension;
  if (dimension != 0 && items->dimension != dimension) {
    fail("--items: {} has {} number{} for each item (must be the dimension, {})", items->file, items->dimension,
         items->dimension == 1 ? "" : "s", dimension);
  }
  return items->dimension;
}

std::size_t dimension_of(std::string_view line) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(line.data(), line.size()).get(object) != simdjson::SUCCESS) fail("is not a JSON object");
  simdjson::dom::array context;
  const bool found =
      object["contexts"].at(0).get(context) == simdjson::SUCCESS || object["context"].get(context) == simdjson::SUCCESS;
  if (!found || context.size() == 0) {
    fail("has no 'contexts' or 'context' that says how many numbers a context has (--dimension does, or --items)");
  }
  return context.size();
}

EventReader::EventReader(std::size_t dimension, std::shared_ptr<const Items> items)
    : dimension_(dimension_with(items.get(), dimension)), items_(std::move(items)) {}

template <typename Name>
void EventReader::read_context(element value, Name name) {
  simdjson::dom::array numbers;
  if (value.get(numbers) != simdjson::SUCCESS) fail("{} is not an array", name());
  std::size_t count = 0;
  for (const element entry : numbers) {
    event_.contexts.push_back(number(entry, [&] { return fmt::format("{}[{}]", name(), count); }));
    ++count;
  }
  if (count != dimension_) fail("{} has {} numbers (must be the dimension, {})", name(), count, dimension_);
}

template <typename Name>
void EventReader::read_item(element value, Name name) {
  if (items_ == nullptr) {
    fail("{} has no context (--items FILE has to say what items are: item <tab> number <tab> number ...)", name());
  }
  std::string& item = event_.items.emplace_back();
  read_name(value, name, item);
  const auto context = items_->context(item);
  if (!context) {
    fail("{} is '{}', which is not in {} (must be one of its {} item{}: add a line with its numbers)", name(), item,
         items_->file, items_->names.size(), items_->names.size() == 1 ? "" : "s");
  }
  event_.contexts.insert(event_.contexts.end(), context->begin(), context->end());
}

void EventReader::read_one(const Members& members) {
  const char* const name = members.context ? "context" : "item";
  if (members.rewards) fail("has 'rewards' beside '{}' (expected 'reward')", name);
  if (!members.reward) fail("has a{} '{}' but no 'reward'", members.context ? "" : "n", name);
  if (members.context) {
    read_context(*members.context, [] { return "context"; });
  } else {
    read_item(*members.item, [] { return "'item'"; });
  }
  event_.rewards.push_back(number(*members.reward, [] { return "'reward'"; }));
  // Most commands do not look at it, so whatever stands there is no reason to refuse the line.
  double probability = 0.0;
  if (members.probability && members.probability->is_number() &&
      members.probability->get(probability) == simdjson::SUCCESS) {
    event_.probability = probability;
  }
  event_.kind = Event::Kind::learn;
}

void EventReader::read_candidates(const Members& members) {
  const char* const name = members.contexts ? "contexts" : "items";
  std::size_t count = 0;
  if (members.contexts) {
    for (const element entry : array(*members.contexts, name)) {
      read_context(entry, [count] { return fmt::format("contexts[{}]", count); });
      ++count;
    }
  } else {
    for (const element entry : array(*members.items, name)) {
      read_item(entry, [count] { return fmt::format("items[{}]", count); });
      ++count;
    }
  }
  if (count == 0) fail("'{}' is empty (must hold at least 1 candidate)", name);
  if (members.action) {
    read_logged(members, count);
    return;
  }
  if (members.reward) {
    fail(
        "has 'reward' beside '{}' (expected 'rewards', one for each of them, or an 'action' that says which of them "
        "was shown)",
        name);
  }
  if (members.probability) fail("has a 'probability' but no 'action' that says which of the '{}' was shown", name);
  event_.kind = members.rewards ? Event::Kind::decide_and_learn : Event::Kind::decide;
  if (!members.rewards) return;
  std::size_t rewarded = 0;
  for (const element entry : array(*members.rewards, "rewards")) {
    event_.rewards.push_back(number(entry, [rewarded] { return fmt::format("rewards[{}]", rewarded); }));
    ++rewarded;
  }
  if (rewarded != count) fail("'rewards' has {} numbers (must be one for each of the {} {})", rewarded, count, name);
}

void EventReader::read_logged(const Members& members, std::size_t candidates) {
  if (members.rewards) fail("has 'rewards' beside 'action' (expected 'reward', that of what was shown)");
  if (!members.reward) fail("has an 'action' but no 'reward' of what was shown");
  std::uint64_t action = 0;
  if (members.action->get(action) != simdjson::SUCCESS || action >= candidates) {
    fail("'action' is {} (must be a whole number from 0 to {}: which of the candidates was shown)",
         simdjson::minify(*members.action), candidates - 1);
  }
  event_.action = action;
  event_.rewards.push_back(number(*members.reward, [] { return "'reward'"; }));
  if (members.probability) {
    double probability = 0.0;
    const bool is_number =
        members.probability->is_number() && members.probability->get(probability) == simdjson::SUCCESS;
    if (!is_number || !(probability > 0.0 && probability <= 1.0)) {
      fail("'probability' is {} (must be a number above 0 and at most 1, or be left out where nobody knows it)",
           simdjson::minify(*members.probability));
    }
    event_.probability = probability;
  }
  event_.kind = Event::Kind::logged;
}

const Event& EventReader::read(std::string_view line) { return read(line, true); }

const Event& EventReader::read_padded(std::string_view line) { return read(line, false); }

const Event& EventReader::read(std::string_view line, bool copy) {
  event_.items.clear();
  event_.contexts.clear();
  event_.rewards.clear();
  event_.action = 0;
  event_.probability.reset();
  element document;
  if (const auto error = parser_.parse(line.data(), line.size(), copy).get(document); error != simdjson::SUCCESS) {
    fail("is not JSON: {}", simdjson::error_message(error));
  }
  simdjson::dom::object object;
  if (document.get(object) != simdjson::SUCCESS) fail("is not a JSON object");
  const Members members(object);
  if (!members.user) fail("has no 'user'");
  read_name(
      *members.user, [] { return "'user'"; }, event_.user);
  const std::array<std::pair<const char*, bool>, 4> choices = {{{"contexts", members.contexts.has_value()},
                                                                {"items", members.items.has_value()},
                                                                {"context", members.context.has_value()},
                                                                {"item", members.item.has_value()}}};
  const char* chosen = nullptr;
  for (const auto& [name, there] : choices) {
    if (there && chosen != nullptr) fail("has both '{}' and '{}' (must have one of them)", chosen, name);
    if (there) chosen = name;
  }
  if (chosen == nullptr) fail("has none of 'contexts', 'items', 'context' and 'item'");
  if (members.contexts || members.items) {
    read_candidates(members);
  } else {
    read_one(members);
  }
  return event_;
}

}  // namespace goblin::app
