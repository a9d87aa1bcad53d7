#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace goblin {

/// Counts how many different slots were added since the last restart. Every call is O(1), four bytes a slot.
class DistinctSlots {
 public:
  void restart() {
    count_ = 0;
    if (turn_ == std::numeric_limits<std::uint32_t>::max()) {
      std::fill(turns_.begin(), turns_.end(), 0);
      turn_ = 0;
    }
    ++turn_;
  }
  void add(std::size_t slot) {
    if (slot >= turns_.size()) turns_.resize(slot + 1, 0);
    count_ += turns_[slot] != turn_ ? 1 : 0;
    turns_[slot] = turn_;
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return turns_.capacity() * sizeof(std::uint32_t); }

 private:
  std::vector<std::uint32_t> turns_;  // in which a slot was added the last time
  std::uint32_t turn_ = 1;
  std::size_t count_ = 0;
};

}  // namespace goblin
