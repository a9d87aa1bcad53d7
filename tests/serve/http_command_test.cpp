// The command from outside: signals, exit codes, what it says.

#include "http_client.hpp"
#include "temporary_folder.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace http_command_test {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

/// goblin serve as a process, on a free port.
class Process {
 public:
  /// With `most_files`, that is the system's bound on its open files.
  Process(const TemporaryFolder& folder, const std::vector<std::string>& more, rlim_t most_files = 0)
      : log_(folder / "log") {
    std::filesystem::remove(log_);
    write_file(folder / "edges.tsv", "ann\tbob\nbob\tcat\n");
    std::vector<std::string> words = {GOBLIN_COMMAND, "serve", "--graph", (folder / "edges.tsv").string(),
                                      "--dimension",  "2",     "--store", (folder / "store").string()};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::filesystem::remove(log_);  // of a process before
    id_ = ::fork();
    if (id_ == 0) {
      const int file = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(file, STDERR_FILENO);
      const rlimit files{most_files, most_files};
      if (most_files > 0) ::setrlimit(RLIMIT_NOFILE, &files);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (id_ > 0) {
      ::kill(id_, SIGKILL);
      wait();
    }
  }

  void signal(int number) const { ::kill(id_, number); }
  /// Its exit code.
  int wait() {
    int status = 0;
    ::waitpid(id_, &status, 0);
    id_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  [[nodiscard]] std::string said() const { return content_of(log_); }
  /// Waits until it has said that.
  [[nodiscard]] bool says(const std::string& words) const {
    for (int k = 0; k < 3000; ++k) {
      if (said().find(words) != std::string::npos) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
  [[nodiscard]] std::uint16_t port() const {
    EXPECT_TRUE(says("The server listens.")) << said();
    const std::string text = said();
    const std::size_t begin = text.find("http://127.0.0.1:");
    return begin == std::string::npos ? 0 : static_cast<std::uint16_t>(std::atoi(text.c_str() + begin + 17));
  }

 private:
  std::filesystem::path log_;
  pid_t id_ = 0;
};

TEST(ServeCommand, stops_at_a_signal_and_goes_on_where_it_was) {
  const TemporaryFolder folder;
  for (const int number : {SIGTERM, SIGINT}) {
    Process server(folder, {"--listen", "127.0.0.1:0"});
    HttpClient client(server.port());
    const auto status = client.call("GET", "/v1/status").json();
    EXPECT_EQ(status.value("rewards", -1), number == SIGTERM ? 0 : 1);
    client.call("POST", "/v1/select", R"({"user":"ann","contexts":[[1,0]],"event":"e"})");
    client.call("POST", "/v1/reward", R"({"event":"e","reward":1})");
    client.send(HttpClient::request("POST", "/v1/select", R"({"user":"bob","contexts":[[1,0]]})"));
    server.signal(number);
    EXPECT_EQ(client.receive()->status, 200);
    EXPECT_EQ(server.wait(), 0) << server.said();
    EXPECT_THAT(server.said(), HasSubstr(number == SIGTERM ? "SIGTERM" : "SIGINT"));
    EXPECT_THAT(server.said(), HasSubstr("There are no keys"));
  }
}

TEST(ServeCommand, keeps_files_for_itself_whoever_connects) {
  const TemporaryFolder folder;
  // With one thread those who come first are let in first.
  Process server(folder, {"--listen", "127.0.0.1:0", "--io-threads", "1"}, 200);
  std::vector<std::unique_ptr<HttpClient>> clients;
  const std::uint16_t port = server.port();
  EXPECT_THAT(server.said(), HasSubstr("There may be 136 connections"));
  for (int k = 0; k < 200; ++k) clients.push_back(std::make_unique<HttpClient>(port));
  EXPECT_EQ(clients.front()->call("POST", "/v1/rewards", R"([{"user":"ann","context":[1,0],"reward":1}])").status, 200);
  EXPECT_EQ(clients.back()->receive()->status, 503);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0) << server.said();
  EXPECT_THAT(server.said(), Not(HasSubstr("Too many open files")));
}

TEST(ServeCommand, reads_its_keys_again_at_a_signal) {
  const TemporaryFolder folder;
  const std::string keys = (folder / "keys").string();
  write_file(keys, "web ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad read\n");
  Process server(folder, {"--listen", "127.0.0.1:0", "--keys", keys});
  HttpClient client(server.port());
  EXPECT_EQ(client.call("GET", "/v1/status").status, 401);
  const std::string key = "Authorization: Bearer abc\r\n";
  EXPECT_EQ(client.call("GET", "/v1/status", "", key).status, 200);
  write_file(keys, "web abc read\n");
  server.signal(SIGHUP);
  EXPECT_TRUE(server.says("What was read before stays"));
  EXPECT_EQ(client.call("GET", "/v1/status", "", key).status, 200);
  write_file(keys, "web ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad decide\n");
  server.signal(SIGHUP);
  EXPECT_TRUE(server.says("The file was read again"));
  EXPECT_EQ(client.call("GET", "/v1/status", "", key).status, 403);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
}

TEST(ServeCommand, refuses_what_it_cannot_do) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::vector<std::string>& options, int code, const std::string& words) {
    Process server(folder, options);
    EXPECT_EQ(server.wait(), code);
    EXPECT_THAT(server.said(), HasSubstr(words));
    EXPECT_FALSE(std::filesystem::exists(folder / "store")) << words;
  };
  const std::string keys = (folder / "keys").string();
  write_file(keys, "web ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad read\n");
  refused({"--listen", "0.0.0.0:0"}, 2,
          "without keys everybody could use it (listen on 127.0.0.1, or give --keys FILE)");
  refused({"--listen", "8080"}, 2, "--listen: '8080' (must be ADDRESS:PORT");
  refused({"--horizon", "1 day"}, 2, "--horizon: '1 day' (must be a whole number above 0 with ms, s, min, h or d");
  refused({"--keep", "0d"}, 2, "--keep: '0d'");
  refused({"--default-reward", "nothing"}, 2, "--default-reward: 'nothing' (must be a number, or none)");
  refused({"--unknown-users", "ask"}, 2, "--unknown-users");
  refused({"--listen", "127.0.0.1:0", "--keys", (folder / "none").string()}, 3, "none: cannot be read");
  refused({"--listen", "127.0.0.1:0", "--certificate", "a.pem"}, 2, "TLS needs both");
  refused({"--listen", "127.0.0.1:0", "--certificate", "a.pem", "--key", "b.pem"}, 3, "a.pem: cannot be used for TLS");
  refused({"--listen", "192.0.2.1:0", "--keys", keys}, 1, "192.0.2.1:0 cannot be listened on");
  const TemporaryFolder other_folder;
  Process other(other_folder, {"--listen", "127.0.0.1:0"});
  const std::string taken = fmt::format("127.0.0.1:{}", other.port());
  refused({"--listen", taken}, 1, taken + " cannot be listened on");
}

}  // namespace http_command_test
}  // namespace goblin::serve
