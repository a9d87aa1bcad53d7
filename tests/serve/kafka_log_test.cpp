#include "serve/kafka_log.hpp"

#include "goblin/error.hpp"
#include "serve/log.hpp"
#include "serve/service.hpp"
#include "service_fixture.hpp"
#include "temporary_folder.hpp"

#include <chrono>
#include <fstream>
#include <librdkafka/rdkafka_mock.h>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace kafka_log_test {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// Brokers inside this process, which answer as real ones do.
class MockBrokers {
 public:
  explicit MockBrokers(int count) {
    std::array<char, 512> reason{};
    client_ = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), reason.data(), reason.size());
    brokers_ = rd_kafka_mock_cluster_new(client_, count);
    rd_kafka_mock_topic_create(brokers_, "clicks", 1, count);
    rd_kafka_mock_topic_create(brokers_, "three", 3, count);
  }
  MockBrokers(const MockBrokers&) = delete;
  MockBrokers& operator=(const MockBrokers&) = delete;
  ~MockBrokers() {
    rd_kafka_mock_cluster_destroy(brokers_);
    rd_kafka_destroy(client_);
  }

  [[nodiscard]] KafkaAddress address(const std::string& topic = "clicks") const {
    return {.brokers = rd_kafka_mock_cluster_bootstraps(brokers_), .topic = topic};
  }
  [[nodiscard]] rd_kafka_mock_cluster_t* handle() const { return brokers_; }

 private:
  rd_kafka_t* client_ = nullptr;
  rd_kafka_mock_cluster_t* brokers_ = nullptr;
};

/// The entries from where it reads, so many of them.
std::vector<std::string> read(KafkaLog& log, std::size_t count) {
  std::vector<std::string> all;
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (all.size() < count && std::chrono::steady_clock::now() < until) {
    for (auto& entry : log.take(100ms)) all.push_back(fmt::format("{}:{}", entry.place, entry.bytes));
  }
  return all;
}

std::string refusal(const KafkaLogOptions& options, int partitions = 1) {
  try {
    const KafkaLog log(options, partitions);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "accepted";
}

TEST(KafkaAddress, is_read_and_refused) {
  const KafkaAddress address = kafka_address("kafka://one:9092,[::1]:19092/clicks.v1");
  EXPECT_EQ(address.brokers, "one:9092,[::1]:19092");
  EXPECT_EQ(address.topic, "clicks.v1");
  EXPECT_EQ(address.text(), "kafka://one:9092,[::1]:19092/clicks.v1");
  for (const char* bad : {"", "kafka://", "kafka:///clicks", "kafka://one:9092", "kafka://one:9092/", "one:9092/clicks",
                          "kafka://one:9092/a/b", "kafka://one:9092/..", "kafka://one:9092/a b"}) {
    EXPECT_THROW(kafka_address(bad), std::invalid_argument) << bad;
  }
}

TEST(KafkaProperties, are_read_from_a_file) {
  const TemporaryFolder folder;
  const std::string path = (folder / "kafka.properties").string();
  std::ofstream(path) << "# a comment\n\n security.protocol = SASL_SSL \nsasl.password=a=b\r\n";
  EXPECT_THAT(read_kafka_properties(path),
              ElementsAre(testing::Pair("sasl.password", "a=b"), testing::Pair("security.protocol", "SASL_SSL")));
  std::ofstream(path) << "nonsense\n";
  EXPECT_THROW(read_kafka_properties(path), DataError);
  EXPECT_THROW(read_kafka_properties((folder / "missing").string()), DataError);
}

TEST(KafkaLog, what_is_appended_is_read_by_everybody) {
  const MockBrokers brokers(1);
  KafkaLog one({.address = brokers.address()});
  KafkaLog two({.address = brokers.address()});
  EXPECT_EQ(one.bounds().end, 0);
  std::atomic<int> rings = 0;
  two.read_from(0, [&] { ++rings; });
  EXPECT_EQ(one.append("a"), 0);
  EXPECT_EQ(two.append("b"), 1);
  EXPECT_EQ(one.append(std::string(1'000'000, 'x')), 2);
  EXPECT_EQ(one.bounds().end, 3);
  EXPECT_THAT(read(two, 3), ElementsAre("0:a", "1:b", "2:" + std::string(1'000'000, 'x')));
  EXPECT_GT(rings, 0);
  one.read_from(1, {});
  EXPECT_THAT(one.take(10s).front().bytes, "b");
  EXPECT_TRUE(two.take(1ms).empty());
  two.stop_reading();
}

TEST(KafkaLog, brokers_that_are_away_are_waited_for_a_while) {
  const MockBrokers brokers(1);
  KafkaLog log({.address = brokers.address(), .most_appending = 1500ms});
  log.read_from(0, {});
  EXPECT_EQ(log.append("a"), 0);
  rd_kafka_mock_broker_set_down(brokers.handle(), 1);
  const auto before = std::chrono::steady_clock::now();
  try {
    static_cast<void>(log.append("lost"));
    ADD_FAILURE() << "nobody can have taken it";
  } catch (const LogError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot be appended to: Local: Message timed out"));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
  rd_kafka_mock_broker_set_up(brokers.handle(), 1);
  EXPECT_EQ(log.append("b"), 1);
  EXPECT_THAT(read(log, 2), ElementsAre("0:a", "1:b"));
}

TEST(KafkaLog, says_where_it_ends_and_asks_for_no_longer_than_it_appends) {
  const MockBrokers brokers(3);
  KafkaLog log({.address = brokers.address(), .most_appending = 1500ms});
  KafkaLog other({.address = brokers.address()});
  log.read_from(0, {});
  EXPECT_EQ(log.end(), 0);
  EXPECT_EQ(other.append("a"), 0);
  EXPECT_EQ(log.end(), 1);
  rd_kafka_mock_partition_set_leader(brokers.handle(), "clicks", 0, 2);
  EXPECT_EQ(other.append("b"), 1);
  EXPECT_EQ(log.end(), 2) << "although it has heard of the old leader only";
  for (const int broker : {1, 2, 3}) rd_kafka_mock_broker_set_down(brokers.handle(), broker);
  const auto before = std::chrono::steady_clock::now();
  try {
    static_cast<void>(log.end());
    ADD_FAILURE() << "nobody can have said it";
  } catch (const LogError& error) {
    EXPECT_THAT(error.what(), AnyOf(HasSubstr("where it ends cannot be found out: "), HasSubstr("no broker answers")));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
  for (const int broker : {1, 2, 3}) rd_kafka_mock_broker_set_up(brokers.handle(), broker);
  EXPECT_EQ(other.append("c"), 2);
}

TEST(KafkaLog, says_what_is_too_large) {
  const MockBrokers brokers(1);
  KafkaLog log({.address = brokers.address()});
  EXPECT_THROW(static_cast<void>(log.append(std::string(16'100'000, 'x'))), TooLarge);
  EXPECT_EQ(log.append("a"), 0);
}

TEST(KafkaLog, what_passes_by_itself_is_tried_again) {
  const MockBrokers brokers(3);
  KafkaLog log({.address = brokers.address()});
  log.read_from(0, {});
  constexpr std::int16_t produce = 0;
  rd_kafka_mock_push_request_errors(brokers.handle(), produce, 3, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                                    RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT);
  EXPECT_EQ(log.append("a"), 0);
  rd_kafka_mock_partition_set_leader(brokers.handle(), "clicks", 0, 2);
  EXPECT_EQ(log.append("b"), 1);
  EXPECT_THAT(read(log, 2), ElementsAre("0:a", "1:b"));
}

TEST(KafkaLog, names_what_is_wrong_and_what_to_do) {
  const MockBrokers brokers(1);
  EXPECT_THAT(refusal({.address = brokers.address("three")}), HasSubstr("three: has 3 partitions (must have 1;"));
  EXPECT_EQ(refusal({.address = brokers.address("three")}, 3), "accepted");
  EXPECT_THAT(refusal({.address = brokers.address(), .properties = {{"sasl.colour", "red"}}}),
              HasSubstr("kafka setting 'sasl.colour': No such configuration property"));
  EXPECT_THAT(refusal({.address = brokers.address(), .properties = {{"enable.auto.commit", "true"}}}),
              HasSubstr("kafka setting 'enable.auto.commit': true (must be false, which goblin depends on)"));
  EXPECT_EQ(refusal({.address = brokers.address(), .properties = {{"linger.ms", "0"}, {"socket.timeout.ms", "9000"}}}),
            "accepted");
}

TEST(KafkaLog, two_services_decide_and_learn_from_one_topic) {
  const MockBrokers brokers(1);
  const TemporaryFolder folder;
  const Bandit bandit = Bandit::gob_lin(named_cliques(), {.dimension = 3});
  const auto start = [&](const std::string& name) {
    return std::make_unique<Service>(
        bandit, nullptr,
        ServiceOptions{.store = folder / name,
                       .log = std::make_shared<KafkaLog>(KafkaLogOptions{.address = brokers.address(), .client = name}),
                       .process = name});
  };
  auto one = start("one");
  auto two = start("two");
  std::vector<std::thread> threads;
  for (Service* service : {one.get(), two.get()}) {
    threads.emplace_back([service, seed = service == one.get() ? 1 : 1'000] {
      Caller caller(*service);
      for (std::uint64_t k = 0; k < 40; ++k) {
        const Decided decided = good(caller.select(request_for(fmt::format("u{}", k % 12), k + seed)));
        good(caller.reward(decided.event, static_cast<double>(k % 3)));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const Offset end = std::max(one->status().durable, two->status().durable);
  const auto until = std::chrono::steady_clock::now() + 10s;
  while ((one->learned() < end || two->learned() < end) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(one->status().rewards, 80);
  expect_same(one->bandit().snapshot(), two->bandit().snapshot());
  one.reset();
  one = start("one");
  EXPECT_EQ(one->status().rewards, 80);
}

}  // namespace kafka_log_test
}  // namespace goblin::serve
