#include "serve/kafka_log.hpp"

#include "serve/log.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

constexpr std::size_t most_waiting_bytes = 64U << 20U;  // entries that nobody has taken
constexpr const char* most_message_bytes = "16000000";  // as large as goblin topic create lets them be

/// What became of a message.
struct Delivery {
  bool done = false;
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
  std::int64_t offset = -1;
};

KafkaProperties consumer_settings(const KafkaLogOptions& options) {
  return {{"client.id", options.client},
          {"group.id", "goblin"},  // asked for, and not used: partitions are taken by hand
          {"enable.auto.commit", "false"},
          {"enable.auto.offset.store", "false"},
          {"auto.offset.reset", "error"},
          {"check.crcs", "true"},
          {"fetch.message.max.bytes", most_message_bytes},
          {"fetch.error.backoff.ms", "50"},
          {"reconnect.backoff.ms", "50"},
          {"reconnect.backoff.max.ms", "1000"}};
}

}  // namespace

KafkaLog::KafkaLog(KafkaLogOptions options, int partitions)
    : options_(std::move(options)),
      name_(options_.address.text()),
      consumer_(RD_KAFKA_CONSUMER, options_.address.brokers, consumer_settings(options_), options_.properties) {
  const int found = metadata_of(consumer_, options_.address)->topics[0].partition_cnt;
  if (found != partitions) {
    throw LogError(fmt::format("{}: has {} partition{} (must have {}; 'goblin topic create' makes such a topic)", name_,
                               found, found == 1 ? "" : "s", partitions));
  }
  make_producer();
}

KafkaLog::~KafkaLog() { stop_reading(); }

void KafkaLog::make_producer() {
  auto producer = std::make_unique<KafkaClient>(
      RD_KAFKA_PRODUCER, options_.address.brokers,
      KafkaProperties{{"client.id", options_.client},
                      {"enable.idempotence", "true"},
                      {"acks", "all"},
                      {"linger.ms", "0"},
                      {"socket.nagle.disable", "true"},
                      {"message.max.bytes", most_message_bytes},
                      {"message.timeout.ms", fmt::format("{}", options_.most_appending.count())},
                      {"reconnect.backoff.ms", "50"},
                      {"reconnect.backoff.max.ms", "1000"}},
      options_.properties, KafkaCallbacks{.delivered = [](const rd_kafka_message_t& message) {
        auto& delivery = *static_cast<Delivery*>(message._private);
        delivery = {.done = true, .error = message.err, .offset = message.offset};
      }});
  producer_ = std::move(producer);
}

SharedLog::Place KafkaLog::append(const std::string& bytes) {
  if (rd_kafka_fatal_error(producer_->handle(), nullptr, 0) != RD_KAFKA_RESP_ERR_NO_ERROR) make_producer();
  Delivery delivery;
  std::array<rd_kafka_vu_t, 5> message{};
  message[0].vtype = RD_KAFKA_VTYPE_TOPIC;
  message[0].u.cstr = options_.address.topic.c_str();
  message[1].vtype = RD_KAFKA_VTYPE_PARTITION;
  message[1].u.i32 = options_.partition;
  message[2].vtype = RD_KAFKA_VTYPE_VALUE;
  message[2].u.mem = {.ptr = const_cast<char*>(bytes.data()), .size = bytes.size()};
  message[3].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  message[3].u.i = RD_KAFKA_MSG_F_COPY;
  message[4].vtype = RD_KAFKA_VTYPE_OPAQUE;
  message[4].u.ptr = &delivery;
  if (rd_kafka_error_t* const refused = rd_kafka_produceva(producer_->handle(), message.data(), message.size())) {
    const auto code = rd_kafka_error_code(refused);
    rd_kafka_error_destroy(refused);
    throw_refused(code, bytes.size());
  }
  while (!delivery.done) rd_kafka_poll(producer_->handle(), 100);
  if (delivery.error != RD_KAFKA_RESP_ERR_NO_ERROR) throw_refused(delivery.error, bytes.size());
  producer_->worked();
  // The brokers had it already, from a try whose answer got lost, and do not say where.
  if (delivery.offset < 0) throw LogError(fmt::format("{}: an entry was appended, and nobody says where", name_));
  return delivery.offset;
}

void KafkaLog::throw_refused(rd_kafka_resp_err_t error, std::size_t size) const {
  if (error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) {
    throw TooLarge(fmt::format(
        "{}: an entry of {} bytes is larger than the topic takes (max.message.bytes; 'goblin topic create' makes it "
        "16 MB)",
        name_, size));
  }
  throw LogError(fmt::format("{}: cannot be appended to: {}", name_, producer_->words_for(error)));
}

SharedLog::Bounds KafkaLog::bounds() {
  std::int64_t first = 0;
  std::int64_t end = 0;
  const auto error = rd_kafka_query_watermark_offsets(consumer_.handle(), options_.address.topic.c_str(),
                                                      options_.partition, &first, &end, kafka_patience);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    throw LogError(fmt::format("{}: how long it is cannot be found out: {}", name_, consumer_.words_for(error)));
  }
  return {.first = first, .end = end};
}

/// Over the producer's connection: on that of the consumer it would wait behind the fetch that is always under way. Not
/// by rd_kafka_query_watermark_offsets, which before librdkafka 2.3 waits for ever while a broker is away.
SharedLog::Place KafkaLog::end() {
  const auto deadline = std::chrono::steady_clock::now() + options_.most_appending;
  for (;;) {
    const std::unique_ptr<rd_kafka_topic_partition_list_t, decltype(&rd_kafka_topic_partition_list_destroy)> list(
        rd_kafka_topic_partition_list_new(1), &rd_kafka_topic_partition_list_destroy);
    auto* const asked =
        rd_kafka_topic_partition_list_add(list.get(), options_.address.topic.c_str(), options_.partition);
    asked->offset = RD_KAFKA_OFFSET_END;
    const auto left = [&] {
      const auto time = deadline - std::chrono::steady_clock::now();
      return std::max(1, static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()));
    };
    // Where the leader is away, a quarter of the time: then there is some left to look for the new one.
    const int patience = std::min(left(), std::max(1, static_cast<int>(options_.most_appending.count() / 4)));
    auto error = rd_kafka_offsets_for_times(producer_->handle(), list.get(), patience);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) error = asked->err;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR && asked->offset >= 0) return asked->offset;
    if (std::chrono::steady_clock::now() >= deadline) {
      throw LogError(fmt::format("{}: where it ends cannot be found out: {}", name_, producer_->words_for(error)));
    }
    // It asks the old leader for minutes, unless it is told to look who is the leader now.
    static_cast<void>(metadata_of(*producer_, options_.address, left()));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void KafkaLog::read_from(Place place, std::function<void()> arrived) {
  stop_reading();
  rd_kafka_poll_set_consumer(consumer_.handle());
  rd_kafka_topic_partition_list_t* const list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, options_.address.topic.c_str(), options_.partition)->offset = place;
  const auto error = rd_kafka_assign(consumer_.handle(), list);
  rd_kafka_topic_partition_list_destroy(list);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    throw LogError(fmt::format("{}: cannot be read: {}", name_, consumer_.words_for(error)));
  }
  entries_.clear();
  bytes_ = 0;
  failure_.clear();
  is_over_ = false;
  arrived_ = std::move(arrived);
  stop_ = false;
  thread_ = std::thread([this] { read(); });
}

void KafkaLog::stop_reading() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void KafkaLog::read() {
  constexpr int look_up = 100;  // milliseconds after which it is seen that reading should stop
  while (!stop_) {
    rd_kafka_message_t* const message = rd_kafka_consumer_poll(consumer_.handle(), look_up);
    if (message == nullptr) continue;
    const bool is_over = accept(*message);
    rd_kafka_message_destroy(message);
    if (is_over) return;
  }
}

bool KafkaLog::accept(const rd_kafka_message_t& message) {
  const bool is_gone =
      message.err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET || message.err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE;
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    consumer_.worked();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stop_ || bytes_ < most_waiting_bytes; });
    entries_.push_back(
        {.place = message.offset, .bytes = std::string(static_cast<const char*>(message.payload), message.len)});
    bytes_ += message.len;
    failure_.clear();
  } else {
    // What passes by itself is not worth a word: whoever appends hears of it.
    const bool is_no_more = message.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
                            message.err == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
                            message.err == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION;
    const bool is_forbidden = message.err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
    if (!is_gone && !is_no_more && !is_forbidden) return false;
    const std::string reason = is_gone ? "entries were deleted before they were read here; put a copy of the store of "
                                         "another process in the place of this one's"
                                       : std::string(rd_kafka_err2str(message.err));
    const std::lock_guard lock(mutex_);
    failure_ = fmt::format("{}: cannot be read on: {}", name_, reason);
    is_over_ = is_gone;
  }
  changed_.notify_all();
  if (arrived_) arrived_();
  // A broker that has just started may know of nothing for a moment; what was deleted does not come back.
  return is_gone;
}

std::vector<SharedLog::Entry> KafkaLog::take(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, wait, [&] { return !entries_.empty() || !failure_.empty(); });
  if (entries_.empty() && !failure_.empty()) {
    // What may pass is said once; it is heard of again if it has not.
    throw LogError(is_over_ ? failure_ : std::exchange(failure_, {}));
  }
  std::vector<Entry> taken(std::make_move_iterator(entries_.begin()), std::make_move_iterator(entries_.end()));
  entries_.clear();
  bytes_ = 0;
  lock.unlock();
  changed_.notify_all();
  return taken;
}

}  // namespace goblin::serve
