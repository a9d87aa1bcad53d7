#pragma once

#include <chrono>
#include <string_view>

namespace goblin::app {

/// "500ms", "30s", "15min", "24h", "90d". Throws std::invalid_argument that names the option.
[[nodiscard]] std::chrono::milliseconds duration_named(std::string_view option, std::string_view text);

}  // namespace goblin::app
