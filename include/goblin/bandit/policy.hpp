#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace goblin {

/// The paper's five algorithms, one algorithm on five graphs, and after them its rivals.
///
/// | name            | nodes                     | edges                                                     |
/// |-----------------|---------------------------|-----------------------------------------------------------|
/// | `linucb-sin`    | one, shared by everybody  | none                                                      |
/// | `linucb-ind`    | one per user              | none                                                      |
/// | `gob.lin`       | one per user              | the social graph                                          |
/// | `gob.lin.macro` | one per cluster           | weight = weight of the social edges between two clusters  |
/// | `gob.lin.block` | one per user              | the social edges inside a cluster                         |
/// | `gob.lin.hub`   | one per user, and a hub   | the social graph, and one from the hub to every user      |
/// | `linucb.hash`   | one, shared by everybody, | none                                                      |
/// |                 | of HashOptions::buckets   |                                                           |
/// |                 | numbers                   |                                                           |
/// | `club`          | one per cluster           | none; clusters fall apart as rewards come in              |
/// | `dynucb`        | one per cluster           | none; users change the cluster as rewards come in         |
///
/// The hub is node 0, which nobody is; user u has the node u + 1.
enum class Policy {
  linucb_sin,
  linucb_ind,
  gob_lin,
  gob_lin_macro,
  gob_lin_block,
  gob_lin_hub,
  linucb_hash,
  club,
  dynucb
};

/// What there is to say about a policy.
struct PolicyInfo {
  Policy policy;
  std::string_view name;          ///< everywhere: command line, Python, files, figures
  std::string_view knows;         ///< what it knows of the social graph, in a few words
  std::string_view colour;        ///< of its line in every figure, "#rrggbb"
  bool uses_clusters = false;     ///< needs a clustering of the users
  bool finds_clusters = false;    ///< makes one as rewards come in
  bool has_node_per_user = true;  ///< every user has a node of their own, as Theorem 1 has it
  bool is_in_paper = true;        ///< one of the paper's five
  bool has_hub = false;           ///< node 0 is nobody's, and joined to everybody
  /// BanditOptions::ridge where nobody says otherwise.
  double usual_ridge = 1.0;
  /// Why it cannot forget (Forgetting); empty where it can.
  std::string_view cannot_forget = {};
};

/// The one list of policies, in the order of the enumeration: names, help texts and figures are made from it.
inline constexpr std::array policy_table = {
    PolicyInfo{.policy = Policy::linucb_sin,
               .name = "linucb-sin",
               .knows = "nothing: one bandit for everybody",
               .colour = "#8a8f98",
               .has_node_per_user = false},
    PolicyInfo{
        .policy = Policy::linucb_ind, .name = "linucb-ind", .knows = "nothing: one bandit a user", .colour = "#e0662a"},
    PolicyInfo{.policy = Policy::gob_lin, .name = "gob.lin", .knows = "all of it", .colour = "#2b83e0"},
    PolicyInfo{.policy = Policy::gob_lin_macro,
               .name = "gob.lin.macro",
               .knows = "the edges between clusters",
               .colour = "#1f9e6e",
               .uses_clusters = true,
               .has_node_per_user = false},
    PolicyInfo{.policy = Policy::gob_lin_block,
               .name = "gob.lin.block",
               .knows = "the edges inside clusters",
               .colour = "#a865d0",
               .uses_clusters = true},
    PolicyInfo{.policy = Policy::gob_lin_hub,
               .name = "gob.lin.hub",
               .knows = "all of it, and what everybody likes",
               .colour = "#c9a227",
               .is_in_paper = false,
               .has_hub = true,
               .usual_ridge = 0.01},
    PolicyInfo{.policy = Policy::linucb_hash,
               .name = "linucb.hash",
               .knows = "nothing: users share hashed features",
               .colour = "#6d4c41",
               .has_node_per_user = false,
               .is_in_paper = false},
    PolicyInfo{.policy = Policy::club,
               .name = "club",
               .knows = "who may be alike, until rewards say otherwise",
               .colour = "#c2185b",
               .finds_clusters = true,
               .has_node_per_user = false,
               .is_in_paper = false,
               .cannot_forget = "users whom it has parted are not joined again"},
    PolicyInfo{.policy = Policy::dynucb,
               .name = "dynucb",
               .knows = "nothing: clusters of users with like rewards",
               .colour = "#00838f",
               .finds_clusters = true,
               .has_node_per_user = false,
               .is_in_paper = false,
               .cannot_forget = "a user who has moved is not moved back"},
};

/// All of them, for loops.
inline constexpr auto all_policies = [] {
  std::array<Policy, policy_table.size()> all{};
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = policy_table[k].policy;
  return all;
}();

/// The paper's five, which come first.
inline constexpr auto paper_policies = std::span(all_policies).first<5>();

[[nodiscard]] constexpr const PolicyInfo& info_of(Policy policy) {
  return policy_table[static_cast<std::size_t>(policy)];
}

[[nodiscard]] constexpr std::string_view name_of(Policy policy) { return info_of(policy).name; }

/// The policy of that name; throws std::invalid_argument with the names there are.
[[nodiscard]] Policy policy_named(std::string_view name);

/// "linucb-sin, linucb-ind, gob.lin, ... or dynucb", for messages and help texts.
[[nodiscard]] std::string policy_names();
/// The same of those that use clusters: "gob.lin.macro and gob.lin.block".
[[nodiscard]] std::string clustered_policy_names();
/// The same of those that have a likelihood.
[[nodiscard]] std::string policy_names_with_likelihood();

/// Whether the policy needs a clustering of the users.
[[nodiscard]] constexpr bool uses_clusters(Policy policy) { return info_of(policy).uses_clusters; }

/// Whether the policy makes a clustering itself, which changes as rewards come in.
[[nodiscard]] constexpr bool finds_clusters(Policy policy) { return info_of(policy).finds_clusters; }

/// Whether users have clusters, wherever they come from.
[[nodiscard]] constexpr bool has_clusters(Policy policy) { return uses_clusters(policy) || finds_clusters(policy); }

/// Whether every user has a node of their own, as Theorem 1 has it.
[[nodiscard]] constexpr bool has_node_per_user(Policy policy) { return info_of(policy).has_node_per_user; }

/// Whether there is a node that nobody is and that is joined to everybody. It is node 0.
[[nodiscard]] constexpr bool has_hub(Policy policy) { return info_of(policy).has_hub; }

/// Whether the rewards have a likelihood that does not depend on their order, by which settings can be chosen (tune).
[[nodiscard]] constexpr bool has_likelihood(Policy policy) { return info_of(policy).is_in_paper || has_hub(policy); }

}  // namespace goblin
