#include "serve/connection.hpp"

#include "goblin/graph/names.hpp"
#include "serve/addresses.hpp"
#include "serve/answers.hpp"
#include "serve/json_text.hpp"
#include "serve/problems.hpp"
#include "serve/refusals.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <utility>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>

namespace goblin::serve {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t read_bytes = std::size_t{1} << 14U;
constexpr std::size_t read_bytes_of_long_bodies = std::size_t{1} << 16U;
/// What a request takes beside its body: numbers, names, the text for the log.
constexpr std::size_t bytes_per_body_byte = 8;
/// What a line of the log shows of an address: more than any good one has.
constexpr std::size_t most_logged_bytes = std::size_t{1} << 10U;
constexpr auto linger_time = std::chrono::seconds(2);
constexpr std::size_t most_lingering_bytes = std::size_t{1} << 26U;

void shrink(std::string& text) {
  text.clear();
  if (text.capacity() > kept_bytes) text = std::string();
}

bool is_good_id(std::string_view id) {
  constexpr std::size_t longest = 64;
  return !id.empty() && id.size() <= longest && std::all_of(id.begin(), id.end(), [](char one) {
    return std::isalnum(static_cast<unsigned char>(one)) != 0 || one == '-' || one == '_' || one == '.';
  });
}

/// Whether a Host field names this machine as itself: what a page of somebody else cannot do, whatever its name
/// resolves to.
bool is_loopback_host(std::string_view host) {
  if (host.starts_with('[')) return host.starts_with("[::1]");
  const std::string_view name = host.substr(0, host.find(':'));
  return boost::beast::iequals(boost::beast::string_view(name.data(), name.size()), "localhost") ||
         (name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string_view::npos);
}

bool is_json(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ') || type.ends_with('\t')) type.remove_suffix(1);
  return boost::beast::iequals(boost::beast::string_view(type.data(), type.size()), "application/json");
}

/// What is asked for, whoever is asked: a target without "http://host".
std::string_view without_host(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const std::size_t slash = target.find('/', scheme.size());
    return slash == std::string_view::npos ? std::string_view() : target.substr(slash);
  }
  return target;
}

}  // namespace

void Answer::clear() {
  status = 200;
  type = "application/json";
  headers.clear();
  shrink(body);
}

struct Connection::Stream {
  std::function<bool(std::string&)> next;
  std::string page;
  bool more = true;
  bool failed = false;
  bool begun = false;  // the head has been written
  bool stuck = false;  // no worker had time; the next tick tries again
};

Connection::Connection(IoThread& thread) : thread_(thread) { thread_.metrics().connections_opened.add(); }

Connection::~Connection() {
  thread_.give_bytes(charged_);
  thread_.forget(*this);
}

void Connection::begin() {
  set_deadline(thread_.options().limits.idle_time);
  advance();
}

void Connection::close() {
  if (state_ == State::closed) return;
  const auto self = shared_from_this();
  state_ = State::closed;
  thread_.metrics().connections_closed.add();
  close_socket();
  if (stream_ && stream_->stuck) self_.reset();  // nobody will call back
}

void Connection::close_soon() {
  if (state_ == State::waiting && !begun_ && buffer_.size() == 0) close();
}

void Connection::look_at_clock() {
  if (state_ == State::handling && stream_ && stream_->stuck) {
    stream_->stuck = false;
    next_page();
    return;
  }
  if (thread_.now() < deadline_) return;
  const auto self = shared_from_this();
  const ServerLimits& limits = thread_.options().limits;
  switch (state_) {
    case State::waiting:
      if (!begun_) {
        close();
        break;
      }
      thread_.metrics().timeouts.add();
      fail(problems::too_slow(fmt::format("the head of the request took longer than {} ms", limits.head_time.count())));
      break;
    case State::body:
      thread_.metrics().timeouts.add();
      fail(problems::too_slow(fmt::format("the body took longer than {} ms", limits.body_time.count())));
      break;
    case State::writing:
    case State::continuing:
      thread_.metrics().timeouts.add();
      close();
      break;
    case State::lingering:
      close();
      break;
    case State::handling:
    case State::closed:
      break;
  }
}

void Connection::was_read(bool good, std::size_t bytes) {
  reading_ = false;
  if (state_ == State::closed) return;
  if (!good) {
    // While an answer is on its way, this is only the end of what the caller sends.
    if (state_ != State::handling && state_ != State::writing) close();
    return;
  }
  thread_.metrics().bytes_read.add(bytes);
  if (state_ == State::lingering) {
    lingered_ += bytes;
    if (lingered_ > most_lingering_bytes) {
      close();
    } else {
      ask_for_more();
    }
    return;
  }
  buffer_.commit(bytes);
  advance();
}

bool Connection::ask_for_more() {
  if (reading_) return false;
  reading_ = true;
  read(buffer_.prepare(body_.size() > read_bytes ? read_bytes_of_long_bodies : read_bytes));
  return false;
}

void Connection::advance() {
  if (advancing_) return;
  const auto self = shared_from_this();
  advancing_ = true;
  for (bool more = true; more;) {
    if (state_ == State::waiting) {
      more = read_head();
    } else if (state_ == State::body) {
      more = read_body();
    } else {
      more = false;
    }
  }
  advancing_ = false;
}

bool Connection::read_head() {
  const auto data = buffer_.cdata();
  std::string_view text(static_cast<const char*>(data.data()), data.size());
  while (text.starts_with("\r\n")) {  // some clients send one behind a body
    buffer_.consume(2);
    text.remove_prefix(2);
  }
  if (text.empty()) {
    set_deadline(thread_.options().limits.idle_time);
    return ask_for_more();
  }
  const ServerLimits& limits = thread_.options().limits;
  constexpr std::string_view end_of_head = "\r\n\r\n";
  const std::size_t end = text.find(end_of_head, scanned_);
  const std::size_t size = end == std::string_view::npos ? text.size() : end + end_of_head.size();
  if (size > limits.most_head_bytes) {
    fail(problems::head_too_large(fmt::format("the head has more than {} bytes", limits.most_head_bytes)));
    return false;
  }
  if (end == std::string_view::npos) {
    if (!begun_) {
      begun_ = true;
      set_deadline(limits.head_time);
      if (std::isupper(static_cast<unsigned char>(text[0])) == 0) {
        fail(problems::malformed_request("a request begins with a method in capital letters"));
        return false;
      }
    }
    scanned_ = text.size() < end_of_head.size() ? 0 : text.size() - end_of_head.size() + 1;
    return ask_for_more();
  }
  begun_ = true;
  scanned_ = 0;
  head_.clear();
  body_.clear();
  parser_.emplace(head_, body_);
  parser_->header_limit(static_cast<std::uint32_t>(limits.most_head_bytes + 1));
  parser_->body_limit(limits.most_body_bytes);
  parser_->eager(true);
  boost::beast::error_code error;
  parser_->put(boost::asio::const_buffer(text.data(), size), error);
  if (error == http::error::need_more) error = {};  // of the body
  head_is_there();
  buffer_.consume(size);
  if (error == http::error::body_limit) {
    fail(problems::body_too_large(fmt::format("the body has more than {} bytes", limits.most_body_bytes)));
    return false;
  }
  if (error) {
    fail(problems::malformed_request(error.message()));
    return false;
  }
  if (head_.has_strange_coding) {
    fail(problems::malformed_request("Transfer-Encoding is not 'chunked', once, in HTTP/1.1 (no other one is known)"));
    return false;
  }
  keeps_alive_ = parser_->keep_alive();
  refusal_ = problem_with_head();
  if (refusal_) parser_->discard_body();
  if (parser_->is_done()) {
    handle();
    return true;
  }
  state_ = State::body;
  set_deadline(limits.body_time);
  if (head_.expects_continue && buffer_.size() == 0) {
    if (refusal_) {  // the body need not be sent at all, but may be on its way
      closes_ = true;
      lost_ = true;
      handle();
      return false;
    }
    state_ = State::continuing;
    write("HTTP/1.1 100 Continue\r\n\r\n", {});
    return true;
  }
  return true;
}

bool Connection::read_body() {
  if (buffer_.size() == 0) return ask_for_more();
  const ServerLimits& limits = thread_.options().limits;
  boost::beast::error_code error;
  buffer_.consume(parser_->put(buffer_.cdata(), error));
  if (error == http::error::body_limit) {
    fail(problems::body_too_large(fmt::format("the body has more than {} bytes", limits.most_body_bytes)));
    return false;
  }
  if (error && error != http::error::need_more) {
    fail(problems::malformed_request(error.message()));
    return false;
  }
  charge_body();
  if (parser_->is_done()) {
    body_.reserve(body_.size() + body_padding);
    handle();
    return true;
  }
  if (error == http::error::need_more && buffer_.size() > limits.most_head_bytes) {  // a chunk with a long description
    fail(problems::head_too_large(fmt::format("the head of a chunk has more than {} bytes", limits.most_head_bytes)));
    return false;
  }
  return ask_for_more();
}

void Connection::charge_body() {
  const std::size_t wanted = bytes_per_body_byte * body_.size();
  if (wanted <= charged_) return;
  if (thread_.take_bytes(wanted - charged_)) {
    charged_ = wanted;
    return;
  }
  refusal_ = problems::busy(fmt::format("the requests that are under way take {} bytes (the most there may be)",
                                        thread_.options().limits.most_request_bytes));
  parser_->discard_body();
  shrink(body_);
}

void Connection::head_is_there() {
  request_id_.clear();
  route_ = nullptr;
  if (const auto rest = without_host(head_.target); rest.size() < head_.target.size()) {
    head_.target = rest.empty() ? "/" : std::string(rest);
  }
  const std::string_view target = head_.target;
  const std::size_t mark = target.find('?');
  path_ = target.substr(0, mark);
  query_ = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  if (is_good_id(head_.request_id)) {
    request_id_ = head_.request_id;
  } else {
    append(request_id_, "{}-{:x}", thread_.prefix(), thread_.next_request());
  }
}

std::optional<Problem> Connection::problem_with_head() {
  if (!head_.is_http_1_0 && head_.hosts != 1) {
    return problems::malformed_request(fmt::format("there are {} Host fields (must be 1)", head_.hosts));
  }
  if (thread_.keys() == nullptr && !head_.host.empty() && !is_loopback_host(head_.host)) {
    return problems::foreign_host(
        "the Host field is of another machine (must be localhost, 127.0.0.1 or [::1]; goblin serve --keys FILE serves "
        "any)");
  }
  // Whoever passes it on, or is sent elsewhere with it, would leave out what follows.
  if (head_.target.find('#') != std::string::npos) {
    return problems::malformed_request("the address has a '#' (must be %23 where it belongs to a name)");
  }
  Match match;
  try {
    match = find_route(head_.method, path_, names_);
  } catch (const AddressError& error) {
    return problems::invalid_parameter(error.what());
  }
  if (!match.known_path) {
    return problems::unknown_path("this server has no such path (/openapi.json lists those that it has)");
  }
  if (match.route == nullptr) {
    return problems::wrong_method(
        fmt::format("the method is {} (must be one of {})", head_.method_name, allowed_methods(path_)));
  }
  route_ = match.route;
  if (route_->right != Right::none) {
    if (auto problem = problem_with_key(route_->right)) return problem;
    if (!query_.empty() && route_->parameters.empty()) {
      return problems::invalid_parameter(
          "this call has no parameters behind a question mark (a key goes into the Authorization field)");
    }
  }
  if (route_->body == BodyRule::required && !head_.has_length) {
    return problems::length_needed("there is neither Content-Length nor Transfer-Encoding");
  }
  if (route_->body != BodyRule::none && !parser_->is_done()) {
    if (!is_json(head_.content_type)) {
      return problems::not_json(fmt::format("Content-Type is {} (must be application/json)",
                                            head_.content_type.empty() ? "missing" : head_.content_type));
    }
    if (!head_.content_encoding.empty() && head_.content_encoding != "identity") {
      return problems::not_json(
          fmt::format("Content-Encoding is {} (must not be there: bodies are plain)", head_.content_encoding));
    }
  }
  return std::nullopt;
}

std::optional<Problem> Connection::problem_with_key(Right right) {
  const Keys* keys = thread_.keys();
  if (keys == nullptr) return std::nullopt;
  constexpr std::string_view scheme = "bearer ";
  const std::string_view field = head_.authorization;
  const bool has_key =
      field.size() > scheme.size() && boost::beast::iequals(boost::beast::string_view(field.data(), scheme.size()),
                                                            boost::beast::string_view(scheme.data(), scheme.size()));
  if (!has_key) return problems::key_needed("there is no field 'Authorization: Bearer KEY'");
  std::string_view key = field.substr(scheme.size());
  while (key.starts_with(' ')) key.remove_prefix(1);
  const Keys::Key* found = keys->find(thread_.hasher()(key));
  if (found == nullptr) return problems::key_needed("nobody has this key");
  if (!found->may(right)) {
    return problems::not_allowed(fmt::format("the key '{}' does not have the right '{}'", found->name, name_of(right)));
  }
  return std::nullopt;
}

void Connection::handle() {
  state_ = State::handling;
  deadline_ = Clock::time_point::max();
  whole_at_ = Clock::now();
  problem_type_.clear();
  answer_.clear();
  self_ = shared_from_this();
  if (refusal_) {
    refuse(*refusal_);
    return;
  }
  try {
    route_->handle(*this);
  } catch (const AddressError& error) {
    refuse(problems::invalid_parameter(error.what()));
  } catch (const std::exception& error) {
    thread_.site().log.say(JsonLog::Level::error, error.what(), {{"request", request_id_}});
    refuse(problems::failure("the log of the server says more, with this instance"));
  }
}

void Connection::fail(const Problem& problem) {
  if (request_id_.empty()) {  // there was no whole head
    head_.clear();
    head_is_there();
  }
  closes_ = true;
  lost_ = true;
  refusal_ = problem;
  handle();
}

void Connection::refuse(const Problem& problem) {
  answer_.clear();
  answer_.status = problem.status;
  answer_.type = "application/problem+json";
  if (problem.status == 401) answer_.headers += "WWW-Authenticate: Bearer realm=\"goblin\"\r\n";
  if (problem.status == 405) append(answer_.headers, "Allow: {}\r\n", allowed_methods(path_));
  if (problem.retry_after > 0) append(answer_.headers, "Retry-After: {}\r\n", problem.retry_after);
  problem_type_ = problem.type;
  answers::append(answer_.body, problem, request_id_);
  send();
}

void Connection::send() { send(Length::known); }

void Connection::send(Length length) {
  const auto self = std::move(self_);
  kept_.clear();
  if (state_ != State::handling) return;
  write_head(length);
  finish();
  // Until it has been read: a short request can have a long answer, and its caller all the time that there is.
  thread_.hold_bytes(answer_.body.size());
  charged_ += answer_.body.size();
  state_ = State::writing;
  set_deadline(thread_.options().limits.write_time);
  const bool without_body = head_.method == http::verb::head || answer_.status == 304;
  write(head_text_, without_body ? std::string_view() : answer_.body);
}

void Connection::write_head(Length length) {
  closes_ = closes_ || !keeps_alive_ || thread_.draining() || (length == Length::until_close);
  std::string& out = head_text_;
  out.clear();
  if (answer_.status == 200) {
    out += "HTTP/1.1 200 OK\r\n";
  } else {
    const auto reason = http::obsolete_reason(static_cast<http::status>(answer_.status));
    append(out, "HTTP/1.1 {} {}\r\n", answer_.status, std::string_view(reason.data(), reason.size()));
  }
  out += thread_.date();
  if (answer_.status != 304) {
    out += "Content-Type: ";
    out += answer_.type;
    out += "\r\nX-Content-Type-Options: nosniff\r\n";
  }
  // What has a tag may be kept, if one asks whether it is still the same.
  out += answer_.headers.find("ETag:") == std::string::npos ? "Cache-Control: no-store\r\n"
                                                            : "Cache-Control: no-cache\r\n";
  out += answer_.headers;
  out += "X-Request-Id: ";
  out += request_id_;
  if (closes_) {
    out += "\r\nConnection: close";
  } else if (head_.is_http_1_0) {
    out += "\r\nConnection: keep-alive";
  }
  if (length == Length::known && answer_.status != 304) {
    append(out, "\r\nContent-Length: {}", answer_.body.size());
  } else if (length == Length::chunked) {
    out += "\r\nTransfer-Encoding: chunked";
  }
  out += "\r\n\r\n";
}

/// Counts the request, and gives it a line in the log if it should have one.
void Connection::finish() {
  const auto time = Clock::now() - whole_at_;
  auto& calls = thread_.metrics().of_call;
  const std::size_t call = route_ == nullptr ? calls.size() - 1 : static_cast<std::size_t>(route_ - routes().data());
  calls[call].count(answer_.status, time);
  const LogRequests which = thread_.options().log_requests;
  const bool is_error = answer_.status >= 400;
  if (which == LogRequests::none || (which == LogRequests::errors && !is_error)) return;
  std::string& line = thread_.log_line();
  append(line, R"({{"time":"{}","level":"{}","message":"request","request":)", time_now(),
         answer_.status >= 500 ? "error" : "info");
  append_string(line, request_id_);
  line += ",\"method\":";
  append_string(line, std::string_view(head_.method_name).substr(0, most_logged_bytes));
  line += ",\"path\":";
  append_string(line, std::string_view(path_).substr(0, most_logged_bytes));
  append(line, ",\"status\":{},\"milliseconds\":{:.3f}", answer_.status,
         std::chrono::duration<double, std::milli>(time).count());
  if (!problem_type_.empty()) append(line, ",\"problem\":\"{}\"", problem_type_);
  line += "}\n";
}

void Connection::was_written(bool good, std::size_t bytes) {
  thread_.metrics().bytes_written.add(bytes);
  if (state_ == State::closed) return;
  if (!good) {
    close();
    return;
  }
  if (state_ == State::continuing) {
    state_ = State::body;
    advance();
    return;
  }
  if (stream_ && stream_->more) {
    state_ = State::handling;
    next_page();
    return;
  }
  stream_.reset();
  if (closes_) {
    linger();
    return;
  }
  next_request();
  advance();
}

void Connection::next_request() {
  thread_.give_bytes(std::exchange(charged_, 0));
  shrink(body_);
  if (buffer_.size() == 0 && buffer_.capacity() > kept_bytes) buffer_.shrink_to_fit();
  answer_.clear();
  refusal_.reset();
  parser_.reset();
  request_id_.clear();
  begun_ = false;
  state_ = State::waiting;
}

void Connection::linger() {
  state_ = State::lingering;
  set_deadline(linger_time);
  end_writing(lost_);
}

void Connection::read_the_rest() {
  if (!reading_) buffer_.clear();
  ask_for_more();
}

void Connection::in_background(Workers& workers, std::function<Result<std::string>()> make) {
  const bool taken = workers.take([this, make = std::move(make)] {
    Result<std::string> made;
    std::string error;
    try {
      made = make();
    } catch (const std::exception& caught) {
      error = caught.what();
      made = problems::failure("the log of the server says more, with this instance");
    }
    thread_.post({[this, made = std::move(made), error = std::move(error)]() mutable {
      if (!error.empty()) thread_.site().log.say(JsonLog::Level::error, error, {{"request", request_id_}});
      if (const auto* problem = std::get_if<Problem>(&made)) {
        refuse(*problem);
      } else {
        answer_.body = std::move(std::get<std::string>(made));
        send();
      }
    }});
  });
  if (!taken) refuse(problems::busy("too many calls of this kind are waiting already"));
}

std::optional<std::size_t> Exchange::asked_for() const {
  if (head_.partition.empty()) return std::nullopt;
  const auto partition = number_named(head_.partition);
  if (!partition || *partition >= site().partitions.count()) {
    throw AddressError(fmt::format("the field {} is '{}' (must be a partition, below {})", partition_field,
                                   std::string_view(head_.partition).substr(0, most_logged_bytes),
                                   site().partitions.count()));
  }
  return partition;
}

void Connection::ask(std::size_t partition, std::string_view method, std::string target, std::string body,
                     std::function<void(Result<Reply>)> done) {
  if (site().peers == nullptr || asked_for()) {
    return done(refusals::partition_away(fmt::format("partition {} is not here", partition)));
  }
  Question question{.partition = partition,
                    .method = std::string(method),
                    .target = std::move(target),
                    .body = std::move(body),
                    .authorization = head_.authorization,
                    .request_id = request_id_};
  const bool taken = site().peer_calls.ask(std::move(question), [this, done](Result<Reply> reply) {
    thread_.post({[done, reply = std::move(reply)]() mutable { done(std::move(reply)); }});
  });
  if (!taken) done(problems::busy("too many calls wait for other servers already"));
}

void Connection::stream(std::function<bool(std::string&)> next) {
  if (head_.method == http::verb::head) {
    // The head that GET would have: nobody knows how long the body is before its end.
    send(head_.is_http_1_0 ? Length::until_close : Length::chunked);
    return;
  }
  stream_ = std::make_unique<Stream>();
  stream_->next = std::move(next);
  next_page();
}

void Connection::next_page() {
  self_ = shared_from_this();
  deadline_ = Clock::time_point::max();
  const bool taken = thread_.site().stream_workers.take([this] {
    std::string error;
    try {
      stream_->page.clear();
      stream_->more = stream_->next(stream_->page);
    } catch (const std::exception& caught) {
      error = caught.what();
      stream_->failed = true;
    }
    thread_.post({[this, error = std::move(error)] {
      if (!error.empty()) thread_.site().log.say(JsonLog::Level::error, error, {{"request", request_id_}});
      page_is_there();
    }});
  });
  if (!taken) stream_->stuck = true;
}

void Connection::page_is_there() {
  const auto self = std::move(self_);
  if (state_ != State::handling) return;
  Stream& stream = *stream_;
  if (stream.failed) {
    if (stream.begun) {
      close();  // the caller sees that the end is missing
      return;
    }
    stream_.reset();
    refuse(problems::failure("the log of the server says more, with this instance"));
    return;
  }
  const bool chunked = !head_.is_http_1_0;
  head_text_.clear();
  if (!stream.begun) {
    stream.begun = true;
    write_head(chunked ? Length::chunked : Length::until_close);
    finish();
  }
  if (chunked) {
    if (!stream.page.empty()) {
      append(head_text_, "{:x}\r\n", stream.page.size());
      stream.page += "\r\n";
    }
    if (!stream.more) stream.page += "0\r\n\r\n";
  }
  state_ = State::writing;
  set_deadline(thread_.options().limits.write_time);
  write(head_text_, stream.page);
}

}  // namespace goblin::serve
