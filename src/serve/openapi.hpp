#pragma once

#include "serve/requests.hpp"

#include <string>

namespace goblin::serve {

/// openapi.json with the bounds of this server in it: how many numbers a context has, how many candidates there may be.
[[nodiscard]] std::string openapi_document(const RequestLimits& limits);

}  // namespace goblin::serve
