#include "bandit_options.hpp"
#include "commands.hpp"
#include "data_options.hpp"
#include "durations.hpp"
#include "events.hpp"
#include "goblin/bandit/bandit.hpp"
#include "serve/http_server.hpp"
#include "serve/json_log.hpp"
#include "serve/service.hpp"
#include "serve_demo.hpp"
#include "serve_shared.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace goblin::app {
namespace {

using serve::JsonLog;

struct ServeRequest {
  BanditRequest bandit;
  serve::ServiceOptions service;
  serve::ServerOptions server;
  std::string store;
  std::string snapshots;
  SharedLogRequest shared;
  std::string listen = "127.0.0.1:8080";
  std::string keys;
  std::string certificate;
  std::string private_key;
  std::string horizon = "24h";
  std::string default_reward = "0";
  std::string unknown_users = "join";
  std::string durable_decisions = "yes";
  std::string keep_candidates = "yes";
  std::string keep;
  std::string snapshot_every = "5min";
  std::string log_requests = "errors";
  bool demo = false;
};

/// SIGTERM, SIGINT and SIGHUP are held back from all threads, which begin after this, and taken by whoever waits.
class HeldSignals {
 public:
  HeldSignals() {
    ::sigemptyset(&held_);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&held_, signal);
    ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
    ::signal(SIGPIPE, SIG_IGN);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  [[nodiscard]] int wait() const {
    int signal = 0;
    ::sigwait(&held_, &signal);
    return signal;
  }

 private:
  sigset_t held_{};
  sigset_t before_{};
};

std::optional<double> default_reward_named(std::string_view text) {
  if (text == "none") return std::nullopt;
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    throw std::invalid_argument(fmt::format("--default-reward: '{}' (must be a number, or none)", text));
  }
  return value;
}

/// The options as the service and the server take them. Throws std::invalid_argument.
void complete(ServeRequest& request) {
  auto& service = request.service;
  auto& server = request.server;
  service.store = request.store;
  service.horizon = duration_named("--horizon", request.horizon);
  service.snapshot_every = duration_named("--snapshot-every", request.snapshot_every);
  if (!request.keep.empty()) service.keep = duration_named("--keep", request.keep);
  service.default_reward = default_reward_named(request.default_reward);
  service.refuse_unknown_users = request.unknown_users == "refuse";
  service.durable_decisions = request.durable_decisions == "yes";
  service.keep_candidates = request.keep_candidates == "yes";
  server.listen = serve::listen_address(request.listen);
  server.keys = request.keys;
  server.certificate = request.certificate;
  server.private_key = request.private_key;
  server.version = GOBLIN_VERSION;
  server.log_requests = request.log_requests == "all"    ? serve::LogRequests::all
                        : request.log_requests == "none" ? serve::LogRequests::none
                                                         : serve::LogRequests::errors;
  server.requests.most_candidates = service.most_candidates;
  server.requests.most_name_bytes = service.most_name_bytes;
}

/// Every connection is an open file to the system, which usually lets a program have 1,024 of them unless it asks for
/// more. If connections could take all of them, strangers could keep the store from opening its own.
void make_room_for(std::size_t& most_connections, std::size_t partitions, JsonLog& log) {
  // The store, its snapshots, what listens; and for each partition a store and what leads to its brokers.
  constexpr rlim_t own = 64;
  constexpr rlim_t of_partition = 64;
  const rlim_t others = own + (partitions * of_partition);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  const rlim_t wanted = most_connections + others;
  if (files.rlim_cur >= wanted) return;
  files.rlim_cur = std::min(wanted, files.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur == wanted) return;
  most_connections = std::max(files.rlim_cur / 2, files.rlim_cur - std::min(files.rlim_cur, others));
  log.say(JsonLog::Level::warning,
          fmt::format("There may be {} connections at the same time, and no more: the system allows {} open files "
                      "(ulimit -n).",
                      most_connections, files.rlim_cur));
}

/// What --demo has: a world in files that are gone afterwards.
struct Demo {
  DemoWorld world = demo_world();
  DemoFolder folder{world};
};

/// The demo takes the place of the files that a user has.
std::unique_ptr<Demo> demo_of(ServeRequest& request) {
  if (!request.demo) return nullptr;
  auto demo = std::make_unique<Demo>();
  request.bandit.graph = demo->folder.graph();
  request.bandit.items = demo->folder.items();
  if (request.store.empty()) request.store = demo->folder.store();
  return demo;
}

/// That of the bandit that is to be made, or loaded.
std::size_t dimension_of(const BanditRequest& request, const data::Items* items) {
  return request.load.empty() ? dimension_with(items, request.bandit.dimension)
                              : Bandit::load(request.load).options().dimension;
}

/// The folder of the store. With --log that is a copy, and --snapshots may name it as well.
void complete_store(ServeRequest& request) {
  if (!request.snapshots.empty()) {
    if (request.shared.log.empty()) {
      throw std::invalid_argument(
          fmt::format("--snapshots: {} (must be given with --log; else they are in --store)", request.snapshots));
    }
    if (request.store.empty()) request.store = request.snapshots;
  }
  if (request.store.empty()) throw CLI::RequiredError("--store");
}

void run(ServeRequest& request) {
  const auto demo = demo_of(request);
  complete_store(request);
  check_bandit_options(request.bandit);
  check_shared_log_options(request.shared);
  complete(request);
  serve::check(request.server);  // before there is a store
  const HeldSignals signals;
  JsonLog log(STDERR_FILENO);
  const auto items = read_items(request.bandit.items);
  request.service.warn = [&log](const std::string& words) { log.say(JsonLog::Level::warning, words); };
  log.say(JsonLog::Level::info, "The store is being opened.", {{"store", request.store}, {"log", request.shared.log}});
  std::optional<serve::Service> alone;
  std::optional<SharedServing> shared;
  if (request.shared.log.empty()) {
    make_room_for(request.server.limits.most_connections, 0, log);
    Bandit bandit = make_bandit(request.bandit, items.get());
    request.server.requests.dimension = bandit.options().dimension;
    alone.emplace(std::move(bandit), items.get(), request.service);
  } else {
    request.server.requests.dimension = dimension_of(request.bandit, items.get());
    shared.emplace(request.shared, request.bandit, items.get(), request.service, request.server);
    make_room_for(request.server.limits.most_connections, shared->partition_count(), log);
    shared->start(log);
  }
  const auto own = alone ? std::make_unique<serve::Partitions>(*alone) : nullptr;
  serve::HttpServer server(own ? *own : shared->partitions(), own ? nullptr : shared->peers(), log, request.server);
  if (request.keys.empty()) {
    log.say(JsonLog::Level::warning,
            "There are no keys: whoever is on this machine may do everything, and nobody else can reach it "
            "(--keys FILE changes both).");
  }
  log.say(JsonLog::Level::info, "The server listens.", {{"address", server.address()}});
  std::optional<DemoTraffic> traffic;
  if (demo) traffic.emplace(demo->world, server.address());
  for (;;) {
    const int signal = signals.wait();
    if (signal == SIGHUP) {
      server.reload();
      continue;
    }
    log.say(JsonLog::Level::info, "The server stops: it answers what is under way, and takes a snapshot.",
            {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
    break;
  }
  traffic.reset();
  if (shared) shared->leave();
  server.stop();
}

CLI::Option* add_choice(CLI::App& command, const char* name, std::string& value, std::vector<std::string> choices,
                        const char* help) {
  return command.add_option(name, value, help)->check(CLI::IsMember(std::move(choices)))->capture_default_str();
}

CLI::Option* add_limit(CLI::App& command, const char* name, std::size_t& value, const char* help) {
  return command.add_option(name, value, help)->check(positive_whole_number())->capture_default_str()->group("Limits");
}

}  // namespace

void add_serve(CLI::App& app) {
  auto options = std::make_shared<ServeRequest>();
  auto* command = app.add_subcommand("serve", "Decide and learn over HTTP; what was acknowledged survives a crash");
  command->footer(
      "Example:\n"
      "  goblin serve --graph edges.tsv --dimension 25 --policy gob.lin --explore ucb:0.1 --store DIR\n"
      "  goblin serve --demo");
  auto& request = *options;
  add_bandit_options(*command, request.bandit);
  add_items_option(*command, request.bandit.items);
  command->add_option("--store", request.store, "Folder of the log and the snapshots; made if it is not there")
      ->type_name("FOLDER")
      ->check(name_of_a("folder"));
  auto* shared = add_shared_log_options(*command, request.shared);
  command
      ->add_option("--snapshots", request.snapshots,
                   "With --log: the same as --store, where snapshots are and the copy of the log")
      ->type_name("FOLDER")
      ->check(name_of_a("folder"));
  command->add_option("--listen", request.listen, "Address and port; other than loopback only with --keys")
      ->capture_default_str();
  auto* keys =
      command->add_option("--keys", request.keys, "Who may do what: NAME SHA256 right,right,... ; read again on SIGHUP")
          ->type_name("FILE")
          ->check(name_of_a("file"));
  auto* certificate =
      command->add_option("--certificate", request.certificate, "TLS: the certificate and those above it, as PEM")
          ->type_name("FILE")
          ->check(name_of_a("file"));
  command->add_option("--key", request.private_key, "TLS: the certificate's private key, as PEM")
      ->type_name("FILE")
      ->check(name_of_a("file"));
  command->add_option("--horizon", request.horizon, "How long a reward may take: 24h, 30min, 7d")
      ->capture_default_str();
  command
      ->add_option("--default-reward", request.default_reward,
                   "What is learned if none came before the horizon: a number, or none")
      ->capture_default_str();
  add_choice(*command, "--unknown-users", request.unknown_users, {"join", "refuse"},
             "Users nobody has heard of: join without friends, or refuse");
  add_choice(*command, "--durable-decisions", request.durable_decisions, {"yes", "no"},
             "Whether decisions are on disk before they are answered");
  add_choice(*command, "--keep-candidates", request.keep_candidates, {"yes", "no"},
             "Whether decisions are logged with all candidates, so that the log can be evaluated");
  command->add_option("--keep", request.keep, "How long log is kept, 90d (default: for ever)");
  command->add_option("--snapshot-every", request.snapshot_every, "How often a snapshot is taken")
      ->capture_default_str();
  command->add_option("--keep-snapshots", request.service.snapshots_kept, "How many snapshots are kept")
      ->check(positive_whole_number())
      ->capture_default_str();
  command->add_option("--seed", request.service.seed, "Of exploration's draws; 0: a new one at each start")
      ->check(whole_number())
      ->capture_default_str();
  command
      ->add_option("--io-threads", request.server.threads,
                   "Threads that talk to callers; 0: as many as the machine has")
      ->check(whole_number())
      ->capture_default_str();
  add_choice(*command, "--log-requests", request.log_requests, {"errors", "all", "none"},
             "Which requests get a line on standard error");
  add_limit(*command, "--most-candidates", request.service.most_candidates, "Candidates in a request");
  add_limit(*command, "--most-users", request.service.most_users, "Users");
  add_limit(*command, "--most-items", request.service.most_items, "Items");
  add_limit(*command, "--most-backlog", request.service.backlog_limit, "Rewards that wait to be learned");
  add_limit(*command, "--most-connections", request.server.limits.most_connections, "Connections at the same time");
  add_limit(*command, "--most-body-bytes", request.server.limits.most_body_bytes, "Bytes of a body");
  add_limit(*command, "--most-head-bytes", request.server.limits.most_head_bytes, "Bytes of the head of a request");
  add_limit(*command, "--most-request-bytes", request.server.limits.most_request_bytes,
            "Memory of all requests that are under way");
  auto* demo =
      command->add_flag("--demo", request.demo,
                        "Four groups of friends, films, and visitors: a server to look at. Needs no other option");
  for (auto* option : {keys, certificate, shared, command->get_option("--graph"), command->get_option("--items"),
                       command->get_option("--load"), command->get_option("--dimension")}) {
    demo->excludes(option);
  }
  command->callback([options] { run(*options); });
}

}  // namespace goblin::app
