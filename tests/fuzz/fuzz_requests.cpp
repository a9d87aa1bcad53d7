// Any body is a request, or a problem with a status, a type and words that are UTF-8; and what is taken keeps its
// bounds. Contexts that are read on their own are what a reader of any JSON makes of them.

#include "serve/answers.hpp"
#include "serve/requests.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <simdjson.h>

namespace {

using namespace goblin::serve;

constexpr RequestLimits limits{
    .dimension = 2, .most_candidates = 4, .most_name_bytes = 16, .most_rewards = 3, .most_friends = 3};

void check(bool good) {
  if (!good) std::abort();
}

void check_problem(const Problem& problem) {
  check(problem.status == 400 && !problem.type.empty() && !problem.title.empty() && !problem.detail.empty());
  std::string text;
  answers::append(text, problem, "fuzz");
  simdjson::dom::parser parser;
  check(parser.parse(text).error() == simdjson::SUCCESS);
}

void check_name(const std::string& name) { check(!name.empty() && name.size() <= limits.most_name_bytes); }

void check_numbers(const std::vector<double>& numbers) {
  for (const double number : numbers) check(std::isfinite(number));
}

template <typename Value, typename Check>
void check_result(const Result<Value>& result, Check check_value) {
  if (const auto* problem = std::get_if<Problem>(&result)) {
    check_problem(*problem);
  } else {
    check_value(std::get<Value>(result));
  }
}

void check_decision(const SelectRequest& request) {
  check_name(request.user);
  check(request.contexts.empty() != request.items.empty());
  const std::size_t candidates =
      request.items.empty() ? request.contexts.size() / limits.dimension : request.items.size();
  check(candidates >= 1 && candidates <= limits.most_candidates);
  check(request.contexts.size() % limits.dimension == 0);
  check_numbers(request.contexts);
  check(request.allowed.empty() || request.allowed.size() == candidates);
}

/// The body with a space in it that means nothing, but keeps contexts from being read on their own.
std::vector<char> read_as_a_whole(std::string_view body) {
  std::string text(body);
  constexpr std::string_view name = "\"contexts\"";
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + name.size())) {
    text.insert(at + name.size(), " ");
  }
  std::vector<char> bytes(text.begin(), text.end());
  bytes.resize(text.size() + body_padding);
  return bytes;
}

bool same_bits(const std::vector<double>& one, const std::vector<double>& other) {
  return one.size() == other.size() &&
         (one.empty() || std::memcmp(one.data(), other.data(), one.size() * sizeof(double)) == 0);
}

void check_same(const Result<SelectRequest>& one, const Result<SelectRequest>& other) {
  check(one.index() == other.index());
  if (const auto* problem = std::get_if<Problem>(&one)) {
    check(problem->type == std::get<Problem>(other).type);
    return;
  }
  const auto& [a, b] = std::pair(std::get<SelectRequest>(one), std::get<SelectRequest>(other));
  check(a.user == b.user && a.items == b.items && a.allowed == b.allowed && a.event == b.event && a.k == b.k);
  check(same_bits(a.contexts, b.contexts));
}

void check_reward(const RewardRequest& request) {
  check(std::isfinite(request.reward));
  check(request.event.empty() != request.user.empty());
  check(request.context.empty() || request.context.size() == limits.dimension);
  check_numbers(request.context);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static RequestReader reader(limits);
  // Exactly as many bytes behind the body as it is promised.
  std::vector<char> bytes(size + body_padding);
  std::copy(data, data + size, bytes.begin());
  const std::string_view body(bytes.data(), size);
  check_result(reader.select(body), check_decision);
  check_result(reader.rank(body), [](const SelectRequest& request) {
    check_decision(request);
    check(request.k >= 1 && request.k <= limits.most_candidates);
  });
  const std::vector<char> whole = read_as_a_whole(body);
  const std::string_view same_body(whole.data(), whole.size() - body_padding);
  check_same(reader.select(body), reader.select(same_body));
  check_same(reader.rank(body), reader.rank(same_body));
  check_result(reader.reward(body), check_reward);
  check_result(reader.rewards(body), [](const std::vector<Result<RewardRequest>>& each) {
    check(!each.empty() && each.size() <= limits.most_rewards);
    for (const auto& one : each) check_result(one, check_reward);
  });
  check_result(reader.user("ann", body), [](const UserRequest& request) {
    check(request.friends.size() <= limits.most_friends);
    for (const auto& [name, weight] : request.friends) {
      check_name(name);
      check(weight > 0.0 && std::isfinite(weight));
    }
  });
  check_result(reader.item("tea", body), [](const ItemView& item) { check(item.context.size() == limits.dimension); });
  check_result(reader.edge(body), [](double weight) { check(weight > 0.0 && std::isfinite(weight)); });
  check_result(reader.explain(body), [](const ExplainRequest& request) { check_name(request.user); });
  return 0;
}
