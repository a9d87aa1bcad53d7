#include "serve/http_server.hpp"

#include "goblin/error.hpp"
#include "serve/exchange.hpp"
#include "serve/io_thread.hpp"
#include "serve/openapi.hpp"
#include "serve/routes.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

namespace goblin::serve {
namespace {

using boost::asio::ip::tcp;

/// Whoever asks for something slow waits behind so many others at most.
constexpr std::size_t most_waiting_quick = 1024;
constexpr std::size_t most_waiting_slow = 16;
constexpr std::size_t most_waiting_pages = 64;

std::vector<std::string> names_of_calls() {
  std::vector<std::string> names;
  for (const Route& route : routes()) names.emplace_back(route.call);
  names.emplace_back("none");  // of what is no call
  return names;
}

std::shared_ptr<boost::asio::ssl::context> read_certificate(const ServerOptions& options) {
  if (options.certificate.empty() != options.private_key.empty()) {
    throw std::invalid_argument("--certificate and --key: one without the other (TLS needs both)");
  }
  if (options.certificate.empty()) return nullptr;
  using boost::asio::ssl::context;
  auto tls = std::make_shared<context>(context::tls_server);
  tls->set_options(context::default_workarounds | context::no_sslv2 | context::no_sslv3 | context::no_tlsv1 |
                   context::no_tlsv1_1 | context::no_compression | context::single_dh_use);
  ::SSL_CTX_set_min_proto_version(tls->native_handle(), TLS1_2_VERSION);
  const auto read = [](const std::filesystem::path& file, const auto& work) {
    boost::system::error_code error;
    work(error);
    if (error) throw DataError(file.string(), 0, fmt::format("cannot be used for TLS: {}", error.message()));
  };
  read(options.certificate, [&](auto& error) { tls->use_certificate_chain_file(options.certificate.string(), error); });
  read(options.private_key,
       [&](auto& error) { tls->use_private_key_file(options.private_key.string(), context::pem, error); });
  if (::SSL_CTX_check_private_key(tls->native_handle()) != 1) {
    throw DataError(options.private_key.string(), 0, "is not the key of the certificate");
  }
  return tls;
}

std::shared_ptr<const Keys> read_keys(const ServerOptions& options) {
  return options.keys.empty() ? nullptr : std::make_shared<const Keys>(Keys::read(options.keys));
}

tcp::endpoint endpoint_of(const ServerOptions& options) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(options.listen.address, error);
  if (error) {
    throw std::invalid_argument(fmt::format("--listen: '{}' is no IP address", options.listen.address));
  }
  if (options.keys.empty() && !address.is_loopback()) {
    throw std::invalid_argument(fmt::format(
        "--listen: {} can be reached from other machines, and without keys everybody could use it (listen on "
        "127.0.0.1, or give --keys FILE)",
        options.listen.address));
  }
  return {address, options.listen.port};
}

/// With SO_REUSEPORT two servers could listen on one port without a word. This one hears of the other.
void check_that_port_is_free(const tcp::endpoint& endpoint) {
  boost::asio::io_context context;
  tcp::acceptor acceptor(context);
  acceptor.open(endpoint.protocol());
  acceptor.set_option(tcp::acceptor::reuse_address(true));
  boost::system::error_code error;
  acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(1, error);
  if (error) {
    throw std::runtime_error(fmt::format("{}:{} cannot be listened on: {} (--listen ADDRESS:PORT takes another)",
                                         endpoint.address().to_string(), endpoint.port(), error.message()));
  }
}

ServerOptions completed(ServerOptions options) {
  if (options.threads == 0) options.threads = std::max(1U, std::thread::hardware_concurrency());
  return options;
}

}  // namespace

ListenAddress listen_address(std::string_view text) {
  const auto fail = [&] {
    throw std::invalid_argument(
        fmt::format("--listen: '{}' (must be ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:8080)", text));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) fail();
  ListenAddress listen;
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), listen.port);
  if (port.empty() || error != std::errc() || end != port.data() + port.size()) fail();
  std::string_view address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  } else if (address.find(':') != std::string_view::npos) {
    fail();
  }
  listen.address = address == "localhost" ? "127.0.0.1" : std::string(address);
  boost::system::error_code wrong;
  boost::asio::ip::make_address(listen.address, wrong);
  if (wrong) fail();
  return listen;
}

void check(const ServerOptions& options) {
  const tcp::endpoint endpoint = endpoint_of(options);
  (void)read_keys(options);
  (void)read_certificate(options);
  check_that_port_is_free(endpoint);
}

struct HttpServer::State {
  State(std::unique_ptr<Partitions> its_own, Partitions& partitions, Peers* peers, JsonLog& json_log,
        const ServerOptions& given)
      : own(std::move(its_own)),
        options(completed(given)),
        log(json_log),
        metrics(names_of_calls(), options.threads),
        site{.partitions = partitions,
             .peers = peers,
             .log = json_log,
             .metrics = metrics,
             .quick_workers = quick_workers,
             .slow_workers = slow_workers,
             .stream_workers = stream_workers,
             .peer_calls = peer_calls,
             .version = given.version,
             .started = time_now(),
             .openapi = openapi_document(given.requests),
             .start = std::chrono::steady_clock::now()},
        peer_calls(peers) {}

  std::unique_ptr<Partitions> own;  // where there is one service only
  ServerOptions options;
  JsonLog& log;
  Metrics metrics;
  std::atomic<std::size_t> connections = 0;
  Secrets secrets;
  std::uint16_t port = 0;
  Site site;
  std::vector<std::unique_ptr<IoThread>> threads;
  // Last, so that they stop first: what they do refers to the others.
  Workers quick_workers{2, most_waiting_quick};
  Workers slow_workers{1, most_waiting_slow};
  Workers stream_workers{1, most_waiting_pages};
  PeerCalls peer_calls;
};

HttpServer::HttpServer(Service& service, JsonLog& log, const ServerOptions& options)
    : HttpServer([&] {
        auto only = std::make_unique<Partitions>(service);
        Partitions& partitions = *only;
        return std::make_unique<State>(std::move(only), partitions, nullptr, log, options);
      }()) {}

HttpServer::HttpServer(Partitions& partitions, Peers* peers, JsonLog& log, const ServerOptions& options)
    : HttpServer(std::make_unique<State>(nullptr, partitions, peers, log, options)) {}

HttpServer::HttpServer(std::unique_ptr<State> its_state) : state_(std::move(its_state)) {
  State& state = *state_;
  tcp::endpoint endpoint = endpoint_of(state.options);
  state.secrets = {read_keys(state.options), read_certificate(state.options)};
  if (endpoint.port() != 0) check_that_port_is_free(endpoint);
  for (std::size_t number = 0; number < state.options.threads; ++number) {
    state.threads.push_back(std::make_unique<IoThread>(state.site, state.options, state.metrics.of_thread(number),
                                                       state.secrets, state.connections, number));
    endpoint.port(state.threads.back()->listen(endpoint));
  }
  state.port = endpoint.port();
  for (auto& thread : state.threads) thread->start();
}

HttpServer::~HttpServer() { stop(); }

void HttpServer::reload() {
  State& state = *state_;
  std::vector<std::string> read_files;
  read_files.reserve(2);
  const auto read_again = [&](const std::filesystem::path& file, auto& place, auto read) {
    if (file.empty()) return;
    try {
      std::string name = file.string();
      place = read(state.options);
      read_files.push_back(std::move(name));
    } catch (const std::exception& error) {
      state.log.say(JsonLog::Level::error, fmt::format("What was read before stays: {}", error.what()),
                    {{"file", file.string()}});
    }
  };
  read_again(state.options.keys, state.secrets.keys, read_keys);
  read_again(state.options.certificate, state.secrets.certificate, read_certificate);
  for (auto& thread : state.threads) thread->use(state.secrets);
  // Whoever reads this and calls is answered by what was read now.
  for (const std::string& file : read_files) {
    state.log.say(JsonLog::Level::info, "The file was read again.", {{"file", file}});
  }
}

void HttpServer::stop() {
  for (auto& thread : state_->threads) thread->drain();
  state_->peer_calls.end_by(PeerCalls::Clock::now() + state_->options.limits.stop_time);
  for (auto& thread : state_->threads) thread->join();
}

std::uint16_t HttpServer::port() const { return state_->port; }

std::string HttpServer::address() const {
  const auto& [address, unused] = state_->options.listen;
  const bool is_v6 = address.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", state_->secrets.certificate ? "https" : "http", is_v6 ? "[" : "", address,
                     is_v6 ? "]" : "", state_->port);
}

}  // namespace goblin::serve
