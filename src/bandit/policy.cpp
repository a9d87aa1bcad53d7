#include "goblin/bandit/policy.hpp"

#include "joined.hpp"

#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace goblin {
namespace {

constexpr bool table_is_in_order() {
  for (std::size_t k = 0; k < policy_table.size(); ++k) {
    if (static_cast<std::size_t>(policy_table[k].policy) != k) return false;
  }
  return true;
}
static_assert(table_is_in_order(), "info_of finds a policy by its number");

constexpr bool paper_comes_first() {
  for (std::size_t k = 0; k < policy_table.size(); ++k) {
    if (policy_table[k].is_in_paper != (k < paper_policies.size())) return false;
  }
  return true;
}
static_assert(paper_comes_first(), "paper_policies are the first ones");

}  // namespace

Policy policy_named(std::string_view name) {
  for (const PolicyInfo& info : policy_table) {
    if (info.name == name) return info.policy;
  }
  throw std::invalid_argument(fmt::format("policy: '{}' (must be {})", name, policy_names()));
}

std::string policy_names() {
  std::vector<std::string_view> names;
  names.reserve(policy_table.size());
  for (const PolicyInfo& info : policy_table) names.push_back(info.name);
  return joined(names, "or");
}

std::string clustered_policy_names() {
  std::vector<std::string_view> names;
  for (const PolicyInfo& info : policy_table) {
    if (info.uses_clusters) names.push_back(info.name);
  }
  return joined(names, "and");
}

std::string policy_names_with_likelihood() {
  std::vector<std::string_view> names;
  for (const PolicyInfo& info : policy_table) {
    if (has_likelihood(info.policy)) names.push_back(info.name);
  }
  return joined(names, "or");
}

}  // namespace goblin
