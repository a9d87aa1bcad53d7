#include "serve/addresses.hpp"

#include "goblin/graph/names.hpp"

#include <charconv>

#include <fmt/format.h>

namespace goblin::serve {

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    const std::string_view digits = text.substr(at + 1, 2);
    unsigned value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() < 2 || error != std::errc() || end != digits.data() + 2) return std::nullopt;
    decoded += static_cast<char>(value);
    at += 2;
  }
  return decoded;
}

std::optional<std::string_view> next_segment(std::optional<std::string_view>& path) {
  if (!path) return std::nullopt;
  const std::string_view all = *path;
  const std::size_t end = all.find('/');
  path = end == std::string_view::npos ? std::nullopt : std::optional(all.substr(end + 1));
  return all.substr(0, end);
}

std::size_t number_in_query(std::string_view query, std::string_view name, std::size_t otherwise, std::size_t least,
                            std::size_t most) {
  if (query.empty()) return otherwise;
  const std::size_t equals = query.find('=');
  if (query.substr(0, equals) != name || equals == std::string_view::npos) {
    throw AddressError(fmt::format("the only parameter here is '{}' (a whole number, ?{}=...)", name, name));
  }
  const std::string_view text = query.substr(equals + 1);
  const auto number = number_named(text);
  if (!number || *number < least || *number > most) {
    constexpr std::size_t longest = 40;
    throw AddressError(
        fmt::format("'{}' is '{}' (must be a whole number from {} to {})", name, text.substr(0, longest), least, most));
  }
  return *number;
}

}  // namespace goblin::serve
