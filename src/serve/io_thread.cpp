#include "serve/io_thread.hpp"

#include "serve/answers.hpp"
#include "serve/connection.hpp"
#include "serve/problems.hpp"

#include <random>
#include <sys/socket.h>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/chrono.h>

namespace goblin::serve {
namespace {

using boost::asio::ip::tcp;
using Error = boost::system::error_code;

constexpr auto tick_time = std::chrono::milliseconds(250);

/// Said to whoever comes while there are as many connections as there may be.
std::string answer_when_full(std::size_t connections) {
  std::string body;
  const auto problem = problems::busy(fmt::format("there are {} connections (the most there may be)", connections));
  answers::append(body, problem, "");
  return fmt::format(
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"
      "Connection: close\r\nContent-Length: {}\r\n\r\n{}",
      body.size(), body);
}

}  // namespace

IoThread::IoThread(const Site& site, const ServerOptions& options, ThreadMetrics& metrics, Secrets secrets,
                   std::atomic<std::size_t>& connections, std::size_t number)
    : site_(site),
      options_(options),
      metrics_(metrics),
      secrets_(std::move(secrets)),
      connections_(connections),
      prefix_(fmt::format("{:08x}{:02x}", std::random_device{}(), number)),
      reader_(options.requests),
      most_request_bytes_(options.limits.most_request_bytes / std::max<std::size_t>(options.threads, 1)) {}

IoThread::~IoThread() = default;

std::uint16_t IoThread::listen(const tcp::endpoint& endpoint) {
  acceptor_.open(endpoint.protocol());
  acceptor_.set_option(tcp::acceptor::reuse_address(true));
  const int yes = 1;
  if (::setsockopt(acceptor_.native_handle(), SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) != 0) {
    throw boost::system::system_error(errno, boost::system::system_category(), "SO_REUSEPORT");
  }
  acceptor_.bind(endpoint);
  acceptor_.non_blocking(true);
  acceptor_.listen();
  return acceptor_.local_endpoint().port();
}

void IoThread::start() {
  tick();
  accept();
  thread_ = std::thread([this] { context_.run(); });
}

void IoThread::join() {
  if (thread_.joinable()) thread_.join();
}

void IoThread::use(Secrets secrets) {
  boost::asio::post(context_, [this, secrets = std::move(secrets)]() mutable { secrets_ = std::move(secrets); });
}

void IoThread::post(std::vector<std::function<void()>> tasks) {
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex_);
    was_empty = tasks_.empty();
    if (was_empty) {
      tasks_ = std::move(tasks);
    } else {
      for (auto& task : tasks) tasks_.push_back(std::move(task));
    }
  }
  if (was_empty) boost::asio::post(context_, [this] { run_tasks(); });
}

void IoThread::run_tasks() {
  {
    const std::lock_guard lock(mutex_);
    running_.swap(tasks_);
  }
  for (auto& task : running_) task();
  running_.clear();
  stop_if_done();
}

void IoThread::accept() {
  accepting_ = true;
  acceptor_.async_accept(context_, [this](const Error& error, tcp::socket socket) {
    accepting_ = false;
    if (!error) welcome(std::move(socket));
    if (!acceptor_.is_open()) {
      stop_if_done();
    } else if (!error) {
      accept();
    } else {
      must_accept_ = true;  // no more file descriptors, perhaps: the next tick tries again
    }
  });
}

void IoThread::welcome(tcp::socket socket) {
  Error ignored;
  if (connections_.fetch_add(1, std::memory_order_relaxed) >= options_.limits.most_connections) {
    connections_.fetch_sub(1, std::memory_order_relaxed);
    metrics_.connections_refused.add();
    if (!secrets_.certificate) {
      socket.non_blocking(true, ignored);
      socket.write_some(boost::asio::buffer(answer_when_full(options_.limits.most_connections)), ignored);
    }
    return;
  }
  socket.set_option(tcp::no_delay(true), ignored);
  const auto connection = make_connection(*this, std::move(socket), secrets_.certificate.get());
  open_.insert(connection.get());
  connection->start();
}

void IoThread::forget(Connection& connection) {
  open_.erase(&connection);
  connections_.fetch_sub(1, std::memory_order_relaxed);
  stop_if_done();
}

bool IoThread::take_bytes(std::size_t bytes) {
  if (request_bytes_ + bytes > most_request_bytes_) return false;
  request_bytes_ += bytes;
  return true;
}

std::string& IoThread::log_line() {
  // Many callers who do something wrong do not make it long: the log takes it, or leaves it out and counts it.
  constexpr std::size_t most = std::size_t{1} << 16U;
  if (log_lines_.size() > most) site_.log.append(log_lines_, std::exchange(log_line_count_, 0));
  ++log_line_count_;
  return log_lines_;
}

void IoThread::drain() {
  boost::asio::post(context_, [this] {
    draining_ = true;
    drain_until_ = Clock::now() + options_.limits.stop_time;
    // Those who were let in by the kernel already are heard.
    for (Error error; !error;) {
      tcp::socket socket(context_);
      acceptor_.accept(socket, error);
      if (!error) welcome(std::move(socket));
    }
    Error ignored;
    acceptor_.close(ignored);
    stop_if_done();
  });
}

void IoThread::stop_if_done() {
  if (is_done()) timer_.cancel();
}

void IoThread::tick() {
  now_ = Clock::now();
  date_ = fmt::format("Date: {:%a, %d %b %Y %H:%M:%S} GMT\r\n", fmt::gmtime(std::time(nullptr)));
  if (std::exchange(must_accept_, false) && acceptor_.is_open()) accept();
  std::vector<std::shared_ptr<Connection>> looked_at;  // stay while one looks at them: they may close
  looked_at.reserve(open_.size());
  for (Connection* connection : open_) {
    if (auto shared = connection->weak_from_this().lock()) looked_at.push_back(std::move(shared));
  }
  // At the end, a request may be in the socket and not be read yet: idle connections are closed a whole tick later.
  const bool close_idle = drain_until_ - now_ < options_.limits.stop_time - tick_time;
  for (const auto& connection : looked_at) {
    connection->look_at_clock();
    if (draining_ && close_idle) connection->close_soon();
    if (now_ >= drain_until_) connection->close();
  }
  looked_at.clear();
  site_.log.append(log_lines_, std::exchange(log_line_count_, 0));
  if (is_done()) return;
  timer_.expires_after(tick_time);
  timer_.async_wait([this](const Error& /*cancelled: the server stops*/) { tick(); });
}

}  // namespace goblin::serve
