#pragma once

#include <string>
#include <string_view>

namespace goblin::serve {

/// Says where a text stops being JSON, and why, for people: "contexts[0][1]: ... at byte 31". For texts that the fast
/// parser has refused; it only knows that, and `reason`, which is given for texts too long to be read again.
[[nodiscard]] std::string what_is_malformed(std::string_view body, std::string_view reason);

}  // namespace goblin::serve
