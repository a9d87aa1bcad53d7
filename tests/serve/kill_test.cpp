#include "replayed.hpp"
#include "service_fixture.hpp"

#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <random>
#include <set>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace kill_test {

/// `goblin serve` as a process of its own.
class Server {
 public:
  explicit Server(const std::vector<std::string>& arguments) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::runtime_error("pipe");
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(ends[1], STDERR_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      std::vector<char*> words;
      std::string command = GOBLIN_COMMAND;
      std::string verb = "serve";
      words.push_back(command.data());
      words.push_back(verb.data());
      for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
      words.push_back(nullptr);
      ::execv(command.c_str(), words.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ends[0];
    const std::string before = "http://127.0.0.1:";
    std::array<char, 4096> buffer{};
    for (;;) {
      const ssize_t count = ::read(output_, buffer.data(), buffer.size());
      if (count <= 0) throw std::runtime_error("the server did not start: " + said_);
      said_.append(buffer.data(), static_cast<std::size_t>(count));
      const std::size_t at = said_.find(before);
      if (at != std::string::npos && said_.find('\n', at) != std::string::npos) {
        port_ = static_cast<std::uint16_t>(std::stoi(said_.substr(at + before.size())));
        return;
      }
    }
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    if (process_ > 0) end(SIGKILL);
    ::close(output_);
  }

  int end(int signal) {
    ::kill(process_, signal);
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = 0;
    return status;
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  pid_t process_ = 0;
  int output_ = -1;
  std::string said_;
  std::uint16_t port_ = 0;
};

/// One connection that asks and waits, until the server is gone.
class Connected {
 public:
  explicit Connected(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    good_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  Connected(const Connected&) = delete;
  Connected& operator=(const Connected&) = delete;
  ~Connected() { ::close(socket_); }

  struct Answer {
    int status = 0;
    std::string body;
  };
  /// Nothing if the server went before its whole answer was there.
  std::optional<Answer> ask(const std::string& method, const std::string& path, const std::string& body) {
    if (!good_) return std::nullopt;
    const std::string request = fmt::format(
        "{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", method,
        path, body.size(), body);
    if (::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
      good_ = false;
      return std::nullopt;
    }
    std::string got;
    std::array<char, 4096> buffer{};
    for (;;) {
      const std::size_t head = got.find("\r\n\r\n");
      if (head != std::string::npos) {
        const std::size_t at = got.find("Content-Length: ");
        const std::size_t length = at < head ? std::stoul(got.substr(at + 16)) : 0;
        if (got.size() >= head + 4 + length) {
          return Answer{.status = std::stoi(got.substr(9)), .body = got.substr(head + 4, length)};
        }
      }
      const ssize_t count = ::recv(socket_, buffer.data(), buffer.size(), 0);
      if (count <= 0) {
        good_ = false;
        return std::nullopt;
      }
      got.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  int socket_;
  bool good_ = false;
};

/// The text of a member, without quotes.
std::string member(const std::string& json, const std::string& name) {
  const std::size_t at = json.find("\"" + name + "\":\"");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 4;
  return json.substr(begin, json.find('"', begin) - begin);
}

/// What callers were told.
struct Acknowledged {
  std::mutex mutex;
  std::set<std::string> decisions;
  std::map<std::string, double> rewards;
  std::set<std::string> users;
  std::size_t lonely = 0;  // rewards without a decision
  std::size_t lonely_at_most = 0;
};

void call_until_it_is_gone(std::uint16_t port, unsigned life, unsigned thread, Acknowledged& told) {
  Connected server(port);
  for (unsigned k = 0;; ++k) {
    const std::string user = k % 13 == 0 ? fmt::format("new{}-{}-{}", life, thread, k) : fmt::format("u{}", k % 12);
    const std::string event = k % 3 == 0 ? fmt::format(R"(,"event":"e{}-{}-{}")", life, thread, k) : "";
    const auto decision = server.ask("POST", "/v1/select",
                                     fmt::format(R"({{"user":"{}","contexts":[[0.1,{},0.3],[0.5,0.25,{}]]{}}})", user,
                                                 0.01 * (k % 17), 0.02 * (k % 23), event));
    if (!decision) return;
    ASSERT_EQ(decision->status, 200) << decision->body;
    const std::string name = member(decision->body, "event");
    {
      const std::lock_guard lock(told.mutex);
      ASSERT_TRUE(told.decisions.insert(name).second) << name << " was given twice";
      told.users.insert(user);
    }
    const double reward = 0.125 * (k % 9);
    const auto learned = server.ask("POST", "/v1/reward", fmt::format(R"({{"event":"{}","reward":{}}})", name, reward));
    if (!learned) return;
    ASSERT_EQ(learned->status, 200) << learned->body;
    {
      const std::lock_guard lock(told.mutex);
      told.rewards.emplace(name, reward);
    }
    if (k % 5 == 0) {
      {
        const std::lock_guard lock(told.mutex);
        ++told.lonely_at_most;
      }
      const auto many = server.ask("POST", "/v1/rewards",
                                   fmt::format(R"([{{"user":"u{}","context":[0.3,0.1,{}],"reward":2}}])", k % 12, 0.1));
      if (!many) return;
      const std::lock_guard lock(told.mutex);
      ++told.lonely;
    }
    if (k % 11 == 0) {
      const auto edge = server.ask("PUT", fmt::format("/v1/edges/u{}/u{}", k % 12, (k + 5) % 12),
                                   fmt::format(R"({{"weight":{}}})", 1 + k % 3));
      if (!edge) return;
      ASSERT_EQ(edge->status, 200) << edge->body;
    }
  }
}

TEST(KillTest, whatever_was_acknowledged_is_there_once_after_fifty_kills) {
  const TemporaryFolder folder;
  const Graph graph = named_cliques();
  std::string edges;
  for (const Edge& edge : graph.edges()) edges += fmt::format("u{}\tu{}\n", edge.a, edge.b);
  write_file(folder / "edges.tsv", edges);
  const std::vector<std::string> arguments = {"--graph",          (folder / "edges.tsv").string(),
                                              "--dimension",      "3",
                                              "--store",          (folder / "store").string(),
                                              "--listen",         "127.0.0.1:0",
                                              "--threads",        "2",
                                              "--snapshot-every", "1s"};
  Acknowledged told;
  std::minstd_rand random(16);
  for (unsigned life = 0; life < 50; ++life) {
    Server server(arguments);
    std::vector<std::thread> callers;
    for (unsigned thread = 0; thread < 4; ++thread) {
      callers.emplace_back([&, thread] { call_until_it_is_gone(server.port(), life, thread, told); });
    }
    // After some answers, not after some time: a busy machine has to be under load, too.
    const auto rewarded = [&] {
      const std::lock_guard lock(told.mutex);
      return told.rewards.size();
    };
    const std::size_t enough = rewarded() + random() % 40;
    const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    while (rewarded() < enough && std::chrono::steady_clock::now() < latest) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3'000));
    server.end(SIGKILL);
    for (std::thread& caller : callers) caller.join();
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(told.rewards.size(), 50);

  std::map<Offset, std::string> decisions;
  std::map<std::string, double> rewards;
  std::size_t lonely = 0;
  {
    const SqliteStore store({.folder = folder / "store"});
    Offset last = 0;
    store.read(1, [&](const Record& record) {
      EXPECT_EQ(record.offset, last + 1);
      last = record.offset;
      if (record.kind == RecordKind::decision) {
        decisions[record.offset] = record.event.empty() ? event_of(record.offset) : record.event;
      } else if (record.kind == RecordKind::reward && record.decision != 0) {
        EXPECT_TRUE(decisions.contains(record.decision));
        EXPECT_TRUE(rewards.emplace(decisions[record.decision], record.reward).second) << "twice";
      } else if (record.kind == RecordKind::reward) {
        ++lonely;
      }
      return true;
    });
  }
  std::set<std::string> names;
  for (const auto& [offset, name] : decisions) EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
  for (const std::string& event : told.decisions) EXPECT_TRUE(names.contains(event)) << event << " is lost";
  for (const auto& [event, reward] : told.rewards) {
    ASSERT_TRUE(rewards.contains(event)) << event << " has lost its reward";
    EXPECT_EQ(rewards[event], reward);
  }
  EXPECT_GE(lonely, told.lonely);
  EXPECT_LE(lonely, told.lonely_at_most);

  // The users of a file have the order in which it names them.
  const Bandit first = Bandit::load(folder / "store" / "snapshots" / "0.goblin");
  const Bandit whole = replayed(first, folder / "store");
  const Service service(first, nullptr, {.store = folder / "store", .default_reward = std::nullopt});
  expect_same(service.bandit().snapshot(), whole);
  for (const std::string& user : told.users) EXPECT_TRUE(service.bandit().has_user(user)) << user;
}

TEST(KillTest, a_server_that_is_asked_to_stop_says_goodbye) {
  const TemporaryFolder folder;
  write_file(folder / "edges.tsv", "a\tb\n");
  const std::vector<std::string> arguments = {"--graph", (folder / "edges.tsv").string(), "--dimension", "3",
                                              "--store", (folder / "store").string(),     "--listen",    "127.0.0.1:0"};
  Server server(arguments);
  {
    Connected caller(server.port());
    ASSERT_EQ(caller.ask("POST", "/v1/select", R"({"user":"a","contexts":[[1,2,3]]})")->status, 200);
    ASSERT_EQ(caller.ask("POST", "/v1/reward", R"({"event":"g-1","reward":1})")->status, 200);
  }
  const int status = server.end(SIGTERM);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "store" / "snapshots" / "2.goblin"));
}

}  // namespace kill_test
}  // namespace goblin::serve
