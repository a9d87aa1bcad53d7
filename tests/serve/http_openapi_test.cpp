// /openapi.json describes what the server does: the same calls, fields and problems.

#include "serve/embedded_file.hpp"
#include "serve/problems.hpp"
#include "serve/refusals.hpp"
#include "serve/requests.hpp"
#include "serve/routes.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace goblin::serve {
namespace http_openapi_test {

using Json = nlohmann::json;

Json document() {
  const EmbeddedFile* file = embedded_file("openapi.json");
  return file == nullptr ? Json() : Json::parse(file->bytes);
}

/// Follows a "$ref".
const Json& at(const Json& document, const Json& value) {
  if (!value.contains("$ref")) return value;
  return document.at(Json::json_pointer(value["$ref"].get<std::string>().substr(1)));
}

TEST(OpenApi, has_the_calls_of_the_server) {
  const Json api = document();
  std::set<std::string> described;
  for (const auto& [path, methods] : api["paths"].items()) {
    for (const auto& [method, call] : methods.items()) {
      std::string body = "no body";
      if (call.contains("requestBody")) body = call["requestBody"].value("required", false) ? "body" : "perhaps a body";
      std::string parameter;
      for (const auto& one : call.value("parameters", Json::array())) {
        if (one["in"] == "query") parameter += (parameter.empty() ? "?" : ",") + one["name"].get<std::string>();
        if (one["in"] == "path") {
          EXPECT_NE(path.find("{" + one["name"].get<std::string>() + "}"), std::string::npos) << path;
        }
      }
      described.insert(fmt::format("{} {}{} {} {} {}", method, path, parameter, call["operationId"].get<std::string>(),
                                   call["x-right"].get<std::string>(), body));
    }
  }
  std::set<std::string> there;
  for (const Route& route : routes()) {
    const auto verb = boost::beast::http::to_string(route.method);
    std::string method(verb.data(), verb.size());
    std::transform(method.begin(), method.end(), method.begin(), [](unsigned char one) { return std::tolower(one); });
    there.insert(fmt::format("{} {}{}{} {} {} {}", method, route.path, route.parameters.empty() ? "" : "?",
                             route.parameters, route.call, name_of(route.right),
                             route.body == BodyRule::none       ? "no body"
                             : route.body == BodyRule::required ? "body"
                                                                : "perhaps a body"));
  }
  EXPECT_EQ(described, there);
}

/// The fields that a reader knows, out of what it says of one that it does not know.
std::set<std::string> fields_in(const Problem& problem) {
  std::set<std::string> fields;
  EXPECT_EQ(problem.type, "unknown-field");
  for (std::size_t begin = problem.detail.find("(its fields are "); begin != std::string::npos;) {
    begin = problem.detail.find('\'', begin);
    if (begin == std::string::npos) break;
    const std::size_t end = problem.detail.find('\'', begin + 1);
    fields.insert(problem.detail.substr(begin + 1, end - begin - 1));
    begin = end + 1;
  }
  return fields;
}

TEST(OpenApi, has_the_fields_that_requests_have) {
  const Json api = document();
  RequestReader reader({.dimension = 2});
  std::string body = R"({"?":1})";
  body.reserve(body.size() + body_padding);
  std::string bodies = R"([{"?":1}])";
  bodies.reserve(bodies.size() + body_padding);
  const auto problem = [](const auto& result) { return std::get<Problem>(result); };
  const std::map<std::string, Problem> unknown = {
      {"select", problem(reader.select(body))},
      {"rank", problem(reader.rank(body))},
      {"reward", problem(reader.reward(body))},
      {"rewards", problem(std::get<std::vector<Result<RewardRequest>>>(reader.rewards(bodies)).at(0))},
      {"put_user", problem(reader.user("u", body))},
      {"put_edge", problem(reader.edge(body))},
      {"put_item", problem(reader.item("i", body))},
      {"explain", problem(reader.explain(body))},
  };
  std::size_t compared = 0;
  for (const auto& methods : api["paths"]) {
    for (const auto& call : methods) {
      if (!call.contains("requestBody")) continue;
      const std::string name = call["operationId"];
      const Json* schema = &at(api, call["requestBody"]["content"]["application/json"]["schema"]);
      std::set<std::string> described;
      std::vector<Json> objects = {*schema};
      if (schema->contains("items")) objects = (*schema)["items"]["oneOf"].get<std::vector<Json>>();
      for (const Json& object : objects) {
        const Json& one = at(api, object);
        EXPECT_EQ(one["additionalProperties"], false) << name;
        for (const auto& [field, unused] : one["properties"].items()) described.insert(field);
      }
      ASSERT_EQ(unknown.count(name), 1) << name;
      EXPECT_EQ(described, fields_in(unknown.at(name))) << name;
      ++compared;
    }
  }
  EXPECT_EQ(compared, unknown.size());
}

TEST(OpenApi, has_the_problems_that_there_are) {
  std::set<std::string> there;
  using Make = Problem (*)(std::string);
  for (const Make make : {problems::malformed_request,
                          problems::malformed_json,
                          problems::unknown_field,
                          problems::missing_field,
                          problems::invalid_field,
                          problems::wrong_dimension,
                          problems::invalid_parameter,
                          problems::key_needed,
                          problems::not_allowed,
                          problems::foreign_host,
                          problems::unknown_path,
                          problems::wrong_method,
                          problems::too_slow,
                          problems::length_needed,
                          problems::body_too_large,
                          problems::not_json,
                          problems::head_too_large,
                          problems::failure,
                          problems::busy,
                          problems::not_ready,
                          refusals::invalid,
                          refusals::unknown_user,
                          refusals::unknown_item,
                          refusals::unknown_event,
                          refusals::unknown_edge,
                          refusals::event_taken,
                          refusals::other_reward,
                          refusals::full,
                          refusals::past_horizon,
                          refusals::too_large,
                          refusals::busy,
                          refusals::learning_behind,
                          refusals::not_learned_yet,
                          refusals::other_partition,
                          refusals::partition_away,
                          refusals::store_unavailable}) {
    there.insert("/problems/" + make("").type);
  }
  there.insert("/problems/" + refusals::stopping().type);
  std::set<std::string> described;
  const Json api = document();
  for (const auto& type : api["components"]["schemas"]["Problem"]["properties"]["type"]["enum"]) described.insert(type);
  EXPECT_EQ(described, there);
}

TEST(OpenApi, every_reference_leads_somewhere) {
  const Json api = document();
  std::function<void(const Json&)> look = [&](const Json& value) {
    if (value.is_object() && value.contains("$ref")) {
      EXPECT_NO_THROW(at(api, value)) << value;
    }
    if (value.is_structured()) {
      for (const auto& inner : value) look(inner);
    }
  };
  look(api);
}

}  // namespace http_openapi_test
}  // namespace goblin::serve
