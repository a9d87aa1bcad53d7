#pragma once

#include "goblin/random.hpp"

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace goblin::cluster {

/// A random order of the list, the same on every platform (std::shuffle is not).
template <typename T>
void shuffle(std::vector<T>& list, Random& random) {
  for (std::size_t left = list.size(); left > 1; --left) std::swap(list[left - 1], list[random.below(left)]);
}

/// 0, 1, ..., count - 1 in random order.
template <typename T>
[[nodiscard]] std::vector<T> random_order(std::size_t count, Random& random) {
  std::vector<T> order(count);
  std::iota(order.begin(), order.end(), T{0});
  shuffle(order, random);
  return order;
}

}  // namespace goblin::cluster
