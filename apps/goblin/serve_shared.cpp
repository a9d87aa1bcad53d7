#include "serve_shared.hpp"

#include "goblin/graph/label_file.hpp"
#include "goblin/graph/names.hpp"
#include "serve/kafka_log.hpp"
#include "serve/log.hpp"

#include <array>
#include <cstring>
#include <set>
#include <stdexcept>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace goblin::app {
namespace {

std::string host_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) std::strcpy(host.data(), "goblin");
  return host.data();
}

/// Where the other servers reach this one, if nobody says.
std::string usual_url(const serve::ServerOptions& server) {
  const auto& [address, port] = server.listen;
  if (port == 0) {
    throw std::invalid_argument("--advertise: must be given with --replica-group where --listen takes any free port");
  }
  const bool is_everywhere = address == "0.0.0.0" || address == "::";
  const bool is_v6 = !is_everywhere && address.find(':') != std::string::npos;
  return fmt::format("{}://{}:{}", server.certificate.empty() ? "http" : "https",
                     is_everywhere ? host_name()
                     : is_v6       ? fmt::format("[{}]", address)
                                   : address,
                     port);
}

void check_url(const std::string& url) {
  const bool has_scheme = url.starts_with("http://") || url.starts_with("https://");
  const std::size_t begin = url.find("://") + 3;
  if (has_scheme && begin < url.size() && url.find_first_of("/?#", begin) == std::string::npos) return;
  throw std::invalid_argument(
      fmt::format("--advertise: '{}' (must be http://HOST:PORT or https://HOST:PORT, without a path)", url));
}

}  // namespace

CLI::Option* add_shared_log_options(CLI::App& command, SharedLogRequest& request) {
  constexpr const char* group = "A log that other servers serve from, too";
  auto* log = command
                  .add_option("--log", request.log,
                              "kafka://BROKER:PORT/TOPIC: the log is a Kafka topic, and the store a copy of it")
                  ->type_name("URL")
                  ->group(group);
  command.add_option("--kafka", request.properties, "Settings of librdkafka, NAME=VALUE a line: TLS, SASL")
      ->type_name("FILE")
      ->check(CLI::ExistingFile)
      ->group(group);
  command
      .add_option("--process", request.process,
                  "What this process is called there (default: the machine's name and the port)")
      ->type_name("NAME")
      ->group(group);
  command
      .add_option("--replica-group", request.group,
                  "Share the partitions with the servers of the same group: each answers for some of them, and passes "
                  "other calls on (default: this server has all partitions)")
      ->type_name("NAME")
      ->group(group);
  command
      .add_option("--advertise", request.advertise,
                  "Where the others of the group reach this server (default: --listen)")
      ->type_name("URL")
      ->group(group);
  command.add_flag("--redirect", request.redirect, "Do not pass calls on: tell callers (307) where to go")
      ->group(group);
  command
      .add_option("--table", request.table,
                  "Which partition has which user, as 'goblin topic create --table' wrote it; needed for gob.lin.block "
                  "with several partitions")
      ->type_name("FILE")
      ->check(CLI::ExistingFile)
      ->group(group);
  return log;
}

void check_shared_log_options(const SharedLogRequest& request) {
  for (const auto& [option, value, needed, is_there] :
       {std::tuple("--kafka", &request.properties, "--log", !request.log.empty()),
        {"--process", &request.process, "--log", !request.log.empty()},
        {"--replica-group", &request.group, "--log", !request.log.empty()},
        {"--table", &request.table, "--log", !request.log.empty()},
        {"--advertise", &request.advertise, "--replica-group", !request.group.empty()}}) {
    if (value->empty() || is_there) continue;
    throw std::invalid_argument(fmt::format("{}: {} (must be given with {})", option, *value, needed));
  }
  if (request.redirect && request.group.empty()) {
    throw std::invalid_argument("--redirect: must be given with --replica-group");
  }
  if (!request.advertise.empty()) check_url(request.advertise);
}

void check_that_it_divides(Policy policy, const BanditOptions& options, std::size_t count, const std::string& topic) {
  if (count == 1) return;
  if (policy != Policy::gob_lin_block && policy != Policy::linucb_ind) {
    throw std::invalid_argument(
        fmt::format("--log: {} has {} partitions (must have 1 for {}, which learns across all users; gob.lin.block and "
                    "linucb-ind can have several)",
                    topic, count, name_of(policy)));
  }
  if (options.forgetting.window > 0) {
    throw std::invalid_argument(
        fmt::format("--window: {} (must be 0 for the {} partitions of {}: it counts the rewards of all users together, "
                    "and each partition knows its own)",
                    options.forgetting.window, count, topic));
  }
}

serve::PartitionTable read_partition_table(const std::string& path, const Graph& graph, std::size_t count) {
  const auto [listed, labels] = read_label_file(path, Graph());
  const auto refuse_strangers = [&](const Graph& some, const Graph& others, std::string_view what) {
    std::vector<std::string_view> strangers;
    for (std::size_t user = 0; user < some.node_count(); ++user) {
      if (!others.names().find(some.names()[user])) strangers.push_back(some.names()[user]);
    }
    if (strangers.empty()) return;
    throw std::invalid_argument(
        fmt::format("{}: {} {}, \"{}\" first (must be made from the same graph: 'goblin topic create "
                    "--table' writes it)",
                    path, what, strangers.size(), strangers.front()));
  };
  refuse_strangers(listed, graph, "users who are not in the graph:");
  refuse_strangers(graph, listed, "users of the graph are missing:");
  std::vector<NodeId> partition_of;
  for (std::size_t label = 0; label < labels.clusters.size(); ++label) {
    const auto partition = number_named(labels.clusters[label]);
    if (!partition || *partition >= count) {
      throw std::invalid_argument(
          fmt::format("{}: partition '{}' (must be a whole number below {}, the topic's number of partitions)", path,
                      labels.clusters[label], count));
    }
    partition_of.push_back(static_cast<NodeId>(*partition));
  }
  std::vector<NodeId> of;
  of.reserve(graph.node_count());
  for (std::size_t user = 0; user < graph.node_count(); ++user) {
    of.push_back(partition_of[labels.of[*listed.names().find(graph.names()[user])]]);
  }
  return {count, graph, std::move(of)};
}

SharedServing::SharedServing(const SharedLogRequest& request, const BanditRequest& bandit, const data::Items* items,
                             const serve::ServiceOptions& service, const serve::ServerOptions& server)
    : service_(service), items_(items), bandit_(bandit) {
  try {
    address_ = serve::kafka_address(request.log);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("--log: {}", error.what()));
  }
  if (!request.properties.empty()) properties_ = serve::read_kafka_properties(request.properties);
  count_ = serve::partition_count(address_, properties_);
  service_.process = request.process.empty() ? fmt::format("{}:{}", host_name(), server.listen.port) : request.process;
  service_.partitions = count_;
  table_ = serve::PartitionTable(count_);
  if (count_ > 1) {
    if (!bandit.load.empty()) {
      throw std::invalid_argument(
          fmt::format("--load: {} (must be none for the {} partitions of {}: each begins with its part of --graph)",
                      bandit.load, count_, address_.text()));
    }
    parts_ = bandit_parts(bandit, items);
    check_that_it_divides(parts_->policy, parts_->options, count_, address_.text());
    if (!request.table.empty()) table_ = read_partition_table(request.table, parts_->graph, count_);
    if (const auto divided = serve::divided_cluster(parts_->graph, parts_->clusters, table_)) {
      throw std::invalid_argument(fmt::format(
          "--table: {} (must be in one: 'goblin topic create --partitions {} --graph --labels --table' writes a table "
          "that fits)",
          request.table.empty() ? fmt::format("there is none, and so {}", *divided)
                                : fmt::format("{}: {}", request.table, *divided),
          count_));
    }
  } else if (!request.table.empty()) {
    throw std::invalid_argument(fmt::format("--table: {} (must be none: {} has one partition, which has everybody)",
                                            request.table, address_.text()));
  }
  url_ = request.advertise.empty() && !request.group.empty() ? usual_url(server) : request.advertise;
  group_name_ = request.group;
  redirects_ = request.redirect;
}

void SharedServing::start(serve::JsonLog& log) {
  partitions_.emplace(serve::Partitions::Options{
      .table = table_, .open = [this](std::size_t partition) { return open(partition); }, .warn = service_.warn});
  if (group_name_.empty()) {
    std::set<std::size_t> all;
    for (std::size_t partition = 0; partition < count_; ++partition) all.insert(partition);
    partitions_->have(all);
    partitions_->wait_until_open();
    return;
  }
  group_.emplace(serve::KafkaGroupOptions{.address = address_,
                                          .properties = properties_,
                                          .group = group_name_,
                                          .process = service_.process,
                                          .url = url_,
                                          .warn = service_.warn},
                 [this, &log](const serve::KafkaGroup::Partitions& now) {
                   log.say(serve::JsonLog::Level::info, "The group has divided the partitions.",
                           {{"here", fmt::format("{}", fmt::join(now, ", "))}});
                   partitions_->have(now);
                 });
  peers_.emplace(*group_, url_, redirects_);
}

void SharedServing::leave() {
  if (group_) group_->leave();
}

std::shared_ptr<serve::Service> SharedServing::open(std::size_t partition) const {
  serve::ServiceOptions options = service_;
  options.partition = partition;
  if (count_ > 1) options.store /= fmt::format("partition-{}", partition);
  options.log = std::make_shared<serve::KafkaLog>(serve::KafkaLogOptions{.address = address_,
                                                                         .partition = static_cast<int>(partition),
                                                                         .client = service_.process,
                                                                         .properties = properties_},
                                                  static_cast<int>(count_));
  if (!parts_) return std::make_shared<serve::Service>(make_bandit(bandit_, items_), items_, options);
  const serve::PartOfGraph part = serve::part_of(parts_->graph, parts_->clusters, table_, partition);
  return std::make_shared<serve::Service>(Bandit::make(parts_->policy, part.graph, part.clusters, parts_->options),
                                          items_, options);
}

}  // namespace goblin::app
