#pragma once

#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace goblin::serve {

/// Appends a text as a JSON string, with its quotes. What is not UTF-8 is replaced: names out of files may be anything.
void append_string(std::string& out, std::string_view text);
/// Appends the shortest number that reads as the same double; null for one that JSON does not have.
void append_number(std::string& out, double value);

template <typename... Values>
void append(std::string& out, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Values>(values)...);
}

}  // namespace goblin::serve
