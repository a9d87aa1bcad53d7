#include "goblin/bandit/exploration.hpp"

#include "joined.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace goblin {
namespace {

constexpr std::string_view mixture = "+epsilon:";

[[noreturn]] void refuse(std::string_view text) {
  throw std::invalid_argument(fmt::format("exploration: '{}' (must be {})", text, exploration_names()));
}

void check_number(bool good, const char* name, double value, const char* bound) {
  if (!good) throw std::invalid_argument(fmt::format("{}: {} (must be {})", name, value, bound));
}

void check_at_least_0(const char* name, double value) {
  check_number(std::isfinite(value) && value >= 0.0, name, value, "finite and at least 0");
}

void check_epsilon(double epsilon) {
  check_number(epsilon >= 0.0 && epsilon <= 1.0, "epsilon", epsilon, "between 0 and 1");
}

struct RuleCheck {
  void operator()(const Ucb& rule) const { check_at_least_0("alpha", rule.alpha); }
  void operator()(const PrintedBound& bound) const {
    check_at_least_0("printed_bound.noise", bound.noise);
    check_number(bound.delta > 0.0 && bound.delta <= 1.0, "printed_bound.delta", bound.delta, "above 0 and at most 1");
    check_at_least_0("printed_bound.norm", bound.norm);
  }
  /// Larger ones have squares that are not finite.
  void operator()(const Thompson& rule) const {
    check_number(rule.v >= 0.0 && rule.v <= 1e100, "v", rule.v, "between 0 and 1e100");
  }
  void operator()(const Greedy& /*rule*/) const {}
  void operator()(const SquareCb& rule) const { check_at_least_0("gamma", rule.gamma); }
};

struct RuleName {
  std::string operator()(const Ucb& rule) const { return fmt::format("ucb:{}", rule.alpha); }
  std::string operator()(const PrintedBound& bound) const {
    return fmt::format("printed_bound:{}:{}:{}", bound.noise, bound.delta, bound.norm);
  }
  std::string operator()(const Thompson& rule) const { return fmt::format("thompson:{}", rule.v); }
  std::string operator()(const Greedy& /*rule*/) const { return "greedy"; }
  std::string operator()(const SquareCb& rule) const { return fmt::format("square_cb:{}", rule.gamma); }
};

/// The numbers behind the colons of "name:1:2"; none if one of them is not a number.
std::optional<std::vector<double>> numbers_in(std::string_view text) {
  std::vector<double> numbers;
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos;) {
    const std::size_t next = text.find(':', colon + 1);
    const std::string_view part = text.substr(colon + 1, next == std::string_view::npos ? next : next - colon - 1);
    double number = 0.0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), number);
    if (read.ec != std::errc() || read.ptr != part.data() + part.size()) return std::nullopt;
    numbers.push_back(number);
    colon = next;
  }
  return numbers;
}

/// The rule of that name with these numbers. Those of ucb and printed_bound may be left out.
std::optional<Exploration> rule_named(std::string_view name, const std::vector<double>& numbers) {
  const std::size_t count = numbers.size();
  if (name == "ucb" && count == 0) return Exploration::ucb();
  if (name == "ucb" && count == 1) return Exploration::ucb(numbers[0]);
  if (name == "printed_bound" && count == 0) return Exploration::printed_bound();
  if (name == "printed_bound" && count == 3) {
    return Exploration::printed_bound({.noise = numbers[0], .delta = numbers[1], .norm = numbers[2]});
  }
  if (name == "thompson" && count == 1) return Exploration::thompson(numbers[0]);
  if (name == "epsilon_greedy" && count == 1) return Exploration::epsilon_greedy(numbers[0]);
  if (name == "greedy" && count == 0) return Exploration::greedy();
  if (name == "square_cb" && count == 1) return Exploration::square_cb(numbers[0]);
  return std::nullopt;
}

}  // namespace

std::string name_of(const Exploration& exploration) {
  if (exploration.epsilon == 0.0) return std::visit(RuleName(), exploration.rule);
  if (std::holds_alternative<Greedy>(exploration.rule)) return fmt::format("epsilon_greedy:{}", exploration.epsilon);
  return fmt::format("{}{}{}", std::visit(RuleName(), exploration.rule), mixture, exploration.epsilon);
}

Exploration exploration_named(std::string_view text) {
  const std::size_t plus = text.find(mixture);
  const std::string_view rule_text = text.substr(0, plus);
  const auto numbers = numbers_in(rule_text);
  if (!numbers) refuse(text);
  auto found = rule_named(rule_text.substr(0, rule_text.find(':')), *numbers);
  if (!found) refuse(text);
  check_exploration(*found);
  if (plus == std::string_view::npos) return *found;
  const auto shares = numbers_in(text.substr(plus));
  if (!shares || shares->size() != 1) refuse(text);
  check_epsilon(shares->front());
  return found->mixed(shares->front());
}

std::string exploration_names() {
  std::vector<std::string_view> texts;
  texts.reserve(exploration_table.size());
  for (const ExplorationInfo& info : exploration_table) texts.push_back(info.text);
  return fmt::format("{}, each also with {}EPSILON", joined(texts, "or"), mixture);
}

void check_exploration(const Exploration& exploration) {
  std::visit(RuleCheck(), exploration.rule);
  check_epsilon(exploration.epsilon);
}

}  // namespace goblin
