#include "serve/addresses.hpp"

#include "goblin/graph/names.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

Query::Query(std::string_view query, std::initializer_list<std::string_view> names) {
  constexpr std::size_t longest = 40;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view one = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = one.find('=');
    const std::string_view name = one.substr(0, equals);
    if (equals == std::string_view::npos || std::find(names.begin(), names.end(), name) == names.end()) {
      throw AddressError(
          names.size() == 1 ? fmt::format("the only parameter here is '{0}' (a whole number, ?{0}=...)", *names.begin())
                            : fmt::format("the parameters here are {} (whole numbers, ?{}=...)",
                                          fmt::join(names, " and "), *names.begin()));
    }
    if (!values_.emplace(name, one.substr(equals + 1)).second) {
      throw AddressError(fmt::format("'{}' stands there twice", name.substr(0, longest)));
    }
  }
}

std::size_t Query::number(std::string_view name, std::size_t otherwise, std::size_t least, std::size_t most) const {
  constexpr std::size_t longest = 40;
  const auto found = values_.find(name);
  if (found == values_.end()) return otherwise;
  const std::string_view text = found->second;
  const auto number = number_named(text);
  if (!number || *number < least || *number > most) {
    throw AddressError(
        fmt::format("'{}' is '{}' (must be a whole number from {} to {})", name, text.substr(0, longest), least, most));
  }
  return *number;
}

}  // namespace goblin::serve
