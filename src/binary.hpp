#pragma once

#include "goblin/error.hpp"

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace goblin {

static_assert(std::endian::native == std::endian::little || std::endian::native == std::endian::big);

/// Numbers whose bytes go into a file: their size is the same on every machine.
template <typename T>
concept BinaryNumber = std::same_as<T, double> || std::same_as<T, std::uint8_t> || std::same_as<T, std::uint32_t> ||
    std::same_as<T, std::uint64_t>;

/// The bytes of a number in reverse order on a big-endian machine: files are little-endian.
template <BinaryNumber T>
T little_endian(T value) {
  if constexpr (std::endian::native == std::endian::little || sizeof(T) == 1) return value;
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  for (std::size_t k = 0; k < sizeof(T) / 2; ++k) std::swap(bytes[k], bytes[sizeof(T) - 1 - k]);
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Writes little-endian numbers, and arrays and texts with their length before them.
class BinaryWriter {
 public:
  using Sink = std::function<void(const char*, std::size_t)>;
  explicit BinaryWriter(Sink sink) : sink_(std::move(sink)) {}

  template <BinaryNumber T>
  void number(T value) {
    value = little_endian(value);
    sink_(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void size(std::size_t value) { number(static_cast<std::uint64_t>(value)); }

  template <BinaryNumber T>
  void array(std::span<const T> values) {
    size(values.size());
    if constexpr (std::endian::native == std::endian::little) {
      sink_(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    } else {
      for (const T value : values) number(value);
    }
  }
  template <BinaryNumber T>
  void array(const std::vector<T>& values) {
    array(std::span<const T>(values));
  }
  void text(std::string_view value) {
    size(value.size());
    sink_(value.data(), value.size());
  }

 private:
  Sink sink_;
};

/// Reads back what BinaryWriter wrote. Nothing in the bytes is trusted: whatever does not fit in what is left, or is
/// not what the caller expects, is a DataError, and no array is allocated before its bytes are known to be there.
class BinaryReader {
 public:
  /// The name is for messages.
  BinaryReader(std::span<const char> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  [[noreturn]] void fail(const std::string& reason) const { throw DataError(name_, 0, reason); }
  void expect(bool condition, const char* what) const {
    if (!condition) fail(std::string("its content is inconsistent: ") + what);
  }

  template <BinaryNumber T>
  T number() {
    T value;
    std::memcpy(&value, take(1, sizeof(T)), sizeof(T));
    return little_endian(value);
  }
  std::size_t size() { return number<std::uint64_t>(); }
  /// A size that must not be above the bound.
  std::size_t size(std::size_t bound, const char* what) {
    const std::size_t value = size();
    expect(value <= bound, what);
    return value;
  }

  template <BinaryNumber T>
  std::vector<T> array() {
    return numbers<T>(size());
  }
  /// So many numbers, whose length does not stand before them.
  template <BinaryNumber T>
  std::vector<T> numbers(std::size_t count) {
    const char* from = take(count, sizeof(T));
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), from, count * sizeof(T));
    if constexpr (std::endian::native == std::endian::big) {
      for (T& value : values) value = little_endian(value);
    }
    return values;
  }
  /// An array that must have the given length.
  template <BinaryNumber T>
  std::vector<T> array(std::size_t expected, const char* what) {
    auto values = array<T>();
    expect(values.size() == expected, what);
    return values;
  }
  std::string_view text() {
    const std::size_t length = size();
    return {take(length, 1), length};
  }

  [[nodiscard]] std::size_t left() const { return bytes_.size(); }

 private:
  const char* take(std::size_t count, std::size_t width) {
    if (count > bytes_.size() / width) fail("its content is inconsistent: it ends too early");
    const char* from = bytes_.data();
    bytes_ = bytes_.subspan(count * width);
    return from;
  }

  std::span<const char> bytes_;
  std::string name_;
};

}  // namespace goblin
