#pragma once

#include <cstddef>
#include <limits>

namespace goblin {

/// A number of bytes that was computed as a real number, because it may be beyond all bounds: then the largest.
inline std::size_t byte_count(double bytes) {
  constexpr auto largest = std::numeric_limits<std::size_t>::max();
  return bytes < static_cast<double>(largest) ? static_cast<std::size_t>(bytes) : largest;
}

}  // namespace goblin
