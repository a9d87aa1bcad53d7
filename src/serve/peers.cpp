#include "serve/peers.hpp"

#include "serve/refusals.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <curl/curl.h>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

constexpr long most_connecting = 1'000;  // milliseconds
/// More than the answer to the largest request has.
constexpr std::size_t most_reply_bytes = std::size_t{1} << 26U;
/// How long nobody asks a server that let somebody wait in vain.
constexpr auto silence = std::chrono::seconds(1);

struct FreeCurl {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
};
struct FreeFields {
  void operator()(curl_slist* fields) const { curl_slist_free_all(fields); }
};
using Fields = std::unique_ptr<curl_slist, FreeFields>;

/// One for each thread that asks: it keeps its connections.
CURL* curl_of_thread() {
  static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(once);
  thread_local const std::unique_ptr<CURL, FreeCurl> mine(curl_easy_init());
  if (!mine) throw std::bad_alloc();
  return mine.get();
}

void add(Fields& fields, const std::string& line) {
  curl_slist* const longer = curl_slist_append(fields.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  static_cast<void>(fields.release());
  fields.reset(longer);
}

std::size_t on_bytes(const char* bytes, std::size_t /*one*/, std::size_t count, void* into) {
  auto& body = *static_cast<std::string*>(into);
  if (count > most_reply_bytes - body.size()) return 0;
  body.append(bytes, count);
  return count;
}

/// Takes the next bytes of a body. libcurl cannot go back in it: that keeps it from sending a request again by itself
/// where a connection died that may have carried it.
std::size_t on_room(char* room, std::size_t /*one*/, std::size_t count, void* left) {
  auto& body = *static_cast<std::string_view*>(left);
  const std::size_t taken = body.copy(room, count);
  body.remove_prefix(taken);
  return taken;
}

int on_progress(void* given_up, curl_off_t /*all*/, curl_off_t /*now*/, curl_off_t /*all_up*/, curl_off_t /*now_up*/) {
  return (*static_cast<const std::function<bool()>*>(given_up))() ? 1 : 0;
}

std::size_t on_field(const char* bytes, std::size_t /*one*/, std::size_t count, void* seconds) {
  constexpr std::string_view name = "retry-after: ";
  const std::string_view line(bytes, count);
  if (line.size() > name.size() && curl_strnequal(line.data(), name.data(), name.size()) != 0) {
    std::from_chars(line.data() + name.size(), line.data() + line.size(), *static_cast<int*>(seconds));
  }
  return count;
}

/// What somebody at that address answers; the status is 0 if nobody does.
struct Attempt {
  CURLcode code = CURLE_OK;
  Reply reply;
};

Attempt ask_at(const std::string& url, const Question& question, const std::function<bool()>& given_up) {
  Attempt attempt;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(question.until - std::chrono::steady_clock::now());
  CURL* const curl = curl_of_thread();
  curl_easy_reset(curl);  // but for its connections
  std::string_view body_left = question.body;
  Fields fields;
  add(fields, fmt::format("{}: {}", partition_field, question.partition));
  add(fields, "X-Request-Id: " + question.request_id);
  add(fields, "Content-Type: application/json");
  add(fields, "Expect:");
  if (!question.authorization.empty()) add(fields, "Authorization: " + question.authorization);
  // The target goes on as it came: as a part of the URL, libcurl would leave out some of it ("/../", "#").
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_REQUEST_TARGET, question.target.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, most_connecting);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, std::max(static_cast<long>(left.count()), 1L));
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, fields.get());
  if (question.method == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  } else if (question.method != "GET") {
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(question.body.size()));
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, &on_room);
    curl_easy_setopt(curl, CURLOPT_READDATA, &body_left);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, question.method.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &given_up);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &on_bytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &attempt.reply.body);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &on_field);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &attempt.reply.retry_after);
  attempt.code = curl_easy_perform(curl);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  attempt.reply.status = attempt.code == CURLE_OK ? static_cast<int>(status) : 0;
  return attempt;
}

bool has_it_no_more(const Reply& reply) {
  return reply.status == 503 && reply.body.find(R"("/problems/partition-away")") != std::string::npos;
}

}  // namespace

std::optional<std::string> Peers::other_owner(std::size_t partition) const {
  auto url = owner(partition);
  return url == own_url_ ? std::nullopt : std::move(url);
}

bool Peers::is_silent(const std::string& url) const {
  const std::lock_guard lock(mutex_);
  const auto found = silent_until_.find(url);
  return found != silent_until_.end() && Clock::now() < found->second;
}

void Peers::was_silent(const std::string& url) {
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  std::erase_if(silent_until_, [now](const auto& each) { return each.second <= now; });
  silent_until_[url] = now + silence;
}

Result<Reply> Peers::ask(const Question& question, const std::function<bool()>& given_up) {
  const auto is_late = [&] { return Clock::now() >= question.until || (given_up && given_up()); };
  std::optional<std::string> url = other_owner(question.partition);
  for (bool again = false;; again = true) {
    if (is_late()) {
      return refusals::partition_away(fmt::format("partition {}: others wait there for too long", question.partition));
    }
    std::string why = "nobody is known to have it";
    bool unheard = true;
    if (url && is_silent(*url)) {
      why = fmt::format("{} did not answer others a moment ago", *url);
      unheard = false;  // the group looks often enough by itself
    } else if (url) {
      Attempt attempt = ask_at(*url, question, [&] { return is_late() || other_owner(question.partition) != url; });
      if (attempt.code == CURLE_OK && !has_it_no_more(attempt.reply)) return std::move(attempt.reply);
      if (attempt.code == CURLE_OPERATION_TIMEDOUT) was_silent(*url);
      why = attempt.code == CURLE_OK                    ? fmt::format("{} has it no more", *url)
            : attempt.code == CURLE_ABORTED_BY_CALLBACK ? fmt::format("{} did not answer", *url)
            : attempt.code == CURLE_WRITE_ERROR         ? fmt::format("{} answers with too much", *url)
                                                        : fmt::format("{}: {}", *url, curl_easy_strerror(attempt.code));
      // Whoever may have heard the question is not asked twice from here: only the caller knows whether that may be.
      unheard = attempt.code == CURLE_OK || attempt.code == CURLE_COULDNT_CONNECT;
    }
    const std::optional<std::string> before = url;
    if (!again && unheard) {
      group_.look();
      url = other_owner(question.partition);
    }
    if (again || url == before) {
      return refusals::partition_away(fmt::format("partition {}: {}", question.partition, why));
    }
  }
}

}  // namespace goblin::serve
