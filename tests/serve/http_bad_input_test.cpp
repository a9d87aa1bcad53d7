// What is not as it should be: the right status, a problem in words, nothing learned, the connection still usable.

#include "http_fixture.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace goblin::serve {
namespace http_bad_input_test {

struct Bad {
  std::string method;
  std::string path;
  std::string body;
  int status = 400;
  std::string problem;
  std::string detail;  // has this in it
};

class HttpBadInput : public HttpFixture {
 protected:
  void SetUp() override {
    options_.limits.most_body_bytes = 10'000;
    options_.limits.most_head_bytes = 2'000;
    start();
  }
};

TEST_F(HttpBadInput, is_a_problem_and_the_connection_stays) {
  const std::string select = "/v1/select";
  const std::vector<Bad> all = {
      {"POST", select, R"({"user":"u1","contexts":[[1,0,0])", 400, "malformed-json", "byte"},
      {"POST", select, R"({"user":"u1","contexts":[[1,0,NaN]]})", 400, "malformed-json", "contexts[0][2]"},
      {"POST", select, R"({"user":"u1","contexts":[[1,0]]})", 400, "wrong-dimension",
       "contexts[0] has 2 numbers (must have 3"},
      {"POST", select, R"({"user":"u1","contexts":[]})", 400, "invalid-field", "'contexts' is empty"},
      {"POST", select, R"({"user":"u1","contexts":[[1,0,0]],"colour":1})", 400, "unknown-field", "'colour'"},
      {"POST", select, R"({"user":"u1","items":["tea"]})", 404, "unknown-item", "tea"},
      {"POST", select, "", 400, "malformed-json", "empty"},
      {"POST", "/v1/reward", R"({"event":"none","reward":1})", 404, "unknown-event", "none"},
      {"POST", "/v1/rank", R"({"user":"u1","contexts":[[1,0,0]],"k":"two"})", 400, "invalid-field", "'k' is \"two\""},
      {"GET", select, "", 405, "wrong-method", "must be one of POST"},
      {"DELETE", "/v1/users/u1", "", 405, "wrong-method", "PUT, GET, HEAD"},
      {"BREW", "/v1/status", "", 405, "wrong-method", "BREW"},
      {"GET", "/v1/selec", "", 404, "unknown-path", ""},
      {"GET", "/v1/users/", "", 404, "unknown-path", ""},
      {"GET", "/v1/users/u1/u2", "", 404, "unknown-path", ""},
      {"GET", "/v1/users/nobody", "", 404, "unknown-user", "nobody"},
      {"PUT", "/v1/edges/u1/u1", "", 400, "invalid-field", "u1"},
      {"PUT", "/v1/edges/u1/nobody", "", 404, "unknown-user", "nobody"},
      {"PUT", "/v1/users/%FF", "", 400, "invalid-parameter", "UTF-8"},
      {"PUT", "/v1/users/a%0Ab", "", 400, "invalid-parameter", "U+000A"},
      {"PUT", "/v1/users/a%0", "", 400, "invalid-parameter", "percent"},
      {"PUT", "/v1/users/a%zz", "", 400, "invalid-parameter", "percent"},
      {"PUT", "/v1/users/" + std::string(257, 'x'), "", 400, "invalid-parameter", "257 bytes (must have at most 256)"},
      {"PUT", "/v1/items/tea", R"({"context":[1,0]})", 400, "wrong-dimension", "must have 3"},
      {"GET", "/v1/status?key=secret", "", 400, "invalid-parameter", "Authorization"},
  };
  auto client = connect();
  for (const Bad& bad : all) {
    const auto answer = client.call(bad.method, bad.path, bad.body);
    EXPECT_EQ(answer.status, bad.status) << bad.method << " " << bad.path << " " << bad.body << "\n" << answer.body;
    EXPECT_EQ(answer.problem(), bad.problem) << bad.path << " " << bad.body;
    EXPECT_NE(answer.detail().find(bad.detail), std::string::npos) << answer.detail();
    EXPECT_EQ(answer.json().value("status", 0), bad.status);
    EXPECT_FALSE(answer.json().value("title", "").empty());
    EXPECT_EQ(answer.fields.count("connection"), 0);
    EXPECT_EQ(answer.fields.count("allow"), bad.status == 405 ? 1 : 0);
  }
  EXPECT_EQ(service_->status().end, 1) << "something was written";
  EXPECT_EQ(client.call("POST", "/v1/select", a_select).status, 200);
}

TEST_F(HttpBadInput, other_types_of_body_are_refused) {
  auto client = connect();
  const auto post = [&](const std::string& fields) {
    client.send("POST /v1/select HTTP/1.1\r\nHost: localhost\r\n" + fields + "Content-Length: 2\r\n\r\n{}");
    return client.receive().value_or(HttpAnswer{});
  };
  EXPECT_EQ(post("").problem(), "not-json");
  const auto form = post("Content-Type: application/x-www-form-urlencoded\r\n");
  EXPECT_EQ(form.status, 415);
  EXPECT_NE(form.detail().find("application/x-www-form-urlencoded (must be application/json)"), std::string::npos);
  EXPECT_EQ(post("Content-Type: application/json\r\nContent-Encoding: gzip\r\n").problem(), "not-json");
  EXPECT_EQ(post("Content-Type: Application/JSON ; charset=utf-8\r\n").problem(), "missing-field");
  client.send("POST /v1/select HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\r\n");
  const auto without_length = client.receive();
  ASSERT_TRUE(without_length);
  EXPECT_EQ(without_length->status, 411);
  EXPECT_EQ(without_length->problem(), "length-needed");
  EXPECT_EQ(client.call("POST", "/v1/select", a_select).status, 200);
}

TEST_F(HttpBadInput, a_body_over_the_limit_is_answered_and_the_connection_closed) {
  for (const bool chunked : {false, true}) {
    auto client = connect();
    const std::string body(200'000, ' ');
    client.send("POST /v1/select HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n");
    if (chunked) {
      client.send("Transfer-Encoding: chunked\r\n\r\n100\r\n" + std::string(256, ' ') + "\r\n30d40\r\n" + body +
                  "\r\n0\r\n\r\n");
    } else {
      client.send("Content-Length: 200000\r\n\r\n" + body);
    }
    const auto answer = client.receive();
    ASSERT_TRUE(answer) << chunked;
    EXPECT_EQ(answer->status, 413);
    EXPECT_EQ(answer->problem(), "body-too-large");
    EXPECT_NE(answer->detail().find("10000 bytes"), std::string::npos);
    EXPECT_EQ(answer->fields.at("connection"), "close");
    EXPECT_TRUE(client.is_closed());
  }
  EXPECT_EQ(call("POST", "/v1/select", a_select).status, 200);
}

TEST_F(HttpBadInput, a_head_over_the_limit_is_answered_and_the_connection_closed) {
  for (const std::string& head : {"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(3000, 'x') + "\r\n\r\n",
                                  "GET /" + std::string(3000, 'x'), [] {
                                    std::string many = "GET /livez HTTP/1.1\r\nHost: localhost\r\n";
                                    for (int k = 0; k < 1000; ++k) many += "A: b\r\n";
                                    return many;
                                  }()}) {
    auto client = connect();
    client.send(head);
    const auto answer = client.receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 431);
    EXPECT_EQ(answer->problem(), "head-too-large");
    EXPECT_TRUE(client.is_closed());
  }
}

TEST_F(HttpBadInput, what_is_not_http_is_answered_and_the_connection_closed) {
  const std::string post = "POST /v1/select HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  for (const std::string& bytes :
       {std::string("\x16\x03\x01 hello"), std::string("hello\r\n\r\n"), std::string("GET /livez HTTP/9.9\r\n\r\n"),
        std::string("GET /livez HTTP/1.1\r\nHost: localhost\r\nbad field\r\n\r\n"), post + "Content-Length: -1\r\n\r\n",
        post + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        post + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n2;" + std::string(5000, 'x')}) {
    auto client = connect();
    client.send(bytes);
    const auto answer = client.receive();
    ASSERT_TRUE(answer) << bytes;
    EXPECT_TRUE(answer->status == 400 || answer->status == 431) << answer->head;
    EXPECT_TRUE(answer->problem() == "malformed-request" || answer->problem() == "head-too-large") << answer->body;
    EXPECT_TRUE(client.is_closed()) << bytes;
  }
}

TEST_F(HttpBadInput, a_body_whose_end_is_not_known_is_never_taken_for_a_request) {
  const std::string body = "2f\r\n" + std::string(0x2f, ' ') + "\r\n0\r\n\r\n";
  for (const char* fields :
       {"Transfer-Encoding: gzip\r\n", "Transfer-Encoding: xchunked\r\n", "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n", "Transfer-Encoding: \r\n", "Transfer-Encoding: \"chunked\"\r\n",
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"}) {
    auto client = connect();
    const std::string head = "POST /v1/select HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    client.send(head + fields + "\r\n" + body);
    const auto answer = client.receive();
    ASSERT_TRUE(answer) << fields;
    EXPECT_EQ(answer->status, 400) << fields;
    EXPECT_EQ(answer->problem(), "malformed-request") << fields;
    EXPECT_FALSE(client.receive()) << fields;
    EXPECT_TRUE(client.is_closed()) << fields;
  }
  auto old = connect();  // HTTP/1.0 had no chunks
  old.send("POST /v1/select HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n" + body);
  EXPECT_EQ(old.receive()->problem(), "malformed-request");
  EXPECT_TRUE(old.is_closed());
}

TEST_F(HttpBadInput, a_long_address_has_a_short_line_in_the_log) {
  EXPECT_EQ(call("GET", "/" + std::string(1'900, 'x')).status, 404);
  EXPECT_EQ(call("GET", "/" + std::string(1'900, '\x80')).status, 404);
  const std::string lines = said();
  EXPECT_THAT(lines, ::testing::HasSubstr("/xxxx"));
  EXPECT_LT(lines.size(), 5'000U);
}

TEST_F(HttpBadInput, a_request_names_one_host) {
  auto client = connect();
  client.send("GET /livez HTTP/1.1\r\n\r\n");
  EXPECT_EQ(client.receive()->problem(), "malformed-request");
  client.send("GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.receive()->problem(), "malformed-request");
  EXPECT_EQ(client.call("GET", "/livez").status, 200);
}

TEST_F(HttpBadInput, without_keys_a_page_of_somebody_else_gets_nothing) {
  auto client = connect();
  const auto host = [&](const std::string& name) {
    client.send("GET /v1/status HTTP/1.1\r\nHost: " + name + "\r\n\r\n");
    return client.receive()->status;
  };
  EXPECT_EQ(host("evil.example"), 403);
  EXPECT_EQ(host("127.0.0.1.evil.example:8080"), 403);
  EXPECT_EQ(host("localhost.evil.example"), 403);
  EXPECT_EQ(host("LOCALHOST:8080"), 200);
  EXPECT_EQ(host("127.0.0.1:8080"), 200);
  EXPECT_EQ(host("[::1]:8080"), 200);
}

}  // namespace http_bad_input_test
}  // namespace goblin::serve
