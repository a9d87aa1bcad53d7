#pragma once

#include <string>
#include <string_view>

namespace goblin::app {

/// The text as a JSON string, quotes included.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace goblin::app
