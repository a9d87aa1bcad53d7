#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace goblin::app {

/// JSON to write; members stay in the order in which they are added. A number that JSON does not have is written as
/// null.
using Json = nlohmann::ordered_json;

/// The number, or null if there is none.
[[nodiscard]] Json json_number(const std::optional<double>& value);

/// On one line. Bytes that are not UTF-8 are replaced: names and paths may be anything.
[[nodiscard]] std::string json_line(const Json& json);
/// The same in many lines, for people.
[[nodiscard]] std::string json_text(const Json& json);

}  // namespace goblin::app
