#pragma once

#include "serve/exchange.hpp"
#include "serve/io_thread.hpp"
#include "serve/request_head.hpp"
#include "serve/routes.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>

namespace goblin::serve {

/// A connection that waits for its next request keeps no more than this of each of its texts.
inline constexpr std::size_t kept_bytes = std::size_t{1} << 16U;

/// One connection: requests are read, handled and answered one after the other. What a caller sends ahead waits in the
/// socket. It belongs to one thread and lives as long as something is under way for it.
class Connection : public Exchange, public std::enable_shared_from_this<Connection> {
 public:
  using Clock = IoThread::Clock;

  explicit Connection(IoThread& thread);
  ~Connection() override;

  virtual void start() = 0;
  /// At every tick: closes if its time is over.
  void look_at_clock();
  /// The server stops: no further request is read after the one that is under way.
  void close_soon();
  /// At once.
  void close();

  [[nodiscard]] const Site& site() const override { return thread_.site(); }
  [[nodiscard]] Mailbox& mailbox() override { return thread_; }
  [[nodiscard]] RequestReader& reader() override { return thread_.reader(); }
  void send() override;
  void refuse(const Problem& problem) override;
  void in_background(Workers& workers, std::function<Result<std::string>()> make) override;
  void ask(std::size_t partition, std::string_view method, std::string target, std::string body,
           std::function<void(Result<Reply>)> done) override;
  void stream(std::function<bool(std::string&)> next) override;

 protected:
  // What the transport (plain or TLS) does. Each read and write ends with one call of was_read or was_written.
  virtual void read(boost::asio::mutable_buffer buffer) = 0;
  /// The texts stay as they are until it is done. Either may be empty.
  virtual void write(std::string_view head, std::string_view body) = 0;
  /// Nothing more is written. Closes then, or first reads what is still on its way.
  virtual void end_writing(bool more_may_come) = 0;
  virtual void close_socket() = 0;

  void begin();  ///< from here on there may be requests
  /// What still comes is thrown away until the caller closes: if the socket were closed before, what was written last
  /// might never be seen.
  void read_the_rest();
  void was_read(bool good, std::size_t bytes);
  void was_written(bool good, std::size_t bytes);
  [[nodiscard]] IoThread& thread() { return thread_; }
  void set_deadline(std::chrono::milliseconds from_now) { deadline_ = thread_.now() + from_now; }

 private:
  enum class State : std::uint8_t {
    waiting,     // for a request, or the rest of its head
    body,        // for the rest of a body
    handling,    // the request is whole, and its answer not there yet
    writing,     // the answer
    continuing,  // "100 Continue" is being written
    lingering,   // everything is said; what still comes is thrown away, so that the answer is not lost
    closed,
  };
  struct Stream;

  void advance();
  /// Each gives whether there is something to do at once.
  bool read_head();
  bool read_body();
  bool ask_for_more();
  void head_is_there();
  std::optional<Problem> problem_with_head();
  std::optional<Problem> problem_with_key(Right right);
  void handle();
  void next_request();
  void linger();
  void fail(const Problem& problem);  ///< the framing is lost: answer, and close
  enum class Length : std::uint8_t { known, chunked, until_close };
  void write_head(Length length);
  void send(Length length);
  void finish();
  void charge_body();
  void next_page();
  void page_is_there();

  IoThread& thread_;
  State state_ = State::waiting;
  bool advancing_ = false;
  bool reading_ = false;
  bool closes_ = false;      // after this answer
  bool lost_ = false;        // what comes next is not the begin of a request
  bool keeps_alive_ = true;  // the caller's wish
  bool begun_ = false;       // some bytes of a head are there
  std::size_t scanned_ = 0;  // bytes in which the end of the head is not
  Clock::time_point deadline_ = Clock::time_point::max();
  boost::beast::flat_buffer buffer_;
  std::optional<RequestParser> parser_;
  std::string path_;
  std::string request_id_;
  const Route* route_ = nullptr;
  std::optional<Problem> refusal_;  // what is wrong with the head; said when the body has been read
  std::string problem_type_;
  std::string head_text_;
  std::size_t charged_ = 0;
  std::size_t lingered_ = 0;
  Clock::time_point whole_at_;
  std::unique_ptr<Stream> stream_;
  std::shared_ptr<Connection> self_;  // while something else than the socket will call back
};

[[nodiscard]] std::shared_ptr<Connection> make_connection(IoThread& thread, boost::asio::ip::tcp::socket socket,
                                                          boost::asio::ssl::context* certificate);

}  // namespace goblin::serve
