#pragma once

#include "goblin/graph/names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace goblin {

class BinaryReader;
class BinaryWriter;

/// The slots whose residual is larger than what is allowed, so that the largest can be settled first. A slot has a unit
/// that its residual is measured in.
///
/// A slot waits in level k if its residual was between 2^k and 2^(k+1) times what is allowed when it was last offered;
/// the last level has no upper end. A residual that grew moves its slot up at once, one that shrank is only noticed
/// when its slot is taken. Every call is O(1), and a slot waits once at most.
class ResidualQueue {
 public:
  /// The slot after all others, which does not wait.
  void add_slot(std::size_t slot, double unit) {
    places_.resize(slot + 1);
    places_[slot] = {.scale = 1.0 / (unit * unit)};
  }
  /// The last slot takes the place of one that goes.
  void remove_slot(std::size_t slot);
  /// Takes away the last slots.
  void keep_first(std::size_t count) {
    while (places_.size() > count) remove_slot(places_.size() - 1);
  }
  /// Offer the slot again afterwards.
  void set_unit(std::size_t slot, double unit) { places_[slot].scale = 1.0 / (unit * unit); }

  /// The largest squared residual that is allowed, in units. Nobody waits afterwards: offer all slots again.
  void restart(double allowed_squared);
  [[nodiscard]] double allowed_squared() const { return allowed_squared_; }

  /// Lets a slot wait if its squared residual is above what is allowed.
  void offer(std::size_t slot, double squared_residual) {
    const double squared = squared_residual * places_[slot].scale;
    places_[slot].squared = squared_residual;
    if (squared <= allowed_squared_) {
      // One that waits is left where it is: whoever takes it will see.
      if (places_[slot].level == 0) largest_at_rest_ = std::max(largest_at_rest_, squared);
      return;
    }
    wait(slot, squared);
  }
  /// The squared residual as it was last offered.
  [[nodiscard]] double squared_residual(std::size_t slot) const { return places_[slot].squared; }
  [[nodiscard]] bool allows(std::size_t slot, double squared_residual) const {
    return squared_residual * places_[slot].scale <= allowed_squared_;
  }
  /// Asks the machine for what `offer` will look at.
  void prefetch(std::size_t slot) const { __builtin_prefetch(&places_[slot]); }

  [[nodiscard]] bool empty() const { return top_ == 0; }
  /// Where the largest residual waits: one less for each time it falls by half, once it is below the last level, which
  /// has no upper end. 0 if nobody waits.
  [[nodiscard]] std::size_t highest_level() const { return top_; }
  /// A slot of the highest level, which no longer waits.
  std::size_t take();

  /// An upper bound of all squared residuals, in units. `squared_residual(slot)` is called for the slots of the highest
  /// level.
  template <typename SquaredResidual>
  [[nodiscard]] double largest_squared(SquaredResidual squared_residual) const;

  [[nodiscard]] std::size_t bytes() const;
  void save(BinaryWriter& out) const;
  /// For as many slots as were added.
  void load(BinaryReader& in);

 private:
  static constexpr std::size_t level_count = 32;

  struct Place {
    std::uint8_t level = 0;  // one more than the level, 0 for a slot that does not wait
    NodeId index = 0;        // in that level
    double scale = 1.0;      // one over the squared unit
    double squared = 0.0;    // residual, when it was last offered
  };

  void wait(std::size_t slot, double squared);
  void remove(std::size_t slot);
  void lower_top();

  std::array<std::vector<NodeId>, level_count> levels_;
  std::vector<Place> places_;  // of the slots
  std::size_t top_ = 0;        // one more than the highest level where somebody waits
  double allowed_squared_ = 0.0;
  double largest_at_rest_ = 0.0;  // no squared residual of a slot that does not wait is above
};

template <typename SquaredResidual>
double ResidualQueue::largest_squared(SquaredResidual squared_residual) const {
  double largest = largest_at_rest_;
  if (empty()) return largest;
  // Those below the highest level are below its lower end.
  const auto scale = static_cast<double>(std::uint64_t{1} << (top_ - 1));
  largest = largest < allowed_squared_ * scale * scale ? allowed_squared_ * scale * scale : largest;
  for (const NodeId slot : levels_[top_ - 1]) {
    const double squared = squared_residual(slot) * places_[slot].scale;
    if (squared > largest) largest = squared;
  }
  return largest;
}

}  // namespace goblin
