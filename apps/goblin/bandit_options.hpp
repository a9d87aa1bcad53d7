#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/graph/edge_file.hpp"
#include "json.hpp"
#include "policy_options.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace goblin::app {

/// Which bandit to take: a new one over a graph, or a saved one. The options that subcommands share.
struct BanditRequest {
  std::string graph;
  EdgeFileOptions edges;
  std::string labels;
  std::string load;
  std::string policy = "gob.lin";
  std::string engine = "automatic";
  std::vector<double> printed_bound;
  std::string explore;
  BanditOptions bandit;
  std::optional<double> ridge;
  PolicyRequest policy_options;
  std::vector<CLI::Option*> of_a_new_bandit;  // those that a saved one has already
};

/// Adds the options; the request must live as long as the command.
void add_bandit_options(CLI::App& command, BanditRequest& request);
/// Throws CLI::ParseError if options are missing or exclude each other.
void check_bandit_options(const BanditRequest& request);
[[nodiscard]] Bandit make_bandit(const BanditRequest& request);

/// "gob.lin", "gob.lin with thompson:0.2": the policy, and the exploration where it is not the paper's.
[[nodiscard]] std::string described_rules(const BanditSummary& summary);
/// What a bandit is made of: a line for people, and members of a JSON object.
[[nodiscard]] std::string described(const BanditSummary& summary, std::size_t new_users);
void add_to(Json& object, const BanditSummary& summary, std::size_t new_users);
[[nodiscard]] bool has_local(const BanditSummary& summary);

/// The users of a log, who join the bandit if nobody has heard of them.
class NewUsers {
 public:
  explicit NewUsers(Bandit& bandit) : bandit_(bandit), named_(bandit.user_count() == 0 || bandit.graph().has_names()) {}

  /// Whether the user would be new. In a bandit without names a user is an index, and a new one can only be the one
  /// after the last; throws std::invalid_argument of any other.
  [[nodiscard]] bool is_new(std::string_view name) const;
  void add(std::string_view name) { bandit_.add_user(named_ ? name : std::string_view()); }

 private:
  Bandit& bandit_;
  bool named_;
};

}  // namespace goblin::app
