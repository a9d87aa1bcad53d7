#include "policy_options.hpp"

#include "data_options.hpp"
#include "joined.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

namespace goblin::app {
namespace {

std::vector<std::string_view> names_of(std::span<const Policy> policies) {
  std::vector<std::string_view> names;
  names.reserve(policies.size());
  for (const Policy policy : policies) names.push_back(name_of(policy));
  return names;
}

}  // namespace

CLI::Option* add_ridge(CLI::App& command, std::optional<double>& ridge) {
  std::string usual = "1";
  for (const PolicyInfo& info : policy_table) {
    if (info.usual_ridge != 1.0) usual += fmt::format(", or {} for {}", info.usual_ridge, info.name);
  }
  return command.add_option("--ridge", ridge, "A = ridge I + coupling L")->default_str(usual);
}

std::vector<CLI::Option*> add_policy_options(CLI::App& command, PolicyRequest& request) {
  BanditOptions& given = request.given;
  const auto add = [&](const char* name, auto& value, const std::string& help, std::vector<Policy> policies) {
    const std::string of = policies.empty() ? "" : fmt::format(" (for {})", joined(names_of(policies), "and"));
    auto* option = command.add_option(name, value, help + of)->capture_default_str();
    request.options.push_back({option, std::move(policies)});
    return option;
  };
  add("--laplacian", request.laplacian, "combinatorial, or normalized: all friends of a user together count as one",
      {Policy::gob_lin});
  add("--hub", given.hub.weight, "How strongly every user is drawn to what all have in common", {Policy::gob_lin_hub});
  add("--hub-ridge", given.hub.ridge, "How strongly what all have in common is drawn to zero", {Policy::gob_lin_hub});
  add("--buckets", given.hash.buckets, "How many numbers the vector has that everybody shares", {Policy::linucb_hash})
      ->check(positive_whole_number());
  add("--hash-seed", given.hash.seed, "Seed of the hash that draws the buckets", {Policy::linucb_hash})
      ->check(whole_number());
  add("--club-graph", request.club_graph, "Who may be alike at first: social, complete or random", {Policy::club});
  add("--separation", given.club.separation,
      "Users are parted whose estimates differ by more than this many times their uncertainty", {Policy::club});
  add("--club-seed", given.club.seed, "Seed of the random graph", {Policy::club})->check(whole_number());
  add("--dynucb-clusters", given.dynucb.clusters, "How many clusters", {Policy::dynucb})
      ->check(positive_whole_number());
  add("--dynucb-seed", given.dynucb.seed, "Seed of the clusters that users start in", {Policy::dynucb})
      ->check(whole_number());
  add("--window", given.forgetting.window, "Only the last so many rewards count; 0: all", {})->check(whole_number());
  add("--discount", given.forgetting.discount,
      "What a user's earlier rewards count for is multiplied by this at each new one; 1: nothing is forgotten", {});
  auto* intercept = command.add_flag("--intercept", given.intercept,
                                     "Put a 1 after the numbers of every context, which must not have one already");
  request.options.push_back({intercept, {}});
  std::vector<CLI::Option*> options;
  for (const auto& each : request.options) options.push_back(each.option);
  return options;
}

void set_policy_options(const PolicyRequest& request, std::span<const Policy> policies, BanditOptions& bandit) {
  for (const auto& [option, of] : request.options) {
    if (option->count() == 0 || of.empty()) continue;
    if (std::ranges::find_first_of(of, policies) != of.end()) continue;
    throw std::invalid_argument(
        fmt::format("{}: must not be given without the policy {}", option->get_name(), joined(names_of(of), "or")));
  }
  bandit.laplacian = laplacian_named(request.laplacian);
  bandit.hub = request.given.hub;
  bandit.hash = request.given.hash;
  bandit.club = request.given.club;
  bandit.club.graph = club_graph_named(request.club_graph);
  bandit.dynucb = request.given.dynucb;
  bandit.forgetting = request.given.forgetting;
  bandit.intercept = request.given.intercept;
}

}  // namespace goblin::app
