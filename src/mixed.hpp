#pragma once

#include <cstdint>

namespace goblin {

/// Spreads numbers that differ in few bits, such as addresses. (Fibonacci hashing.)
constexpr std::uint64_t mixed(std::uint64_t number) { return number * 0x9E3779B97F4A7C15U >> 32; }

}  // namespace goblin
