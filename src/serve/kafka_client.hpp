#pragma once

#include "serve/log.hpp"

#include <functional>
#include <librdkafka/rdkafka.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace goblin::serve {

/// How long questions to the brokers may take, in milliseconds.
inline constexpr int kafka_patience = 15'000;

/// A topic and the brokers that have it.
struct KafkaAddress {
  std::string brokers;  ///< "one:9092,two:9092"
  std::string topic;

  /// "kafka://one:9092,two:9092/clicks"
  [[nodiscard]] std::string text() const { return "kafka://" + brokers + "/" + topic; }
};
/// Throws std::invalid_argument if it has not that form.
[[nodiscard]] KafkaAddress kafka_address(std::string_view text);

/// Settings of librdkafka, by their names there: security.protocol, sasl.username, ...
using KafkaProperties = std::map<std::string, std::string>;
/// Reads a file of lines NAME=VALUE; those that are empty or begin with # are passed over. Throws DataError.
[[nodiscard]] KafkaProperties read_kafka_properties(const std::string& path);

/// What a connection calls, while somebody polls it.
struct KafkaCallbacks {
  std::function<void(const rd_kafka_message_t&)> delivered = {};
  /// Partitions come or go: of those who join a group. Must take them, or give them up.
  std::function<void(rd_kafka_resp_err_t, rd_kafka_topic_partition_list_t*)> rebalanced = {};
};

/// A connection to brokers, and what they said last of what is wrong.
class KafkaClient {
 public:
  /// `own` are settings that goblin depends on: the others must not be in conflict with them. Throws
  /// std::invalid_argument with the name of a setting that librdkafka does not know or take.
  KafkaClient(rd_kafka_type_t type, const std::string& brokers, const KafkaProperties& own,
              const KafkaProperties& properties, KafkaCallbacks callbacks = {});
  KafkaClient(const KafkaClient&) = delete;
  KafkaClient& operator=(const KafkaClient&) = delete;
  ~KafkaClient();

  [[nodiscard]] rd_kafka_t* handle() const { return handle_; }
  /// What the brokers, or the way to them, complained of since something worked; empty: of nothing.
  [[nodiscard]] std::string complaint() const;
  void worked();
  /// Lets complaints in that have come. Not while messages are read.
  void listen() const { rd_kafka_poll(handle_, 0); }
  /// "Local: Broker transport failure (one:9092: Connection refused)": the error, and the complaint behind it.
  [[nodiscard]] std::string words_for(rd_kafka_resp_err_t error) const;

 private:
  rd_kafka_t* handle_ = nullptr;
  KafkaCallbacks callbacks_;
  mutable std::mutex mutex_;
  std::string complaint_;
};

struct FreeMetadata {
  void operator()(const struct rd_kafka_metadata* metadata) const { rd_kafka_metadata_destroy(metadata); }
};
/// What is thrown where nobody answered a question, with what to do.
[[nodiscard]] LogError no_answer(const KafkaClient& client, const KafkaAddress& address, rd_kafka_resp_err_t error);
/// How many partitions a topic has. Throws LogError if it is not there, or nobody answers.
[[nodiscard]] std::size_t partition_count(const KafkaAddress& address, const KafkaProperties& properties);
/// What the brokers say of a topic, the only one in it. Throws LogError if it is not there, or nobody answers.
[[nodiscard]] std::unique_ptr<const struct rd_kafka_metadata, FreeMetadata> metadata_of(const KafkaClient& client,
                                                                                        const KafkaAddress& address,
                                                                                        int patience = kafka_patience);

}  // namespace goblin::serve
