#pragma once

#include "goblin/graph/names.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace goblin {

/// Takes some places (ascending) out of a list. From the last of them on, each is filled with what is last in the list
/// then; so few places change, however long the list is.
template <typename T>
void remove_places(std::vector<T>& list, std::span<const NodeId> places) {
  for (std::size_t k = places.size(); k-- > 0;) {
    const T last = list.back();
    list.pop_back();
    if (places[k] < list.size()) list[places[k]] = last;
  }
}

/// The other way round, with what was at these places. Takes no memory.
template <typename T>
void put_back_places(std::vector<T>& list, std::span<const NodeId> places, std::span<const T> values) {
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (places[k] < list.size()) {
      list.push_back(list[places[k]]);
      list[places[k]] = values[k];
    } else {
      list.push_back(values[k]);
    }
  }
}

}  // namespace goblin
