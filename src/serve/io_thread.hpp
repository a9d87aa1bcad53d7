#pragma once

#include "serve/exchange.hpp"
#include "serve/http_server.hpp"
#include "serve/keys.hpp"
#include "serve/metrics.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace goblin::serve {

class Connection;

/// What can be read anew while the server runs.
struct Secrets {
  std::shared_ptr<const Keys> keys;                        ///< none: no key is needed
  std::shared_ptr<boost::asio::ssl::context> certificate;  ///< none: no TLS
};

/// A thread that talks to callers: its event loop, its part of the new connections, and everything that its connections
/// share, which nobody else touches.
class IoThread final : public Mailbox {
 public:
  using Clock = std::chrono::steady_clock;

  IoThread(const Site& site, const ServerOptions& options, ThreadMetrics& metrics, Secrets secrets,
           std::atomic<std::size_t>& connections, std::size_t number);
  ~IoThread() override;
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  /// Binds and listens; gives the port.
  std::uint16_t listen(const boost::asio::ip::tcp::endpoint& endpoint);
  void start();
  /// From any thread.
  void use(Secrets secrets);
  void drain();
  void join();
  void post(std::vector<std::function<void()>> tasks) override;

  // For its connections, on its thread.
  [[nodiscard]] const Site& site() const { return site_; }
  [[nodiscard]] const ServerOptions& options() const { return options_; }
  [[nodiscard]] ThreadMetrics& metrics() { return metrics_; }
  [[nodiscard]] const Keys* keys() const { return secrets_.keys.get(); }
  [[nodiscard]] RequestReader& reader() { return reader_; }
  [[nodiscard]] Sha256Hasher& hasher() { return hasher_; }
  /// The time of the last tick: four times a second, good enough for deadlines.
  [[nodiscard]] Clock::time_point now() const { return now_; }
  /// "Date: ...\r\n"
  [[nodiscard]] std::string_view date() const { return date_; }
  [[nodiscard]] bool draining() const { return draining_; }
  [[nodiscard]] std::uint64_t next_request() { return requests_++; }
  [[nodiscard]] std::string_view prefix() const { return prefix_; }
  /// Whether a request may hold so many bytes more.
  [[nodiscard]] bool take_bytes(std::size_t bytes);
  /// For what must be held: it may go beyond the bound, and then the next ones are refused.
  void hold_bytes(std::size_t bytes) { request_bytes_ += bytes; }
  void give_bytes(std::size_t bytes) { request_bytes_ -= bytes; }
  /// Where a line for the log is appended; it is written at the next tick at the latest.
  std::string& log_line();
  void forget(Connection& connection);

 private:
  void accept();
  void welcome(boost::asio::ip::tcp::socket socket);
  void tick();
  void run_tasks();
  [[nodiscard]] bool is_done() const { return draining_ && !accepting_ && open_.empty(); }
  void stop_if_done();

  const Site& site_;
  const ServerOptions& options_;
  ThreadMetrics& metrics_;
  Secrets secrets_;
  std::atomic<std::size_t>& connections_;
  std::string prefix_;
  boost::asio::io_context context_{1};
  boost::asio::ip::tcp::acceptor acceptor_{context_};
  boost::asio::steady_timer timer_{context_};
  RequestReader reader_;
  Sha256Hasher hasher_;
  Clock::time_point now_ = Clock::now();
  std::string date_;
  std::uint64_t requests_ = 0;
  std::size_t request_bytes_ = 0;
  std::size_t most_request_bytes_;
  std::string log_lines_;
  std::size_t log_line_count_ = 0;
  bool draining_ = false;
  bool accepting_ = false;  // somebody may still come in
  bool must_accept_ = false;
  Clock::time_point drain_until_ = Clock::time_point::max();
  std::unordered_set<Connection*> open_;

  std::mutex mutex_;  // of what follows
  std::vector<std::function<void()>> tasks_;
  std::vector<std::function<void()>> running_;  // the loop's own
  std::thread thread_;
};

}  // namespace goblin::serve
