#include "serve/json_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/compile.h>
#include <simdjson.h>

namespace goblin::serve {
namespace {

/// How many bytes the UTF-8 character at the front has; 0 if there is none.
std::size_t character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return size <= text.size() && simdjson::validate_utf8(text.data(), size) ? size : 0;
}

void append_escaped(std::string& out, char one) {
  switch (one) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      append(out, "\\u{:04x}", static_cast<unsigned char>(one));
  }
}

bool is_ascii(char one) { return static_cast<unsigned char>(one) < 0x80; }
bool is_plain(char one) { return static_cast<unsigned char>(one) >= 0x20 && one != '"' && one != '\\' && one != 0x7f; }

}  // namespace

void append_string(std::string& out, std::string_view text) {
  // Most texts are names that need nothing.
  if (std::all_of(text.begin(), text.end(), [](char one) { return is_plain(one) && is_ascii(one); })) {
    out += '"';
    out += text;
    out += '"';
    return;
  }
  const bool valid = simdjson::validate_utf8(text.data(), text.size());
  out += '"';
  const auto as_it_is = [valid](char one) {
    return is_plain(one) && (valid || static_cast<unsigned char>(one) < 0x80);
  };
  while (!text.empty()) {
    const auto other = std::find_if_not(text.begin(), text.end(), as_it_is);
    out.append(text.begin(), other);
    text.remove_prefix(static_cast<std::size_t>(other - text.begin()));
    if (text.empty()) break;
    const std::size_t size = is_ascii(text[0]) ? 1 : character(text);
    if (size == 0) {
      out += "\xef\xbf\xbd";  // U+FFFD
    } else if (size == 1) {
      append_escaped(out, text[0]);
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  out += '"';
}

void append_number(std::string& out, double value) {
  if (std::isfinite(value)) {
    std::array<char, 32> text;  // enough for any double
    char* const end = fmt::format_to(text.data(), FMT_COMPILE("{}"), value);
    out.append(text.data(), end);
  } else {
    out += "null";
  }
}

}  // namespace goblin::serve
