#include "commands.hpp"
#include "data_options.hpp"
#include "goblin/cluster/partition.hpp"
#include "goblin/cluster/quality.hpp"
#include "goblin/error.hpp"
#include "goblin/graph/edge_file.hpp"
#include "goblin/graph/label_file.hpp"
#include "json.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace goblin::app {
namespace {

/// The terminal shows this many clusters at most, the largest; --json lists all.
constexpr std::size_t clusters_shown = 20;

constexpr const char* cluster_examples =
    "Examples:\n"
    "  printf 'ann\\tbob\\nbob\\tcat\\ncat\\tann\\ndan\\teve\\neve\\tfay\\nfay\\tdan\\ncat\\tdan\\n' > edges.tsv\n"
    "  goblin cluster --graph edges.tsv --clusters 2 --out labels.tsv\n"
    "  goblin cluster --graph edges.tsv --labels labels.tsv --json\n"
    "  goblin cluster --graph edges.tsv --cluster-size 3 --max-size 4 --compare\n";

struct ClusterRequest {
  std::string graph_file;
  EdgeFileOptions edges;
  std::string labels_file;
  std::string out_file;
  std::string method = "ncut";
  cluster::Options options;
  bool compare = false;
  bool json = false;
};

/// One row of the answer: a clustering and how it came about.
struct Row {
  std::string method;
  cluster::Summary summary;
  std::optional<double> seconds;
  std::string impossible;  // why there is no clustering
};

using ClusterName = std::function<std::string(std::size_t)>;

/// Without names for the clusters, no list of them.
Json json_of(const Row& row, const ClusterName& cluster_name) {
  if (!row.impossible.empty()) return {{"method", row.method}, {"error", row.impossible}};
  const cluster::Summary& summary = row.summary;
  Json json = {{"method", row.method},
               {"clusters", summary.clusters},
               {"normalized_cut", summary.normalized_cut},
               {"normalized_cut_per_cluster", summary.mean_normalized_cut},
               {"inside", summary.inside},
               {"sizes", {{"min", summary.smallest}, {"median", summary.median}, {"max", summary.largest}}}};
  if (row.seconds) json["seconds"] = *row.seconds;
  if (!cluster_name) return json;
  json["per_cluster"] = Json::array();
  for (std::size_t k = 0; k < summary.clusters; ++k) {
    json["per_cluster"].push_back(
        {{"cluster", cluster_name(k)}, {"size", summary.size_of[k]}, {"normalized_cut", summary.normalized_cut_of[k]}});
  }
  return json;
}

/// The graph, and what else there is to say.
void print_json(const Graph& graph, const Json& rest) {
  Json json = {{"nodes", graph.node_count()}, {"edges", graph.edge_count()}};
  json.update(rest);
  fmt::print("{}\n", json_text(json));
}

void print_graph(const ClusterRequest& request, const Graph& graph) {
  const std::size_t components = graph.components().count();
  fmt::print("graph           {}: {} nodes, {} edges, {} component{}\n", request.graph_file, graph.node_count(),
             graph.edge_count(), components, components == 1 ? "" : "s");
}

void print_row(const Row& row, const ClusterName& cluster_name) {
  const cluster::Summary& summary = row.summary;
  fmt::print("method          {}, {} clusters\n", row.method, summary.clusters);
  fmt::print("normalized cut  {:.4f} per cluster, {:.4f} in all\n", summary.mean_normalized_cut,
             summary.normalized_cut);
  fmt::print("inside          {:.2f} % of the edge weight\n", 100.0 * summary.inside);
  fmt::print("sizes           {} smallest, {} median, {} largest\n", summary.smallest, summary.median, summary.largest);
  if (row.seconds) fmt::print("time            {:.3f} s\n", *row.seconds);

  std::vector<std::size_t> order(summary.clusters);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&summary](std::size_t a, std::size_t b) { return summary.size_of[a] > summary.size_of[b]; });
  fmt::print("\n{:<12}  {:>8}  {:>14}\n", "cluster", "size", "normalized cut");
  for (std::size_t k = 0; k < std::min(clusters_shown, order.size()); ++k) {
    fmt::print("{:<12}  {:>8}  {:>14.4f}\n", cluster_name(order[k]), summary.size_of[order[k]],
               summary.normalized_cut_of[order[k]]);
  }
  if (order.size() > clusters_shown) {
    fmt::print("... and {} smaller ones (--json lists all)\n", order.size() - clusters_shown);
  }
}

void print_table(const std::vector<Row>& rows) {
  fmt::print("\n{:<12}{:>10}{:>16}{:>12}{:>10}{:>10}{:>10}{:>12}\n", "method", "clusters", "cut/cluster", "inside %",
             "smallest", "median", "largest", "seconds");
  for (const Row& row : rows) {
    const cluster::Summary& summary = row.summary;
    if (row.impossible.empty()) {
      fmt::print("{:<12}{:>10}{:>16.4f}{:>12.2f}{:>10}{:>10}{:>10}{:>12.3f}\n", row.method, summary.clusters,
                 summary.mean_normalized_cut, 100.0 * summary.inside, summary.smallest, summary.median, summary.largest,
                 row.seconds.value_or(0.0));
    } else {
      fmt::print("{:<12}impossible: {}\n", row.method, row.impossible);
    }
  }
}

/// Clusters, and measures how long that takes.
std::pair<Row, std::vector<NodeId>> run_method(const Graph& graph, const cluster::Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  cluster::Clustering clustering = cluster::partition(graph, options);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  Row row{.method = std::string(cluster::name_of(options.method)),
          .summary = std::move(clustering.summary),
          .seconds = elapsed.count(),
          .impossible = {}};
  return {std::move(row), std::move(clustering.labels)};
}

void compare(const ClusterRequest& request, const Graph& graph) {
  std::vector<Row> rows;
  for (const auto method : {cluster::Method::ncut, cluster::Method::metis}) {
    cluster::Options options = request.options;
    options.method = method;
    rows.push_back(run_method(graph, options).first);
  }
  try {
    rows.push_back(
        run_method(graph, {.method = cluster::Method::components, .max_size = request.options.max_size}).first);
  } catch (const std::invalid_argument& error) {  // a component above the cap: the other rows still stand
    rows.push_back({.method = "components", .summary = {}, .seconds = {}, .impossible = error.what()});
  }
  if (request.json) {
    Json methods = Json::array();
    for (const Row& row : rows) methods.push_back(json_of(row, {}));
    print_json(graph, {{"seed", request.options.seed}, {"methods", std::move(methods)}});
  } else {
    print_graph(request, graph);
    print_table(rows);
  }
}

/// Measures the clustering of a label file. Its users without friends join the graph.
void evaluate(const ClusterRequest& request, const Graph& graph) {
  const auto labelled = read_label_file(request.labels_file, graph);
  const Labels& labels = labelled.second;
  const Row row{
      .method = "labels", .summary = cluster::summarize(labelled.first, labels.of), .seconds = {}, .impossible = {}};
  const auto name = [&labels](std::size_t cluster) { return std::string(labels.clusters[cluster]); };
  if (request.json) {
    print_json(labelled.first, json_of(row, name));
  } else {
    print_graph(request, labelled.first);
    print_row(row, name);
  }
}

void write_out(const std::string& file, const Graph& graph, const std::vector<NodeId>& labels) {
  std::ofstream out(file, std::ios::binary);
  write_labels(out, graph, labels);
  out.close();
  if (!out) throw std::runtime_error(fmt::format("{}: the file cannot be written", file));
}

void cluster_graph(const ClusterRequest& request, const Graph& graph) {
  const auto result = run_method(graph, request.options);
  if (!request.out_file.empty()) write_out(request.out_file, graph, result.second);
  const auto name = [](std::size_t cluster) { return std::to_string(cluster); };
  if (request.json) {
    Json json = {{"seed", request.options.seed}};
    json.update(json_of(result.first, name));
    print_json(graph, json);
  } else {
    print_graph(request, graph);
    print_row(result.first, name);
  }
}

void run(const ClusterRequest& request) {
  const Graph graph = read_edge_file(request.graph_file, request.edges);
  if (graph.node_count() == 0) throw DataError(request.graph_file, 0, "an empty graph (no line with an edge)");
  if (!request.labels_file.empty()) {
    evaluate(request, graph);
  } else if (request.compare) {
    compare(request, graph);
  } else {
    cluster_graph(request, graph);
  }
}

}  // namespace

void add_cluster(CLI::App& app) {
  auto request = std::make_shared<ClusterRequest>();
  cluster::Options& options = request->options;
  CLI::App* command = app.add_subcommand("cluster", "Cluster a graph: a small normalized cut, METIS, or components");
  command->footer(cluster_examples);
  command->add_option("--graph", request->graph_file, "Edges: user <tab> user [<tab> weight]")->required();
  auto* self_loops = add_drop_self_loops(*command, request->edges);
  auto* labels =
      command->add_option("--labels", request->labels_file, "Only measure this clustering: user <tab> cluster");
  command->add_flag("--json", request->json, "Print JSON");

  const CLI::Validator whole = whole_number();
  auto* clusters = command->add_option("--clusters", options.clusters, "How many clusters")->check(whole);
  command->add_option("--cluster-size", options.cluster_size, "How many users a cluster has on average")
      ->check(whole)
      ->excludes(clusters);
  auto* method = command->add_option("--method", request->method, "How to cluster")
                     ->capture_default_str()
                     ->check(CLI::IsMember({"ncut", "metis", "components"}));
  command->add_option("--max-size", options.max_size, "No cluster has more users; 0: no cap")
      ->capture_default_str()
      ->check(whole);
  command
      ->add_option("--imbalance", options.imbalance,
                   "ncut: sizes lie between average / this and average * this; inf lifts both bounds")
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Seed of all random choices")->capture_default_str()->check(whole);
  command->add_option("--starts", options.starts, "ncut: clusterings from scratch to choose from")
      ->capture_default_str()
      ->check(whole);
  command
      ->add_option("--improvement-steps", options.improvement_steps,
                   "ncut: steps over a neighbour spent on improving the best start")
      ->capture_default_str()
      ->check(whole);
  auto* out = command->add_option("--out", request->out_file, "Write the labels here: user <tab> cluster");
  command->add_flag("--compare", request->compare, "Show ncut, metis and components side by side")
      ->excludes(method)
      ->excludes(out);

  command->callback([request, command, labels, self_loops] {
    for (const CLI::Option* option : command->get_options()) {
      const bool allowed =
          option == labels || option == self_loops || option->check_name("--graph") || option->check_name("--json");
      if (labels->count() > 0 && option->count() > 0 && !allowed) {
        throw CLI::ExcludesError("--labels", option->get_name());
      }
    }
    request->options.method = cluster::method_of(request->method);
    run(*request);
  });
}

}  // namespace goblin::app
