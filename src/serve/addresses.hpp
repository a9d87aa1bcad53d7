#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace goblin::serve {

/// The address of a request has something in it that it cannot have.
class AddressError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Decodes %41 to A; nothing if a percent sign is followed by something else. A plus stays a plus.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

/// The part of a path before the next slash; the path becomes what follows the slash. Nothing if the path is at its
/// end, which begins as a path without its first slash.
[[nodiscard]] std::optional<std::string_view> next_segment(std::optional<std::string_view>& path);

/// The whole number of the one parameter that a query may have, "from=17"; `otherwise` if there is no query. Throws
/// AddressError if it is not from least to most, or if something else stands there.
[[nodiscard]] std::size_t number_in_query(std::string_view query, std::string_view name, std::size_t otherwise,
                                          std::size_t least, std::size_t most);

}  // namespace goblin::serve
