// What the calls do, over real sockets.

#include "faulty_vfs.hpp"
#include "http_fixture.hpp"

#include <mutex>
#include <sqlite3.h>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

namespace goblin::serve {
namespace http_server_test {

using ::testing::HasSubstr;

class HttpCalls : public HttpFixture {
 protected:
  void SetUp() override { start(); }
};

TEST_F(HttpCalls, a_decision_is_rewarded_once) {
  auto client = connect();
  const auto decided = client.call("POST", "/v1/select", a_select);
  ASSERT_EQ(decided.status, 200) << decided.body;
  const auto json = decided.json();
  EXPECT_EQ(json["event"], "g-1");
  EXPECT_EQ(json["scores"].size(), 2);
  EXPECT_EQ(json["probability"], 1.0);
  EXPECT_EQ(json["offset"], 1);
  EXPECT_FALSE(json.contains("item"));
  const auto accepted = client.call("POST", "/v1/reward", R"({"event":"g-1","reward":0.5})");
  ASSERT_EQ(accepted.status, 200) << accepted.body;
  EXPECT_EQ(accepted.json()["offset"], 2);
  EXPECT_EQ(accepted.json()["repeated"], false);
  const auto again = client.call("POST", "/v1/reward", R"({"event":"g-1","reward":0.5})");
  EXPECT_EQ(again.json()["offset"], 2);
  EXPECT_EQ(again.json()["repeated"], true);
  const auto other = client.call("POST", "/v1/reward", R"({"event":"g-1","reward":1})");
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(other.problem(), "other-reward");
  const auto unknown = client.call("POST", "/v1/reward", R"({"event":"g-100","reward":1})");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.problem(), "unknown-event");
  service_->wait_until_learned();
  EXPECT_EQ(service_->status().rewards, 1);
}

TEST_F(HttpCalls, the_same_event_gets_the_same_answer) {
  auto client = connect();
  const char* body = R"({"user":"u1","contexts":[[1,0,0],[0,1,0]],"event":"visit 7"})";
  const auto first = client.call("POST", "/v1/select", body);
  const auto second = client.call("POST", "/v1/select", body);
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.json()["event"], "visit 7");
  EXPECT_EQ(first.body, second.body);
}

TEST_F(HttpCalls, items_and_rankings) {
  auto client = connect();
  EXPECT_EQ(client.call("PUT", "/v1/items/green%20tea", R"({"context":[1,0,0]})").status, 200);
  EXPECT_EQ(client.call("PUT", "/v1/items/a%2Fb", R"({"context":[0,1,0]})").status, 200);
  const auto item = client.call("GET", "/v1/items/a%2Fb");
  EXPECT_EQ(item.json(), nlohmann::json::parse(R"({"item":"a/b","context":[0,1,0]})"));
  const auto ranked = client.call("POST", "/v1/rank", R"({"user":"u1","items":["green tea","a/b"],"k":2})");
  ASSERT_EQ(ranked.status, 200) << ranked.body;
  const auto places = ranked.json()["ranked"];
  ASSERT_EQ(places.size(), 2);
  for (const auto& place : places) {
    EXPECT_EQ(place["item"], place["arm"] == 0 ? "green tea" : "a/b");
    const nlohmann::json reward = {{"event", place["event"]}, {"reward", 1}};
    EXPECT_EQ(client.call("POST", "/v1/reward", reward.dump()).status, 200);
  }
  EXPECT_EQ(client.call("DELETE", "/v1/items/a%2Fb").status, 200);
  EXPECT_EQ(client.call("GET", "/v1/items/a%2Fb").problem(), "unknown-item");
  const auto unknown = client.call("POST", "/v1/select", R"({"user":"u1","items":["a/b"]})");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.problem(), "unknown-item");
}

TEST_F(HttpCalls, many_rewards_have_a_result_each) {
  auto client = connect();
  client.call("POST", "/v1/select", a_select);
  const auto answer = client.call("POST", "/v1/rewards",
                                  R"([{"event":"g-1","reward":1},{"event":"nobody's","reward":1},
                                      {"user":"u2","context":[1,0],"reward":1},
                                      {"user":"u2","context":[1,0,0],"reward":1},{"what":1}])");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto results = answer.json()["results"];
  ASSERT_EQ(results.size(), 5);
  EXPECT_EQ(results[0]["status"], 200);
  EXPECT_EQ(results[1]["status"], 404);
  EXPECT_EQ(results[1]["type"], "/problems/unknown-event");
  EXPECT_EQ(results[2]["type"], "/problems/wrong-dimension");
  EXPECT_EQ(results[3]["status"], 200);
  EXPECT_EQ(results[4]["type"], "/problems/unknown-field");
  const auto none = client.call("POST", "/v1/rewards", R"([{"what":1}])");
  EXPECT_EQ(none.status, 200);
  EXPECT_EQ(none.json()["results"][0]["status"], 400);
}

TEST_F(HttpCalls, the_graph_changes) {
  auto client = connect();
  EXPECT_EQ(client.call("PUT", "/v1/users/zo%C3%AB", R"({"friends":{"u1":2.5}})").status, 200);
  EXPECT_EQ(client.call("PUT", "/v1/users/alone").status, 200);
  EXPECT_EQ(client.call("PUT", "/v1/edges/alone/u1").status, 200);
  service_->wait_until_learned();
  const auto user = client.call("GET", "/v1/users/zo%C3%AB");
  ASSERT_EQ(user.status, 200) << user.body;
  const auto json = user.json();
  EXPECT_EQ(json["user"], "zoë");
  EXPECT_EQ(json["friend_count"], 1);
  EXPECT_EQ(json["friends"][0]["user"], "u1");
  EXPECT_EQ(json["friends"][0]["weight"], 2.5);
  EXPECT_EQ(json["mean"].size(), 3);
  EXPECT_EQ(json["deviations"].size(), 3);
  EXPECT_EQ(client.call("DELETE", "/v1/edges/alone/u1").status, 200);
  EXPECT_EQ(client.call("DELETE", "/v1/edges/alone/u1").status, 404);
  EXPECT_EQ(client.call("GET", "/v1/users/nobody").problem(), "unknown-user");
}

TEST_F(HttpCalls, explanations_name_users) {
  auto client = connect();
  client.call("POST", "/v1/rewards", R"([{"user":"u2","context":[1,0,0],"reward":1}])");
  service_->wait_until_learned();
  const auto answer = client.call("POST", "/v1/explain", R"({"user":"u1","context":[1,0,0],"k":3})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto json = answer.json();
  EXPECT_EQ(json["user"], "u1");
  ASSERT_EQ(json["contributions"].size(), 1);
  EXPECT_EQ(json["contributions"][0]["user"], "u2");
  EXPECT_EQ(json["contributions"][0]["rewards"], 1);
  EXPECT_EQ(json["places"][0]["user"], "u1");
  EXPECT_EQ(json["edges"][0].size(), 3);
  EXPECT_EQ(client.call("POST", "/v1/explain", R"({"user":"nobody","context":[1,0,0]})").problem(), "unknown-user");
  EXPECT_EQ(client.call("POST", "/v1/explain", R"({"user":"u1","item":"none"})").problem(), "unknown-item");
}

TEST_F(HttpCalls, the_state_is_told) {
  auto client = connect();
  client.call("POST", "/v1/select", a_select);
  client.call("POST", "/v1/select", "{");
  const auto json = client.call("GET", "/v1/status").json();
  EXPECT_EQ(json["decisions"], 1);
  EXPECT_EQ(json["dimension"], 3);
  EXPECT_EQ(json["users"], 12);
  EXPECT_EQ(json["version"], "test");
  EXPECT_EQ(json["ready"], true);
  EXPECT_EQ(json["requests"]["select"]["count"], 2);
  EXPECT_EQ(json["requests"]["select"]["errors"], 1);
  EXPECT_GT(json["requests"]["select"]["p99"], 0.0);
  const auto metrics = client.call("GET", "/metrics");
  EXPECT_TRUE(metrics.fields.at("content-type").starts_with("text/plain; version=0.0.4"));
  for (const char* line :
       {"goblin_requests_total{call=\"select\",status=\"200\"} 1\n",
        "goblin_requests_total{call=\"select\",status=\"400\"} 1\n",
        "goblin_request_seconds_count{call=\"select\"} 2\n", "goblin_decisions_total 1\n", "goblin_ready 1\n"}) {
    EXPECT_NE(metrics.body.find(line), std::string::npos) << line << metrics.body;
  }
  EXPECT_EQ(client.call("GET", "/livez").status, 200);
  EXPECT_EQ(client.call("GET", "/readyz").status, 200);
}

TEST_F(HttpFixture, a_server_that_cannot_take_a_snapshot_can_still_be_used) {
  ServiceOptions service;
  service.store = folder_ / "store";
  service.snapshot_every = std::chrono::seconds(1);
  service_ = std::make_unique<Service>(Bandit::gob_lin(named_cliques(), {.dimension = 3}), nullptr, service);
  start();
  auto client = connect();
  std::filesystem::remove_all(folder_ / "store" / "snapshots");
  write_file(folder_ / "store" / "snapshots", "in the way");
  client.call("POST", "/v1/rewards", R"([{"user":"u1","context":[1,0,0],"reward":1}])");
  std::string trouble;
  for (int k = 0; k < 1000 && trouble.empty(); ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    trouble = client.call("GET", "/v1/status").json().value("trouble", "");
  }
  EXPECT_THAT(trouble, HasSubstr("no snapshot could be saved"));
  EXPECT_EQ(client.call("GET", "/readyz").status, 200);
}

TEST_F(HttpFixture, strangers_hear_that_it_cannot_be_used_and_nothing_of_its_files) {
  FaultyVfs vfs;
  ServiceOptions service;
  service.store = folder_ / "store";
  service.vfs = vfs.name();
  std::string warnings;
  std::mutex mutex;
  service.warn = [&](const std::string& words) {
    const std::lock_guard lock(mutex);
    warnings += words;
  };
  service_ = std::make_unique<Service>(Bandit::gob_lin(named_cliques(), {.dimension = 3}), nullptr, service);
  start();
  auto client = connect();
  vfs.fail_with(SQLITE_FULL);
  EXPECT_EQ(client.call("POST", "/v1/select", a_select).problem(), "store-unavailable");
  const auto ready = client.call("GET", "/readyz");
  EXPECT_EQ(ready.status, 503);
  EXPECT_EQ(ready.problem(), "not-ready");
  EXPECT_EQ(ready.detail(), "the store cannot be written (/v1/status says why)");
  EXPECT_THAT(client.call("GET", "/v1/status").json().value("trouble", ""), HasSubstr("log.sqlite"));
  {
    const std::lock_guard lock(mutex);
    EXPECT_THAT(warnings, HasSubstr("log.sqlite")) << "the operator's log says why";
  }
  vfs.fail_with(0);
  while (client.call("GET", "/readyz").status != 200) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  stop();
  service_.reset();
}

TEST_F(HttpCalls, rewards_that_are_all_refused_say_how_far_learning_is) {
  auto client = connect();
  client.call("POST", "/v1/rewards", R"([{"user":"u1","context":[1,0,0],"reward":1}])");
  service_->wait_until_learned();
  for (const char* refused : {R"([{"event":"g-99","reward":1}])", R"([{"event":7,"reward":1},{"reward":1}])"}) {
    const auto answer = client.call("POST", "/v1/rewards", refused).json();
    EXPECT_GE(answer["results"][0].value("status", 0), 400);
    EXPECT_EQ(answer.value("learned", -1), 1) << refused;
  }
}

TEST_F(HttpCalls, the_newest_come_first) {
  auto client = connect();
  client.call("POST", "/v1/select", a_select);
  client.call("POST", "/v1/reward", R"({"event":"g-1","reward":0.5})");
  const auto all = client.call("GET", "/v1/newest").json();
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(all[0]["kind"], "reward");
  EXPECT_EQ(all[0]["reward"], 0.5);
  EXPECT_EQ(all[0]["event"], "g-1");
  EXPECT_EQ(all[1]["kind"], "decision");
  EXPECT_EQ(client.call("GET", "/v1/newest?count=1").json().size(), 1);
  for (const char* query :
       {"?count=0", "?count=1001", "?count=", "?count", "?count=1&count=2", "?other=1", "?count=%31"}) {
    EXPECT_EQ(client.call("GET", std::string("/v1/newest") + query).problem(), "invalid-parameter") << query;
  }
}

TEST_F(HttpCalls, the_log_is_streamed_in_pages) {
  auto client = connect();
  std::string many = "[";
  for (int k = 0; k < 3000; ++k) many += R"({"user":"u2","context":[1,0,0],"reward":1},)";
  many.back() = ']';
  ASSERT_EQ(client.call("POST", "/v1/rewards", many).status, 200);
  const auto answer = client.call("GET", "/v1/log?from=1");
  EXPECT_EQ(answer.fields.at("transfer-encoding"), "chunked");
  EXPECT_EQ(answer.fields.at("content-type"), "application/jsonl");
  EXPECT_EQ(std::count(answer.body.begin(), answer.body.end(), '\n'), 3000);
  EXPECT_EQ(client.call("GET", "/v1/log?from=3000").body,
            answer.body.substr(answer.body.rfind("\n", answer.body.size() - 2) + 1));
  EXPECT_EQ(client.call("GET", "/v1/log?from=100000").body, "");
  const auto head = client.call("HEAD", "/v1/log?from=1");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.fields.count("content-length"), 0) << "GET has none, and the body is not empty";
  EXPECT_EQ(head.fields.at("transfer-encoding"), "chunked");
  EXPECT_EQ(head.fields.at("content-type"), "application/jsonl");
  EXPECT_EQ(client.call("HEAD", "/v1/log?from=-1").status, 400);
  EXPECT_EQ(client.call("GET", "/v1/log?from=-1").problem(), "invalid-parameter");
  EXPECT_EQ(client.call("GET", "/livez").status, 200);  // the connection is as it was
  auto old = connect();
  old.send("GET /v1/log HTTP/1.0\r\n\r\n");
  const auto plain = old.receive();
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->body, answer.body);
  auto old_head = connect();
  old_head.send("HEAD /v1/log HTTP/1.0\r\n\r\n");
  const auto no_body = old_head.receive();
  ASSERT_TRUE(no_body);
  EXPECT_EQ(no_body->fields.count("content-length"), 0);
  EXPECT_EQ(no_body->fields.count("transfer-encoding"), 0);
  EXPECT_EQ(no_body->body, "");
}

TEST_F(HttpCalls, files_are_kept_by_their_tag) {
  auto client = connect();
  const auto file = client.call("GET", "/openapi.json");
  ASSERT_EQ(file.status, 200);
  EXPECT_EQ(file.fields.at("cache-control"), "no-cache");
  EXPECT_TRUE(file.fields.at("content-security-policy").starts_with("default-src 'self'"));
  EXPECT_EQ(file.json()["components"]["schemas"]["Context"]["maxItems"], 3) << "the bounds are those of this server";
  const std::string tag = file.fields.at("etag");
  const auto same = client.call("GET", "/openapi.json", "", "If-None-Match: " + tag + "\r\n");
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(client.call("GET", "/openapi.json", "", "If-None-Match: \"other\"\r\n").status, 200);
  EXPECT_EQ(client.call("GET", "/dashboard/none.js").problem(), "unknown-path");
  const auto head = client.call("HEAD", "/openapi.json");
  EXPECT_EQ(head.fields.at("content-length"), std::to_string(file.body.size()));
  EXPECT_EQ(client.call("GET", "/livez").status, 200);
}

TEST_F(HttpCalls, many_callers_at_once) {
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([this, caller] {
      auto client = connect();
      for (int k = 0; k < 25; ++k) {
        const std::string event = fmt::format("{}-{}", caller, k);
        const auto decided = client.call(
            "POST", "/v1/select", fmt::format(R"({{"user":"u{}","contexts":[[1,0,0]],"event":"{}"}})", caller, event));
        EXPECT_EQ(decided.status, 200) << decided.body;
        EXPECT_EQ(decided.json().value("event", ""), event);
        EXPECT_EQ(client.call("POST", "/v1/reward", fmt::format(R"({{"event":"{}","reward":1}})", event)).status, 200);
      }
    });
  }
  for (auto& caller : callers) caller.join();
  service_->wait_until_learned();
  EXPECT_EQ(service_->status().rewards, 200);
}

TEST_F(HttpCalls, every_answer_has_an_id) {
  auto client = connect();
  EXPECT_EQ(client.call("GET", "/livez", "", "X-Request-Id: mine-1.2_3\r\n").fields.at("x-request-id"), "mine-1.2_3");
  const auto own = client.call("GET", "/livez", "", "X-Request-Id: a b\r\n").fields.at("x-request-id");
  EXPECT_NE(own, "a b");
  const auto problem = client.call("GET", "/nowhere");
  EXPECT_EQ(problem.json()["instance"], problem.fields.at("x-request-id"));
  EXPECT_NE(own, problem.fields.at("x-request-id"));
}

}  // namespace http_server_test
}  // namespace goblin::serve
