#pragma once

#include "binary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace goblin {

/// The length that three of four of the latest 256 contexts do not exceed. It follows contexts that become longer or
/// shorter, and a few that are far longer than the others do not matter.
class TypicalLength {
 public:
  /// O(1), but for every 32nd context.
  void observe(double squared_length) {
    if (latest_.size() < window) {
      latest_.push_back(squared_length);
    } else {
      latest_[next_] = squared_length;
      next_ = (next_ + 1) % window;
    }
    if (latest_.size() < window || next_ % 32 == 0) update();
  }

  /// 0 before the first context.
  [[nodiscard]] double value() const { return value_; }

  [[nodiscard]] std::size_t bytes() const { return latest_.capacity() * sizeof(double); }

  void save(BinaryWriter& out) const {
    out.array(latest_);
    out.size(next_);
    out.number(value_);
  }
  void load(BinaryReader& in) {
    latest_ = in.array<double>();
    next_ = in.size(window - 1, "the latest contexts");
    in.expect(latest_.size() <= window, "the latest contexts");
    for (const double squared : latest_) in.expect(squared >= 0.0 && std::isfinite(squared), "the latest contexts");
    value_ = in.number<double>();
    in.expect(value_ >= 0.0, "the latest contexts");
  }

 private:
  static constexpr std::size_t window = 256;

  void update() {
    std::array<double, window> sorted;
    const auto end = std::copy(latest_.begin(), latest_.end(), sorted.begin());
    const auto at = sorted.begin() + static_cast<std::ptrdiff_t>((latest_.size() - 1) * 3 / 4);
    std::nth_element(sorted.begin(), at, end);
    value_ = std::sqrt(*at);
  }

  std::vector<double> latest_;  // squared
  std::size_t next_ = 0;        // which of them goes next
  double value_ = 0.0;
};

}  // namespace goblin
