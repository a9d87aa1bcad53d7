#include "serve/peers.hpp"

#include "serve/refusals.hpp"

#include <charconv>
#include <curl/curl.h>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

constexpr long most_connecting = 1'000;  // milliseconds
constexpr long most_answering = 15'000;  // longer than any call may take

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

std::size_t on_bytes(const char* bytes, std::size_t /*one*/, std::size_t count, void* body) {
  static_cast<std::string*>(body)->append(bytes, count);
  return count;
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

Attempt ask_at(const std::string& url, const Question& question) {
  Attempt attempt;
  CURL* const curl = curl_of_thread();
  curl_easy_reset(curl);  // but for its connections
  Fields fields;
  add(fields, fmt::format("{}: {}", partition_field, question.partition));
  add(fields, "X-Request-Id: " + question.request_id);
  add(fields, "Content-Type: application/json");
  add(fields, "Expect:");
  if (!question.authorization.empty()) add(fields, "Authorization: " + question.authorization);
  const std::string whole = url + question.target;
  curl_easy_setopt(curl, CURLOPT_URL, whole.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, most_connecting);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, most_answering);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, fields.get());
  if (question.method == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  } else if (question.method != "GET") {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(question.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, question.body.data());
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, question.method.c_str());
  }
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

Result<Reply> Peers::ask(const Question& question) {
  std::optional<std::string> url = owner(question.partition);
  for (bool again = false;; again = true) {
    std::string why = "nobody is known to have it";
    bool unheard = true;
    if (url) {
      Attempt attempt = ask_at(*url, question);
      if (attempt.code == CURLE_OK && !has_it_no_more(attempt.reply)) return std::move(attempt.reply);
      why = attempt.code == CURLE_OK ? fmt::format("{} has it no more", *url)
                                     : fmt::format("{}: {}", *url, curl_easy_strerror(attempt.code));
      // Whoever may have heard the question is not asked twice from here: only the caller knows whether that may be.
      unheard = attempt.code == CURLE_OK || attempt.code == CURLE_COULDNT_CONNECT;
    }
    const std::optional<std::string> before = url;
    if (!again && unheard) {
      group_.look();
      url = owner(question.partition);
    }
    if (again || url == before) {
      return refusals::partition_away(fmt::format("partition {}: {}", question.partition, why));
    }
  }
}

}  // namespace goblin::serve
