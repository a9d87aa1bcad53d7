#include "belief/local/residual_queue.hpp"

#include "binary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace goblin {

void ResidualQueue::restart(double allowed_squared) {
  allowed_squared_ = allowed_squared;
  largest_at_rest_ = 0.0;
  for (auto& level : levels_) level.clear();
  for (Place& place : places_) place.level = 0;
  top_ = 0;
}

void ResidualQueue::wait(std::size_t slot, double squared) {
  const double ratio = allowed_squared_ > 0.0 ? squared / allowed_squared_ : std::numeric_limits<double>::infinity();
  const int level = std::isfinite(ratio) ? std::clamp<int>(std::ilogb(ratio) / 2, 0, level_count - 1)
                                         : static_cast<int>(level_count) - 1;
  Place& place = places_[slot];
  if (place.level > level) return;
  if (place.level > 0) remove(slot);
  levels_[level].push_back(static_cast<NodeId>(slot));
  place.level = static_cast<std::uint8_t>(level + 1);
  place.index = static_cast<NodeId>(levels_[level].size() - 1);
  top_ = std::max(top_, static_cast<std::size_t>(level) + 1);
}

/// The last one of its level takes its place.
void ResidualQueue::remove(std::size_t slot) {
  auto& level = levels_[places_[slot].level - 1];
  const NodeId last = level.back();
  level[places_[slot].index] = last;
  places_[last].index = places_[slot].index;
  places_[slot].level = 0;
  level.pop_back();
}

void ResidualQueue::lower_top() {
  while (top_ > 0 && levels_[top_ - 1].empty()) --top_;
}

std::size_t ResidualQueue::take() {
  const std::size_t slot = levels_[top_ - 1].back();
  remove(slot);
  lower_top();
  return slot;
}

void ResidualQueue::remove_slot(std::size_t slot) {
  if (places_[slot].level > 0) remove(slot);
  lower_top();
  const Place last = places_.back();
  places_.pop_back();
  if (slot == places_.size()) return;
  places_[slot] = last;
  if (last.level > 0) levels_[last.level - 1][last.index] = static_cast<NodeId>(slot);
}

std::size_t ResidualQueue::bytes() const {
  std::size_t total = places_.capacity() * sizeof(Place);
  for (const auto& level : levels_) total += level.capacity() * sizeof(NodeId);
  return total;
}

void ResidualQueue::save(BinaryWriter& out) const {
  out.number(allowed_squared_);
  out.number(largest_at_rest_);
  for (const auto& level : levels_) out.array(level);
}

void ResidualQueue::load(BinaryReader& in) {
  restart(in.number<double>());
  largest_at_rest_ = in.number<double>();
  in.expect(allowed_squared_ >= 0.0 && largest_at_rest_ >= 0.0, "the residuals that are allowed");
  for (std::size_t level = 0; level < level_count; ++level) {
    levels_[level] = in.array<std::uint32_t>();
    for (std::size_t index = 0; index < levels_[level].size(); ++index) {
      const NodeId slot = levels_[level][index];
      in.expect(slot < places_.size() && places_[slot].level == 0, "a node that waits");
      places_[slot].level = static_cast<std::uint8_t>(level + 1);
      places_[slot].index = static_cast<NodeId>(index);
    }
    if (!levels_[level].empty()) top_ = level + 1;
  }
}

}  // namespace goblin
