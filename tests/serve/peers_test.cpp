// What one server asks another one, which is here a socket that a test has in its hands.

#include "serve/peers.hpp"

#include "http_client.hpp"
#include "serve/peer_calls.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace peers_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Group final : public ReplicaGroup {
 public:
  std::optional<std::string> owner(std::size_t partition) const override {
    const std::lock_guard lock(mutex_);
    const auto found = owners_.find(partition);
    return found == owners_.end() ? std::nullopt : std::optional(found->second);
  }
  void look() override {}
  void set(std::size_t partition, const std::string& url) {
    const std::lock_guard lock(mutex_);
    owners_[partition] = url;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::size_t, std::string> owners_;
};

/// A server that answers each request as the test says; where it says nothing, the connection ends.
class Peer {
 public:
  using Answer = std::function<std::string(std::size_t number)>;

  explicit Peer(Answer answer) : answer_(std::move(answer)), listening_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listening_, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    ::listen(listening_, 100);
    if (answer_) thread_ = std::thread([this] { run(); });
  }
  ~Peer() {
    ::shutdown(listening_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    ::close(listening_);
  }
  [[nodiscard]] std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  std::vector<std::string> heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  void run() {
    for (int socket = 0; (socket = ::accept(listening_, nullptr, nullptr)) >= 0;) {
      const timeval patience{0, 500'000};
      ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      while (serve(socket)) continue;
      ::close(socket);
    }
  }
  bool serve(int socket) {
    std::string request;
    std::size_t whole = std::string::npos;
    while (request.size() < whole) {
      char block[4096];
      const ssize_t count = ::recv(socket, block, sizeof block, 0);
      if (count <= 0) return false;
      request.append(block, static_cast<std::size_t>(count));
      const std::size_t end = request.find("\r\n\r\n");
      if (end == std::string::npos) continue;
      const std::size_t length = request.find("Content-Length: ");
      whole = end + 4 + (length < end ? std::stoul(request.substr(length + 16)) : 0);
    }
    std::size_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = heard_.size();
      heard_.push_back(request);
    }
    const std::string answer = answer_(number);
    for (std::size_t sent = 0; sent < answer.size();) {
      const ssize_t count = ::send(socket, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return false;
      sent += static_cast<std::size_t>(count);
    }
    return !answer.empty();
  }

  Answer answer_;
  int listening_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::vector<std::string> heard_;
  std::thread thread_;
};

std::string reply_of(std::string_view body) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
}

Question question(std::string method, std::string target, std::string body = {}) {
  Question asked;
  asked.method = std::move(method);
  asked.target = std::move(target);
  asked.body = std::move(body);
  return asked;
}

TEST(Peers, are_asked_for_what_was_asked_for) {
  Peer peer([](std::size_t) { return reply_of("{}"); });
  Group group;
  group.set(0, peer.url());
  Peers peers(group, "http://me", false);
  for (const char* target : {"/v1/users/..", "/v1/users/./a%23b?x=/../y", "/v1/users/%2e"}) {
    const auto answer = peers.ask(question("GET", target));
    ASSERT_TRUE(std::holds_alternative<Reply>(answer));
    EXPECT_EQ(std::get<Reply>(answer).body, "{}");
    EXPECT_THAT(peer.heard().back(), StartsWith(fmt::format("GET {} HTTP/1.1\r\nHost: 127.0.0.1:", target)));
  }
  ASSERT_TRUE(std::holds_alternative<Reply>(peers.ask(question("PUT", "/v1/users/..", R"({"friends":[]})"))));
  EXPECT_THAT(peer.heard().back(), StartsWith("PUT /v1/users/.. HTTP/1.1\r\n"));
  EXPECT_THAT(peer.heard().back(), testing::EndsWith("\r\n\r\n{\"friends\":[]}"));
  ASSERT_TRUE(std::holds_alternative<Reply>(peers.ask(question("POST", "/v1/rewards", ""))));
  EXPECT_THAT(peer.heard().back(), HasSubstr("Content-Length: 0\r\n"));
}

TEST(Peers, hear_a_request_once_even_if_the_connection_dies) {
  Peer peer([](std::size_t number) { return number == 0 ? reply_of("{}") : std::string(); });
  Group group;
  group.set(0, peer.url());
  Peers peers(group, "http://me", false);
  ASSERT_TRUE(std::holds_alternative<Reply>(peers.ask(question("POST", "/v1/rewards", "[1]"))));
  const auto answer = peers.ask(question("POST", "/v1/rewards", "[2]"));
  ASSERT_TRUE(std::holds_alternative<Problem>(answer));
  EXPECT_EQ(std::get<Problem>(answer).type, "partition-away");
  EXPECT_EQ(peer.heard().size(), 2) << "it may have done it";
}

TEST(Peers, that_answer_with_too_much_are_not_listened_to) {
  Peer peer([](std::size_t) { return reply_of(std::string((std::size_t{1} << 26U) + 1, 'x')); });
  Group group;
  group.set(0, peer.url());
  Peers peers(group, "http://me", false);
  const auto answer = peers.ask(question("GET", "/v1/users/u1"));
  ASSERT_TRUE(std::holds_alternative<Problem>(answer));
  EXPECT_EQ(std::get<Problem>(answer).type, "partition-away");
  EXPECT_THAT(std::get<Problem>(answer).detail, HasSubstr("answers with too much"));
}

TEST(Peers, are_not_asked_by_themselves) {
  Group group;
  group.set(0, "http://me");
  Peers peers(group, "http://me", true);
  EXPECT_EQ(peers.owner(0), "http://me");
  EXPECT_EQ(peers.other_owner(0), std::nullopt);
  EXPECT_THAT(std::get<Problem>(peers.ask(question("GET", "/v1/users/u1"))).detail, HasSubstr("nobody is known"));
}

TEST(Peers, that_are_frozen_keep_nobody_waiting_who_asks_another_one) {
  Peer frozen(nullptr);  // the system takes connections, and nobody reads
  Peer well([](std::size_t) { return reply_of("{}"); });
  Group group;
  group.set(0, frozen.url());
  group.set(1, well.url());
  Peers peers(group, "http://me", false);
  std::atomic<int> heard = 0;
  std::promise<Result<Reply>> answered;
  constexpr int many = 200;
  PeerCalls calls(&peers);
  Question patient = question("GET", "/v1/users/u1");
  patient.until = std::chrono::steady_clock::now() + 10min;
  for (int k = 0; k < many; ++k) ASSERT_TRUE(calls.ask(patient, [&](const Result<Reply>&) { ++heard; }));
  Question other = patient;
  other.partition = 1;
  ASSERT_TRUE(calls.ask(other, [&](Result<Reply> answer) { answered.set_value(std::move(answer)); }));
  auto answer = answered.get_future();
  ASSERT_EQ(answer.wait_for(60s), std::future_status::ready);
  EXPECT_TRUE(std::holds_alternative<Reply>(answer.get()));
  EXPECT_EQ(heard, 0) << "it may answer yet";
  // Once the group knows better, nobody waits for it.
  group.set(0, well.url());
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (heard < many && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(heard, many);
}

TEST(Peers, that_let_somebody_wait_in_vain_are_not_asked_for_a_moment) {
  Peer frozen(nullptr);
  Group group;
  group.set(0, frozen.url());
  Peers peers(group, "http://me", false);
  Question first = question("GET", "/v1/users/u1");
  first.until = std::chrono::steady_clock::now() + 300ms;
  EXPECT_TRUE(std::holds_alternative<Problem>(peers.ask(first)));
  const auto start = std::chrono::steady_clock::now();
  const auto answer = peers.ask(question("GET", "/v1/users/u1"));
  EXPECT_THAT(std::get<Problem>(answer).detail, HasSubstr("did not answer"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 8s) << "not until its own end";
}

TEST(PeerCalls, end_early_where_the_server_ends) {
  Peer frozen(nullptr);
  Group group;
  group.set(0, frozen.url());
  Peers peers(group, "http://me", false);
  std::atomic<int> away = 0;
  const auto start = std::chrono::steady_clock::now();
  {
    PeerCalls calls(&peers);
    for (int k = 0; k < 100; ++k) {
      ASSERT_TRUE(calls.ask(question("GET", "/v1/users/u1"), [&](const Result<Reply>& answer) {
        if (std::holds_alternative<Problem>(answer)) ++away;
      }));
    }
  }
  EXPECT_EQ(away, 100);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 12s) << "not until their own end";
}

}  // namespace peers_test
}  // namespace goblin::serve
