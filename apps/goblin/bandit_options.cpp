#include "bandit_options.hpp"

#include "data_options.hpp"
#include "events.hpp"
#include "goblin/graph/label_file.hpp"
#include "goblin/graph/names.hpp"
#include "policy_options.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace goblin::app {
namespace {

std::size_t count_of(const BanditSummary& summary, EngineKind kind) {
  return static_cast<std::size_t>(std::count_if(summary.components.begin(), summary.components.end(),
                                                [kind](const auto& component) { return component.engine == kind; }));
}

}  // namespace

void add_bandit_options(CLI::App& command, BanditRequest& request, BanditLists* lists) {
  auto* graph = command.add_option("--graph", request.graph, "Edges: user <tab> user [<tab> weight]");
  auto* self_loops = add_drop_self_loops(command, request.edges);
  auto* dimension = command.add_option("--dimension", request.bandit.dimension, "Numbers in a context")
                        ->check(positive_whole_number());
  // One value, or with lists one or more.
  const auto add = [&](const char* name, auto& one, auto BanditLists::*several, const std::string& help) {
    if (lists == nullptr) return command.add_option(name, one, help);
    return command.add_option(name, lists->*several, help + "; one or more")->delimiter(',');
  };
  auto* policy = add("--policy", request.policy, &BanditLists::policies, policy_names());
  auto* alpha = add("--alpha", request.bandit.alpha, &BanditLists::alphas, "How much uncertainty attracts");
  auto* labels = command.add_option("--labels", request.labels,
                                    fmt::format("Clusters: user <tab> cluster; for {}", clustered_policy_names()));
  auto* ridge = add_ridge(command, request.bandit.ridge);
  auto* coupling = command.add_option("--coupling", request.bandit.coupling, "A = ridge I + coupling L");
  auto* per_node = command.add_flag("--evidence-per-node", request.bandit.evidence_per_node,
                                    "Where users share nodes, keep evidence for the nodes only: less memory");
  auto* bound = command.add_option("--printed-bound", request.printed_bound,
                                   "NOISE DELTA NORM: the widths of the paper's Figures 1 and 2 instead of alpha");
  bound->expected(3);
  auto* explore = add("--explore", request.explore, &BanditLists::explorations,
                      fmt::format("How to choose: {} (default: ucb with --alpha)", exploration_names()));
  explore->excludes(alpha)->excludes(bound);
  bound->excludes(alpha);
  auto* engine = command.add_option("--engine", request.engine, "automatic, dense, sparse or local");
  auto* tolerance = command.add_option("--tolerance", request.bandit.engine.tolerance,
                                       "Relative residual of the sparse engine's solves");
  auto* local_tolerance = command.add_option("--local-tolerance", request.bandit.engine.local.tolerance,
                                             "How far scores of the local engine may be off");
  add("--load", request.load, &BanditLists::loads, "Go on with a saved bandit, which has its own policy and options");
  command
      .add_option("--threads", request.bandit.engine.threads,
                  "Threads that read and learn many rewards; 0: as many as the machine has")
      ->capture_default_str()
      ->check(whole_number());
  for (auto* option : {policy, alpha, coupling, engine, tolerance, local_tolerance}) {
    option->capture_default_str();
  }
  const auto of_policies = add_policy_options(command, request.policy_options);
  request.of_a_new_bandit = {graph,    self_loops, dimension, policy,  alpha,  labels,    ridge,
                             coupling, per_node,   bound,     explore, engine, tolerance, local_tolerance};
  request.of_a_new_bandit.insert(request.of_a_new_bandit.end(), of_policies.begin(), of_policies.end());
}

void check_bandit_options(const BanditRequest& request, bool needs_dimension) {
  if (request.load.empty() && request.graph.empty()) throw CLI::RequiredError("--graph or --load");
  if (needs_dimension && request.load.empty() && request.items.empty() && request.bandit.dimension == 0) {
    throw CLI::RequiredError("--dimension");
  }
  for (const auto* option : request.of_a_new_bandit) {
    if (!request.load.empty() && option->count() > 0) throw CLI::ExcludesError("--load", option->get_name());
  }
}

std::vector<BanditRequest> requests_of(const BanditRequest& request, const BanditLists& lists) {
  std::vector<BanditRequest> requests;
  for (const std::string& load : lists.loads) {
    requests.push_back(request);
    requests.back().load = load;
  }
  if (!requests.empty()) return requests;
  const auto clustered = [](const std::string& name) { return uses_clusters(policy_named(name)); };
  const bool any_clustered = std::any_of(lists.policies.begin(), lists.policies.end(), clustered);
  for (const std::string& policy : lists.policies) {
    BanditRequest each = request;
    each.policy = policy;
    each.beside = lists.policies;
    if (any_clustered && !clustered(policy)) each.labels.clear();
    for (const std::string& explore : lists.explorations) {
      each.explore = explore;
      requests.push_back(each);
    }
    if (!lists.explorations.empty()) continue;
    if (!request.printed_bound.empty()) {
      requests.push_back(each);
      continue;
    }
    for (const double alpha : lists.alphas) {
      each.bandit.alpha = alpha;
      requests.push_back(each);
    }
  }
  return requests;
}

void add_items_option(CLI::App& command, std::string& path) {
  command.add_option("--items", path, "Contexts of the items that events name: item <tab> number <tab> number ...")
      ->type_name("FILE")
      ->check(name_of_a("file"));
}

std::shared_ptr<const data::Items> read_items(const std::string& path) {
  return path.empty() ? nullptr : std::make_shared<const data::Items>(data::read_items(path));
}

BanditParts bandit_parts(const BanditRequest& request, const data::Items* items) {
  BanditOptions bandit = request.bandit;
  bandit.dimension = dimension_with(items, bandit.dimension);
  bandit.engine.kind = engine_kind(request.engine);
  if (!request.explore.empty()) bandit.exploration = exploration_named(request.explore);
  if (!request.printed_bound.empty()) {
    bandit.exploration = Exploration::printed_bound(
        {.noise = request.printed_bound[0], .delta = request.printed_bound[1], .norm = request.printed_bound[2]});
  }
  const Policy policy = policy_named(request.policy);
  std::vector<Policy> policies = {policy};
  for (const std::string& name : request.beside) policies.push_back(policy_named(name));
  set_policy_options(request.policy_options, policies, bandit);
  Graph graph = read_edge_file(request.graph, request.edges);
  if (uses_clusters(policy) != !request.labels.empty()) {
    throw std::invalid_argument(
        fmt::format("--labels: must {}be given for {}", uses_clusters(policy) ? "" : "not ", request.policy));
  }
  Labels labels;
  if (!request.labels.empty()) std::tie(graph, labels) = read_label_file(request.labels, graph);
  return {.policy = policy, .graph = std::move(graph), .clusters = std::move(labels.of), .options = std::move(bandit)};
}

Bandit make_bandit(const BanditRequest& request, const data::Items* items) {
  if (!request.load.empty()) {
    Bandit loaded = Bandit::load(request.load);
    static_cast<void>(dimension_with(items, loaded.options().dimension));
    loaded.set_threads(request.bandit.engine.threads);
    return loaded;
  }
  const BanditParts parts = bandit_parts(request, items);
  return Bandit::make(parts.policy, parts.graph, parts.clusters, parts.options);
}

std::string described_rules(const BanditSummary& summary) {
  const bool is_usual = summary.exploration.alpha() && !summary.exploration.is_random();
  return fmt::format("{}{}", name_of(summary.policy),
                     is_usual ? "" : fmt::format(" with {}", name_of(summary.exploration)));
}

std::string described(const BanditSummary& summary, std::size_t new_users) {
  const std::size_t local = count_of(summary, EngineKind::local);
  const std::string clusters = finds_clusters(summary.policy)
                                   ? fmt::format(" in {} cluster{}", summary.clusters, summary.clusters == 1 ? "" : "s")
                                   : std::string();
  std::string text = fmt::format(
      "{} users ({} new){}, {} nodes in {} dense and {} sparse{} components, {:.1f} MB\n", summary.users, new_users,
      clusters, summary.nodes, count_of(summary, EngineKind::dense), count_of(summary, EngineKind::sparse),
      local > 0 ? fmt::format(" and {} local", local) : "", static_cast<double>(summary.bytes) / 1e6);
  if (summary.unconverged_solves > 0) {
    text += fmt::format("warning: {} solves did not reach the tolerance\n", summary.unconverged_solves);
  }
  return text;
}

void add_to(Json& object, const BanditSummary& summary, std::size_t new_users) {
  object["users"] = summary.users;
  object["new_users"] = new_users;
  object["nodes"] = summary.nodes;
  if (finds_clusters(summary.policy)) object["clusters"] = summary.clusters;
  object["dense_components"] = count_of(summary, EngineKind::dense);
  object["sparse_components"] = count_of(summary, EngineKind::sparse);
  object["local_components"] = count_of(summary, EngineKind::local);
  object["bytes"] = summary.bytes;
  object["unconverged_solves"] = summary.unconverged_solves;
  object["exploration"] = name_of(summary.exploration);
}

bool has_local(const BanditSummary& summary) { return count_of(summary, EngineKind::local) > 0; }

}  // namespace goblin::app
