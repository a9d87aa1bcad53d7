#include "serve/routes.hpp"

#include "serve/addresses.hpp"
#include "serve/answers.hpp"
#include "serve/embedded_file.hpp"
#include "serve/json_text.hpp"
#include "serve/log.hpp"
#include "serve/peers.hpp"
#include "serve/problems.hpp"
#include "serve/refusals.hpp"
#include "serve/replies.hpp"
#include "serve/scattered_rewards.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace goblin::serve {
namespace {

using boost::beast::http::verb;

/// Sends what the service gave. Calls that wait hold nothing but the address of the exchange, which outlives them.
template <typename Value>
void finish(Exchange& exchange, const Result<Value>& result) {
  if (const auto* problem = std::get_if<Problem>(&result)) {
    exchange.refuse(*problem);
    return;
  }
  answers::append(exchange.answer().body, std::get<Value>(result));
  exchange.send();
}

template <typename Value>
auto finisher(Exchange& exchange) {
  return [&exchange](const Result<Value>& result) { finish(exchange, result); };
}

/// The value that a reader gave, to move from; nullptr after its problem was sent.
template <typename Value>
Value* accepted(Exchange& exchange, Result<Value>& request) {
  if (const auto* problem = std::get_if<Problem>(&request)) {
    exchange.refuse(*problem);
    return nullptr;
  }
  return &std::get<Value>(request);
}

/// Whether the names in the address can be names; if not, that is said.
bool good_names(Exchange& exchange, std::initializer_list<std::string_view> fields) {
  std::size_t place = 0;
  for (const std::string_view field : fields) {
    const std::string wrong = exchange.reader().wrong_with_name(exchange.name(place));
    if (!wrong.empty()) {
      exchange.refuse(problems::invalid_parameter(fmt::format("the {} in the address {}", field, wrong)));
      return false;
    }
    ++place;
  }
  return true;
}

/// What another server said is said again.
void pass_on(Exchange& exchange, const Result<Reply>& result) {
  if (const auto* problem = std::get_if<Problem>(&result)) {
    exchange.refuse(*problem);
    return;
  }
  const Reply& reply = std::get<Reply>(result);
  Answer& answer = exchange.answer();
  constexpr int first_error = 400;
  answer.status = reply.status;
  if (reply.status >= first_error) answer.type = "application/problem+json";
  if (reply.retry_after > 0) append(answer.headers, "Retry-After: {}\r\n", reply.retry_after);
  answer.body += reply.body;
  exchange.send();
}

/// Sends the caller to the server that has a partition.
void redirect(Exchange& exchange, std::size_t partition, const std::string& url) {
  Answer& answer = exchange.answer();
  answer.status = 307;
  answer.headers += fmt::format("Location: {}{}\r\n", url, exchange.head().target);
  append(answer.body, R"({{"partition":{},"server":)", partition);
  append_string(answer.body, url);
  answer.body += '}';
  exchange.send();
}

/// Has `work` done by the service of the partition if it is here, or passes the request on to the server that has it.
template <typename Work>
void at_partition(Exchange& exchange, std::size_t partition, Work work) {
  const Site& site = exchange.site();
  if (auto service = site.partitions.at(partition)) {
    Service& here = *service;
    exchange.keep(std::move(service));
    work(here);
    return;
  }
  if (site.peers != nullptr && site.peers->redirects() && exchange.head().partition.empty()) {
    if (const auto url = site.peers->other_owner(partition)) return redirect(exchange, partition, *url);
  }
  exchange.ask(partition, exchange.head().method_name, exchange.head().target, std::string(exchange.body()),
               [&exchange](const Result<Reply>& reply) { pass_on(exchange, reply); });
}

/// The same where a user is.
template <typename Work>
void at_user(Exchange& exchange, std::string_view user, Work work) {
  at_partition(exchange, exchange.site().partitions.of(user), std::move(work));
}

/// Some partition that is here, for what is the same in all of them; if none is, one that is elsewhere.
std::size_t any_partition(const Exchange& exchange) {
  const auto here = exchange.site().partitions.here();
  return here.empty() ? 0 : here.begin()->first;
}

void handle_select(Exchange& exchange) {
  auto request = exchange.reader().select(exchange.body());
  auto* value = accepted(exchange, request);
  if (value == nullptr) return;
  at_user(exchange, value->user, [&](Service& service) {
    service.select(std::move(*value), exchange.mailbox(), finisher<Decided>(exchange));
  });
}

void handle_rank(Exchange& exchange) {
  auto request = exchange.reader().rank(exchange.body());
  auto* value = accepted(exchange, request);
  if (value == nullptr) return;
  at_user(exchange, value->user, [&](Service& service) {
    service.rank(std::move(*value), exchange.mailbox(), finisher<RankedPlaces>(exchange));
  });
}

void handle_reward(Exchange& exchange) {
  auto request = exchange.reader().reward(exchange.body());
  auto* value = accepted(exchange, request);
  if (value == nullptr) return;
  Partitions& partitions = exchange.site().partitions;
  if (partitions.count() == 1) {
    at_partition(exchange, 0, [&](Service& service) {
      service.reward(std::move(*value), exchange.mailbox(), finisher<Accepted>(exchange));
    });
    return;
  }
  std::vector<RewardRequest> one;
  one.push_back(std::move(*value));
  scatter_rewards(exchange, std::move(one),
                  [&exchange](std::vector<Result<Accepted>> results) { finish(exchange, results.front()); });
}

/// The results of those that could be read come later, and are put between those that could not.
void handle_rewards(Exchange& exchange) {
  auto request = exchange.reader().rewards(exchange.body());
  auto* value = accepted(exchange, request);
  if (value == nullptr) return;
  std::vector<RewardRequest> good;
  auto results = std::make_shared<std::vector<Result<Accepted>>>();
  std::vector<std::size_t> places;
  for (auto& one : *value) {
    if (auto* reward = std::get_if<RewardRequest>(&one)) {
      places.push_back(results->size());
      good.push_back(std::move(*reward));
      results->emplace_back();
    } else {
      results->emplace_back(std::move(std::get<Problem>(one)));
    }
  }
  auto done = [&exchange, results, places = std::move(places)](std::vector<Result<Accepted>> later) {
    for (std::size_t index = 0; index < places.size(); ++index) (*results)[places[index]] = std::move(later[index]);
    // Several logs have no offset up to which all is learned.
    const Partitions& partitions = exchange.site().partitions;
    const auto only = partitions.count() == 1 ? partitions.at(0) : nullptr;
    answers::append(exchange.answer().body, *results, only ? only->learned() : 0);
    exchange.send();
  };
  if (good.empty()) {
    done({});
  } else if (exchange.site().partitions.count() > 1) {
    scatter_rewards(exchange, std::move(good), std::move(done));
  } else {
    at_partition(exchange, 0,
                 [&](Service& service) { service.rewards(std::move(good), exchange.mailbox(), std::move(done)); });
  }
}

/// Whether all are in the partition of the first one; if not, that is said.
bool are_together(Exchange& exchange, std::string_view field, const std::string& user, const std::string& other) {
  const Partitions& partitions = exchange.site().partitions;
  if (partitions.of(user) == partitions.of(other)) return true;
  exchange.refuse(refusals::other_partition(fmt::format(
      "{}: \"{}\" is in partition {} and \"{}\" in partition {} (must be in one: nothing is learned across)", field,
      user, partitions.of(user), other, partitions.of(other))));
  return false;
}

void handle_put_user(Exchange& exchange) {
  if (!good_names(exchange, {"user"})) return;
  auto request = exchange.reader().user(exchange.name(0), exchange.body());
  auto* value = accepted(exchange, request);
  if (value == nullptr) return;
  if (exchange.site().partitions.count() > 1 && value->cluster) {
    exchange.refuse(refusals::other_partition(fmt::format(
        "cluster: {} (must be none where a log has several partitions: who is new has a cluster of their own)",
        *value->cluster)));
    return;
  }
  for (const auto& [other, weight] : value->friends) {
    if (!are_together(exchange, "friends", value->user, other)) return;
  }
  at_user(exchange, value->user, [&](Service& service) {
    service.put_user(std::move(*value), exchange.mailbox(), finisher<Accepted>(exchange));
  });
}

void handle_get_user(Exchange& exchange) {
  if (!good_names(exchange, {"user"})) return;
  at_user(exchange, exchange.name(0), [&](Service& service) {
    exchange.in_background(exchange.site().quick_workers, [&service, name = exchange.name(0)]() -> Result<std::string> {
      const auto user = service.user(name);
      if (const auto* problem = std::get_if<Problem>(&user)) return *problem;
      std::string body;
      answers::append(body, std::get<UserView>(user));
      return body;
    });
  });
}

void handle_put_edge(Exchange& exchange) {
  if (!good_names(exchange, {"first user", "second user"})) return;
  auto request = exchange.reader().edge(exchange.body());
  auto* weight = accepted(exchange, request);
  if (weight == nullptr || !are_together(exchange, "edge", exchange.name(0), exchange.name(1))) return;
  at_user(exchange, exchange.name(0), [&](Service& service) {
    service.put_edge(exchange.name(0), exchange.name(1), *weight, exchange.mailbox(), finisher<Accepted>(exchange));
  });
}

void handle_delete_edge(Exchange& exchange) {
  if (!good_names(exchange, {"first user", "second user"})) return;
  if (!are_together(exchange, "edge", exchange.name(0), exchange.name(1))) return;
  at_user(exchange, exchange.name(0), [&](Service& service) {
    service.delete_edge(exchange.name(0), exchange.name(1), exchange.mailbox(), finisher<Accepted>(exchange));
  });
}

/// A change of the catalogue, which every partition has: it is done when all have it. Who does not hear so does it
/// again, which changes nothing where it was done already.
class EverywhereChange : public std::enable_shared_from_this<EverywhereChange> {
 public:
  using Done = std::function<void(const Result<Accepted>&)>;
  using Here = std::function<void(Service&, Done)>;

  EverywhereChange(Exchange& exchange, Here here) : exchange_(exchange), here_(std::move(here)) {}

  void start() {
    const auto asked_for = exchange_.asked_for();
    std::vector<std::size_t> partitions;
    for (std::size_t partition = 0; partition < exchange_.site().partitions.count(); ++partition) {
      if (!asked_for || partition == *asked_for) partitions.push_back(partition);
    }
    open_ = partitions.size();
    for (const std::size_t partition : partitions) send(partition);
  }

 private:
  void send(std::size_t partition) {
    auto done = [self = shared_from_this()](const Result<Accepted>& result) { self->take(result); };
    if (auto service = exchange_.site().partitions.at(partition)) {
      Service& here = *service;
      exchange_.keep(std::move(service));
      here_(here, std::move(done));
      return;
    }
    exchange_.ask(partition, exchange_.head().method_name, exchange_.head().target, std::string(exchange_.body()),
                  [self = shared_from_this()](const Result<Reply>& reply) { self->take(accepted_of(reply)); });
  }

  void take(const Result<Accepted>& result) {
    if (const auto* problem = std::get_if<Problem>(&result)) {
      // One that was done in part before finds nothing to do in some partitions.
      auto& place = problem->type == "unknown-item" ? missing_ : problem_;
      if (!place) place = *problem;
    } else {
      accepted_ = std::get<Accepted>(result);
    }
    if (--open_ > 0) return;
    if (problem_) return exchange_.refuse(*problem_);
    if (!accepted_) return exchange_.refuse(*missing_);
    finish(exchange_, Result<Accepted>(*accepted_));
  }

  Exchange& exchange_;
  Here here_;
  std::size_t open_ = 0;
  std::optional<Accepted> accepted_;
  std::optional<Problem> problem_;
  std::optional<Problem> missing_;
};

void handle_put_item(Exchange& exchange) {
  if (!good_names(exchange, {"item"})) return;
  auto request = exchange.reader().item(exchange.name(0), exchange.body());
  auto* value = accepted(exchange, request);
  if (value == nullptr) return;
  std::make_shared<EverywhereChange>(exchange, [&exchange, item = std::move(*value)](Service& service, auto done) {
    service.put_item(item, exchange.mailbox(), std::move(done));
  })->start();
}

void handle_get_item(Exchange& exchange) {
  if (!good_names(exchange, {"item"})) return;
  at_partition(exchange, any_partition(exchange),
               [&](Service& service) { finish(exchange, service.item(exchange.name(0))); });
}

void handle_delete_item(Exchange& exchange) {
  if (!good_names(exchange, {"item"})) return;
  std::make_shared<EverywhereChange>(exchange, [&exchange](Service& service, auto done) {
    service.delete_item(exchange.name(0), exchange.mailbox(), std::move(done));
  })->start();
}

void handle_explain(Exchange& exchange) {
  auto request = exchange.reader().explain(exchange.body());
  auto* value = accepted(exchange, request);
  if (value == nullptr) return;
  at_user(exchange, value->user, [&](Service& service) {
    exchange.in_background(exchange.site().slow_workers,
                           [&service, asked = std::move(*value)]() -> Result<std::string> {
                             const auto explanation = service.explain(asked.user, asked.context, asked.item, asked.k);
                             if (const auto* problem = std::get_if<Problem>(&explanation)) return *problem;
                             std::string body;
                             answers::append(body, std::get<Explanation>(explanation), service);
                             return body;
                           });
  });
}

double uptime(const Site& site) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - site.start).count();
}

/// Which partitions there are, who has them, and how far those that are here have come.
void append_partitions(std::string& body, const Site& site) {
  if (site.partitions.count() == 1 && site.peers == nullptr) return;
  body += R"(,"partitions":[)";
  for (std::size_t partition = 0; partition < site.partitions.count(); ++partition) {
    const auto service = site.partitions.at(partition);
    append(body, R"({}{{"partition":{},"here":{})", partition == 0 ? "" : ",", partition, service != nullptr);
    if (const auto url = site.peers == nullptr ? std::nullopt : site.peers->owner(partition)) {
      body += R"(,"server":)";
      append_string(body, *url);
    }
    if (service != nullptr) {
      const Status status = service->status();
      append(body, R"(,"users":{},"rewards":{},"end":{},"durable":{},"learned":{},"backlog":{},"ready":{})",
             status.users, status.rewards, status.end, status.durable, status.learned, status.backlog, status.ready);
    }
    body += '}';
  }
  body += ']';
}

void append_partition_metrics(std::string& body, const Partitions& partitions) {
  if (partitions.count() == 1) return;
  const auto here = partitions.here();
  append(body,
         "# HELP goblin_partitions_here Partitions of the log that this server answers for.\n"
         "# TYPE goblin_partitions_here gauge\ngoblin_partitions_here {}\n",
         here.size());
  body +=
      "# HELP goblin_partition_learned_offset Up to where the log of a partition has been learned.\n"
      "# TYPE goblin_partition_learned_offset gauge\n";
  for (const auto& [partition, service] : here) {
    append(body, "goblin_partition_learned_offset{{partition=\"{}\"}} {}\n", partition, service->learned());
  }
}

void handle_status(Exchange& exchange) {
  const Site& site = exchange.site();
  exchange.in_background(site.quick_workers, [&site]() -> Result<std::string> {
    std::string body = fmt::format(R"({{"version":"{}","started":"{}","uptime_seconds":{:.3f},)", site.version,
                                   site.started, uptime(site));
    answers::append_members(body, status_of(site.partitions));
    append_partitions(body, site);
    body += ',';
    site.metrics.append_requests(body);
    body += '}';
    return body;
  });
}

void handle_metrics(Exchange& exchange) {
  const Site& site = exchange.site();
  exchange.answer().type = "text/plain; version=0.0.4; charset=utf-8";
  exchange.in_background(site.quick_workers, [&site]() -> Result<std::string> {
    std::string body;
    site.metrics.append_prometheus(body, status_of(site.partitions), uptime(site));
    append_partition_metrics(body, site.partitions);
    return body;
  });
}

void handle_newest(Exchange& exchange) {
  constexpr std::size_t usual = 20;
  constexpr std::size_t most = 1000;
  const std::size_t count = Query(exchange.query(), {"count"}).number("count", usual, 1, most);
  exchange.in_background(
      exchange.site().quick_workers, [&partitions = exchange.site().partitions, count]() -> Result<std::string> {
        std::vector<Record> records;
        for (const auto& [partition, service] : partitions.here()) {
          auto some = service->newest(count);
          records.insert(records.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
        }
        if (partitions.count() > 1) {
          std::stable_sort(records.begin(), records.end(),
                           [](const Record& a, const Record& b) { return a.time > b.time; });
          records.resize(std::min(records.size(), count));
        }
        std::string body;
        answers::append(body, records);
        return body;
      });
}

/// A partition's log is read where it is: callers who ask elsewhere are sent there.
void handle_log(Exchange& exchange) {
  constexpr std::size_t page_bytes = std::size_t{1} << 17U;
  Partitions& partitions = exchange.site().partitions;
  const Query query(exchange.query(), {"from", "partition"});
  Offset from = query.number("from", 1, 0, std::numeric_limits<std::int64_t>::max());
  const std::size_t partition = query.number("partition", 0, 0, partitions.count() - 1);
  if (partitions.at(partition) == nullptr) {
    const auto url = exchange.site().peers == nullptr ? std::nullopt : exchange.site().peers->other_owner(partition);
    if (url) return redirect(exchange, partition, *url);
    exchange.refuse(refusals::partition_away(fmt::format("partition {}: nobody is known to have it", partition)));
    return;
  }
  exchange.answer().type = "application/jsonl";
  // Kept for a page at a time: who reads slowly keeps no partition from leaving, and sees then that the end is missing.
  exchange.stream([&partitions, partition, from](std::string& page) mutable {
    const auto service = partitions.at(partition);
    if (service == nullptr) throw LogError(fmt::format("partition {}: left while its log was being read", partition));
    auto next = service->log(from, page_bytes);
    page += next.lines;
    const bool more = !next.end && next.next > from;
    from = next.next;
    return more;
  });
}

void handle_alive(Exchange& exchange) {
  exchange.answer().body += R"({"alive":true})";
  exchange.send();
}

void handle_ready(Exchange& exchange) {
  exchange.in_background(
      exchange.site().quick_workers, [&partitions = exchange.site().partitions]() -> Result<std::string> {
        const Status status = status_of(partitions);
        // Not every trouble keeps it from its work: without a new snapshot, say, the next start takes longer, and no
        // more.
        if (!status.public_trouble.empty()) return problems::not_ready(status.public_trouble);
        if (!status.ready) {
          return problems::not_ready(
              fmt::format("it is catching up with its log: record {} of {}", status.learned, status.durable));
        }
        return R"({"ready":true})";
      });
}

std::string_view type_of(std::string_view path) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> types = {
      {{".html", "text/html; charset=utf-8"},
       {".css", "text/css; charset=utf-8"},
       {".js", "text/javascript; charset=utf-8"},
       {".json", "application/json"},
       {".svg", "image/svg+xml"},
       {".png", "image/png"},
       {".ico", "image/x-icon"},
       {".woff2", "font/woff2"},
       {".txt", "text/plain; charset=utf-8"}}};
  for (const auto& [end, type] : types) {
    if (path.ends_with(end)) return type;
  }
  return "application/octet-stream";
}

/// A caller who has it already, by its tag, does not get it again.
void send_file(Exchange& exchange, std::string_view type, std::string_view bytes, std::string_view sha256) {
  constexpr std::size_t digits = 32;
  const std::string tag = fmt::format("\"{}\"", sha256.substr(0, digits));
  Answer& answer = exchange.answer();
  answer.headers += fmt::format(
      "ETag: {}\r\nContent-Security-Policy: default-src 'self'; base-uri 'none'; frame-ancestors 'none'\r\n"
      "Referrer-Policy: no-referrer\r\n",
      tag);
  if (exchange.head().none_match.find(tag) != std::string::npos) {
    answer.status = 304;
  } else {
    answer.type = type;
    answer.body += bytes;
  }
  exchange.send();
}

void send_embedded(Exchange& exchange, std::string_view path) {
  const EmbeddedFile* file = embedded_file(path);
  if (file == nullptr) {
    exchange.refuse(problems::unknown_path("there is no such file"));
  } else {
    send_file(exchange, type_of(path), file->bytes, file->sha256);
  }
}

void handle_openapi(Exchange& exchange) {
  const std::string& document = exchange.site().openapi;
  send_file(exchange, "application/json", document, hexadecimal(Sha256Hasher()(document)));
}

void handle_dashboard(Exchange& exchange) { send_embedded(exchange, "dashboard/index.html"); }

void handle_asset(Exchange& exchange) { send_embedded(exchange, fmt::format("dashboard/{}", exchange.name(0))); }

// What is called most often stands first.
constexpr std::array<Route, 21> all_routes = {{
    {verb::post, "/v1/select", Right::decide, "select", BodyRule::required, handle_select},
    {verb::post, "/v1/reward", Right::learn, "reward", BodyRule::required, handle_reward},
    {verb::post, "/v1/rank", Right::decide, "rank", BodyRule::required, handle_rank},
    {verb::post, "/v1/rewards", Right::learn, "rewards", BodyRule::required, handle_rewards},
    {verb::put, "/v1/users/{user}", Right::edit, "put_user", BodyRule::optional, handle_put_user},
    {verb::get, "/v1/users/{user}", Right::read, "get_user", BodyRule::none, handle_get_user},
    {verb::put, "/v1/edges/{user}/{other}", Right::edit, "put_edge", BodyRule::optional, handle_put_edge},
    {verb::delete_, "/v1/edges/{user}/{other}", Right::edit, "delete_edge", BodyRule::none, handle_delete_edge},
    {verb::put, "/v1/items/{item}", Right::edit, "put_item", BodyRule::required, handle_put_item},
    {verb::get, "/v1/items/{item}", Right::read, "get_item", BodyRule::none, handle_get_item},
    {verb::delete_, "/v1/items/{item}", Right::edit, "delete_item", BodyRule::none, handle_delete_item},
    {verb::post, "/v1/explain", Right::read, "explain", BodyRule::required, handle_explain},
    {verb::get, "/v1/status", Right::read, "status", BodyRule::none, handle_status},
    {verb::get, "/v1/newest", Right::read, "newest", BodyRule::none, handle_newest, "count"},
    {verb::get, "/v1/log", Right::read, "log", BodyRule::none, handle_log, "from,partition"},
    {verb::get, "/metrics", Right::read, "metrics", BodyRule::none, handle_metrics},
    {verb::get, "/livez", Right::none, "livez", BodyRule::none, handle_alive},
    {verb::get, "/readyz", Right::none, "readyz", BodyRule::none, handle_ready},
    {verb::get, "/openapi.json", Right::none, "openapi", BodyRule::none, handle_openapi},
    {verb::get, "/", Right::none, "dashboard", BodyRule::none, handle_dashboard},
    {verb::get, "/dashboard/{file}", Right::none, "asset", BodyRule::none, handle_asset},
}};

/// Whether the path is of that form. The names are left as they stand.
bool is_of_form(std::string_view path, std::string_view form, std::array<std::string_view, 2>& names) {
  if (form.find('{') == std::string_view::npos) return path == form;
  if (path.empty() || path[0] != '/') return false;
  std::optional<std::string_view> path_left = path.substr(1);
  std::optional<std::string_view> form_left = form.substr(1);
  std::size_t place = 0;
  while (path_left && form_left) {
    const auto part = next_segment(path_left);
    const auto expected = next_segment(form_left);
    if (expected->starts_with('{')) {
      if (part->empty()) return false;
      names[place++] = *part;
    } else if (*part != *expected) {
      return false;
    }
  }
  return !path_left && !form_left;
}

/// HEAD is GET without the body.
bool has_method(const Route& route, verb method) {
  return route.method == method || (route.method == verb::get && method == verb::head);
}

}  // namespace

std::span<const Route> routes() { return all_routes; }

Match find_route(verb method, std::string_view path, std::array<std::string, 2>& names) {
  Match match;
  std::array<std::string_view, 2> parts;
  for (const Route& route : all_routes) {
    parts = {};
    if (!is_of_form(path, route.path, parts)) continue;
    match.known_path = true;
    if (!has_method(route, method)) continue;
    for (std::size_t place = 0; place < parts.size(); ++place) {
      auto decoded = percent_decoded(parts[place]);
      if (!decoded) {
        throw AddressError("a percent sign in the address is not followed by two hexadecimal digits");
      }
      names[place] = std::move(*decoded);
    }
    match.route = &route;
    return match;
  }
  return match;
}

std::string allowed_methods(std::string_view path) {
  std::string methods;
  std::array<std::string_view, 2> parts;
  for (const Route& route : all_routes) {
    if (!is_of_form(path, route.path, parts)) continue;
    const auto name = boost::beast::http::to_string(route.method);
    methods += fmt::format("{}{}{}", methods.empty() ? "" : ", ", std::string_view(name.data(), name.size()),
                           route.method == verb::get ? ", HEAD" : "");
  }
  return methods;
}

}  // namespace goblin::serve
