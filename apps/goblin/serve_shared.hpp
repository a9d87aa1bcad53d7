#pragma once

#include "bandit_options.hpp"
#include "goblin/data/own_files.hpp"
#include "serve/http_server.hpp"
#include "serve/json_log.hpp"
#include "serve/kafka_client.hpp"
#include "serve/kafka_group.hpp"
#include "serve/partitions.hpp"
#include "serve/peers.hpp"
#include "serve/service.hpp"

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace goblin::app {

/// The options of goblin serve --log.
struct SharedLogRequest {
  std::string log;
  std::string properties;
  std::string process;
  std::string group;
  std::string advertise;
  std::string table;
  bool redirect = false;
};

/// Gives --log.
CLI::Option* add_shared_log_options(CLI::App& command, SharedLogRequest& request);
/// Throws std::invalid_argument if options are there that need --log, and it is not.
void check_shared_log_options(const SharedLogRequest& request);

/// Partitions are logs of their own, which works where users, or clusters, learn by themselves. Throws
/// std::invalid_argument if a bandit learns, or forgets, across all users.
void check_that_it_divides(Policy policy, const BanditOptions& options, std::size_t count, const std::string& topic);

/// --table FILE: the partition of each user of a graph, out of so many. Throws DataError or std::invalid_argument.
[[nodiscard]] serve::PartitionTable read_partition_table(const std::string& path, const Graph& graph,
                                                         std::size_t count);

/// A server's part in a log that others serve from, too: its partitions, and the way to those of the others.
class SharedServing {
 public:
  /// Asks how many partitions there are, and who is in which. Throws what does not fit.
  SharedServing(const SharedLogRequest& request, const BanditRequest& bandit, const data::Items* items,
                const serve::ServiceOptions& service, const serve::ServerOptions& server);

  [[nodiscard]] std::size_t partition_count() const { return count_; }
  /// Opens the partitions, if it does not share them with others; if it does, the group says which to open. Throws
  /// what keeps it from that.
  void start(serve::JsonLog& log);
  /// Hands the partitions over to the others of the group, if there are others.
  void leave();
  // Both once it was started.
  [[nodiscard]] serve::Partitions& partitions() { return *partitions_; }
  /// nullptr: all partitions are here.
  [[nodiscard]] serve::Peers* peers() { return peers_ ? &*peers_ : nullptr; }

 private:
  [[nodiscard]] std::shared_ptr<serve::Service> open(std::size_t partition) const;

  serve::KafkaAddress address_;
  serve::KafkaProperties properties_;
  serve::ServiceOptions service_;
  const data::Items* items_;
  BanditRequest bandit_;
  std::string url_;
  std::string group_name_;
  bool redirects_ = false;
  std::size_t count_ = 1;
  std::optional<BanditParts> parts_;  // where there are several partitions
  serve::PartitionTable table_;
  // In this order: the group, which says what is to be here, ends first.
  std::optional<serve::Partitions> partitions_;
  std::optional<serve::KafkaGroup> group_;
  std::optional<serve::Peers> peers_;
};

}  // namespace goblin::app
