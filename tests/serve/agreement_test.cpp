#include "serve/agreement.hpp"

#include "http_client.hpp"
#include "memory_log.hpp"
#include "serve/http_server.hpp"
#include "serve/json_log.hpp"
#include "service_fixture.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace agreement_test {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(Agreement, is_said_once_by_those_who_have_the_same) {
  Agreement agreement;
  EXPECT_FALSE(agreement.is_said(40, 7));
  agreement.heard(40, 7, "one");
  EXPECT_TRUE(agreement.is_said(40, 7));
  EXPECT_FALSE(agreement.is_said(40, 8)) << "who has something else has to say so";
  EXPECT_FALSE(agreement.is_said(80, 7));
  agreement.found(40, 8);
  EXPECT_THAT(agreement.disagreement(), HasSubstr("is not what \"one\" has"));
  agreement.heard(40, 8, "two");
  EXPECT_TRUE(agreement.is_said(40, 8));
}

TEST(Agreement, all_hear_of_a_server_that_has_something_else_whoever_speaks_first) {
  const TemporaryFolder folder;
  const auto entries = std::make_shared<SharedEntries>();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> log_file(std::fopen((folder / "log").c_str(), "w"),
                                                                 &std::fclose);
  JsonLog log(::fileno(log_file.get()));
  const std::array<const char*, 3> names = {"one", "two", "broken"};
  std::array<std::unique_ptr<Service>, 3> services;
  std::array<std::unique_ptr<HttpServer>, 3> servers;
  for (std::size_t k = 0; k < services.size(); ++k) {
    const Bandit bandit = Bandit::gob_lin(named_cliques(), {.dimension = 3});
    ServiceOptions options;
    options.store = folder / names[k];
    options.process = names[k];
    options.compare_every = 20;
    options.log = std::make_shared<MemoryLog>(entries);
    services[k] = std::make_unique<Service>(bandit, nullptr, options);
    ServerOptions of_server;
    of_server.listen.port = 0;
    of_server.threads = 1;
    servers[k] = std::make_unique<HttpServer>(*services[k], log, of_server);
    EXPECT_EQ(HttpClient(servers[k]->port()).call("GET", "/readyz").status, 200);
  }
  // As if its memory were broken.
  const_cast<SharedBandit&>(services[2]->bandit()).update("u1", std::array{1.0, 0.0, 0.0}, 1.0);
  Caller caller(*services[0]);
  for (int k = 0; k < 30; ++k) good(caller.reward({.user = "u2", .context = {0.0, 1.0, 0.0}, .reward = 1.0}));
  const auto until = std::chrono::steady_clock::now() + 10s;
  for (std::size_t k = 0; k < services.size(); ++k) {
    while (!services[k]->status().disagrees && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(5ms);
    const HttpAnswer ready = HttpClient(servers[k]->port()).call("GET", "/readyz");
    EXPECT_EQ(ready.status, 503) << names[k];
    EXPECT_THAT(HttpClient(servers[k]->port()).call("GET", "/metrics").body,
                HasSubstr("\ngoblin_evidence_disagrees 1\n"))
        << names[k];
  }
}

}  // namespace agreement_test
}  // namespace goblin::serve
