#pragma once

#include "serve/json_log.hpp"
#include "serve/keys.hpp"
#include "serve/partitions.hpp"
#include "serve/peers.hpp"
#include "serve/requests.hpp"
#include "serve/service.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace goblin::serve {

/// Where to listen: an IP address and a port.
struct ListenAddress {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;  ///< 0: any that is free
};
/// "127.0.0.1:8080", "[::1]:8080", "localhost:8080". Throws std::invalid_argument.
[[nodiscard]] ListenAddress listen_address(std::string_view text);

/// Bounds on what callers can make the server hold, and on how long they may take.
struct ServerLimits {
  std::size_t most_connections = 4096;
  std::size_t most_head_bytes = 16U << 10U;
  std::size_t most_body_bytes = 4U << 20U;
  /// For requests that are under way, all together: about eight times the bytes of their bodies.
  std::size_t most_request_bytes = std::size_t{1} << 30U;
  std::chrono::milliseconds head_time = std::chrono::seconds(10);   ///< for the head of a request
  std::chrono::milliseconds body_time = std::chrono::seconds(30);   ///< for its body
  std::chrono::milliseconds idle_time = std::chrono::seconds(75);   ///< between requests
  std::chrono::milliseconds write_time = std::chrono::seconds(30);  ///< to read an answer, or a page of the log
  std::chrono::milliseconds stop_time = std::chrono::seconds(10);   ///< for requests that are under way at the end
};

struct ServerOptions {
  ListenAddress listen = {};
  std::size_t threads = 0;                 ///< that talk to callers; 0: as many as the machine has
  std::filesystem::path keys = {};         ///< none: no key is needed, and only this machine is listened to
  std::filesystem::path certificate = {};  ///< with `private_key`: TLS
  std::filesystem::path private_key = {};
  LogRequests log_requests = LogRequests::errors;
  ServerLimits limits = {};
  RequestLimits requests = {};
  std::string version = {};
};

/// Whether a server can be made with these options: the address can be listened on, keys and certificate can be read.
/// Throws what the server would throw; nothing has been changed then.
void check(const ServerOptions& options);

/// HTTP/1.1 in front of a service. Each thread has its own connections and its own share of the new ones
/// (SO_REUSEPORT), so that threads share nothing on the way of a request.
class HttpServer {
 public:
  /// Listens, and answers from then on. Throws std::invalid_argument, DataError (keys) or std::runtime_error (the port
  /// is taken, the certificate cannot be read).
  HttpServer(Service& service, JsonLog& log, const ServerOptions& options);
  /// In front of several partitions; `peers` know who has those that are not here, if there are others.
  HttpServer(Partitions& partitions, Peers* peers, JsonLog& log, const ServerOptions& options);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Stops.
  ~HttpServer();

  /// Reads keys and certificate again. If one cannot be read, the old one stays, and the log says so.
  void reload();
  /// Takes no more connections, answers what is under way, and closes the rest. The service must still be there.
  void stop();

  [[nodiscard]] std::uint16_t port() const;
  /// "http://127.0.0.1:8080"
  [[nodiscard]] std::string address() const;

 private:
  struct State;

  explicit HttpServer(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace goblin::serve
