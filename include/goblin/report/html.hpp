#pragma once

#include <string>
#include <string_view>

namespace goblin::report {

/// The style sheet of every page: light and dark, wide and narrow.
[[nodiscard]] std::string_view html_style();

/// Text that stands in a page as it is.
[[nodiscard]] std::string html_escaped(std::string_view text);

}  // namespace goblin::report
