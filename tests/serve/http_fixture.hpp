#pragma once

#include "http_client.hpp"
#include "serve/http_server.hpp"
#include "serve/json_log.hpp"
#include "serve/service.hpp"
#include "service_fixture.hpp"
#include "temporary_folder.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

namespace goblin::serve {

/// A server on a free port, over a service with twelve users in three cliques and contexts of three numbers.
class HttpFixture : public ::testing::Test {
 protected:
  HttpFixture() : log_file_(std::fopen((folder_ / "log").c_str(), "w")) {
    options_.listen.port = 0;
    options_.threads = 2;
    options_.version = "test";
    options_.requests.dimension = 3;
  }
  ~HttpFixture() override {
    stop();
    std::fclose(log_file_);
  }

  void start() {
    if (!service_) {
      ServiceOptions service;
      service.store = folder_ / "store";
      service_ = std::make_unique<Service>(Bandit::gob_lin(named_cliques(), {.dimension = 3}), nullptr, service);
    }
    log_ = std::make_unique<JsonLog>(::fileno(log_file_));
    server_ = std::make_unique<HttpServer>(*service_, *log_, options_);
  }
  void stop() {
    server_.reset();
    log_.reset();
  }

  [[nodiscard]] HttpClient connect() const { return HttpClient(server_->port()); }
  /// On a connection of its own.
  [[nodiscard]] HttpAnswer call(std::string_view method, std::string_view path, std::string_view body = {},
                                std::string_view fields = {}) const {
    return connect().call(method, path, body, fields);
  }
  /// What the server has said until its end, which this is.
  [[nodiscard]] std::string said() {
    stop();
    return content_of(folder_ / "log");
  }

  TemporaryFolder folder_;
  ServerOptions options_;
  std::FILE* log_file_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<JsonLog> log_;
  std::unique_ptr<HttpServer> server_;
};

inline constexpr const char* a_select = R"({"user":"u1","contexts":[[1,0,0],[0,1,0]]})";

}  // namespace goblin::serve
