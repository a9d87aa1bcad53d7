#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace goblin::serve {

/// Tells things apart that are not meant to be alike: FNV-1a, of 64 bits. (Not a CRC: that of bytes with their own CRC
/// behind them is the same for all.)
class Checksum {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) value_ = (value_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  }
  template <typename Number>
  void add_number(Number number) {
    add({reinterpret_cast<const char*>(&number), sizeof number});
  }
  template <typename Number>
  void add_all(std::span<const Number> numbers) {
    add_number(numbers.size());
    add({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

[[nodiscard]] inline std::uint64_t checksum_of(std::string_view bytes) {
  Checksum checksum;
  checksum.add(bytes);
  return checksum.value();
}

}  // namespace goblin::serve
