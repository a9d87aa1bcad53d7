#include "durations.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin::app {

std::chrono::milliseconds duration_named(std::string_view option, std::string_view text) {
  using namespace std::chrono;
  static constexpr std::array<std::pair<std::string_view, milliseconds>, 5> units = {
      {{"ms", milliseconds(1)}, {"s", seconds(1)}, {"min", minutes(1)}, {"h", hours(1)}, {"d", hours(24)}}};
  constexpr std::uint64_t most = 100 * std::uint64_t{365} * 24 * 3600 * 1000;  // a hundred years
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const auto& [name, length] : units) {
    if (error == std::errc() && unit == name && count > 0 &&
        count <= most / static_cast<std::uint64_t>(length.count())) {
      return milliseconds(static_cast<std::int64_t>(count) * length.count());
    }
  }
  throw std::invalid_argument(
      fmt::format("{}: '{}' (must be a whole number above 0 with ms, s, min, h or d behind it, at most 100 years: 24h)",
                  option, text));
}

}  // namespace goblin::app
