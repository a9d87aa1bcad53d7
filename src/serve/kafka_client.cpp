#include "serve/kafka_client.hpp"

#include "goblin/error.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

struct FreeTopic {
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view spaces = " \t\r";
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

}  // namespace

KafkaAddress kafka_address(std::string_view text) {
  constexpr std::string_view scheme = "kafka://";
  const auto refuse = [&] {
    throw std::invalid_argument(
        fmt::format("'{}' (must be kafka://BROKER:PORT/TOPIC; more brokers stand behind commas)", text));
  };
  if (!text.starts_with(scheme)) refuse();
  const std::string_view rest = text.substr(scheme.size());
  const std::size_t slash = rest.find('/');
  if (slash == 0 || slash == std::string_view::npos) refuse();
  const std::string_view topic = rest.substr(slash + 1);
  constexpr std::size_t longest = 249;
  const bool is_name = !topic.empty() && topic.size() <= longest && topic != "." && topic != ".." &&
                       std::all_of(topic.begin(), topic.end(), [](char one) {
                         return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') ||
                                (one >= '0' && one <= '9') || one == '.' || one == '_' || one == '-';
                       });
  if (!is_name) refuse();
  return {.brokers = std::string(rest.substr(0, slash)), .topic = std::string(topic)};
}

KafkaProperties read_kafka_properties(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw DataError(path, 0, "the file cannot be opened");
  KafkaProperties properties;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    const std::string_view text = trimmed(line);
    if (text.empty() || text.front() == '#') continue;
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
      throw DataError(path, number, "is not NAME=VALUE, a setting of librdkafka");
    }
    properties.insert_or_assign(std::string(trimmed(text.substr(0, equals))),
                                std::string(trimmed(text.substr(equals + 1))));
  }
  return properties;
}

KafkaClient::KafkaClient(rd_kafka_type_t type, const std::string& brokers, const KafkaProperties& own,
                         const KafkaProperties& properties, KafkaCallbacks callbacks)
    : callbacks_(std::move(callbacks)) {
  rd_kafka_conf_t* settings = rd_kafka_conf_new();
  std::array<char, 512> reason{};
  const auto refuse = [&](const std::string& words) {
    rd_kafka_conf_destroy(settings);
    throw std::invalid_argument(words);
  };
  const auto set = [&](const std::string& name, const std::string& value) {
    if (rd_kafka_conf_set(settings, name.c_str(), value.c_str(), reason.data(), reason.size()) == RD_KAFKA_CONF_OK) {
      return;
    }
    refuse(fmt::format("kafka setting '{}': {}", name, reason.data()));
  };
  // Those of the other kind of client are in the same file.
  static const std::set<std::string> of_one_kind = {"compression.type", "compression.codec", "linger.ms"};
  for (const auto& [name, value] : properties) {
    if (own.contains(name) && own.at(name) != value) {
      refuse(fmt::format("kafka setting '{}': {} (must be {}, which goblin depends on)", name, value, own.at(name)));
    }
    if (type == RD_KAFKA_CONSUMER && of_one_kind.contains(name)) continue;
    set(name, value);
  }
  for (const auto& [name, value] : own) set(name, value);
  set("bootstrap.servers", brokers);
  // Else brokers make a topic that is asked for, with settings of their own, which forget.
  set("allow.auto.create.topics", "false");
  rd_kafka_conf_set_opaque(settings, this);
  // What matters comes back with the calls; complaints are kept for their messages.
  rd_kafka_conf_set_log_cb(settings, [](const rd_kafka_t*, int, const char*, const char*) {});
  rd_kafka_conf_set_error_cb(settings, [](rd_kafka_t*, int, const char* words, void* client) {
    auto* const self = static_cast<KafkaClient*>(client);
    const std::lock_guard lock(self->mutex_);
    self->complaint_ = words;
  });
  if (type == RD_KAFKA_PRODUCER) {
    rd_kafka_conf_set_dr_msg_cb(settings, [](rd_kafka_t*, const rd_kafka_message_t* message, void* client) {
      const auto* const self = static_cast<KafkaClient*>(client);
      if (self->callbacks_.delivered) self->callbacks_.delivered(*message);
    });
  }
  if (callbacks_.rebalanced) {
    rd_kafka_conf_set_rebalance_cb(
        settings, [](rd_kafka_t*, rd_kafka_resp_err_t what, rd_kafka_topic_partition_list_t* partitions, void* client) {
          static_cast<KafkaClient*>(client)->callbacks_.rebalanced(what, partitions);
        });
  }
  handle_ = rd_kafka_new(type, settings, reason.data(), reason.size());
  if (handle_ == nullptr) refuse(fmt::format("kafka settings: {}", reason.data()));
}

KafkaClient::~KafkaClient() {
  if (rd_kafka_type(handle_) == RD_KAFKA_PRODUCER) rd_kafka_purge(handle_, RD_KAFKA_PURGE_F_QUEUE);
  rd_kafka_destroy_flags(handle_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

std::string KafkaClient::complaint() const {
  const std::lock_guard lock(mutex_);
  return complaint_;
}

void KafkaClient::worked() {
  const std::lock_guard lock(mutex_);
  complaint_.clear();
}

std::string KafkaClient::words_for(rd_kafka_resp_err_t error) const {
  const std::string because = complaint();
  return because.empty() ? std::string(rd_kafka_err2str(error))
                         : fmt::format("{} ({})", rd_kafka_err2str(error), because);
}

LogError no_answer(const KafkaClient& client, const KafkaAddress& address, rd_kafka_resp_err_t error) {
  client.listen();
  return LogError(
      fmt::format("{}: no broker answers: {}; check that they run, that the address is theirs, and the settings of "
                  "--kafka",
                  address.text(), client.words_for(error)));
}

std::size_t partition_count(const KafkaAddress& address, const KafkaProperties& properties) {
  const KafkaClient client(RD_KAFKA_PRODUCER, address.brokers, {{"client.id", "goblin"}}, properties);
  return static_cast<std::size_t>(metadata_of(client, address)->topics[0].partition_cnt);
}

std::unique_ptr<const struct rd_kafka_metadata, FreeMetadata> metadata_of(const KafkaClient& client,
                                                                          const KafkaAddress& address, int patience) {
  const std::unique_ptr<rd_kafka_topic_t, FreeTopic> topic(
      rd_kafka_topic_new(client.handle(), address.topic.c_str(), nullptr));
  const struct rd_kafka_metadata* found = nullptr;
  const auto error = rd_kafka_metadata(client.handle(), 0, topic.get(), &found, patience);
  std::unique_ptr<const struct rd_kafka_metadata, FreeMetadata> metadata(found);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) throw no_answer(client, address, error);
  const auto its_error = metadata->topic_cnt == 1 ? metadata->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
  if (its_error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || its_error == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC) {
    throw LogError(fmt::format("{}: the brokers have no such topic; 'goblin topic create {}' makes it", address.text(),
                               address.text()));
  }
  if (its_error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    throw LogError(fmt::format("{}: {}", address.text(), rd_kafka_err2str(its_error)));
  }
  return metadata;
}

}  // namespace goblin::serve
