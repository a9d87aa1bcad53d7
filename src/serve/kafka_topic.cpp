#include "serve/kafka_topic.hpp"

#include "serve/entry.hpp"
#include "serve/kafka_log.hpp"
#include "serve/log.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

template <auto destroy>
struct Destroy {
  template <typename Thing>
  void operator()(Thing* thing) const {
    destroy(thing);
  }
};
using Queue = std::unique_ptr<rd_kafka_queue_t, Destroy<rd_kafka_queue_destroy>>;
using Event = std::unique_ptr<rd_kafka_event_t, Destroy<rd_kafka_event_destroy>>;
using TopicHandle = std::unique_ptr<rd_kafka_NewTopic_t, Destroy<rd_kafka_NewTopic_destroy>>;
using Resource = std::unique_ptr<rd_kafka_ConfigResource_t, Destroy<rd_kafka_ConfigResource_destroy>>;

/// The settings that a log relies on. Larger messages than these are never made.
std::map<std::string, std::string> settings_for(const NewTopic& topic) {
  std::map<std::string, std::string> settings = {{"cleanup.policy", "delete"},
                                                 {"retention.ms", "-1"},
                                                 {"retention.bytes", "-1"},
                                                 {"max.message.bytes", "16000000"},
                                                 {"message.timestamp.type", "LogAppendTime"},
                                                 {"unclean.leader.election.enable", "false"}};
  if (topic.in_sync > 0) {
    settings["min.insync.replicas"] = fmt::format("{}", topic.in_sync);
  } else if (topic.replicas > 0) {
    settings["min.insync.replicas"] = fmt::format("{}", topic.replicas > 1 ? topic.replicas - 1 : 1);
  }
  return settings;
}

Event answer(const KafkaClient& client, const KafkaAddress& address, const Queue& queue) {
  Event event(rd_kafka_queue_poll(queue.get(), kafka_patience));
  if (event == nullptr) throw no_answer(client, address, RD_KAFKA_RESP_ERR__TIMED_OUT);
  const auto error = rd_kafka_event_error(event.get());
  if (error == RD_KAFKA_RESP_ERR__TIMED_OUT) throw no_answer(client, address, error);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    client.listen();
    throw LogError(fmt::format("{}: {}", address.text(), client.words_for(error)));
  }
  return event;
}

std::map<std::string, std::string> settings_of(const KafkaClient& client, const KafkaAddress& address) {
  const Queue queue(rd_kafka_queue_new(client.handle()));
  const Resource resource(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, address.topic.c_str()));
  rd_kafka_ConfigResource_t* asked = resource.get();
  rd_kafka_DescribeConfigs(client.handle(), &asked, 1, nullptr, queue.get());
  const Event event = answer(client, address, queue);
  std::size_t count = 0;
  const auto* const* const found =
      rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event.get()), &count);
  std::map<std::string, std::string> settings;
  if (count != 1) return settings;
  const auto* const* const entries = rd_kafka_ConfigResource_configs(found[0], &count);
  for (std::size_t k = 0; k < count; ++k) {
    const std::string name = rd_kafka_ConfigEntry_name(entries[k]);
    const char* const value = rd_kafka_ConfigEntry_value(entries[k]);
    if (value != nullptr && (settings_for({}).contains(name) || name == "min.insync.replicas")) settings[name] = value;
  }
  return settings;
}

std::vector<std::string> warnings_for(const TopicDescription& topic) {
  std::vector<std::string> warnings;
  const auto setting = [&](const char* name) {
    const auto found = topic.settings.find(name);
    return found == topic.settings.end() ? std::string() : found->second;
  };
  const std::size_t replicas = topic.partitions.empty() ? 0 : topic.partitions.front().replicas.size();
  if (replicas == 1) {
    warnings.emplace_back("there is one replica: what is acknowledged is lost with its broker's disk");
  } else if (setting("min.insync.replicas") == "1") {
    warnings.push_back(
        fmt::format("min.insync.replicas is 1: what is acknowledged may be on one of {} brokers only", replicas));
  }
  if (setting("cleanup.policy") != "delete") {
    warnings.push_back(
        fmt::format("cleanup.policy is {} (must be delete: a log has no keys)", setting("cleanup.policy")));
  }
  if (setting("unclean.leader.election.enable") == "true") {
    warnings.emplace_back("unclean.leader.election.enable is true: a broker that missed entries may become the leader");
  }
  for (const char* name : {"retention.ms", "retention.bytes"}) {
    if (const std::string value = setting(name); !value.empty() && value != "-1") {
      warnings.push_back(
          fmt::format("{} is {}: older entries are deleted, and who begins with an empty store needs a "
                      "copy of another's",
                      name, value));
    }
  }
  for (const auto& partition : topic.partitions) {
    if (partition.leader < 0) warnings.push_back(fmt::format("partition {} has no leader", partition.number));
    if (partition.in_sync.size() < partition.replicas.size()) {
      warnings.push_back(fmt::format("partition {}: {} of {} replicas are in sync", partition.number,
                                     partition.in_sync.size(), partition.replicas.size()));
    }
  }
  return warnings;
}

/// What the log begins with, where its first entry is still there.
std::string founding_in(const KafkaAddress& address, const KafkaProperties& properties,
                        const TopicDescription::Partition& partition, int partitions) {
  if (partition.first > 0 || partition.end == 0) return {};
  KafkaLog log({.address = address, .partition = partition.number, .properties = properties}, partitions);
  log.read_from(0, {});
  for (int tries = 0; tries < 50; ++tries) {
    const auto entries = log.take(std::chrono::milliseconds(100));
    if (entries.empty()) continue;
    try {
      return entry_of(entries.front().bytes).founding;
    } catch (const BadEntry& bad) {
      return fmt::format("something that is not goblin's ({})", bad.what());
    }
  }
  return {};
}

/// A topic is there a moment before it can be used.
void wait_for_leaders(const KafkaClient& client, const KafkaAddress& address, int partitions) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kafka_patience);
  for (std::int32_t partition = 0; partition < partitions;) {
    std::int64_t first = 0;
    std::int64_t end = 0;
    const auto error =
        rd_kafka_query_watermark_offsets(client.handle(), address.topic.c_str(), partition, &first, &end, 1'000);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      ++partition;
    } else if (std::chrono::steady_clock::now() > until) {
      throw LogError(fmt::format("{}: was made, and partition {} has no leader yet: {}", address.text(), partition,
                                 client.words_for(error)));
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
}

}  // namespace

void create_topic(const KafkaAddress& address, const NewTopic& topic, const KafkaProperties& properties) {
  const KafkaClient client(RD_KAFKA_PRODUCER, address.brokers, {{"client.id", "goblin"}}, properties);
  std::array<char, 512> reason{};
  const TopicHandle handle(rd_kafka_NewTopic_new(
      address.topic.c_str(), topic.partitions, topic.replicas > 0 ? topic.replicas : -1, reason.data(), reason.size()));
  if (handle == nullptr) throw LogError(fmt::format("{}: {}", address.text(), reason.data()));
  for (const auto& [name, value] : settings_for(topic)) {
    rd_kafka_NewTopic_set_config(handle.get(), name.c_str(), value.c_str());
  }
  const Queue queue(rd_kafka_queue_new(client.handle()));
  rd_kafka_NewTopic_t* asked = handle.get();
  rd_kafka_CreateTopics(client.handle(), &asked, 1, nullptr, queue.get());
  const Event event = answer(client, address, queue);
  std::size_t count = 0;
  const auto* const* const results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
  for (std::size_t k = 0; k < count; ++k) {
    const auto error = rd_kafka_topic_result_error(results[k]);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    if (error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
      throw LogError(fmt::format("{}: is there already; 'goblin topic describe {}' says what it is", address.text(),
                                 address.text()));
    }
    const char* const words = rd_kafka_topic_result_error_string(results[k]);
    throw LogError(
        fmt::format("{}: cannot be made: {}", address.text(), words != nullptr ? words : rd_kafka_err2str(error)));
  }
  wait_for_leaders(client, address, topic.partitions);
}

TopicDescription describe_topic(const KafkaAddress& address, const KafkaProperties& properties) {
  const KafkaClient client(RD_KAFKA_CONSUMER, address.brokers, {{"client.id", "goblin"}}, properties);
  TopicDescription topic;
  const auto metadata = metadata_of(client, address);
  const struct rd_kafka_metadata_topic& its = metadata->topics[0];
  for (int k = 0; k < its.partition_cnt; ++k) {
    const struct rd_kafka_metadata_partition& one = its.partitions[k];
    TopicDescription::Partition partition;
    partition.number = one.id;
    partition.leader = one.leader;
    partition.replicas.assign(one.replicas, one.replicas + one.replica_cnt);
    partition.in_sync.assign(one.isrs, one.isrs + one.isr_cnt);
    if (const auto error = rd_kafka_query_watermark_offsets(client.handle(), address.topic.c_str(), one.id,
                                                            &partition.first, &partition.end, kafka_patience);
        error != RD_KAFKA_RESP_ERR_NO_ERROR) {
      throw LogError(fmt::format("{}: partition {}: {}", address.text(), one.id, client.words_for(error)));
    }
    partition.founding = founding_in(address, properties, partition, its.partition_cnt);
    topic.partitions.push_back(std::move(partition));
  }
  topic.settings = settings_of(client, address);
  topic.warnings = warnings_for(topic);
  return topic;
}

}  // namespace goblin::serve
