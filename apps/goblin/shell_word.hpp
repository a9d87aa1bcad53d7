#pragma once

#include <string>

namespace goblin::app {

/// A text as one word of a shell's command line: in quotes, where it needs them.
[[nodiscard]] std::string shell_word(const std::string& text);

}  // namespace goblin::app
