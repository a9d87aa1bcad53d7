#pragma once

#include "goblin/bandit/bandit.hpp"
#include "goblin/data/own_files.hpp"
#include "goblin/graph/edge_file.hpp"
#include "json.hpp"
#include "policy_options.hpp"

#include <cstddef>
#include <memory>
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
  std::string items;
  std::string load;
  std::string policy = "gob.lin";
  std::string engine = "automatic";
  std::vector<double> printed_bound;
  std::string explore;
  BanditOptions bandit;
  PolicyRequest policy_options;
  std::vector<std::string> beside;            // policies of other bandits, whose options may be given, too
  std::vector<CLI::Option*> of_a_new_bandit;  // those that a saved one has already
};

/// For commands that take several bandits: every policy with every alpha, or with every way to choose; or saved ones.
struct BanditLists {
  std::vector<std::string> policies = {"gob.lin"};
  std::vector<double> alphas = {BanditOptions().alpha};
  std::vector<std::string> explorations;
  std::vector<std::string> loads;
};

/// Adds the options; the request and the lists must live as long as the command. With lists, --policy, --alpha,
/// --explore and --load go there.
void add_bandit_options(CLI::App& command, BanditRequest& request, BanditLists* lists = nullptr);
/// Throws CLI::ParseError if options are missing or exclude each other. Not every command needs to be told the
/// dimension.
void check_bandit_options(const BanditRequest& request, bool needs_dimension = true);
/// One for each bandit of the lists.
[[nodiscard]] std::vector<BanditRequest> requests_of(const BanditRequest& request, const BanditLists& lists);
/// What a new bandit is made from.
struct BanditParts {
  Policy policy;
  Graph graph;
  std::vector<NodeId> clusters;
  BanditOptions options;
};
[[nodiscard]] BanditParts bandit_parts(const BanditRequest& request, const data::Items* items);
/// A new bandit whose dimension was not given has that of the items. Throws std::invalid_argument if they are of
/// another one.
[[nodiscard]] Bandit make_bandit(const BanditRequest& request, const data::Items* items = nullptr);

/// --items, for commands whose events may name items; --dimension may then be left out.
void add_items_option(CLI::App& command, std::string& path);
/// The items of the file; none without one.
[[nodiscard]] std::shared_ptr<const data::Items> read_items(const std::string& path);

/// "gob.lin", "gob.lin with thompson:0.2": the policy, and the exploration where it is not the paper's.
[[nodiscard]] std::string described_rules(const BanditSummary& summary);
/// What a bandit is made of: a line for people, and members of a JSON object.
[[nodiscard]] std::string described(const BanditSummary& summary, std::size_t new_users);
void add_to(Json& object, const BanditSummary& summary, std::size_t new_users);
[[nodiscard]] bool has_local(const BanditSummary& summary);

}  // namespace goblin::app
