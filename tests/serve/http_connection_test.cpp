// How connections are used, kept, limited and ended.

#include "http_fixture.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace goblin::serve {
namespace http_connection_test {

using namespace std::chrono_literals;

class HttpConnections : public HttpFixture {};

TEST_F(HttpConnections, requests_sent_ahead_are_answered_in_their_order) {
  start();
  auto client = connect();
  std::string bytes;
  for (int k = 0; k < 50; ++k) {
    bytes += HttpClient::request("POST", "/v1/select",
                                 fmt::format(R"({{"user":"u1","contexts":[[1,0,0]],"event":"e{}"}})", k));
    bytes += "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
  }
  client.send(bytes);
  for (int k = 0; k < 50; ++k) {
    const auto decided = client.receive();
    ASSERT_TRUE(decided);
    EXPECT_EQ(decided->json().value("event", ""), fmt::format("e{}", k));
    EXPECT_EQ(client.receive()->body, R"({"alive":true})");
  }
}

TEST_F(HttpConnections, a_request_may_come_byte_by_byte) {
  start();
  auto client = connect();
  for (const char byte : HttpClient::request("POST", "/v1/select", a_select)) client.send({&byte, 1});
  EXPECT_EQ(client.receive()->status, 200);
}

TEST_F(HttpConnections, bodies_may_come_in_chunks) {
  start();
  auto client = connect();
  const std::string body = a_select;
  std::string chunks;
  for (const char byte : body) chunks += fmt::format("1;x=y\r\n{}\r\n", byte);
  client.send(
      "POST /v1/select HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: "
      "chunked\r\n\r\n" +
      chunks + "0\r\nAuthorization: Bearer no\r\n\r\n");
  EXPECT_EQ(client.receive()->status, 200);
  EXPECT_EQ(client.call("GET", "/livez").status, 200);
}

TEST_F(HttpConnections, a_body_is_asked_for_only_if_it_is_wanted) {
  start();
  auto client = connect();
  const std::string body = a_select;
  const auto head = [&](const std::string& path) {
    return fmt::format(
        "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
        "Content-Length: {}\r\n\r\n",
        path, body.size());
  };
  client.send(head("/v1/select"));
  EXPECT_EQ(client.receive()->status, 100);
  client.send(body);
  EXPECT_EQ(client.receive()->status, 200);
  client.send(head("/v1/nothing"));
  EXPECT_EQ(client.receive()->status, 404);
  EXPECT_TRUE(client.is_closed());
}

TEST_F(HttpConnections, callers_of_older_versions_are_answered) {
  start();
  auto once = connect();
  once.send("GET /livez HTTP/1.0\r\n\r\n");
  const auto answer = once.receive();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->fields.at("connection"), "close");
  EXPECT_TRUE(once.is_closed());
  auto kept = connect();
  for (int k = 0; k < 2; ++k) {
    kept.send("GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(kept.receive()->fields.at("connection"), "keep-alive");
  }
  auto last = connect();
  EXPECT_EQ(last.call("GET", "/livez", "", "Connection: close\r\n").fields.at("connection"), "close");
  EXPECT_TRUE(last.is_closed());
}

TEST_F(HttpConnections, addresses_may_be_whole) {
  start();
  auto client = connect();
  EXPECT_EQ(client.call("GET", "http://localhost/livez").status, 200);
  EXPECT_EQ(client.call("GET", "/livez?x=y").status, 200);
  EXPECT_EQ(client.call("OPTIONS", "*").status, 404);
}

TEST_F(HttpConnections, slow_callers_are_dropped) {
  options_.limits.head_time = 300ms;
  options_.limits.body_time = 300ms;
  start();
  auto slow_head = connect();
  slow_head.send("GET /livez HT");
  auto slow_body = connect();
  slow_body.send(
      "POST /v1/select HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
  const auto head = slow_head.receive();
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 408);
  EXPECT_EQ(head->problem(), "too-slow");
  EXPECT_TRUE(slow_head.is_closed());
  EXPECT_EQ(slow_body.receive()->status, 408);
  EXPECT_TRUE(slow_body.is_closed());
  EXPECT_EQ(call("POST", "/v1/select", a_select).status, 200);
}

TEST_F(HttpConnections, idle_callers_are_dropped) {
  options_.limits.idle_time = 300ms;
  start();
  EXPECT_TRUE(connect().is_closed());
}

TEST_F(HttpConnections, a_drop_now_and_then_does_not_keep_a_slow_caller) {
  options_.limits.head_time = 400ms;
  start();
  auto client = connect();
  client.send("GET /livez HTTP/1.1\r\n");
  const auto begin = std::chrono::steady_clock::now();
  while (client.send("X: y\r\n") && std::chrono::steady_clock::now() - begin < 8s) std::this_thread::sleep_for(20ms);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 8s);  // usually it would be 10
}

TEST_F(HttpConnections, callers_who_do_not_read_are_dropped) {
  options_.limits.write_time = 300ms;
  start();
  {
    auto client = connect();
    const std::string user(200, 'x');
    std::string many = "[";
    for (int k = 0; k < 9000; ++k) many += fmt::format(R"({{"user":"{}","context":[1,0,0],"reward":1}},)", user);
    many.back() = ']';
    for (int k = 0; k < 3; ++k) ASSERT_EQ(client.call("POST", "/v1/rewards", many).status, 200);
  }
  HttpClient client(server_->port(), 4096);
  client.send("GET /v1/log HTTP/1.1\r\nHost: localhost\r\n\r\n");
  // While this one does not read, the others are answered, and its connection ends before the log does.
  bool is_dropped = false;
  for (int k = 0; k < 1000 && !is_dropped; ++k) {
    std::this_thread::sleep_for(10ms);
    is_dropped = call("GET", "/metrics").body.find("goblin_timeouts_total 1\n") != std::string::npos;
  }
  EXPECT_TRUE(is_dropped);
  EXPECT_FALSE(client.receive());
}

TEST_F(HttpConnections, there_are_only_so_many) {
  options_.limits.most_connections = 3;
  start();
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int k = 0; k < 3; ++k) {
    clients.push_back(std::make_unique<HttpClient>(server_->port()));
    EXPECT_EQ(clients.back()->call("GET", "/livez").status, 200);
  }
  auto beyond = connect();
  const auto answer = beyond.receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->problem(), "busy");
  EXPECT_TRUE(beyond.is_closed());
  clients.pop_back();
  int status = 0;
  for (int k = 0; k < 1000 && status != 200; ++k) {
    status = call("GET", "/livez").status;
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(status, 200);
  EXPECT_EQ(clients.front()->call("GET", "/livez").status, 200);
}

TEST_F(HttpConnections, requests_take_only_so_much_memory) {
  options_.threads = 1;
  options_.limits.most_request_bytes = 100'000;
  start();
  auto client = connect();
  const std::string body = "{\"user\":\"u1\"," + std::string(20'000, ' ') + R"("contexts":[[1,0,0]]})";
  const auto answer = client.call("POST", "/v1/select", body);
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.problem(), "busy");
  EXPECT_EQ(answer.fields.at("retry-after"), "1");
  EXPECT_EQ(client.call("POST", "/v1/select", a_select).status, 200);
  // What was held is given back, also by those who go away in the middle.
  for (int k = 0; k < 20; ++k) {
    auto gone = connect();
    gone.send(
        "POST /v1/select HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
        "9000\r\n\r\n" +
        std::string(8000, ' '));
  }
  EXPECT_EQ(client.call("POST", "/v1/select", a_select).status, 200);
}

TEST_F(HttpConnections, answers_that_nobody_reads_take_only_so_much_memory) {
  options_.threads = 1;
  options_.limits.most_request_bytes = 1'000'000;
  start();
  std::string body = "[0";  // short, and has a long answer: a problem for each
  for (int k = 1; k < 10'000; ++k) body += ",0";
  body += ']';
  auto slow = std::make_unique<HttpClient>(server_->port(), 4096);
  // The kernel keeps the first answers, and one stays with the server.
  for (int k = 0; k < 5; ++k) slow->send(HttpClient::request("POST", "/v1/rewards", body));
  const std::string long_body = std::string(20'000, ' ') + R"({"event":"g-1","reward":1})";
  std::string problem;
  for (int k = 0; k < 1000 && problem != "busy"; ++k) {
    problem = call("POST", "/v1/reward", long_body).problem();
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(problem, "busy");
  slow.reset();
  int status = 0;
  for (int k = 0; k < 1000 && status != 404; ++k) {
    status = call("POST", "/v1/reward", long_body).status;
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(status, 404);
}

TEST_F(HttpConnections, at_the_end_what_is_under_way_is_answered) {
  start();
  auto idle = connect();
  EXPECT_EQ(idle.call("GET", "/livez").status, 200);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int k = 0; k < 20; ++k) {
    clients.push_back(std::make_unique<HttpClient>(server_->port()));
    clients.back()->send(HttpClient::request("POST", "/v1/select", a_select));
  }
  auto late = connect();
  const std::string request = HttpClient::request("POST", "/v1/select", a_select);
  late.send(request.substr(0, 60));
  std::jthread stopper([this] { server_->stop(); });
  for (auto& client : clients) {
    const auto answer = client->receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
  }
  std::this_thread::sleep_for(100ms);
  late.send(request.substr(60));
  const auto answer = late.receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->fields.at("connection"), "close");
  EXPECT_TRUE(late.is_closed());
  EXPECT_TRUE(idle.is_closed());
  stopper.join();
  EXPECT_THROW(connect(), std::runtime_error);
}

TEST_F(HttpConnections, a_caller_who_stays_does_not_keep_the_server_from_stopping) {
  options_.limits.stop_time = 200ms;
  start();
  auto client = connect();
  client.send("POST /v1/select HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n");
  std::this_thread::sleep_for(50ms);
  const auto begin = std::chrono::steady_clock::now();
  server_->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 8s);  // usually it would be 10
}

TEST_F(HttpConnections, a_port_belongs_to_one_server) {
  start();
  ServerOptions same = options_;
  same.listen.port = server_->port();
  try {
    const HttpServer other(*service_, *log_, same);
    FAIL() << "two servers on one port";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find(fmt::format("127.0.0.1:{} cannot be listened on", server_->port())),
              std::string::npos)
        << error.what();
  }
}

TEST_F(HttpConnections, without_keys_only_this_machine_is_listened_to) {
  for (const char* address : {"0.0.0.0", "::", "10.1.2.3"}) {
    options_.listen.address = address;
    try {
      start();
      FAIL() << address;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("--keys FILE"), std::string::npos) << error.what();
    }
  }
}

TEST(ListenAddress, has_an_address_and_a_port) {
  EXPECT_EQ(listen_address("127.0.0.1:80").port, 80);
  EXPECT_EQ(listen_address("[::1]:8080").address, "::1");
  EXPECT_EQ(listen_address("localhost:0").address, "127.0.0.1");
  EXPECT_EQ(listen_address("0.0.0.0:65535").port, 65535);
  for (const char* wrong : {"", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:80", "[::1]",
                            "somewhere:80", "127.0.0.1:80x"}) {
    EXPECT_THROW(static_cast<void>(listen_address(wrong)), std::invalid_argument) << wrong;
  }
}

}  // namespace http_connection_test
}  // namespace goblin::serve
