#include "shard.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace goblin::app {
namespace {

/// Nothing if it is no such text.
std::optional<Shard> shard_of(std::string_view text) {
  const auto number = [](std::string_view digits) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() ? value : 0;
  };
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::size_t index = number(text.substr(0, slash));
  const std::size_t count = number(text.substr(std::min(slash + 1, text.size())));
  if (index == 0 || index > count) return std::nullopt;
  return Shard{.index = index - 1, .count = count};
}

}  // namespace

CLI::Option* add_shard_option(CLI::App& command, Shard& shard, const std::string& description) {
  return command
      .add_option_function<std::string>(
          "--shard", [&shard](const std::string& text) { shard = shard_of(text).value(); }, description)
      ->check(CLI::Validator(
          [](const std::string& text) {
            if (shard_of(text)) return std::string();
            return fmt::format("{} (must be I/N, with I from 1 to N: 1/4, 2/4, 3/4 and 4/4, say)", text);
          },
          ""))
      ->type_name("I/N");
}

std::string text_of(const Shard& shard) { return fmt::format("{}/{}", shard.index + 1, shard.count); }

}  // namespace goblin::app
