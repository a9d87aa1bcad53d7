// What a connection talks over: a socket, or TLS over a socket.

#include "serve/connection.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace goblin::serve {
namespace {

using boost::asio::ip::tcp;
using Error = boost::system::error_code;

class PlainConnection final : public Connection {
 public:
  PlainConnection(IoThread& thread, tcp::socket socket) : Connection(thread), socket_(std::move(socket)) {
    Error ignored;
    socket_.non_blocking(true, ignored);
  }

  void start() override { begin(); }

 private:
  std::shared_ptr<PlainConnection> self() { return std::static_pointer_cast<PlainConnection>(shared_from_this()); }

  void read(boost::asio::mutable_buffer buffer) override {
    socket_.async_read_some(buffer,
                            [self = self()](const Error& error, std::size_t bytes) { self->was_read(!error, bytes); });
  }

  void write(std::string_view head, std::string_view body) override {
    // Nearly always there is room for all of it, and nothing has to be waited for.
    std::array<boost::asio::const_buffer, 2> buffers = {boost::asio::const_buffer(head.data(), head.size()),
                                                        boost::asio::const_buffer(body.data(), body.size())};
    const std::size_t all = head.size() + body.size();
    Error error;
    const std::size_t written = all == 0 ? 0 : socket_.write_some(buffers, error);
    if (error && error != boost::asio::error::would_block) {
      was_written(false, 0);
      return;
    }
    if (written == all) {
      was_written(true, all);
      return;
    }
    std::size_t skip = written;
    for (auto& buffer : buffers) {
      const std::size_t here = std::min(skip, buffer.size());
      buffer += here;
      skip -= here;
    }
    boost::asio::async_write(
        socket_, buffers, [self = self(), all](const Error& failed, std::size_t) { self->was_written(!failed, all); });
  }

  void end_writing(bool more_may_come) override {
    if (!more_may_come) {
      close();
      return;
    }
    Error ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    read_the_rest();
  }

  void close_socket() override {
    Error ignored;
    socket_.close(ignored);
  }

  tcp::socket socket_;
};

class TlsConnection final : public Connection {
 public:
  TlsConnection(IoThread& thread, tcp::socket socket, boost::asio::ssl::context& certificate)
      : Connection(thread), stream_(std::move(socket), certificate) {}

  void start() override {
    set_deadline(thread().options().limits.head_time);
    stream_.async_handshake(boost::asio::ssl::stream_base::server, [self = self()](const Error& error) {
      if (error) {
        self->close();
      } else {
        self->begin();
      }
    });
  }

 private:
  std::shared_ptr<TlsConnection> self() { return std::static_pointer_cast<TlsConnection>(shared_from_this()); }

  void read(boost::asio::mutable_buffer buffer) override {
    stream_.async_read_some(buffer,
                            [self = self()](const Error& error, std::size_t bytes) { self->was_read(!error, bytes); });
  }

  void write(std::string_view head, std::string_view body) override {
    together_.assign(head);
    together_ += body;  // one record instead of two
    boost::asio::async_write(stream_, boost::asio::buffer(together_),
                             [self = self()](const Error& error, std::size_t n) {
                               if (self->together_.capacity() > kept_bytes) self->together_ = std::string();
                               self->was_written(!error, n);
                             });
  }

  void end_writing(bool /*more_may_come*/) override {
    stream_.async_shutdown([self = self()](const Error&) { self->close(); });
  }

  void close_socket() override {
    Error ignored;
    stream_.lowest_layer().close(ignored);
  }

  boost::asio::ssl::stream<tcp::socket> stream_;
  std::string together_;
};

}  // namespace

std::shared_ptr<Connection> make_connection(IoThread& thread, tcp::socket socket,
                                            boost::asio::ssl::context* certificate) {
  if (certificate == nullptr) return std::make_shared<PlainConnection>(thread, std::move(socket));
  return std::make_shared<TlsConnection>(thread, std::move(socket), *certificate);
}

}  // namespace goblin::serve
