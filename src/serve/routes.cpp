#include "serve/routes.hpp"

#include "serve/addresses.hpp"
#include "serve/answers.hpp"
#include "serve/embedded_file.hpp"
#include "serve/json_text.hpp"
#include "serve/problems.hpp"

#include <algorithm>
#include <limits>
#include <memory>
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

void handle_select(Exchange& exchange) {
  auto request = exchange.reader().select(exchange.body());
  auto* value = accepted(exchange, request);
  if (value == nullptr) return;
  exchange.site().service.select(std::move(*value), exchange.mailbox(), finisher<Decided>(exchange));
}

void handle_rank(Exchange& exchange) {
  auto request = exchange.reader().rank(exchange.body());
  auto* value = accepted(exchange, request);
  if (value == nullptr) return;
  exchange.site().service.rank(std::move(*value), exchange.mailbox(), finisher<RankedPlaces>(exchange));
}

void handle_reward(Exchange& exchange) {
  auto request = exchange.reader().reward(exchange.body());
  auto* value = accepted(exchange, request);
  if (value == nullptr) return;
  exchange.site().service.reward(std::move(*value), exchange.mailbox(), finisher<Accepted>(exchange));
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
    answers::append(exchange.answer().body, *results, exchange.site().service.learned());
    exchange.send();
  };
  if (good.empty()) {
    done({});
    return;
  }
  exchange.site().service.rewards(std::move(good), exchange.mailbox(), std::move(done));
}

void handle_put_user(Exchange& exchange) {
  if (!good_names(exchange, {"user"})) return;
  auto request = exchange.reader().user(exchange.name(0), exchange.body());
  auto* value = accepted(exchange, request);
  if (value == nullptr) return;
  exchange.site().service.put_user(std::move(*value), exchange.mailbox(), finisher<Accepted>(exchange));
}

void handle_get_user(Exchange& exchange) {
  if (!good_names(exchange, {"user"})) return;
  exchange.in_background(exchange.site().quick_workers,
                         [&service = exchange.site().service, name = exchange.name(0)]() -> Result<std::string> {
                           const auto user = service.user(name);
                           if (const auto* problem = std::get_if<Problem>(&user)) return *problem;
                           std::string body;
                           answers::append(body, std::get<UserView>(user));
                           return body;
                         });
}

void handle_put_edge(Exchange& exchange) {
  if (!good_names(exchange, {"first user", "second user"})) return;
  auto request = exchange.reader().edge(exchange.body());
  auto* weight = accepted(exchange, request);
  if (weight == nullptr) return;
  exchange.site().service.put_edge(exchange.name(0), exchange.name(1), *weight, exchange.mailbox(),
                                   finisher<Accepted>(exchange));
}

void handle_delete_edge(Exchange& exchange) {
  if (!good_names(exchange, {"first user", "second user"})) return;
  exchange.site().service.delete_edge(exchange.name(0), exchange.name(1), exchange.mailbox(),
                                      finisher<Accepted>(exchange));
}

void handle_put_item(Exchange& exchange) {
  if (!good_names(exchange, {"item"})) return;
  auto request = exchange.reader().item(exchange.name(0), exchange.body());
  auto* value = accepted(exchange, request);
  if (value == nullptr) return;
  exchange.site().service.put_item(std::move(*value), exchange.mailbox(), finisher<Accepted>(exchange));
}

void handle_get_item(Exchange& exchange) {
  if (!good_names(exchange, {"item"})) return;
  finish(exchange, exchange.site().service.item(exchange.name(0)));
}

void handle_delete_item(Exchange& exchange) {
  if (!good_names(exchange, {"item"})) return;
  exchange.site().service.delete_item(exchange.name(0), exchange.mailbox(), finisher<Accepted>(exchange));
}

void handle_explain(Exchange& exchange) {
  auto request = exchange.reader().explain(exchange.body());
  auto* value = accepted(exchange, request);
  if (value == nullptr) return;
  exchange.in_background(exchange.site().slow_workers,
                         [&service = exchange.site().service, asked = std::move(*value)]() -> Result<std::string> {
                           const auto explanation = service.explain(asked.user, asked.context, asked.item, asked.k);
                           if (const auto* problem = std::get_if<Problem>(&explanation)) return *problem;
                           std::string body;
                           answers::append(body, std::get<Explanation>(explanation), service);
                           return body;
                         });
}

double uptime(const Site& site) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - site.start).count();
}

void handle_status(Exchange& exchange) {
  const Site& site = exchange.site();
  exchange.in_background(site.quick_workers, [&site]() -> Result<std::string> {
    std::string body = fmt::format(R"({{"version":"{}","started":"{}","uptime_seconds":{:.3f},)", site.version,
                                   site.started, uptime(site));
    answers::append_members(body, site.service.status());
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
    site.metrics.append_prometheus(body, site.service.status(), uptime(site));
    return body;
  });
}

void handle_newest(Exchange& exchange) {
  constexpr std::size_t usual = 20;
  constexpr std::size_t most = 1000;
  const std::size_t count = number_in_query(exchange.query(), "count", usual, 1, most);
  exchange.in_background(exchange.site().quick_workers,
                         [&service = exchange.site().service, count]() -> Result<std::string> {
                           std::string body;
                           answers::append(body, service.newest(count));
                           return body;
                         });
}

void handle_log(Exchange& exchange) {
  constexpr std::size_t page_bytes = std::size_t{1} << 17U;
  Offset from = number_in_query(exchange.query(), "from", 1, 0, std::numeric_limits<std::int64_t>::max());
  exchange.answer().type = "application/jsonl";
  exchange.stream([&service = exchange.site().service, from](std::string& page) mutable {
    auto next = service.log(from, page_bytes);
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
  exchange.in_background(exchange.site().quick_workers, [&service = exchange.site().service]() -> Result<std::string> {
    const Status status = service.status();
    // Not every trouble keeps it from its work: without a new snapshot, say, the next start takes longer, and no more.
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
    {verb::get, "/v1/log", Right::read, "log", BodyRule::none, handle_log, "from"},
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
