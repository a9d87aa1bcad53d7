#pragma once

#include "goblin/bandit/bandit.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace goblin::app {

/// What one policy has that the others have not, as it is given on the command line.
struct PolicyRequest {
  std::string laplacian = std::string(name_of(Laplacian::combinatorial));
  std::string club_graph = std::string(name_of(ClubGraph::social));
  BanditOptions given;
  /// An option, and the policies that have it; none: all of them.
  struct Of {
    CLI::Option* option;
    std::vector<Policy> policies;
  };
  std::vector<Of> options;
};

/// Adds --ridge. Where it is not given, the policy says what is usual: PolicyInfo::usual_ridge.
CLI::Option* add_ridge(CLI::App& command, std::optional<double>& ridge);

/// Adds the options, and returns them; the request must live as long as the command.
std::vector<CLI::Option*> add_policy_options(CLI::App& command, PolicyRequest& request);
/// Throws std::invalid_argument if an option was given that none of the policies has.
void set_policy_options(const PolicyRequest& request, std::span<const Policy> policies, BanditOptions& bandit);

}  // namespace goblin::app
