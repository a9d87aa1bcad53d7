#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
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

/// What stands behind the question mark: "from=17&partition=2".
class Query {
 public:
  /// Throws AddressError if something else than these parameters stands there, or one of them twice.
  Query(std::string_view query, std::initializer_list<std::string_view> names);

  /// The whole number of a parameter; `otherwise` if it is not there. Throws AddressError if it is not from least to
  /// most.
  [[nodiscard]] std::size_t number(std::string_view name, std::size_t otherwise, std::size_t least,
                                   std::size_t most) const;

 private:
  std::map<std::string_view, std::string_view> values_;
};

}  // namespace goblin::serve
