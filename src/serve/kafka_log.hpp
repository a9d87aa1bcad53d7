#pragma once

#include "serve/kafka_client.hpp"
#include "serve/shared_log.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace goblin::serve {

struct KafkaLogOptions {
  KafkaAddress address;
  std::int32_t partition = 0;
  std::string client = "goblin";  ///< what the brokers call this process
  KafkaProperties properties = {};
  /// After so long without an acknowledgement an entry is given up; the brokers may have it nevertheless.
  std::chrono::milliseconds most_appending = std::chrono::seconds(5);
};

/// A partition of a Kafka topic: an entry is a message, its place is the message's offset. Appending waits until all
/// replicas that are in sync have the message.
class KafkaLog final : public SharedLog {
 public:
  /// Asks the brokers whether the topic is there, and has as many partitions as are expected. Throws LogError or
  /// std::invalid_argument, with what to do.
  explicit KafkaLog(KafkaLogOptions options, int partitions = 1);
  KafkaLog(const KafkaLog&) = delete;
  KafkaLog& operator=(const KafkaLog&) = delete;
  ~KafkaLog() override;

  [[nodiscard]] Place append(const std::string& bytes) override;
  void read_from(Place place, std::function<void()> arrived) override;
  void stop_reading() override;
  [[nodiscard]] std::vector<Entry> take(std::chrono::milliseconds wait) override;
  [[nodiscard]] Bounds bounds() override;
  [[nodiscard]] Place end() override;
  [[nodiscard]] const std::string& name() const override { return name_; }

 private:
  void make_producer();
  void read();
  /// Whether it can never be read on.
  bool accept(const rd_kafka_message_t& message);
  [[noreturn]] void throw_refused(rd_kafka_resp_err_t error, std::size_t size) const;

  KafkaLogOptions options_;
  std::string name_;
  std::unique_ptr<KafkaClient> producer_;
  KafkaClient consumer_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;  // that have come and were not taken
  std::size_t bytes_ = 0;
  std::string failure_;   // why it cannot be read on, now or ever; empty: it can
  bool is_over_ = false;  // ever
  std::function<void()> arrived_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace goblin::serve
