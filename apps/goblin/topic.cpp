#include "commands.hpp"
#include "data_options.hpp"
#include "goblin/graph/edge_file.hpp"
#include "goblin/graph/label_file.hpp"
#include "json.hpp"
#include "report.hpp"
#include "saving.hpp"
#include "serve/kafka_topic.hpp"
#include "serve/partition_table.hpp"

#include <memory>
#include <numeric>
#include <ostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace goblin::app {
namespace {

struct TopicRequest {
  std::string topic;
  std::string properties;
  serve::NewTopic made;
  std::string graph;
  std::string labels;
  std::string table;
  bool json = false;
};

serve::KafkaProperties properties_of(const TopicRequest& request) {
  return request.properties.empty() ? serve::KafkaProperties{} : serve::read_kafka_properties(request.properties);
}

std::string numbers(const std::vector<std::int32_t>& brokers) { return fmt::format("{}", fmt::join(brokers, ", ")); }

void describe(const TopicRequest& request) {
  const auto address = serve::kafka_address(request.topic);
  const serve::TopicDescription topic = serve::describe_topic(address, properties_of(request));
  if (request.json) {
    Json partitions = Json::array();
    for (const auto& partition : topic.partitions) {
      partitions.push_back({{"partition", partition.number},
                            {"leader", partition.leader},
                            {"replicas", partition.replicas},
                            {"in_sync", partition.in_sync},
                            {"first", partition.first},
                            {"end", partition.end},
                            {"begins_with", partition.founding}});
    }
    report(json_line({{"topic", address.text()},
                      {"partitions", std::move(partitions)},
                      {"settings", topic.settings},
                      {"warnings", topic.warnings}}) +
           "\n");
    return;
  }
  report(fmt::format("{}\n", address.text()));
  for (const auto& partition : topic.partitions) {
    report(fmt::format("partition {}: entries {} to {}, leader {}, replicas {}, in sync {}\n", partition.number,
                       partition.first, partition.end, partition.leader, numbers(partition.replicas),
                       numbers(partition.in_sync)));
    if (!partition.founding.empty()) report(fmt::format("  begins with {}\n", partition.founding));
  }
  for (const auto& [name, value] : topic.settings) report(fmt::format("{} = {}\n", name, value));
  for (const std::string& warning : topic.warnings) report(fmt::format("warning: {}\n", warning));
}

/// Which partition has which user: clusters stay whole, and users without clusters go anywhere.
struct Table {
  Graph graph;
  std::vector<NodeId> of;
};

Table table_for(const TopicRequest& request) {
  Graph graph = read_edge_file(request.graph);
  std::vector<NodeId> clusters(graph.node_count());
  std::iota(clusters.begin(), clusters.end(), NodeId{0});
  if (!request.labels.empty()) {
    Labels labels;
    std::tie(graph, labels) = read_label_file(request.labels, graph);
    clusters = std::move(labels.of);
  }
  return {std::move(graph), serve::spread(clusters, static_cast<std::size_t>(request.made.partitions))};
}

void report_users(const TopicRequest& request, const Table& table) {
  std::vector<std::size_t> users(static_cast<std::size_t>(request.made.partitions));
  for (const NodeId partition : table.of) ++users[partition];
  if (!request.json) report(fmt::format("{}: users in each partition: {}\n", request.table, fmt::join(users, ", ")));
}

void check(const TopicRequest& request) {
  if (request.table.empty()) {
    for (const auto& [option, value] : {std::pair("--graph", &request.graph), {"--labels", &request.labels}}) {
      if (value->empty()) continue;
      throw std::invalid_argument(
          fmt::format("{}: {} (must be given with --table, the file that is made from it)", option, *value));
    }
  } else if (request.graph.empty()) {
    throw CLI::RequiredError("--graph");
  } else if (request.made.partitions == 1) {
    throw std::invalid_argument(fmt::format(
        "--table: {} (must be given with --partitions above 1: one partition has everybody)", request.table));
  }
}

void create(const TopicRequest& request) {
  check(request);
  if (request.made.in_sync > request.made.replicas && request.made.replicas > 0) {
    throw std::invalid_argument(
        fmt::format("--in-sync: {} (must be at most --replicas, {})", request.made.in_sync, request.made.replicas));
  }
  const auto address = serve::kafka_address(request.topic);
  if (request.table.empty()) {
    serve::create_topic(address, request.made, properties_of(request));
  } else {
    const Table table = table_for(request);
    // A file that cannot be made is heard of before there is a topic; one that servers use stays if there is none.
    NewFile file(request.table, [&](std::ostream& out) { write_labels(out, table.graph, table.of); });
    serve::create_topic(address, request.made, properties_of(request));
    file.keep();
    report_users(request, table);
  }
  describe(request);
}

void add_common(CLI::App& command, TopicRequest& request) {
  command.add_option("topic", request.topic, "kafka://BROKER:PORT/TOPIC; more brokers stand behind commas")->required();
  command.add_option("--kafka", request.properties, "Settings of librdkafka, NAME=VALUE a line: TLS, SASL")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  command.add_flag("--json", request.json, "Say it as one JSON object");
}

}  // namespace

void add_topic(CLI::App& app) {
  auto options = std::make_shared<TopicRequest>();
  auto* command = app.add_subcommand("topic", "Make or describe the Kafka topic that goblin serve --log shares");
  command->require_subcommand(1);
  command->footer(
      "Example:\n"
      "  goblin topic create kafka://one:9092,two:9092,three:9092/clicks --replicas 3\n"
      "  goblin topic create kafka://one:9092/clicks --partitions 4 --graph edges.tsv --labels clusters.tsv --table "
      "partitions.tsv\n"
      "  goblin topic describe kafka://one:9092/clicks");
  auto* make = command->add_subcommand("create", "Make it, with the settings that a log needs");
  add_common(*make, *options);
  make->add_option("--replicas", options->made.replicas, "Brokers that have it (default: as the brokers are set up)")
      ->check(positive_whole_number());
  make->add_option("--in-sync", options->made.in_sync,
                   "How many of them must have an entry before it is acknowledged (default: all but one)")
      ->check(positive_whole_number());
  make->add_option("--partitions", options->made.partitions,
                   "Logs of their own, each for some of the users: for gob.lin.block and linucb-ind")
      ->check(positive_whole_number())
      ->capture_default_str();
  make->add_option("--table", options->table,
                   "Write which partition has which user, for goblin serve --table; from --graph and --labels")
      ->type_name("FILE");
  make->add_option("--graph", options->graph, "With --table: edges: user <tab> user [<tab> weight]")->type_name("FILE");
  make->add_option("--labels", options->labels, "With --table: clusters: user <tab> cluster; none is divided")
      ->type_name("FILE");
  make->callback([options] { create(*options); });
  auto* look = command->add_subcommand("describe", "Say what it is, what it begins with, and what could be lost");
  add_common(*look, *options);
  look->callback([options] { describe(*options); });
}

}  // namespace goblin::app
