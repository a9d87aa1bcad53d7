#include "serve/packed_numbers.hpp"

#include <algorithm>
#include <array>
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

/// Whether every number is a whole one, and not too large, after its point was moved by so many places.
bool have_decimals(std::span<const double> numbers, double power) {
  constexpr std::size_t together = 64;  // without a branch among them, so that several go at once
  while (!numbers.empty()) {
    bool good = true;
    for (const double number : numbers.first(std::min(numbers.size(), together))) {
      const double moved = nearest(number * power);
      good &= std::abs(moved) < 2147483648.0;
      good &= moved / power == number;
    }
    if (!good) return false;
    numbers = numbers.subspan(std::min(numbers.size(), together));
  }
  return true;
}

template <std::size_t width>
void write_whole(std::span<const double> numbers, double power, char* out) {
  for (const double number : numbers) {
    const auto whole = static_cast<std::int32_t>(nearest(number * power));
    std::memcpy(out, &whole, width);  // lowest bytes first
    out += width;
  }
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

}  // namespace

std::string packed(std::span<const double> numbers) {
  std::size_t decimals = 0;
  while (decimals < powers.size() && !have_decimals(numbers, powers[decimals])) ++decimals;
  std::string bytes;
  if (decimals == powers.size()) {
    bytes.assign(1, plain);
    bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
    return bytes;
  }
  const double power = powers[decimals];
  double largest = 0.0;
  for (const double number : numbers) largest = std::max(largest, std::abs(number));
  const bool short_ones = nearest(largest * power) < 8'388'608.0;  // 2^23
  bytes.resize(1 + (short_ones ? 3 : 4) * numbers.size());
  bytes[0] = static_cast<char>(decimals + (short_ones ? 0 : long_ones));
  short_ones ? write_whole<3>(numbers, power, bytes.data() + 1) : write_whole<4>(numbers, power, bytes.data() + 1);
  return bytes;
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
