#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace goblin::app {

/// The text as a JSON string, quotes included.
[[nodiscard]] std::string json_string(std::string_view text);

/// The number so that it reads back the same; null if there is none, or none that JSON has.
[[nodiscard]] std::string json_number(std::optional<double> value);

}  // namespace goblin::app
