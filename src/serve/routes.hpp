#pragma once

#include "serve/exchange.hpp"
#include "serve/keys.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <boost/beast/http/verb.hpp>

namespace goblin::serve {

/// Whether a call has a body.
enum class BodyRule : std::uint8_t { none, optional, required };

/// A call: where it is, who may make it, and what does it. openapi.json describes the same ones, which a test checks.
struct Route {
  boost::beast::http::verb method;
  std::string_view path;  ///< with names in braces: "/v1/users/{user}"
  Right right;
  std::string_view call;  ///< in metrics and logs; the operationId of openapi.json
  BodyRule body;
  void (*handle)(Exchange& exchange);
  std::string_view parameters = {};  ///< those that its query may have, with commas between them: ?count=20
};

[[nodiscard]] std::span<const Route> routes();

/// The route of a request. If there is none, either the path is unknown, or it has other methods, which are listed.
struct Match {
  const Route* route = nullptr;
  bool known_path = false;
};
/// `path` is what stands before the question mark; the names in it are decoded.
[[nodiscard]] Match find_route(boost::beast::http::verb method, std::string_view path,
                               std::array<std::string, 2>& names);
/// "GET, HEAD, PUT": the methods that a path has.
[[nodiscard]] std::string allowed_methods(std::string_view path);

}  // namespace goblin::serve
