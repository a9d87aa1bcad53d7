#include "serve/kafka_group.hpp"

#include "serve/log.hpp"

#include <fmt/format.h>

namespace goblin::serve {
namespace {

using namespace std::chrono_literals;

/// Who is silent for so long is thought to be gone. Brokers usually allow nothing shorter; --kafka may say another one.
constexpr const char* usual_session_milliseconds = "6000";

KafkaProperties member_settings(const KafkaGroupOptions& options, const std::string& id) {
  KafkaProperties settings = {{"client.id", options.url},
                              {"group.id", id},
                              {"group.instance.id", options.process},
                              {"partition.assignment.strategy", "cooperative-sticky"},
                              {"enable.auto.commit", "false"},
                              {"enable.auto.offset.store", "false"},
                              {"reconnect.backoff.ms", "50"},
                              {"reconnect.backoff.max.ms", "1000"}};
  if (!options.properties.contains("session.timeout.ms")) settings["session.timeout.ms"] = usual_session_milliseconds;
  if (!options.properties.contains("heartbeat.interval.ms")) settings["heartbeat.interval.ms"] = "1000";
  return settings;
}

KafkaProperties asking_settings(const KafkaGroupOptions& options) {
  return {{"client.id", options.url}, {"reconnect.backoff.ms", "50"}, {"reconnect.backoff.max.ms", "1000"}};
}

struct FreeQueue {
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
};
struct FreeEvent {
  void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
};
struct FreeOptions {
  void operator()(rd_kafka_AdminOptions_t* options) const { rd_kafka_AdminOptions_destroy(options); }
};
struct FreeError {
  void operator()(rd_kafka_error_t* error) const { rd_kafka_error_destroy(error); }
};
using KafkaError = std::unique_ptr<rd_kafka_error_t, FreeError>;

}  // namespace

KafkaGroup::KafkaGroup(KafkaGroupOptions options, std::function<void(const Partitions&)> changed)
    : options_(std::move(options)),
      changed_(std::move(changed)),
      id_(fmt::format("goblin.{}.{}", options_.address.topic, options_.group)),
      asking_(RD_KAFKA_PRODUCER, options_.address.brokers, asking_settings(options_), options_.properties),
      member_(RD_KAFKA_CONSUMER, options_.address.brokers, member_settings(options_, id_), options_.properties,
              {.rebalanced = [this](auto what, auto* partitions) { rebalance(what, partitions); }}) {
  rd_kafka_poll_set_consumer(member_.handle());
  rd_kafka_topic_partition_list_t* const topics = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(topics, options_.address.topic.c_str(), RD_KAFKA_PARTITION_UA);
  const auto error = rd_kafka_subscribe(member_.handle(), topics);
  rd_kafka_topic_partition_list_destroy(topics);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    throw LogError(fmt::format("{}: the group '{}' cannot be joined: {}", options_.address.text(), options_.group,
                               member_.words_for(error)));
  }
  thread_ = std::thread([this] { run(); });
}

KafkaGroup::~KafkaGroup() {
  stop_ = true;
  thread_.join();
  changed_ = nullptr;
  rd_kafka_consumer_close(member_.handle());
}

void KafkaGroup::run() {
  constexpr auto pause = 1s;  // between two looks at who has what
  auto next_look = std::chrono::steady_clock::now();
  while (!stop_) {
    // Nothing is ever read: partitions are paused. The group's news come in here.
    if (rd_kafka_message_t* const message = rd_kafka_consumer_poll(member_.handle(), 100)) {
      if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        const char* const words = rd_kafka_message_errstr(message);
        warn_of(fmt::format("{} ({})", words != nullptr ? words : "no words", rd_kafka_err2name(message->err)));
      }
      rd_kafka_message_destroy(message);
    }
    if (std::chrono::steady_clock::now() < next_look) continue;
    look();
    next_look = std::chrono::steady_clock::now() + pause;
  }
}

void KafkaGroup::leave() { rd_kafka_unsubscribe(member_.handle()); }

void KafkaGroup::warn_of(std::string trouble) {
  {
    const std::lock_guard lock(trouble_mutex_);
    if (trouble == trouble_) return;
    trouble_ = trouble;
  }
  if (trouble.empty() || !options_.warn) return;
  options_.warn(fmt::format("{}: the group '{}': {}", options_.address.text(), options_.group, trouble));
}

void KafkaGroup::rebalance(rd_kafka_resp_err_t what, rd_kafka_topic_partition_list_t* partitions) {
  rd_kafka_t* const member = member_.handle();
  const bool is_lost = rd_kafka_assignment_lost(member) != 0;
  if (what == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
    warn_of("");
    for (int k = 0; k < partitions->cnt; ++k) {
      partitions->elems[k].offset = RD_KAFKA_OFFSET_END;
      assigned_.insert(static_cast<std::size_t>(partitions->elems[k].partition));
    }
    const KafkaError error(rd_kafka_incremental_assign(member, partitions));
    rd_kafka_pause_partitions(member, partitions);
  } else {
    for (int k = 0; k < partitions->cnt; ++k) {
      assigned_.erase(static_cast<std::size_t>(partitions->elems[k].partition));
    }
    const KafkaError error(rd_kafka_incremental_unassign(member, partitions));
    // Whoever was cut off goes on with what it has, until it hears who has it now.
    if (is_lost) return;
  }
  if (changed_) changed_(assigned_);
}

std::optional<std::string> KafkaGroup::owner(std::size_t partition) const {
  const std::lock_guard lock(mutex_);
  if (partition >= owners_.size() || owners_[partition].empty()) return std::nullopt;
  return owners_[partition];
}

void KafkaGroup::look() {
  constexpr int most_waiting = 2'000;  // milliseconds
  const std::unique_ptr<rd_kafka_queue_t, FreeQueue> queue(rd_kafka_queue_new(asking_.handle()));
  const std::unique_ptr<rd_kafka_AdminOptions_t, FreeOptions> options(
      rd_kafka_AdminOptions_new(asking_.handle(), RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS));
  rd_kafka_AdminOptions_set_request_timeout(options.get(), most_waiting, nullptr, 0);
  const char* id = id_.c_str();
  rd_kafka_DescribeConsumerGroups(asking_.handle(), &id, 1, options.get(), queue.get());
  const std::unique_ptr<rd_kafka_event_t, FreeEvent> event(rd_kafka_queue_poll(queue.get(), most_waiting + 500));
  if (event == nullptr || rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  std::size_t count = 0;
  const auto* const* const groups =
      rd_kafka_DescribeConsumerGroups_result_groups(rd_kafka_event_DescribeConsumerGroups_result(event.get()), &count);
  if (count != 1 || rd_kafka_ConsumerGroupDescription_error(groups[0]) != nullptr) return;
  // While partitions are being divided anew nobody has any: the last answer is a better guess than none.
  if (rd_kafka_ConsumerGroupDescription_state(groups[0]) != RD_KAFKA_CONSUMER_GROUP_STATE_STABLE) return;
  std::vector<std::string> owners;
  for (std::size_t k = 0; k < rd_kafka_ConsumerGroupDescription_member_count(groups[0]); ++k) {
    const auto* const member = rd_kafka_ConsumerGroupDescription_member(groups[0], k);
    const auto* const list = rd_kafka_MemberAssignment_partitions(rd_kafka_MemberDescription_assignment(member));
    for (int each = 0; list != nullptr && each < list->cnt; ++each) {
      if (list->elems[each].topic != options_.address.topic) continue;
      const auto partition = static_cast<std::size_t>(list->elems[each].partition);
      owners.resize(std::max(owners.size(), partition + 1));
      owners[partition] = rd_kafka_MemberDescription_client_id(member);
    }
  }
  const std::lock_guard lock(mutex_);
  owners_ = std::move(owners);
}

}  // namespace goblin::serve
