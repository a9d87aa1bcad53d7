#pragma once

#include <string>
#include <string_view>

namespace goblin::serve {

struct Malformed {
  std::string detail;
  bool is_number = false;  ///< it is JSON, with a number that is too large for a double
};

/// Says where a text stops being JSON, and why, for people: "contexts[0][1]: ... at byte 31". For texts that the fast
/// parser has refused; it only knows that, and `reason`, which is given for texts too long to be read again.
[[nodiscard]] Malformed what_is_malformed(std::string_view body, std::string_view reason);

}  // namespace goblin::serve
