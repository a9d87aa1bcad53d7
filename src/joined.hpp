#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace goblin {

/// "a, b or c"
inline std::string joined(std::span<const std::string_view> names, std::string_view conjunction) {
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (k > 0 && k + 1 < names.size()) text += ", ";
    if (k > 0 && k + 1 == names.size()) text.append(" ").append(conjunction).append(" ");
    text += names[k];
  }
  return text;
}

}  // namespace goblin
