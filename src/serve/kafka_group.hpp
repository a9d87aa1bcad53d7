#pragma once

#include "serve/kafka_client.hpp"
#include "serve/replica_group.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace goblin::serve {

struct KafkaGroupOptions {
  KafkaAddress address;
  KafkaProperties properties = {};
  std::string group = "goblin";  ///< those of the same name share the partitions
  std::string process;           ///< what this one is called: who comes back under the same name gets the same back
  std::string url;               ///< where the others reach this one
  std::function<void(std::string)> warn = {};  ///< hears what keeps it from its part in the group
};

/// A consumer group of Kafka's, of which only the membership is used: the brokers divide the partitions among those
/// who are there, and tell who has which.
///
/// To have a partition is no more than an agreement on who answers for it. Whoever thinks he still has one, because he
/// was frozen or cut off, does no harm: what he appends comes into force only if nothing came before it (SharedStore).
/// So a member that loses its brokers goes on answering for what it has until they tell it otherwise.
class KafkaGroup final : public ReplicaGroup {
 public:
  using Partitions = std::set<std::size_t>;

  /// `changed` is called with all the partitions that this member has now, in a thread of the group's.
  KafkaGroup(KafkaGroupOptions options, std::function<void(const Partitions&)> changed);
  KafkaGroup(const KafkaGroup&) = delete;
  KafkaGroup& operator=(const KafkaGroup&) = delete;
  ~KafkaGroup() override;

  /// Goes, so that the others take over at once. A member that only ends is missed by nobody until its session is over:
  /// so it is for those who have a name and may come back under it.
  void leave();

  [[nodiscard]] std::optional<std::string> owner(std::size_t partition) const override;
  void look() override;

 private:
  void run();
  /// Says what is wrong, once until it is something else; empty: nothing is.
  void warn_of(std::string trouble);
  void rebalance(rd_kafka_resp_err_t what, rd_kafka_topic_partition_list_t* partitions);

  KafkaGroupOptions options_;
  std::function<void(const Partitions&)> changed_;
  std::string id_;  // of the group, for the brokers
  Partitions assigned_;

  mutable std::mutex mutex_;
  std::vector<std::string> owners_;  // of each partition; empty: nobody is known
  std::atomic<bool> stop_ = false;
  std::mutex trouble_mutex_;
  std::string trouble_;  // that was said last
  KafkaClient asking_;   // who has what
  KafkaClient member_;
  std::thread thread_;
};

}  // namespace goblin::serve
