#pragma once

#include <arpa/inet.h>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace goblin::serve {

struct HttpAnswer {
  int status = 0;
  std::string head;
  std::map<std::string, std::string> fields;  ///< names in small letters
  std::string body;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(body, nullptr, false); }
  /// "/problems/unknown-event" without its beginning; empty if it is no problem.
  [[nodiscard]] std::string problem() const {
    if (fields.count("content-type") == 0 || fields.at("content-type") != "application/problem+json") return {};
    const auto parsed = json();
    return parsed.is_object() ? parsed.value("type", std::string()).substr(std::string("/problems/").size()) : "";
  }
  [[nodiscard]] std::string detail() const { return json().value("detail", std::string()); }
};

/// A connection that sends exactly the bytes that a test wants, and reads answers one by one.
class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port, int receive_buffer = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{10, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const int yes = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (receive_buffer > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("nobody listens");
    }
  }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient() { ::close(socket_); }

  /// False if the other side does not want it any more.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// The next answer; none if the connection ends before. Chunks are put together.
  std::optional<HttpAnswer> receive(bool without_body = false) {
    std::size_t end = 0;
    while ((end = read_.find("\r\n\r\n")) == std::string::npos) {
      if (!fill()) return std::nullopt;
    }
    HttpAnswer answer;
    answer.head = read_.substr(0, end + 2);
    read_.erase(0, end + 4);
    if (answer.head.starts_with("HTTP/1.1 ")) answer.status = std::atoi(answer.head.c_str() + 9);
    for (std::size_t line = answer.head.find("\r\n") + 2; line < answer.head.size();) {
      const std::size_t stop = answer.head.find("\r\n", line);
      const std::size_t colon = answer.head.find(": ", line);
      std::string name = answer.head.substr(line, colon - line);
      for (char& one : name) one = static_cast<char>(std::tolower(one));
      answer.fields[name] = answer.head.substr(colon + 2, stop - colon - 2);
      line = stop + 2;
    }
    if (without_body || answer.status == 100 || answer.status == 304) return answer;
    if (answer.fields.count("content-length") > 0) {
      const auto length = static_cast<std::size_t>(std::stoul(answer.fields["content-length"]));
      while (read_.size() < length) {
        if (!fill()) return std::nullopt;
      }
      answer.body = read_.substr(0, length);
      read_.erase(0, length);
    } else if (answer.fields.count("transfer-encoding") > 0) {
      for (;;) {
        while ((end = read_.find("\r\n")) == std::string::npos) {
          if (!fill()) return std::nullopt;
        }
        const std::size_t length = std::stoul(read_.substr(0, end), nullptr, 16);
        while (read_.size() < end + 2 + length + 2) {
          if (!fill()) return std::nullopt;
        }
        answer.body += read_.substr(end + 2, length);
        read_.erase(0, end + 2 + length + 2);
        if (length == 0) break;
      }
    } else {
      while (fill()) continue;
      answer.body = std::exchange(read_, {});
    }
    return answer;
  }

  HttpAnswer call(std::string_view method, std::string_view path, std::string_view body = {},
                  std::string_view fields = {}) {
    send(request(method, path, body, fields));
    return receive(method == "HEAD").value_or(HttpAnswer{});
  }

  static std::string request(std::string_view method, std::string_view path, std::string_view body = {},
                             std::string_view fields = {}) {
    const bool has_body = !body.empty() || method == "POST";
    return fmt::format(
        "{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\n{}{}\r\n{}", method, path, fields,
        has_body ? fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", body.size()) : std::string(),
        body);
  }

  /// Whether the other side has closed; what it sends before is thrown away.
  bool is_closed() {
    while (fill()) read_.clear();
    return !timed_out_;
  }

  /// Reads at most so many bytes, as a slow reader does.
  std::size_t read_some(std::size_t most) {
    std::string block(most, '\0');
    const ssize_t count = ::recv(socket_, block.data(), block.size(), 0);
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }

 private:
  bool fill() {
    char block[65536];
    const ssize_t count = ::recv(socket_, block, sizeof block, 0);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) timed_out_ = true;
    if (count <= 0) return false;
    read_.append(block, static_cast<std::size_t>(count));
    return true;
  }

  int socket_;
  std::string read_;
  bool timed_out_ = false;
};

}  // namespace goblin::serve
