#pragma once

#include <array>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace goblin::test {

/// An HTTP server on this machine that sends one file, whatever is asked for, and can break off in the middle.
class FileServer {
 public:
  explicit FileServer(std::string content) : content_(std::move(content)), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(socket_, 8);
    socklen_t size = sizeof address;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this] { serve(); });
  }
  FileServer(const FileServer&) = delete;
  FileServer& operator=(const FileServer&) = delete;
  ~FileServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }

  /// The next answers end after so many bytes of content each; those after them are whole.
  void break_after(std::deque<std::size_t> bytes) {
    const std::lock_guard lock(lock_);
    breaks_ = std::move(bytes);
  }
  /// Answers with the whole file, whatever part is asked for.
  void ignore_ranges() { ignores_ranges_ = true; }
  void answer_with(int status) { status_ = status; }

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/data.zip"; }
  /// The first byte that each request asked for.
  [[nodiscard]] std::vector<std::size_t> requests() {
    const std::lock_guard lock(lock_);
    return requests_;
  }

 private:
  void serve() {
    for (;;) {
      const int client = ::accept(socket_, nullptr, nullptr);
      if (client < 0) return;
      answer(client);
      ::close(client);
    }
  }

  void answer(int client) {
    std::string request;
    std::array<char, 4096> block{};
    while (request.find("\r\n\r\n") == std::string::npos) {
      const auto count = ::recv(client, block.data(), block.size(), 0);
      if (count <= 0) return;
      request.append(block.data(), static_cast<std::size_t>(count));
    }
    std::size_t begin = 0;
    const std::string range = "Range: bytes=";
    if (const auto at = request.find(range); at != std::string::npos) {
      begin = std::strtoul(request.c_str() + at + range.size(), nullptr, 10);
    }
    std::size_t limit = content_.size();
    {
      const std::lock_guard lock(lock_);
      requests_.push_back(begin);
      if (!breaks_.empty()) {
        limit = breaks_.front();
        breaks_.pop_front();
      }
    }
    if (status_ != 200) {
      send_all(client, "HTTP/1.1 " + std::to_string(status_) + " No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      return;
    }
    const bool part = begin > 0 && !ignores_ranges_;
    if (!part) begin = 0;
    const std::string body = content_.substr(begin);
    std::string head = part ? "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(begin) + "-" +
                                  std::to_string(content_.size() - 1) + "/" + std::to_string(content_.size()) + "\r\n"
                            : "HTTP/1.1 200 OK\r\n";
    head += "Content-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n";
    send_all(client, head + body.substr(0, limit));
  }

  static void send_all(int client, const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const auto count = ::send(client, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return;
      sent += static_cast<std::size_t>(count);
    }
  }

  std::string content_;
  int socket_;
  int port_ = 0;
  std::mutex lock_;
  std::deque<std::size_t> breaks_;
  std::vector<std::size_t> requests_;
  std::atomic<bool> ignores_ranges_ = false;
  std::atomic<int> status_ = 200;
  std::jthread thread_;
};

}  // namespace goblin::test
