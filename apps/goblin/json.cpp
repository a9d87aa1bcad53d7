#include "json.hpp"

#include <cmath>

#include <fmt/format.h>

namespace goblin::app {

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') {
      result += '\\';
      result += character;
    } else if (static_cast<unsigned char>(character) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(character));
    } else {
      result += character;
    }
  }
  return result + '"';
}

std::string json_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "null";
}

}  // namespace goblin::app
