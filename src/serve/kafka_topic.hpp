#pragma once

#include "serve/kafka_client.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace goblin::serve {

/// How a topic for a log is made.
struct NewTopic {
  int partitions = 1;
  int replicas = 0;  ///< 0: as many as the brokers make for any topic
  /// How many of them must have a message before it is acknowledged; 0: all but one, if there are several.
  int in_sync = 0;
};

/// Makes the topic of a log: nothing is deleted from it, and no broker that misses messages becomes its leader. Throws
/// LogError, if it is there already, too.
void create_topic(const KafkaAddress& address, const NewTopic& topic, const KafkaProperties& properties);

struct TopicDescription {
  struct Partition {
    std::int32_t number = 0;
    std::int32_t leader = -1;  ///< a broker; -1: there is none now
    std::vector<std::int32_t> replicas;
    std::vector<std::int32_t> in_sync;
    std::int64_t first = 0;  ///< of the entries that are there
    std::int64_t end = 0;
    std::string founding;  ///< what its log begins with; empty: nothing, or it is not there any more
  };
  std::vector<Partition> partitions;
  std::map<std::string, std::string> settings;  ///< those that matter here
  std::vector<std::string> warnings;            ///< what could lose something, in words
};

/// Throws LogError if it is not there.
[[nodiscard]] TopicDescription describe_topic(const KafkaAddress& address, const KafkaProperties& properties);

}  // namespace goblin::serve
