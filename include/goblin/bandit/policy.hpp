#pragma once

#include <array>
#include <string_view>

namespace goblin {

/// The paper's five algorithms: one algorithm on five graphs.
///
/// | name            | nodes                     | edges                                                     |
/// |-----------------|---------------------------|-----------------------------------------------------------|
/// | `linucb-sin`    | one, shared by everybody  | none                                                      |
/// | `linucb-ind`    | one per user              | none                                                      |
/// | `gob.lin`       | one per user              | the social graph                                          |
/// | `gob.lin.macro` | one per cluster           | weight = weight of the social edges between two clusters  |
/// | `gob.lin.block` | one per user              | the social edges inside a cluster                         |
enum class Policy { linucb_sin, linucb_ind, gob_lin, gob_lin_macro, gob_lin_block };

inline constexpr std::array all_policies = {Policy::linucb_sin, Policy::linucb_ind, Policy::gob_lin,
                                            Policy::gob_lin_macro, Policy::gob_lin_block};

[[nodiscard]] std::string_view name_of(Policy policy);

/// The policy of that name; throws std::invalid_argument with the names there are.
[[nodiscard]] Policy policy_named(std::string_view name);

/// Whether the policy needs a clustering of the users.
[[nodiscard]] constexpr bool uses_clusters(Policy policy) {
  return policy == Policy::gob_lin_macro || policy == Policy::gob_lin_block;
}

/// Whether every user has a node of their own, as Theorem 1 has it.
[[nodiscard]] constexpr bool has_node_per_user(Policy policy) {
  return policy != Policy::linucb_sin && policy != Policy::gob_lin_macro;
}

}  // namespace goblin
