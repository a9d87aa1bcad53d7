#pragma once

#include "goblin/graph/names.hpp"

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace goblin {

/// A number a node that takes long to find and is then kept, together with what it was found for: a number of four
/// bytes that is never 0. Several threads may find and keep at the same time. As all of them find the same, it does not
/// matter who is first.
class KeptPrecisions {
 public:
  explicit KeptPrecisions(std::size_t nodes) : cells_(nodes) {}

  /// 0 where nothing was found for it.
  [[nodiscard]] double find(NodeId node, std::uint32_t found_for) const {
    const std::uint64_t cell = cells_[node].value.load(std::memory_order_relaxed);
    if (cell >> 32U != found_for) return 0.0;
    const auto bits = static_cast<std::uint32_t>(cell);
    float value = 0.0F;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  /// Keeps a positive number, rounded down, and gives what is kept.
  double keep(NodeId node, std::uint32_t found_for, double number) const {
    auto value = static_cast<float>(number);
    if (value > number) value = std::nextafter(value, 0.0F);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    cells_[node].value.store(std::uint64_t{found_for} << 32U | bits, std::memory_order_relaxed);
    return value;
  }

  void resize(std::size_t nodes) { cells_.resize(nodes); }
  void clear() {
    for (const Cell& cell : cells_) cell.value = 0;
  }
  [[nodiscard]] std::size_t bytes() const { return cells_.capacity() * sizeof(Cell); }

 private:
  struct Cell {
    Cell() = default;
    Cell(const Cell& other) : value(other.value.load(std::memory_order_relaxed)) {}
    Cell& operator=(const Cell&) = delete;
    ~Cell() = default;

    mutable std::atomic<std::uint64_t> value = 0;
  };

  std::vector<Cell> cells_;
};

}  // namespace goblin
