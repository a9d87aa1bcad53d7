#include "serve/packed_numbers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace goblin::serve {
namespace {

constexpr std::array<double, 10> powers = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
constexpr std::size_t long_ones = 16;
constexpr char plain = static_cast<char>(255);

/// The nearest whole number, if it is below 2^51: adding this leaves no room for what is behind the point. Several go
/// at once, which std::nearbyint, a call on processors of 2005, does not.
double nearest(double number) {
  constexpr double no_room = 6755399441055744.0;  // 1.5 * 2^52
  return (number + no_room) - no_room;
}

constexpr std::size_t together = 64;  // without a branch among them, so that several go at once

/// The numbers without their points, if they have so many bytes and that gives every one back: at most `together`.
template <std::size_t width>
bool without_points(std::span<const double> numbers, double power, std::array<std::int32_t, together>& whole) {
  constexpr double bound = width == 3 ? 8'388'608.0 : 2'147'483'648.0;
  std::array<double, together> moved;
  std::uint64_t difference = 0;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const double rounded = nearest(numbers[k] * power);
    moved[k] = std::abs(rounded) < bound ? rounded : 0.0;
    // 0 is added because it makes 0 of -0.
    difference |= std::bit_cast<std::uint64_t>(moved[k] / power) ^ std::bit_cast<std::uint64_t>(numbers[k] + 0.0);
  }
  if (difference != 0) return false;
  for (std::size_t k = 0; k < numbers.size(); ++k) whole[k] = static_cast<std::int32_t>(moved[k]);
  return true;
}

/// Whether all of them could be written that way.
template <std::size_t width>
bool write_whole(std::span<const double> numbers, std::size_t decimals, std::string& bytes) {
  bytes.resize(1 + width * numbers.size() + 1);  // four bytes are written at a time
  bytes[0] = static_cast<char>(decimals + (width == 3 ? 0 : long_ones));
  char* out = &bytes[1];
  std::array<std::int32_t, together> whole;
  while (!numbers.empty()) {
    const std::size_t count = std::min(numbers.size(), together);
    if (!without_points<width>(numbers.first(count), powers[decimals], whole)) return false;
    for (std::size_t k = 0; k < count; ++k, out += width) std::memcpy(out, &whole[k], 4);  // lowest bytes first
    numbers = numbers.subspan(count);
  }
  bytes.pop_back();
  return true;
}

template <std::size_t width>
void read_whole(std::string_view bytes, double power, std::vector<double>& out) {
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::uint32_t whole = 0;
    std::memcpy(&whole, bytes.data() + at, width);
    constexpr unsigned missing = 8 * (4 - width);  // the sign is in the highest byte
    out.push_back(static_cast<double>(static_cast<std::int32_t>(whole << missing) >> missing) / power);
  }
}

std::string as_they_are(std::span<const double> numbers) {
  std::string bytes(1, plain);
  bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
  return bytes;
}

}  // namespace

std::string packed(std::span<const double> numbers) {
  constexpr std::size_t few = 16;  // which mostly show how many decimals there are
  const std::span<const double> first = numbers.first(std::min(numbers.size(), few));
  std::array<std::int32_t, together> ignored;
  std::string bytes;
  for (std::size_t decimals = 0; decimals < powers.size(); ++decimals) {
    if (!without_points<4>(first, powers[decimals], ignored)) continue;
    if (write_whole<3>(numbers, decimals, bytes) || write_whole<4>(numbers, decimals, bytes)) return bytes;
  }
  return as_they_are(numbers);
}

std::string packed_with_signs(std::span<const double> numbers) {
  const bool has_negative_zero = std::any_of(numbers.begin(), numbers.end(), [](double number) {
    return std::bit_cast<std::uint64_t>(number) == std::bit_cast<std::uint64_t>(-0.0);
  });
  return has_negative_zero ? as_they_are(numbers) : packed(numbers);
}

std::vector<double> unpacked(std::string_view bytes) {
  if (bytes.empty()) return {};
  const auto kind = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  std::vector<double> numbers;
  if (kind == static_cast<unsigned char>(plain) && bytes.size() % 8 == 0) {
    numbers.resize(bytes.size() / 8);
    if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  } else if (kind < powers.size() && bytes.size() % 3 == 0) {
    numbers.reserve(bytes.size() / 3);
    read_whole<3>(bytes, powers[kind], numbers);
  } else if (kind >= long_ones && kind < long_ones + powers.size() && bytes.size() % 4 == 0) {
    numbers.reserve(bytes.size() / 4);
    read_whole<4>(bytes, powers[kind - long_ones], numbers);
  }
  return numbers;
}

}  // namespace goblin::serve
