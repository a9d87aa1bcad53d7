#include "goblin/bandit/policy.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace goblin {

std::string_view name_of(Policy policy) {
  switch (policy) {
    case Policy::linucb_sin:
      return "linucb-sin";
    case Policy::linucb_ind:
      return "linucb-ind";
    case Policy::gob_lin:
      return "gob.lin";
    case Policy::gob_lin_macro:
      return "gob.lin.macro";
    case Policy::gob_lin_block:
      return "gob.lin.block";
  }
  return "";
}

Policy policy_named(std::string_view name) {
  for (const Policy policy : all_policies) {
    if (name_of(policy) == name) return policy;
  }
  throw std::invalid_argument(
      fmt::format("policy: '{}' (must be linucb-sin, linucb-ind, gob.lin, gob.lin.macro or gob.lin.block)", name));
}

}  // namespace goblin
