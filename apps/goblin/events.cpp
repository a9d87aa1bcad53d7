#include "events.hpp"

#include <iterator>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

namespace goblin::app {
namespace {

using simdjson::dom::element;

template <typename... Parts>
[[noreturn]] void fail(fmt::format_string<Parts...> reason, Parts&&... parts) {
  throw std::invalid_argument(fmt::format(reason, std::forward<Parts>(parts)...));
}

std::optional<element> member(simdjson::dom::object object, const char* name) {
  element value;
  if (object.at_key(name).get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

/// name() is only asked for where something is wrong.
template <typename Name>
double number(element value, Name name) {
  double result = 0.0;
  if (!value.is_number() || value.get(result) != simdjson::SUCCESS) fail("{} is not a number", name());
  return result;
}

simdjson::dom::array array(element value, const char* name) {
  simdjson::dom::array result;
  if (value.get(result) != simdjson::SUCCESS) fail("'{}' is not an array", name);
  return result;
}

void read_user(element value, std::string& name) {
  name.clear();
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) {
    if (text.empty()) fail("'user' is empty");
    name = text;
    return;
  }
  std::int64_t whole = 0;
  std::uint64_t large = 0;
  if (value.get(whole) == simdjson::SUCCESS) {
    fmt::format_to(std::back_inserter(name), "{}", whole);
    return;
  }
  if (value.get(large) == simdjson::SUCCESS) {
    fmt::format_to(std::back_inserter(name), "{}", large);
    return;
  }
  fail("'user' is {} (must be a text or a whole number)", simdjson::minify(value));
}

}  // namespace

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

const Event& EventReader::read(std::string_view line) { return read(line, true); }

const Event& EventReader::read_padded(std::string_view line) { return read(line, false); }

const Event& EventReader::read(std::string_view line, bool copy) {
  event_.contexts.clear();
  event_.rewards.clear();
  element document;
  if (const auto error = parser_.parse(line.data(), line.size(), copy).get(document); error != simdjson::SUCCESS) {
    fail("is not JSON: {}", simdjson::error_message(error));
  }
  simdjson::dom::object object;
  if (document.get(object) != simdjson::SUCCESS) fail("is not a JSON object");
  const auto user = member(object, "user");
  const auto contexts = member(object, "contexts");
  const auto rewards = member(object, "rewards");
  const auto context = member(object, "context");
  const auto reward = member(object, "reward");
  if (!user) fail("has no 'user'");
  read_user(*user, event_.user);
  if (contexts && context) fail("has both 'contexts' and 'context'");
  if (contexts) {
    if (reward) fail("has 'reward' beside 'contexts' (expected 'rewards', one for each of them)");
    std::size_t count = 0;
    for (const element entry : array(*contexts, "contexts")) {
      read_context(entry, [count] { return fmt::format("contexts[{}]", count); });
      ++count;
    }
    if (count == 0) fail("'contexts' is empty (must hold at least 1 candidate)");
    event_.kind = rewards ? Event::Kind::decide_and_learn : Event::Kind::decide;
    if (rewards) {
      std::size_t rewarded = 0;
      for (const element entry : array(*rewards, "rewards")) {
        event_.rewards.push_back(number(entry, [rewarded] { return fmt::format("rewards[{}]", rewarded); }));
        ++rewarded;
      }
      if (rewarded != count)
        fail("'rewards' has {} numbers (must be one for each of the {} contexts)", rewarded, count);
    }
  } else if (context) {
    if (rewards) fail("has 'rewards' beside 'context' (expected 'reward')");
    if (!reward) fail("has a 'context' but no 'reward'");
    read_context(*context, [] { return "context"; });
    event_.rewards.push_back(number(*reward, [] { return "'reward'"; }));
    event_.kind = Event::Kind::learn;
  } else {
    fail("has neither 'contexts' nor 'context'");
  }
  return event_;
}

}  // namespace goblin::app
