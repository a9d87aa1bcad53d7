#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/random.hpp"

#include <array>
#include <string>
#include <vector>

namespace goblin {

inline constexpr std::array golden_engines = {EngineKind::dense, EngineKind::sparse, EngineKind::local};

inline std::string golden_name(int version, Policy policy, EngineKind kind) {
  return "version-" + std::to_string(version) + "-" + std::string(name_of(policy)) + "-" + std::string(name_of(kind)) +
         ".goblin";
}

/// The bandit that is in a golden file: a little of everything that a model file of that version holds.
inline Bandit golden_model(int version, Policy policy, EngineKind kind) {
  Names names;
  for (int user = 0; user < 5; ++user) names.insert("u" + std::to_string(user));
  const Graph friends(names, std::vector<Edge>{{0, 1}, {1, 2, 2.0}, {3, 4, 0.5}});
  const std::vector<NodeId> clusters{0, 0, 1, 1, 2};
  const bool shared = policy == Policy::linucb_sin || policy == Policy::linucb_hash;
  const std::size_t nodes = shared ? 1 : policy == Policy::gob_lin_macro ? 3 : 5;
  BanditOptions options{.dimension = 2, .alpha = 0.25, .ridge = 0.5, .coupling = 1.5, .engine = {.kind = kind}};
  options.hash = {.buckets = 12, .seed = 3};
  for (std::size_t node = 0; node < nodes && !finds_clusters(policy); ++node) {
    options.node_ridges.push_back(0.5 + 0.25 * static_cast<double>(node));
  }
  if (version >= 4) {
    if (policy == Policy::gob_lin) options.laplacian = Laplacian::normalized;
    if (policy == Policy::gob_lin || policy == Policy::linucb_ind) options.forgetting.window = 8;
    if (policy == Policy::gob_lin_macro || policy == Policy::linucb_hash) options.forgetting.discount = 0.75;
  }
  const bool has_intercept = policy == Policy::gob_lin || policy == Policy::linucb_hash || policy == Policy::dynucb;
  options.intercept = version >= 5 && has_intercept;
  auto bandit = Bandit::make(policy, friends, uses_clusters(policy) ? clusters : std::vector<NodeId>{}, options);
  const std::vector<double> contexts{0.5, -1.0, 0.25, 0.75, -0.5, 0.125};
  for (std::size_t t = 0; t < 12; ++t) {
    bandit.update(static_cast<NodeId>(t * 7 % 5), std::span(contexts).subspan(t % 3 * 2, 2), t % 2 == 0 ? 1.0 : -0.5);
  }
  bandit.add_user("u5");
  bandit.add_edge("u5", "u0", 0.75);
  bandit.update("u5", std::span(contexts).first(2), 0.5);
  if (version >= 3) bandit.set_exploration(Exploration::ucb(0.5).mixed(0.125));
  if (version >= 5) bandit.remove_users(std::array<UserRef, 2>{"u2", "u4"});
  return bandit;
}

}  // namespace goblin
