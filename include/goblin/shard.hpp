#pragma once

#include <cstddef>

namespace goblin {

/// One of several processes that share some work: number index = 0, ..., count - 1 of so many. Each does its own part.
struct Shard {
  std::size_t index = 0;
  std::size_t count = 1;
};

}  // namespace goblin
