#include "commands.hpp"
#include "data_options.hpp"
#include "goblin/cluster/partition.hpp"
#include "goblin/data/own_files.hpp"
#include "goblin/error.hpp"
#include "goblin/experiment/sweep.hpp"
#include "goblin/graph/edge_file.hpp"
#include "goblin/graph/label_file.hpp"
#include "goblin/report/table.hpp"
#include "goblin/report/trace_csv.hpp"
#include "goblin/world/catalogue.hpp"
#include "goblin/world/cliques.hpp"
#include "goblin/world/linear.hpp"
#include "json.hpp"
#include "policy_options.hpp"
#include "progress.hpp"
#include "random_log.hpp"
#include "signals.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace goblin::app {
namespace {

constexpr const char* simulate_examples =
    "Examples:\n"
    "  goblin simulate --world cliques --policy linucb-sin linucb-ind gob.lin --payoff-noise 0.25 --rounds 5000\n"
    "  goblin simulate --world lastfm --data DIR --policy gob.lin.macro --clusters 50 --alpha 0.1 --repetitions 5\n"
    "  goblin simulate --world cliques --policy gob.lin --explore ucb:0.1 thompson:0.1 epsilon_greedy:0.05\n"
    "  goblin simulate --world files --data DIR --policy gob.lin --json\n"
    "  goblin simulate --world lastfm --data DIR --rounds 100000 --log-random FOLDER\n"
    "  goblin simulate --world linear --graph edges.tsv --dimension 5 --payoff-noise 0.1 --trace trace.csv\n";

/// What is played if nothing else is asked for: those of the paper that need no clusters.
std::vector<std::string> usual_policies() {
  std::vector<std::string> names;
  for (const PolicyInfo& info : policy_table) {
    if (info.is_in_paper && !info.uses_clusters) names.emplace_back(info.name);
  }
  return names;
}

struct SimulateRequest {
  std::string world = "cliques";
  std::vector<std::string> policies = usual_policies();
  std::vector<double> alphas = {0.1};
  std::vector<std::string> explorations;  // in the place of alphas
  std::uint64_t rounds = 10'000;
  std::uint64_t seed = 0;
  std::uint64_t repetitions = 1;
  std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  std::size_t clusters = 0;
  std::size_t cluster_size = 0;
  std::string labels_file;
  std::string engine = "automatic";
  BanditOptions bandit;
  PolicyRequest policy_options;
  // worlds
  std::optional<std::size_t> arms;
  std::size_t cliques = 4;
  std::size_t clique_size = 25;
  double graph_noise = 0.0;
  double payoff_noise = 0.0;
  std::optional<std::uint64_t> drift_after;
  double smoothing = 10.0;
  std::string graph_file;
  EdgeFileOptions edges;
  std::string item_fields = "automatic";
  std::string repeated_payoffs = "refuse";
  DataRequest data;
  // output
  bool json = false;
  std::string log_folder;
  std::string trace_file;
  std::uint64_t trace_every = 1;
};

using WorldMaker = std::function<std::shared_ptr<const world::World>(std::uint64_t repetition)>;

data::ItemFields item_fields_named(const std::string& name) {
  if (name == "numbers") return data::ItemFields::numbers;
  return name == "tags" ? data::ItemFields::tags : data::ItemFields::automatic;
}

WorldMaker catalogue_maker(const SimulateRequest& request) {
  const std::string folder = request.data.required_folder();
  data::Dataset read;
  if (request.world == "files") {
    read = data::read_own_files(folder, {.items = item_fields_named(request.item_fields),
                                         .contexts = request.data.chosen_contexts(),
                                         .edges = request.edges,
                                         .repeated_payoffs = data::repeated_payoffs_named(request.repeated_payoffs)});
  } else {
    const data::ReadOptions options = request.data.read_options();
    read = request.world == "lastfm" ? data::read_lastfm(folder, options) : data::read_delicious(folder, options);
  }
  auto shared = std::make_shared<const data::Dataset>(std::move(read));
  const std::size_t arms = request.arms.value_or(25);
  return [shared, arms, seed = request.seed](std::uint64_t repetition) {
    return std::make_shared<world::Catalogue>(
        shared, world::CatalogueOptions{.arms = arms, .seed = seed, .repetition = repetition});
  };
}

WorldMaker linear_maker(const SimulateRequest& request) {
  if (request.graph_file.empty()) throw CLI::RequiredError("--graph (for --world linear)");
  const Graph graph = read_edge_file(request.graph_file, request.edges);
  if (graph.node_count() == 0) throw DataError(request.graph_file, 0, "an empty graph (no line with an edge)");
  world::LinearOptions options{.dimension = request.data.contexts.dimension,
                               .arms = request.arms.value_or(10),
                               .payoff_noise = request.payoff_noise,
                               .smoothing = request.smoothing,
                               .seed = request.seed};
  return [graph, options](std::uint64_t repetition) mutable {
    options.repetition = repetition;
    return std::make_shared<world::Linear>(graph, options);
  };
}

WorldMaker cliques_maker(const SimulateRequest& request) {
  world::CliquesOptions options{.cliques = request.cliques,
                                .size = request.clique_size,
                                .dimension = request.data.contexts.dimension,
                                .arms = request.arms.value_or(10),
                                .graph_noise = request.graph_noise,
                                .payoff_noise = request.payoff_noise,
                                .drift_after = request.drift_after,
                                .seed = request.seed};
  return [options](std::uint64_t repetition) mutable {
    options.repetition = repetition;
    return std::make_shared<world::Cliques>(options);
  };
}

WorldMaker world_maker(const SimulateRequest& request) {
  if (request.world == "cliques") return cliques_maker(request);
  if (request.world == "linear") return linear_maker(request);
  return catalogue_maker(request);
}

std::vector<NodeId> clusters_for(const SimulateRequest& request, const Graph& graph) {
  if (request.labels_file.empty()) {
    const cluster::Options options{
        .clusters = request.clusters, .cluster_size = request.cluster_size, .seed = request.seed};
    return cluster::partition(graph, options).labels;
  }
  auto labelled = read_label_file(request.labels_file, graph);
  if (labelled.first.node_count() != graph.node_count()) {
    throw DataError(request.labels_file, 0,
                    fmt::format("user '{}' is not in the data", labelled.first.names()[graph.node_count()]));
  }
  return labelled.second.of;
}

/// The worlds of all repetitions. Only the graph of cliques changes with the repetition, and with it its clusters.
std::vector<experiment::Stage> make_stages(const SimulateRequest& request, bool clustered) {
  const WorldMaker make = world_maker(request);
  std::vector<experiment::Stage> stages;
  for (std::uint64_t repetition = 0; repetition < request.repetitions; ++repetition) {
    experiment::Stage stage{.world = make(repetition), .clusters = {}};
    if (clustered) {
      const bool known = repetition > 0 && request.world != "cliques";
      stage.clusters = known ? stages.front().clusters : clusters_for(request, stage.world->graph());
    }
    stages.push_back(std::move(stage));
  }
  return stages;
}

Json json_of(const experiment::Result& result) {
  const auto mean = [](const std::optional<experiment::Estimate>& estimate) {
    return json_number(estimate ? std::optional(estimate->mean) : std::nullopt);
  };
  return {{"policy", name_of(result.policy)},
          {"alpha", json_number(result.exploration.alpha())},
          {"rounds", result.rounds},
          {"repetitions", result.repetitions},
          {"reward", result.reward.mean},
          {"random_reward", result.random_reward.mean},
          {"normalized_reward", result.normalized_reward.mean},
          {"standard_error", json_number(result.normalized_reward.standard_error)},
          {"ratio_to_random", json_number(result.ratio_to_random)},
          {"regret", mean(result.regret)},
          {"regret_bound", mean(result.regret_bound)},
          {"seconds", result.seconds},
          {"rounds_per_second", result.rounds_per_second},
          {"engine", result.engine},
          {"bytes", result.bytes},
          {"exploration", name_of(result.exploration)}};
}

void print_results(const SimulateRequest& request, const world::World& world,
                   const std::vector<experiment::Result>& results) {
  if (!request.json) {
    fmt::print("{}: {} users, {} edges, contexts of {} numbers, seed {}\n\n{}", world.name(),
               world.graph().node_count(), world.graph().edge_count(), world.dimension(), request.seed,
               report::table(results));
    if (interrupted()) fmt::print("\ninterrupted: this is what was done so far\n");
    return;
  }
  Json list = Json::array();
  for (const experiment::Result& result : results) list.push_back(json_of(result));
  fmt::print("{}\n", json_text({{"world", world.name()},
                                {"users", world.graph().node_count()},
                                {"edges", world.graph().edge_count()},
                                {"dimension", world.dimension()},
                                {"seed", request.seed},
                                {"repetitions", request.repetitions},
                                {"interrupted", interrupted()},
                                {"results", std::move(list)}}));
}

std::vector<Exploration> explorations_of(const SimulateRequest& request) {
  std::vector<Exploration> all;
  for (const std::string& text : request.explorations) all.push_back(exploration_named(text));
  if (!all.empty()) return all;
  for (const double alpha : request.alphas) all.push_back(Exploration::ucb(alpha));
  return all;
}

void run(const SimulateRequest& request) {
  std::vector<Policy> policies;
  for (const std::string& name : request.policies) policies.push_back(policy_named(name));
  BanditOptions bandit = request.bandit;
  set_policy_options(request.policy_options, policies, bandit);
  const bool clustered = std::ranges::any_of(policies, uses_clusters);
  std::vector<experiment::Case> cases;
  for (const Policy policy : policies) {
    for (const Exploration& exploration : explorations_of(request)) {
      cases.push_back({.policy = policy, .bandit = bandit});
      cases.back().bandit.exploration = exploration;
    }
  }
  const bool has_clusters = request.clusters > 0 || request.cluster_size > 0 || !request.labels_file.empty();
  if (clustered && !has_clusters) {
    throw CLI::RequiredError(fmt::format("--clusters, --cluster-size or --labels (for {})", clustered_policy_names()));
  }

  std::ofstream csv;
  if (!request.trace_file.empty()) {
    csv.open(request.trace_file, std::ios::binary);
    if (!csv) throw std::runtime_error(fmt::format("{}: the file cannot be written", request.trace_file));
  }
  const auto stages = make_stages(request, clustered);

  experiment::SweepOptions options{
      .simulate = {.rounds = request.rounds, .record_every = csv.is_open() ? request.trace_every : 0},
      .threads = request.threads};
  options.simulate.clock = seconds_now;
  const StopOnSignal stop;
  std::vector<std::vector<experiment::Trace>> traces;
  {
    Progress progress("rounds", request.rounds * stages.size() * cases.size());
    options.simulate.keep_going = [&progress] {
      progress.advance();
      return !interrupted();
    };
    traces = experiment::sweep(stages, cases, options);
  }

  std::vector<experiment::Result> results;
  results.reserve(traces.size());
  for (const auto& of_case : traces) results.push_back(experiment::summarize(of_case));
  print_results(request, *stages.front().world, results);
  if (csv.is_open()) {
    report::write_csv_header(csv);
    for (const auto& of_case : traces) {
      for (std::size_t k = 0; k < stages.size(); ++k) report::write_csv(csv, of_case[k], *stages[k].world);
    }
    csv.close();
    if (!csv) throw std::runtime_error(fmt::format("{}: the file cannot be written", request.trace_file));
  }
  if (interrupted()) throw CLI::RuntimeError(exit_code_of(noted_signal()));
}

/// Plays nobody: what a choice at random shows is written down.
void write_log(const SimulateRequest& request) {
  const auto world = world_maker(request)(0);
  const RandomLog log = write_random_log(*world, request.rounds, request.log_folder);
  if (request.json) {
    fmt::print("{}\n", json_text({{"world", world->name()},
                                  {"users", world->graph().node_count()},
                                  {"edges", world->graph().edge_count()},
                                  {"dimension", world->dimension()},
                                  {"seed", request.seed},
                                  {"decisions", log.decisions},
                                  {"mean_reward", log.mean_reward},
                                  {"files", log.files}}));
    return;
  }
  fmt::print("{}: {} decisions at random, mean reward {:.4g}, contexts of {} numbers\n", world->name(), log.decisions,
             log.mean_reward, world->dimension());
  for (const std::string& file : log.files) fmt::print("{}\n", file);
}

/// Which worlds an option is for; another world refuses it.
struct WorldOption {
  CLI::Option* option;
  std::vector<std::string> worlds;
};

}  // namespace

void add_simulate(CLI::App& app) {
  auto request = std::make_shared<SimulateRequest>();
  CLI::App* command = app.add_subcommand("simulate", "Play policies in a world and compare what they earn");
  command->footer(simulate_examples);
  command->add_option("--world", request->world, "What to play in")
      ->capture_default_str()
      ->check(CLI::IsMember({"cliques", "lastfm", "delicious", "linear", "files"}));
  auto* policy = command->add_option("--policy", request->policies, fmt::format("One or more of {}", policy_names()))
                     ->capture_default_str()
                     ->delimiter(',');
  auto* alpha =
      command->add_option("--alpha", request->alphas, "How much uncertainty attracts; every policy is tried with each")
          ->capture_default_str()
          ->delimiter(',');
  auto* explore = command
                      ->add_option("--explore", request->explorations,
                                   fmt::format("Or: one or more ways to choose, of {}", exploration_names()))
                      ->delimiter(',')
                      ->excludes(alpha);
  const auto whole = [&](const char* name, auto& value, const std::string& help) {
    return command->add_option(name, value, help)->capture_default_str()->check(whole_number());
  };
  const auto positive = [&](const char* name, auto& value, const std::string& help) {
    return command->add_option(name, value, help)->capture_default_str()->check(positive_whole_number());
  };
  positive("--rounds", request->rounds, "Rounds in a repetition");
  whole("--seed", request->seed, "Seed of everything that is random");
  auto* repetitions = positive("--repetitions", request->repetitions, "Other rounds each time");
  positive("--threads", request->threads, "Simulations at the same time; for time figures take 1");
  auto* clusters =
      whole("--clusters", request->clusters, fmt::format("How many clusters, for {}", clustered_policy_names()));
  auto* cluster_size = whole("--cluster-size", request->cluster_size, "Or: how many users a cluster has on average");
  auto* labels = command->add_option("--labels", request->labels_file, "Or: a file of user <tab> cluster");
  cluster_size->excludes(clusters);
  labels->excludes(clusters)->excludes(cluster_size)->type_name("FILE");
  command->add_option("--engine", request->engine, "automatic, dense, sparse or local")->capture_default_str();
  command->add_option("--tolerance", request->bandit.engine.tolerance, "sparse: how exact a solve is")
      ->capture_default_str();
  command->add_option("--local-tolerance", request->bandit.engine.local.tolerance, "local: how far scores may be off")
      ->capture_default_str();
  add_ridge(*command, request->bandit.ridge);
  command->add_option("--coupling", request->bandit.coupling, "A = ridge I + coupling L")->capture_default_str();
  add_policy_options(*command, request->policy_options);
  command->add_flag("--json", request->json, "Print JSON");
  auto* trace = command->add_option("--trace", request->trace_file, "Write what happened as CSV, a row a round");
  trace->type_name("FILE");
  positive("--trace-every", request->trace_every, "Only every so many rounds, and the last");

  auto* log = command->add_option("--log-random", request->log_folder,
                                  "In the place of policies: write a log of choices at random, for tune and evaluate");
  log->type_name("DIR")->check(name_of_a("folder"));
  for (auto* other : {policy, alpha, explore, repetitions, trace}) log->excludes(other);

  command->add_option("--arms", request->arms, "Candidates in a round (default: 10 in cliques and linear, else 25)")
      ->check(whole_number());
  add_reading(*command, request->data);
  add_context_options(*command, request->data);
  add_data_folder(*command, request->data);
  add_cache_options(*command, request->data);
  std::vector<WorldOption> only = {
      {labels, {"lastfm", "delicious", "files", "linear"}},
      {whole("--cliques", request->cliques, "How many cliques"), {"cliques"}},
      {whole("--clique-size", request->clique_size, "Users in a clique"), {"cliques"}},
      {command->add_option("--graph-noise", request->graph_noise, "Expected number of pairs whose edge is flipped")
           ->capture_default_str(),
       {"cliques"}},
      {command->add_option("--payoff-noise", request->payoff_noise, "Largest absolute value of the payoffs' noise")
           ->capture_default_str(),
       {"cliques", "linear"}},
      {command
           ->add_option("--drift-after", request->drift_after,
                        "After so many rounds every clique gets another vector: tastes that change")
           ->check(positive_whole_number()),
       {"cliques"}},
      {command->add_option("--graph", request->graph_file, "Edges: user <tab> user [<tab> weight]")->type_name("FILE"),
       {"linear"}},
      {command->add_option("--smoothing", request->smoothing, "How alike friends are")->capture_default_str(),
       {"linear"}},
      {add_drop_self_loops(*command, request->edges), {"linear", "files"}},
      {command
           ->add_option("--repeated-payoffs", request->repeated_payoffs,
                        "Where payoffs.tsv has a user and an item again: refuse, first, last or sum")
           ->capture_default_str()
           ->check(CLI::IsMember({"refuse", "first", "last", "sum"})),
       {"files"}},
      {command
           ->add_option("--items", request->item_fields,
                        "What items.tsv has after the name: numbers, tags or automatic")
           ->capture_default_str()
           ->check(CLI::IsMember({"automatic", "numbers", "tags"})),
       {"files"}},
  };
  for (CLI::Option* option : command->get_options()) {
    if (option->get_group() == "From tags to contexts") only.push_back({option, {"lastfm", "delicious", "files"}});
  }
  for (const WorldOption& each : only) {
    if (each.worlds.size() == 1) each.option->group("Only for " + each.worlds.front());
  }

  command->callback([request, only] {
    for (const WorldOption& each : only) {
      const bool fits = std::find(each.worlds.begin(), each.worlds.end(), request->world) != each.worlds.end();
      if (each.option->count() > 0 && !fits)
        throw CLI::ExcludesError("--world " + request->world, each.option->get_name());
    }
    request->bandit.engine.kind = engine_kind(request->engine);
    if (request->log_folder.empty()) {
      run(*request);
    } else {
      write_log(*request);
    }
  });
}

}  // namespace goblin::app
