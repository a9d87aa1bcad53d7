// Two servers of a replica group, which have a partition each, in one process: what one of them is asked for and does
// not have, it has the other one answer.

#include "http_client.hpp"
#include "memory_log.hpp"
#include "serve/http_server.hpp"
#include "serve/json_log.hpp"
#include "serve/partitions.hpp"
#include "serve/peers.hpp"
#include "service_fixture.hpp"
#include "temporary_folder.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace http_partitions_test {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t count = 2;

/// Who has what is what the test says.
class TestGroup final : public ReplicaGroup {
 public:
  std::optional<std::string> owner(std::size_t partition) const override {
    const std::lock_guard lock(mutex_);
    const auto found = owners_.find(partition);
    return found == owners_.end() ? std::nullopt : std::optional(found->second);
  }
  void look() override {
    ++looks;
    if (on_look) on_look();
  }
  void set(std::size_t partition, const std::string& url) {
    const std::lock_guard lock(mutex_);
    owners_[partition] = url;
  }

  std::atomic<int> looks = 0;
  std::function<void()> on_look;

 private:
  mutable std::mutex mutex_;
  std::map<std::size_t, std::string> owners_;
};

class HttpPartitionsTest : public testing::TestWithParam<Policy> {
 protected:
  struct Server {
    std::unique_ptr<Partitions> partitions;
    TestGroup group;
    std::unique_ptr<Peers> peers;
    std::unique_ptr<HttpServer> http;

    [[nodiscard]] HttpAnswer call(std::string_view method, std::string_view path, const json& body = nullptr,
                                  std::string_view fields = {}) const {
      return HttpClient(http->port()).call(method, path, body.is_null() ? std::string() : body.dump(), fields);
    }
  };

  HttpPartitionsTest()
      : clusters_(uses_clusters(GetParam()) ? std::vector<NodeId>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}
                                            : std::vector<NodeId>()),
        table_(count, named_cliques(), {0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0}),
        log_file_(std::fopen((folder_ / "log").c_str(), "w")),
        log_(std::make_unique<JsonLog>(::fileno(log_file_))) {
    for (auto& entries : entries_) entries = std::make_shared<SharedEntries>();
  }
  ~HttpPartitionsTest() override {
    for (auto& server : servers_) server.http.reset();
    for (auto& server : servers_) server.partitions.reset();
    log_.reset();
    std::fclose(log_file_);
  }

  [[nodiscard]] Bandit part(std::size_t partition) const {
    const PartOfGraph part = part_of(named_cliques(), clusters_, table_, partition);
    return Bandit::make(GetParam(), part.graph, part.clusters, options_);
  }
  void start(bool redirects = false) {
    for (std::size_t k = 0; k < servers_.size(); ++k) {
      Server& server = servers_[k];
      server.partitions = std::make_unique<Partitions>(
          Partitions::Options{.table = table_, .open = [this, k](std::size_t partition) {
                                ServiceOptions options;
                                options.store = folder_ / fmt::format("{}-{}", k, partition);
                                options.process = fmt::format("server {}", k);
                                options.partition = partition;
                                options.partitions = count;
                                options.log = std::make_shared<MemoryLog>(entries_[partition]);
                                return std::make_shared<Service>(part(partition), nullptr, options);
                              }});
      server.partitions->have({k});
      server.partitions->wait_until_open();
      server.peers = std::make_unique<Peers>(server.group, fmt::format("http://server-{}", k), redirects);
      ServerOptions options;
      options.listen.port = 0;
      options.threads = 2;
      options.version = "test";
      options.requests.dimension = 3;
      server.http = std::make_unique<HttpServer>(*server.partitions, server.peers.get(), *log_, options);
    }
    for (auto& server : servers_) {
      for (std::size_t k = 0; k < servers_.size(); ++k) server.group.set(k, servers_[k].http->address());
    }
  }
  Server& one() { return servers_[0]; }
  Server& two() { return servers_[1]; }
  void wait_until_learned() {
    for (std::size_t k = 0; k < servers_.size(); ++k) servers_[k].partitions->at(k)->wait_until_learned();
  }

  TemporaryFolder folder_;
  BanditOptions options_{.dimension = 3};
  std::vector<NodeId> clusters_;
  PartitionTable table_;
  std::array<std::shared_ptr<SharedEntries>, count> entries_;
  std::FILE* log_file_;
  std::unique_ptr<JsonLog> log_;
  std::array<Server, count> servers_;
};

json select_of(const std::string& user, std::uint64_t seed = 1) {
  const SelectRequest request = request_for(user, seed);
  json rows = json::array();
  for (std::size_t k = 0; k < request.contexts.size(); k += 3) {
    rows.push_back({request.contexts[k], request.contexts[k + 1], request.contexts[k + 2]});
  }
  return {{"user", user}, {"contexts", rows}};
}

TEST_P(HttpPartitionsTest, each_answers_for_all_users) {
  start();
  // u1 is in partition 0, which server one has; u5 in partition 1.
  for (Server* server : {&one(), &two()}) {
    for (const auto& [user, partition] : {std::pair("u1", 0), {"u5", 1}}) {
      const HttpAnswer decided = server->call("POST", "/v1/select", select_of(user));
      ASSERT_EQ(decided.status, 200) << decided.body;
      const auto event = decided.json()["event"].get<std::string>();
      EXPECT_THAT(event, StartsWith(fmt::format("g-{}:", partition)));
      // The reward may come to any server.
      const HttpAnswer taught = one().call("POST", "/v1/reward", {{"event", event}, {"reward", 1}});
      EXPECT_EQ(taught.status, 200) << taught.body;
      EXPECT_FALSE(taught.json()["repeated"].get<bool>());
      EXPECT_TRUE(two().call("POST", "/v1/reward", {{"event", event}, {"reward", 1}}).json()["repeated"].get<bool>());
      EXPECT_EQ(two().call("POST", "/v1/reward", {{"event", event}, {"reward", 0}}).problem(), "other-reward");
      json best = select_of(user);
      best["k"] = 2;
      EXPECT_EQ(server->call("POST", "/v1/rank", best).json()["ranked"].size(), 2);
      wait_until_learned();
      const HttpAnswer seen = server->call("GET", fmt::format("/v1/users/{}", user));
      EXPECT_EQ(seen.status, 200) << seen.body;
      EXPECT_GE(seen.json()["rewards"].get<int>(), 1);
      json asked = {{"user", user}, {"context", {1, 0, 0}}};
      EXPECT_EQ(server->call("POST", "/v1/explain", asked).status, 200);
    }
  }
  EXPECT_EQ(one().call("POST", "/v1/reward", {{"event", "g-1:999"}, {"reward", 1}}).problem(), "unknown-event");
  // Offsets are those of a partition: there is a decision 2 in each, and this is none of them.
  ASSERT_EQ(one().call("POST", "/v1/reward", {{"event", "g-0:2"}, {"reward", 1}}).status, 200);
  for (const char* none : {"g-7:2", "g-2", "g-:2"}) {
    const json reward = {{"event", none}, {"reward", 1}};
    EXPECT_EQ(one().call("POST", "/v1/reward", reward).problem(), "unknown-event") << none;
    EXPECT_EQ(one().call("POST", "/v1/reward", reward, "Goblin-Partition: 0\r\n").problem(), "unknown-event") << none;
  }
  const HttpAnswer other =
      one().call("POST", "/v1/reward", {{"event", "g-1:2"}, {"reward", 1}}, "Goblin-Partition: 0\r\n");
  EXPECT_EQ(other.problem(), "unknown-event");
  EXPECT_EQ(one().call("POST", "/v1/reward", {{"event", "nobody's"}, {"reward", 1}}).problem(), "unknown-event");
}

TEST_P(HttpPartitionsTest, names_that_callers_chose_are_found_in_any_partition) {
  start();
  json named = select_of("u5");
  named["event"] = "order 17";
  const HttpAnswer first = one().call("POST", "/v1/select", named);
  EXPECT_EQ(first.json()["event"], "order 17") << first.body;
  EXPECT_EQ(two().call("POST", "/v1/select", named).body, first.body) << "asked again, it is the same decision";
  for (Server* server : {&one(), &two()}) {
    const HttpAnswer taught = server->call("POST", "/v1/reward", {{"event", "order 17"}, {"reward", 1}});
    EXPECT_EQ(taught.status, 200) << taught.body;
    EXPECT_EQ(taught.json()["repeated"].get<bool>(), server == &two());
  }
}

TEST_P(HttpPartitionsTest, rewards_are_sent_where_they_belong_and_keep_their_order) {
  start();
  const auto decide = [&](const std::string& user, std::uint64_t seed) {
    return one().call("POST", "/v1/select", select_of(user, seed)).json()["event"].get<std::string>();
  };
  const std::string near = decide("u1", 1);
  const std::string far = decide("u5", 2);
  json named = select_of("u6", 3);
  named["event"] = "mine";
  ASSERT_EQ(two().call("POST", "/v1/select", named).status, 200);
  const json sent = {{{"event", far}, {"reward", 1}},
                     {{"event", "unknown"}, {"reward", 1}},
                     {{"user", "u9"}, {"context", {1, 0.5, 0}}, {"reward", 0.25}},
                     {{"event", near}, {"reward", "much"}},
                     {{"user", "u7"}, {"context", {0.1, 0.2, -1e-9}}, {"reward", -2.5}},
                     {{"event", "mine"}, {"reward", 3}},
                     {{"event", near}, {"reward", 0}},
                     {{"event", far}, {"reward", 2}}};
  const HttpAnswer answer = one().call("POST", "/v1/rewards", sent);
  ASSERT_EQ(answer.status, 200) << answer.body;
  std::vector<int> statuses;
  const json results = answer.json()["results"];
  for (const json& result : results) statuses.push_back(result["status"]);
  EXPECT_EQ(statuses, (std::vector{200, 404, 200, 400, 200, 200, 200, 409})) << answer.body;
  wait_until_learned();
  EXPECT_EQ(one().partitions->at(0)->status().rewards, 2);
  const UserView user = std::get<UserView>(two().partitions->at(1)->user("u7"));
  EXPECT_EQ(user.rewards, 1);
  // What was passed on has every digit that came.
  const Bandit there = two().partitions->at(1)->bandit().snapshot();
  const auto evidence = there.evidence(*there.graph().names().find("u7"));
  EXPECT_EQ(evidence.rewards[2], -2.5 * -1e-9);
  EXPECT_EQ(evidence.rewards[0], -2.5 * 0.1);
}

TEST_P(HttpPartitionsTest, friendships_join_users_of_one_partition_only) {
  start();
  EXPECT_EQ(two().call("PUT", "/v1/edges/u0/u1", {{"weight", 2}}).status, 200);
  const HttpAnswer across = one().call("PUT", "/v1/edges/u0/u5", {{"weight", 2}});
  EXPECT_EQ(across.status, 409);
  EXPECT_EQ(across.problem(), "other-partition");
  EXPECT_THAT(across.detail(), HasSubstr("\"u0\" is in partition 0 and \"u5\" in partition 1"));
  EXPECT_EQ(one().call("DELETE", "/v1/edges/u0/u5").problem(), "other-partition");
  EXPECT_EQ(two().call("DELETE", "/v1/edges/u0/u1").status, 200);
  // Who is new is where the name says, and so must the friends be.
  std::string here;
  for (int k = 0; here.empty(); ++k) {
    if (const std::string name = fmt::format("new {}", k); table_.of(name) == 1) here = fmt::format("new%20{}", k);
  }
  EXPECT_EQ(one().call("PUT", "/v1/users/" + here, {{"friends", {"u5"}}}).status, 200);
  EXPECT_EQ(one().call("PUT", "/v1/users/" + here + "0", {{"friends", {"u1", "u5"}}}).problem(), "other-partition");
  const HttpAnswer placed = one().call("PUT", "/v1/users/zoe", {{"cluster", 0}});
  EXPECT_EQ(placed.problem(), "other-partition");
  EXPECT_THAT(placed.detail(), HasSubstr("cluster: 0 (must be none"));
}

TEST_P(HttpPartitionsTest, the_catalogue_is_the_same_everywhere) {
  start();
  EXPECT_EQ(one().call("PUT", "/v1/items/tea", {{"context", {1, 0, 0}}}).status, 200);
  EXPECT_EQ(two().call("PUT", "/v1/items/soup", {{"context", {0, 1, 0}}}).status, 200);
  for (Server* server : {&one(), &two()}) {
    EXPECT_EQ(server->call("GET", "/v1/items/soup").json()["context"], json({0, 1, 0}));
    for (const char* user : {"u1", "u5"}) {
      EXPECT_EQ(server->call("POST", "/v1/select", {{"user", user}, {"items", {"tea", "soup"}}}).status, 200);
    }
  }
  EXPECT_EQ(one().call("DELETE", "/v1/items/tea").status, 200);
  EXPECT_EQ(two().call("GET", "/v1/items/tea").problem(), "unknown-item");
  EXPECT_EQ(one().call("DELETE", "/v1/items/tea").problem(), "unknown-item");
  // One that went from a part only, because a server was away, goes from the rest.
  EXPECT_EQ(one().call("PUT", "/v1/items/tea", {{"context", {1, 0, 0}}}, "Goblin-Partition: 0\r\n").status, 200);
  EXPECT_EQ(two().call("GET", "/v1/items/tea").problem(), "unknown-item");
  EXPECT_EQ(two().call("DELETE", "/v1/items/tea").status, 200);
  EXPECT_EQ(one().call("GET", "/v1/items/tea").problem(), "unknown-item");
}

TEST_P(HttpPartitionsTest, scores_are_those_of_one_process) {
  start();
  // The oracle folds the log of each partition, in a bandit of that partition's users; and one of all users has the
  // same means and variances, because what one partition learns does not concern the other one.
  Bandit whole = Bandit::make(GetParam(), named_cliques(), clusters_, {.dimension = 3});
  std::vector<Bandit> parts;
  for (std::size_t k = 0; k < count; ++k) parts.push_back(part(k));
  for (std::uint64_t round = 0; round < 120; ++round) {
    const std::string user = fmt::format("u{}", round * 7 % 12);
    const SelectRequest request = request_for(user, round);
    const std::size_t partition = table_.of(user);
    const HttpAnswer decided = servers_[round % 2].call("POST", "/v1/select", select_of(user, round));
    ASSERT_EQ(decided.status, 200) << decided.body;
    const std::size_t arm = decided.json()["arm"];
    const Decision expected = parts[partition].select(user, {request.contexts, 3});
    const Decision all = whole.select(user, {request.contexts, 3});
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(decided.json()["scores"][k].get<double>(), expected.scores[k], 1e-8) << round;
      EXPECT_NEAR(expected.means[k], all.means[k], 1e-8) << round;
      // ln(t + 1) counts the rewards of the partition.
      const double times = std::sqrt(std::log(static_cast<double>(whole.rewards()) + 2.0) /
                                     std::log(static_cast<double>(parts[partition].rewards()) + 2.0));
      EXPECT_NEAR(expected.widths[k] * times, all.widths[k], 1e-8) << round;
    }
    const bool is_close = [&] {
      std::vector<double> sorted = expected.scores;
      std::sort(sorted.rbegin(), sorted.rend());
      return sorted[0] - sorted[1] < 1e-7;
    }();
    if (!is_close) {
      EXPECT_EQ(arm, expected.arm) << round;
    }
    const double reward = static_cast<double>(round % 5) - 1.0;
    const json taught = {{"event", decided.json()["event"]}, {"reward", reward}};
    ASSERT_EQ(servers_[(round / 2) % 2].call("POST", "/v1/reward", taught).status, 200);
    const auto context = std::span(request.contexts).subspan(3 * arm, 3);
    parts[partition].update(user, context, reward);
    whole.update(user, context, reward);
    wait_until_learned();
  }
  for (std::size_t k = 0; k < count; ++k) expect_same(servers_[k].partitions->at(k)->bandit().snapshot(), parts[k]);
}

// The printed bound has ln|M| in it: that of the users of the partition.
TEST_P(HttpPartitionsTest, the_printed_bound_is_that_of_the_partition) {
  options_.exploration = Exploration::printed_bound({.noise = 0.5});
  start();
  Bandit whole = Bandit::make(GetParam(), named_cliques(), clusters_, options_);
  std::vector<Bandit> parts;
  for (std::size_t k = 0; k < count; ++k) parts.push_back(part(k));
  for (std::uint64_t round = 0; round < 40; ++round) {
    const std::string user = fmt::format("u{}", round * 7 % 12);
    const SelectRequest request = request_for(user, round);
    Bandit& its = parts[table_.of(user)];
    const HttpAnswer decided = servers_[round % 2].call("POST", "/v1/select", select_of(user, round));
    ASSERT_EQ(decided.status, 200) << decided.body;
    const Decision expected = its.select(user, {request.contexts, 3});
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(decided.json()["scores"][k].get<double>(), expected.scores[k], 1e-8) << round;
    }
    const std::size_t arm = decided.json()["arm"];
    const json taught = {{"event", decided.json()["event"]}, {"reward", 1.0}};
    ASSERT_EQ(servers_[round % 2].call("POST", "/v1/reward", taught).status, 200);
    for (Bandit* bandit : {&its, &whole}) bandit->update(user, std::span(request.contexts).subspan(3 * arm, 3), 1.0);
    wait_until_learned();
  }
  double sum = 0.0;
  for (const Bandit& each : parts) sum += each.log_determinant();
  EXPECT_NEAR(sum, whole.log_determinant(), 1e-8) << "of all users, it is the sum";
  EXPECT_LT(parts[0].log_determinant(), 0.9 * sum);
}

TEST_P(HttpPartitionsTest, a_server_that_is_gone_is_looked_up_once_and_then_said) {
  start();
  const std::string where = two().http->address();
  two().http.reset();
  const HttpAnswer away = one().call("POST", "/v1/select", select_of("u5"));
  EXPECT_EQ(away.status, 503) << away.body;
  EXPECT_EQ(away.problem(), "partition-away");
  EXPECT_THAT(away.detail(), HasSubstr("partition 1: " + where));
  EXPECT_EQ(away.fields.at("retry-after"), "1");
  EXPECT_EQ(one().group.looks, 1);
  EXPECT_EQ(one().call("POST", "/v1/select", select_of("u1")).status, 200) << "its own users get their answers";
  // A reward that may belong there is not unknown: nobody knows.
  EXPECT_EQ(one().call("POST", "/v1/reward", {{"event", "mine"}, {"reward", 1}}).problem(), "partition-away");
  EXPECT_EQ(one().call("PUT", "/v1/items/tea", {{"context", {1, 0, 0}}}).problem(), "partition-away");

  // Another one has it now, which the look finds.
  auto other = std::make_unique<HttpServer>(*two().partitions, two().peers.get(), *log_, [] {
    ServerOptions options;
    options.listen.port = 0;
    options.requests.dimension = 3;
    return options;
  }());
  one().group.on_look = [&] { one().group.set(1, other->address()); };
  EXPECT_EQ(one().call("POST", "/v1/select", select_of("u5")).status, 200);
  two().http = std::move(other);
}

TEST_P(HttpPartitionsTest, what_moved_is_looked_up) {
  start();
  // Both think that the other one has partition 1: nobody passes on what was passed on.
  two().partitions->have({});
  while (two().partitions->at(1) != nullptr) std::this_thread::sleep_for(1ms);
  two().group.set(1, one().http->address());
  const HttpAnswer lost = one().call("POST", "/v1/select", select_of("u5"));
  EXPECT_EQ(lost.problem(), "partition-away") << lost.body;
  EXPECT_THAT(lost.detail(), HasSubstr("has it no more"));
  EXPECT_EQ(two().call("POST", "/v1/select", select_of("u5")).problem(), "partition-away");
  // It is with the first one now, with all that was learned.
  one().partitions->have({0, 1});
  one().partitions->wait_until_open();
  EXPECT_EQ(one().call("POST", "/v1/select", select_of("u5")).status, 200);
  EXPECT_EQ(two().call("POST", "/v1/select", select_of("u5")).status, 200);
  EXPECT_EQ(two().call("GET", "/v1/log?partition=1").status, 307);
  const json status = one().call("GET", "/v1/status").json();
  EXPECT_TRUE(status["partitions"][1]["here"].get<bool>());
  EXPECT_FALSE(two().call("GET", "/v1/status").json()["partitions"][0]["here"].get<bool>());
}

TEST_P(HttpPartitionsTest, callers_are_sent_there_if_asked_for) {
  start(true);
  const HttpAnswer sent = one().call("POST", "/v1/select", select_of("u5"));
  EXPECT_EQ(sent.status, 307);
  EXPECT_EQ(sent.fields.at("location"), two().http->address() + "/v1/select");
  EXPECT_EQ(sent.json()["server"], two().http->address());
  EXPECT_EQ(two().call("POST", "/v1/select", select_of("u5")).status, 200);
  EXPECT_EQ(one().call("GET", "http://one.example/v1/users/u5").fields.at("location"),
            two().http->address() + "/v1/users/u5")
      << "whatever name it was asked by";
  // What concerns several partitions is passed on nevertheless.
  EXPECT_EQ(one().call("PUT", "/v1/items/tea", {{"context", {1, 0, 0}}}).status, 200);
  EXPECT_EQ(two().call("GET", "/v1/items/tea").status, 200);
}

TEST_P(HttpPartitionsTest, logs_are_those_of_partitions) {
  start();
  for (const char* user : {"u1", "u5"}) {
    const auto event = one().call("POST", "/v1/select", select_of(user)).json()["event"];
    EXPECT_EQ(one().call("POST", "/v1/reward", {{"event", event}, {"reward", 1}}).status, 200);
  }
  const HttpAnswer here = one().call("GET", "/v1/log");
  EXPECT_EQ(here.json()["user"], "u1") << here.body;
  EXPECT_THAT(here.json()["event"].get<std::string>(), StartsWith("g-0:"));
  const HttpAnswer there = one().call("GET", "/v1/log?from=1&partition=1");
  EXPECT_EQ(there.status, 307);
  EXPECT_EQ(there.fields.at("location"), two().http->address() + "/v1/log?from=1&partition=1");
  EXPECT_EQ(two().call("GET", "/v1/log?partition=1").json()["user"], "u5");
  EXPECT_EQ(one().call("GET", "/v1/log?partition=2").status, 400);
  EXPECT_THAT(one().call("GET", "/metrics").body, HasSubstr("goblin_partitions_here 1\n"));
}

TEST_P(HttpPartitionsTest, who_reads_a_log_keeps_no_partition) {
  start();
  for (int k = 0; k < 400; ++k) {
    json wide = select_of("u1");
    wide["event"] = fmt::format("{}-{}", k, std::string(200, 'x'));
    ASSERT_EQ(one().call("POST", "/v1/select", wide).status, 200);
  }
  const json rewards(600, {{"user", "u1"}, {"context", {0.1, 0.2, 0.3}}, {"reward", 1}});
  for (int k = 0; k < 60; ++k) ASSERT_EQ(one().call("POST", "/v1/rewards", rewards).status, 200);
  // One has read all of it and goes on waiting, another one stops in the middle.
  HttpClient idle(one().http->port());
  EXPECT_EQ(idle.call("GET", "/v1/log").status, 200);
  HttpClient slow(one().http->port(), 4'096);
  ASSERT_TRUE(slow.send(HttpClient::request("GET", "/v1/log", {}, {})));
  std::this_thread::sleep_for(200ms);
  const std::weak_ptr<Service> service = one().partitions->at(0);
  one().partitions->have({});
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (!service.expired() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(5ms);
  EXPECT_TRUE(service.expired());
  EXPECT_FALSE(slow.receive().has_value()) << "it sees that the end is missing";
}

TEST_P(HttpPartitionsTest, a_partition_that_cannot_be_is_refused) {
  start();
  for (const char* field : {"Goblin-Partition: 2\r\n", "Goblin-Partition: x\r\n", "Goblin-Partition: -1\r\n"}) {
    EXPECT_EQ(one().call("PUT", "/v1/items/tea", {{"context", {1, 0, 0}}}, field).status, 400) << field;
    EXPECT_EQ(one().call("POST", "/v1/reward", {{"event", "mine"}, {"reward", 1}}, field).status, 400) << field;
  }
}

TEST_P(HttpPartitionsTest, whoever_names_a_partition_reaches_its_own_users_only) {
  start();
  const json rewards = {{{"user", "u5"}, {"context", {1, 0, 0}}, {"reward", 1}},
                        {{"user", "u1"}, {"context", {1, 0, 0}}, {"reward", 1}}};
  const HttpAnswer mixed = one().call("POST", "/v1/rewards", rewards, "Goblin-Partition: 0\r\n");
  const json results = mixed.json()["results"];
  EXPECT_EQ(results[0]["status"], 409) << mixed.body;
  EXPECT_EQ(results[0]["type"], "/problems/other-partition");
  EXPECT_EQ(results[0]["detail"], "user: \"u5\" is in partition 1 (must be in 0, which is asked for)");
  EXPECT_EQ(results[1]["status"], 200) << mixed.body;
  one().partitions->at(0)->wait_until_learned();
  EXPECT_EQ(one().partitions->at(0)->status().users, 8);
  EXPECT_EQ(one().partitions->at(0)->status().rewards, 1);
}

TEST_P(HttpPartitionsTest, addresses_are_passed_on_as_they_came) {
  start();
  // Users by names that a URL would lose, in each partition.
  for (const auto& [target, name] :
       {std::pair("/v1/users/..", ".."), {"/v1/users/.", "."}, {"/v1/users/a%23b", "a#b"}}) {
    Server& other = servers_[1 - table_.of(name)];
    EXPECT_EQ(other.call("PUT", target, json::object()).status, 200) << target;
    wait_until_learned();
    for (Server* server : {&one(), &two()}) {
      const HttpAnswer seen = server->call("GET", fmt::format("http://localhost{}", target));
      EXPECT_EQ(seen.status, 200) << target;
      EXPECT_EQ(seen.json()["user"], name) << seen.body;
    }
  }
  for (Server* server : {&one(), &two()}) {
    const HttpAnswer cut = server->call("GET", "/v1/users/u5#x");
    EXPECT_EQ(cut.status, 400);
    EXPECT_EQ(cut.problem(), "malformed-request");
  }
}

TEST_P(HttpPartitionsTest, nobody_is_sent_to_the_server_that_sends) {
  start(true);
  one().group.set(1, "http://server-0");  // it is this one, the group thinks
  EXPECT_EQ(one().call("POST", "/v1/select", select_of("u5")).problem(), "partition-away");
  EXPECT_EQ(one().call("GET", "/v1/log?partition=1").problem(), "partition-away");
}

INSTANTIATE_TEST_SUITE_P(all, HttpPartitionsTest, testing::Values(Policy::linucb_ind, Policy::gob_lin_block),
                         [](const auto& test) {
                           return test.param == Policy::linucb_ind ? "linucb_ind" : "gob_lin_block";
                         });

}  // namespace http_partitions_test
}  // namespace goblin::serve
