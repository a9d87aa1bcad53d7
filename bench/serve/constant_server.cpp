// What goblin serve is measured against: the same HTTP, with an answer that is always the same. It has one route of its
// own in the place of the server's, so that routes.cpp is not linked.
#include "goblin/bandit/bandit.hpp"
#include "serve/http_server.hpp"
#include "serve/routes.hpp"
#include "serve/service.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace goblin::serve {
namespace {

void handle_constant(Exchange& exchange) {
  exchange.answer().body += R"({"event":"g-1","arm":0,"probability":1,"offset":1})";
  exchange.send();
}

constexpr std::array<Route, 1> one_route = {
    {{boost::beast::http::verb::post, "/v1/select", Right::decide, "select", BodyRule::required, handle_constant}}};

}  // namespace

std::span<const Route> routes() { return one_route; }

Match find_route(boost::beast::http::verb /*method*/, std::string_view path, std::array<std::string, 2>& /*names*/) {
  const bool known = path == one_route[0].path;
  return {.route = known ? one_route.data() : nullptr, .known_path = known};
}

std::string allowed_methods(std::string_view /*path*/) { return "POST"; }

}  // namespace goblin::serve

/// STORE ADDRESS THREADS [KEYS]
int main(int count, char** arguments) {
  if (count < 4) return 2;
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  goblin::serve::JsonLog log(STDERR_FILENO);
  goblin::serve::Service service(goblin::Bandit::linucb_ind(goblin::Graph(1), {.dimension = 1}), nullptr,
                                 {.store = arguments[1]});
  goblin::serve::ServerOptions options{.listen = goblin::serve::listen_address(arguments[2]),
                                       .threads = static_cast<std::size_t>(std::stoul(arguments[3])),
                                       .log_requests = goblin::serve::LogRequests::none};
  if (count > 4) options.keys = arguments[4];
  goblin::serve::HttpServer server(service, log, options);
  std::fprintf(stderr, "{\"address\":\"%s\"}\n", server.address().c_str());
  int signal = 0;
  sigwait(&stop, &signal);
  server.stop();
  return 0;
}
