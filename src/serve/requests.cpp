#include "serve/requests.hpp"

#include "serve/malformed.hpp"
#include "serve/number_rows.hpp"
#include "serve/problems.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <initializer_list>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

namespace goblin::serve {
namespace {

using simdjson::dom::element;

static_assert(body_padding >= simdjson::SIMDJSON_PADDING);

/// A problem on its way out of the reader.
struct Refusal : std::exception {
  explicit Refusal(Problem the_problem) : problem(std::move(the_problem)) {}
  Problem problem;
};

/// What stands there, for a message: not more than fits into a line.
std::string shown(element value) {
  constexpr std::size_t most = 60;
  if (value.is_array() || value.is_object()) return value.is_array() ? "an array" : "an object";
  std::string text = simdjson::minify(value);
  if (text.size() <= most) return text;
  std::size_t size = most;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;  // not within a character
  return text.substr(0, size) + "...";
}

std::string listed(std::span<const std::string_view> names) {
  std::string text;
  for (std::size_t index = 0; index < names.size(); ++index) {
    text += fmt::format("{}'{}'", index == 0 ? "" : index + 1 == names.size() ? " and " : ", ", names[index]);
  }
  return text;
}

/// The members of an object whose names are known: where each of `names` is, by its place in that list.
template <std::size_t count>
std::array<std::optional<element>, count> members(simdjson::dom::object object,
                                                  const std::array<std::string_view, count>& names) {
  std::array<std::optional<element>, count> found;
  for (const auto [key, value] : object) {
    const auto place = static_cast<std::size_t>(std::find(names.begin(), names.end(), key) - names.begin());
    if (place == count) {
      constexpr std::size_t most = 60;
      throw Refusal{problems::unknown_field(
          fmt::format("'{}' is not a field of this call (its fields are {})", key.substr(0, most), listed(names)))};
    }
    if (found[place]) throw Refusal{problems::invalid_field(fmt::format("'{}' stands there twice", key))};
    found[place] = value;
  }
  return found;
}

simdjson::dom::array array_of(element value, std::string_view name) {
  simdjson::dom::array array;
  if (value.get(array) != simdjson::SUCCESS) {
    throw Refusal{problems::invalid_field(fmt::format("'{}' is {} (must be an array)", name, shown(value)))};
  }
  return array;
}

template <typename Name>
double number_of(element value, Name name) {
  double number = 0.0;
  if (!value.is_number() || value.get(number) != simdjson::SUCCESS || !std::isfinite(number)) {
    throw Refusal{problems::invalid_field(fmt::format("{} is {} (must be a number)", name(), shown(value)))};
  }
  return number;
}

std::size_t count_of(element value, std::string_view name, std::size_t least, std::size_t most) {
  std::uint64_t number = 0;
  if (value.get(number) != simdjson::SUCCESS || number < least || number > most) {
    throw Refusal{problems::invalid_field(
        fmt::format("'{}' is {} (must be a whole number from {} to {})", name, shown(value), least, most))};
  }
  return number;
}

/// Copies the text, with "e0" behind every whole number that may not fit into 64 bits: the parser reads it as a double
/// then. Whether there was one. `body_padding` bytes stand behind the copy.
bool widen(std::string_view text, std::string& wide) {
  constexpr std::size_t most_digits = 18;
  const auto is_digit = [](char one) { return one >= '0' && one <= '9'; };
  wide.clear();
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {  // digits in a text are no number
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\') ++at;
      }
      ++at;
    } else if (is_digit(text[at]) || text[at] == '-') {
      const std::size_t begin = at++;
      bool is_whole = true;
      for (; at < text.size() &&
             (is_digit(text[at]) || std::string_view("+-.eE").find(text[at]) != std::string_view::npos);
           ++at) {
        is_whole = is_whole && is_digit(text[at]);
      }
      if (!is_whole || at - begin <= most_digits) continue;
      wide.append(text.substr(copied, at - copied)).append("e0");
      copied = at;
    } else {
      ++at;
    }
  }
  if (copied == 0) return false;
  wide.append(text.substr(copied)).append(body_padding, ' ');
  return true;
}

[[noreturn]] void missing(std::string_view what) {
  throw Refusal{problems::missing_field(fmt::format("{} is missing", what))};
}

}  // namespace

struct RequestReader::State {
  simdjson::dom::parser parser;
  std::string rest;  // of a body whose contexts were cut out
  std::string wide;  // a body whose large numbers can be read

  element parse(std::string_view text) {
    if (text.empty()) throw Refusal{problems::malformed_json("the body is empty (must be JSON)")};
    element document;
    auto error = parser.parse(text.data(), text.size(), false).get(document);
    if (error == simdjson::NUMBER_ERROR && widen(text, wide)) {
      error = parser.parse(wide.data(), wide.size() - body_padding, false).get(document);
    }
    if (error != simdjson::SUCCESS) {
      const Malformed found = what_is_malformed(text, simdjson::error_message(error));
      throw Refusal{found.is_number ? problems::invalid_field(found.detail) : problems::malformed_json(found.detail)};
    }
    return document;
  }

  simdjson::dom::object parse_object(std::string_view text) {
    simdjson::dom::object object;
    const element document = parse(text);
    if (document.get(object) != simdjson::SUCCESS) {
      throw Refusal{problems::invalid_field(fmt::format("the body is {} (must be an object)", shown(document)))};
    }
    return object;
  }
};

namespace {

/// The fields that more than one call has. Throws Refusal.
struct Fields {
  const RequestLimits& limits;
  const RequestReader& reader;

  template <typename Name>
  std::string name(element value, Name field) const {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) {
      throw Refusal{problems::invalid_field(fmt::format("{} is {} (must be a text)", field(), shown(value)))};
    }
    const std::string wrong = reader.wrong_with_name(text);
    if (!wrong.empty()) throw Refusal{problems::invalid_field(fmt::format("{} {}", field(), wrong))};
    return std::string(text);
  }

  /// Appends the numbers of a context.
  template <typename Name>
  void context(element value, Name field, std::vector<double>& numbers) const {
    simdjson::dom::array array;
    if (value.get(array) != simdjson::SUCCESS) {
      throw Refusal{problems::invalid_field(
          fmt::format("{} is {} (must be an array of {} numbers)", field(), shown(value), limits.dimension))};
    }
    std::size_t count = 0;
    for (const element entry : array) {
      if (count < limits.dimension) {
        numbers.push_back(number_of(entry, [&] { return fmt::format("{}[{}]", field(), count); }));
      }
      ++count;
    }
    if (count != limits.dimension) {
      throw Refusal{problems::wrong_dimension(fmt::format("{} has {} number{} (must have {}, the dimension)", field(),
                                                          count, count == 1 ? "" : "s", limits.dimension))};
    }
  }

  void check_candidates(std::size_t count, std::string_view field) const {
    if (count == 0) {
      throw Refusal{problems::invalid_field(fmt::format("'{}' is empty (must hold at least 1 candidate)", field))};
    }
    if (count > limits.most_candidates) {
      throw Refusal{problems::invalid_field(
          fmt::format("'{}' has {} candidates (must have at most {})", field, count, limits.most_candidates))};
    }
  }

  std::vector<std::uint8_t> allowed(element value, std::size_t candidates) const {
    std::vector<std::uint8_t> allowed;
    bool any = false;
    const auto array = array_of(value, "allowed");
    if (const std::size_t count = array.size(); count != candidates) {
      throw Refusal{problems::invalid_field(
          fmt::format("'allowed' has {} entries (must have one for each of the {} candidates)", count, candidates))};
    }
    for (const element entry : array) {
      bool truth = false;
      std::uint64_t number = 0;
      if (entry.get(truth) != simdjson::SUCCESS) {
        if (entry.get(number) != simdjson::SUCCESS || number > 1) {
          throw Refusal{problems::invalid_field(
              fmt::format("allowed[{}] is {} (must be true or false, or 1 or 0)", allowed.size(), shown(entry)))};
        }
        truth = number == 1;
      }
      allowed.push_back(truth ? 1 : 0);
      any = any || truth;
    }
    if (!any) throw Refusal{problems::invalid_field("'allowed' allows none (must allow at least 1 candidate)")};
    return allowed;
  }

  /// With `rows`, contexts that are an empty array stand for these numbers, which were cut out.
  SelectRequest decision(simdjson::dom::object object, bool with_k, std::vector<double>* rows = nullptr) const {
    static constexpr std::array<std::string_view, 6> names = {"user", "contexts", "items", "allowed", "event", "after"};
    static constexpr std::array<std::string_view, 7> names_with_k = {"user",  "contexts", "items", "allowed",
                                                                     "event", "after",    "k"};
    std::array<std::optional<element>, 7> found;
    if (with_k) {
      found = members(object, names_with_k);
    } else {
      const auto without = members(object, names);
      std::copy(without.begin(), without.end(), found.begin());
    }
    const auto& [user, contexts, items, mask, event, after, k] = found;
    SelectRequest request;
    if (!user) missing("'user'");
    request.user = name(*user, [] { return "'user'"; });
    if (contexts && items) {
      throw Refusal{problems::invalid_field("'contexts' and 'items' are both there (must be one of them)")};
    }
    std::size_t candidates = 0;
    if (contexts && rows != nullptr && array_of(*contexts, "contexts").size() == 0) {
      request.contexts = std::move(*rows);
      candidates = request.contexts.size() / limits.dimension;
    } else if (contexts) {
      candidates = contexts_of(*contexts, request);
    } else if (items) {
      candidates = items_of(*items, request);
    } else {
      missing("'contexts' or 'items'");
    }
    if (mask) request.allowed = allowed(*mask, candidates);
    if (event) {
      request.event = name(*event, [] { return "'event'"; });
      if (request.event.starts_with("g-")) {
        throw Refusal{problems::invalid_field(
            fmt::format("'event' is \"{}\" (must not begin with \"g-\": such are the names that the server gives)",
                        request.event))};
      }
    }
    if (after) request.after = count_of(*after, "after", 0, std::numeric_limits<std::int64_t>::max());
    if (with_k) {
      if (!k) missing("'k'");
      request.k = count_of(*k, "k", 1, limits.most_candidates);
    }
    return request;
  }

  std::size_t contexts_of(element value, SelectRequest& request) const {
    const auto array = array_of(value, "contexts");
    const std::size_t candidates = array.size();
    check_candidates(candidates, "contexts");
    request.contexts.reserve(candidates * limits.dimension);
    std::size_t index = 0;
    for (const element entry : array) {
      context(
          entry, [index] { return fmt::format("contexts[{}]", index); }, request.contexts);
      ++index;
    }
    return candidates;
  }

  std::size_t items_of(element value, SelectRequest& request) const {
    const auto array = array_of(value, "items");
    const std::size_t candidates = array.size();
    check_candidates(candidates, "items");
    request.items.reserve(candidates);
    for (const element entry : array) {
      request.items.push_back(name(entry, [&] { return fmt::format("items[{}]", request.items.size()); }));
    }
    return candidates;
  }

  RewardRequest reward(simdjson::dom::object object, bool event_only) const {
    static constexpr std::array<std::string_view, 5> names = {"event", "reward", "user", "context", "item"};
    std::array<std::optional<element>, 5> found;
    if (event_only) {
      const auto two = members<2>(object, {"event", "reward"});
      std::copy(two.begin(), two.end(), found.begin());
    } else {
      found = members(object, names);
    }
    const auto& [event, value, user, own_context, item] = found;
    RewardRequest request;
    if (event) {
      if (user || own_context || item) {
        throw Refusal{problems::invalid_field(fmt::format(
            "'event' and '{}' are both there (an event has its own user and context)", user          ? "user"
                                                                                       : own_context ? "context"
                                                                                                     : "item"))};
      }
      request.event = name(*event, [] { return "'event'"; });
    } else {
      if (!user) missing(event_only ? "'event'" : "'event' or 'user'");
      request.user = name(*user, [] { return "'user'"; });
      one_candidate(own_context, item, request.context, request.item);
    }
    if (!value) missing("'reward'");
    request.reward = number_of(*value, [] { return "'reward'"; });
    return request;
  }

  /// Of 'context' and 'item', one must be there.
  void one_candidate(const std::optional<element>& own_context, const std::optional<element>& item,
                     std::vector<double>& numbers, std::string& item_name) const {
    if (own_context && item) {
      throw Refusal{problems::invalid_field("'context' and 'item' are both there (must be one of them)")};
    }
    if (own_context) {
      context(
          *own_context, [] { return "context"; }, numbers);
    } else if (item) {
      item_name = name(*item, [] { return "'item'"; });
    } else {
      missing("'context' or 'item'");
    }
  }

  std::vector<std::pair<std::string, double>> friends(element value) const {
    std::vector<std::pair<std::string, double>> friends;
    std::unordered_set<std::string_view> seen;  // the texts are the parser's
    const auto check = [&] {
      if (friends.size() > limits.most_friends) {
        throw Refusal{problems::invalid_field(fmt::format(
            "'friends' has more than {} entries (add the others with PUT /v1/edges)", limits.most_friends))};
      }
    };
    simdjson::dom::object weighted;
    if (value.get(weighted) == simdjson::SUCCESS) {
      for (const auto [key, weight] : weighted) {
        const std::string wrong = reader.wrong_with_name(key);
        if (!wrong.empty()) throw Refusal{problems::invalid_field(fmt::format("a name in 'friends' {}", wrong))};
        if (!seen.insert(key).second) {
          throw Refusal{problems::invalid_field(fmt::format("friends['{}'] stands there twice (must be once)", key))};
        }
        friends.emplace_back(key, weight_of(weight, [&key = key] { return fmt::format("friends['{}']", key); }));
        check();
      }
      return friends;
    }
    simdjson::dom::array array;
    if (value.get(array) != simdjson::SUCCESS) {
      throw Refusal{problems::invalid_field(
          fmt::format("'friends' is {} (must be an array of users, or an object with their weights)", shown(value)))};
    }
    for (const element entry : array) {
      friends.emplace_back(name(entry, [&] { return fmt::format("friends[{}]", friends.size()); }), 1.0);
      if (!seen.insert(entry.get_string().value_unsafe()).second) {
        throw Refusal{problems::invalid_field(fmt::format(
            "friends[{}] is \"{}\", who stands there twice (must be once)", friends.size() - 1, friends.back().first))};
      }
      check();
    }
    return friends;
  }

  template <typename Name>
  static double weight_of(element value, Name field) {
    const double weight = number_of(value, field);
    if (!(weight > 0.0)) {
      throw Refusal{problems::invalid_field(fmt::format("{} is {} (must be above 0)", field(), shown(value)))};
    }
    return weight;
  }
};

/// What `read` gives, or the problem that it threw.
template <typename Value, typename Read>
Result<Value> result_of(Read read) {
  try {
    return read();
  } catch (Refusal& refusal) {
    return std::move(refusal.problem);
  }
}

}  // namespace

RequestReader::RequestReader(const RequestLimits& limits) : limits_(limits), state_(std::make_unique<State>()) {}
RequestReader::~RequestReader() = default;

std::string RequestReader::wrong_with_name(std::string_view name) const {
  if (name.empty()) return "is empty (must have at least 1 byte)";
  if (name.size() > limits_.most_name_bytes) {
    return fmt::format("has {} bytes (must have at most {})", name.size(), limits_.most_name_bytes);
  }
  // Most names are printable ASCII, which is UTF-8 without a look.
  if (std::all_of(name.begin(), name.end(), [](char one) { return one >= 0x20 && one < 0x7f; })) return {};
  const auto control = std::find_if(name.begin(), name.end(),
                                    [](char one) { return static_cast<unsigned char>(one) < 0x20 || one == 0x7f; });
  if (control != name.end()) {
    return fmt::format("has the control character U+{:04X} in it (must have none)",
                       static_cast<unsigned>(static_cast<unsigned char>(*control)));
  }
  if (!simdjson::validate_utf8(name.data(), name.size())) return "is not UTF-8";
  return {};
}

Result<SelectRequest> RequestReader::select(std::string_view body) { return decision(body, false); }
Result<SelectRequest> RequestReader::rank(std::string_view body) { return decision(body, true); }

Result<SelectRequest> RequestReader::decision(std::string_view body, bool with_k) {
  if (auto quick = quick_decision(body, with_k)) return std::move(*quick);
  return result_of<SelectRequest>([&] { return Fields{limits_, *this}.decision(state_->parse_object(body), with_k); });
}

/// Contexts are nearly all of a body, and are read on their own (read_number_rows), which takes less time. The rest is
/// parsed with an empty array in their place. Nothing if the contexts are of another form, or anything is wrong with
/// the rest: the body is then read as a whole, which finds out what.
std::optional<SelectRequest> RequestReader::quick_decision(std::string_view body, bool with_k) {
  static_assert(body_padding >= number_rows_padding);
  // A quote inside of a JSON string has a backslash before it, so that this is the name of a member.
  constexpr std::string_view name = "\"contexts\":";
  const std::size_t at = body.find(name);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  if (std::string_view("{, \t\r\n").find(body[at - 1]) == std::string_view::npos) return std::nullopt;
  const std::size_t begin = at + name.size();
  std::vector<double> rows;
  rows.reserve(body.size() / 8);
  const auto length = read_number_rows(body.substr(begin), limits_.dimension, limits_.most_candidates, rows);
  if (!length) return std::nullopt;
  std::string& rest = state_->rest;
  rest.assign(body.substr(0, begin)).append("[]").append(body.substr(begin + *length));
  const std::size_t size = rest.size();
  rest.append(body_padding, ' ');
  try {
    return Fields{limits_, *this}.decision(state_->parse_object(std::string_view(rest).substr(0, size)), with_k, &rows);
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

Result<RewardRequest> RequestReader::reward(std::string_view body) {
  return result_of<RewardRequest>([&] { return Fields{limits_, *this}.reward(state_->parse_object(body), true); });
}

Result<std::vector<Result<RewardRequest>>> RequestReader::rewards(std::string_view body) {
  return result_of<std::vector<Result<RewardRequest>>>([&] {
    const element document = state_->parse(body);
    simdjson::dom::array array;
    if (document.get(array) != simdjson::SUCCESS) {
      throw Refusal{problems::invalid_field(fmt::format("the body is {} (must be an array)", shown(document)))};
    }
    std::vector<Result<RewardRequest>> requests;
    for (const element entry : array) {
      if (requests.size() == limits_.most_rewards) {
        throw Refusal{problems::invalid_field(
            fmt::format("the body has more than {} rewards (send several requests)", limits_.most_rewards))};
      }
      requests.push_back(result_of<RewardRequest>([&] {
        simdjson::dom::object object;
        if (entry.get(object) != simdjson::SUCCESS) {
          throw Refusal{problems::invalid_field(fmt::format("is {} (must be an object)", shown(entry)))};
        }
        return Fields{limits_, *this}.reward(object, false);
      }));
    }
    if (requests.empty()) {
      throw Refusal{problems::invalid_field("the body is an empty array (must hold at least 1 reward)")};
    }
    return requests;
  });
}

Result<UserRequest> RequestReader::user(std::string name, std::string_view body) {
  return result_of<UserRequest>([&] {
    UserRequest request{.user = std::move(name)};
    if (body.empty()) return request;
    static constexpr std::array<std::string_view, 2> names = {"friends", "cluster"};
    const auto [friends, cluster] = members(state_->parse_object(body), names);
    if (friends) request.friends = Fields{limits_, *this}.friends(*friends);
    if (cluster) {
      request.cluster = static_cast<NodeId>(count_of(*cluster, "cluster", 0, std::numeric_limits<NodeId>::max() - 1));
    }
    return request;
  });
}

Result<ItemView> RequestReader::item(std::string name, std::string_view body) {
  return result_of<ItemView>([&] {
    static constexpr std::array<std::string_view, 1> names = {"context"};
    const auto [context] = members(state_->parse_object(body), names);
    if (!context) missing("'context'");
    ItemView item{std::move(name), {}};
    Fields{limits_, *this}.context(
        *context, [] { return "context"; }, item.context);
    return item;
  });
}

Result<double> RequestReader::edge(std::string_view body) {
  return result_of<double>([&] {
    if (body.empty()) return 1.0;
    static constexpr std::array<std::string_view, 1> names = {"weight"};
    const auto [weight] = members(state_->parse_object(body), names);
    return weight ? Fields::weight_of(*weight, [] { return "'weight'"; }) : 1.0;
  });
}

Result<ExplainRequest> RequestReader::explain(std::string_view body) {
  return result_of<ExplainRequest>([&] {
    static constexpr std::array<std::string_view, 4> names = {"user", "context", "item", "k"};
    const auto [user, context, item, k] = members(state_->parse_object(body), names);
    const Fields fields{limits_, *this};
    ExplainRequest request;
    if (!user) missing("'user'");
    request.user = fields.name(*user, [] { return "'user'"; });
    fields.one_candidate(context, item, request.context, request.item);
    constexpr std::size_t most = 1000;
    if (k) request.k = count_of(*k, "k", 1, most);
    return request;
  });
}

}  // namespace goblin::serve
