#include "serve/replies.hpp"

#include "serve/problems.hpp"

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace goblin::serve {
namespace {

using nlohmann::json;

Result<Accepted> accepted_in(const json& one, int status) {
  constexpr int good = 200;
  if (status == good) {
    return Accepted{.offset = one.at("offset").get<Offset>(),
                    .learned = one.at("learned").get<Offset>(),
                    .repeated = one.at("repeated").get<bool>()};
  }
  constexpr std::string_view before_type = "/problems/";
  const auto type = one.at("type").get<std::string>();
  return Problem{.status = status,
                 .type = type.starts_with(before_type) ? type.substr(before_type.size()) : type,
                 .title = one.at("title").get<std::string>(),
                 .detail = one.at("detail").get<std::string>(),
                 .retry_after = status == 429 || status == 503 ? 1 : 0};
}

Problem strange_answer() { return problems::failure("another server gave an answer that is none"); }

}  // namespace

Result<Accepted> accepted_of(const Result<Reply>& answer) {
  if (const auto* problem = std::get_if<Problem>(&answer)) return *problem;
  const Reply& reply = std::get<Reply>(answer);
  try {
    return accepted_in(json::parse(reply.body), reply.status);
  } catch (const json::exception&) {
    return strange_answer();
  }
}

std::vector<Result<Accepted>> accepted_of(const Result<Reply>& answer, std::size_t count) {
  using Results = std::vector<Result<Accepted>>;
  const auto* reply = std::get_if<Reply>(&answer);
  constexpr int good = 200;
  if (reply == nullptr || reply->status != good) return Results(count, accepted_of(answer));
  try {
    const json body = json::parse(reply->body);
    Results results;
    for (const json& one : body.at("results")) {
      results.push_back(accepted_in(one, one.at("status").get<int>()));
    }
    if (results.size() == count) return results;
  } catch (const json::exception&) {
    // Said below.
  }
  return Results(count, strange_answer());
}

}  // namespace goblin::serve
