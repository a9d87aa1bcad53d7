#pragma once

#include "binary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace goblin {

/// The root mean square length of the latest 256 contexts, where none counts for more than ten times the median. So it
/// follows contexts that become longer or shorter, and a few that are far longer than the others hardly matter.
class TypicalLength {
 public:
  /// O(1), but for the first 256 contexts and then every 32nd.
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
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(latest_.size() / 2);
    std::nth_element(sorted.begin(), middle, end);
    const double most = 100.0 * *middle;
    double total = 0.0;
    for (const double squared : latest_) total += std::min(squared, most);
    value_ = std::sqrt(total / static_cast<double>(latest_.size()));
  }

  std::vector<double> latest_;  // squared
  std::size_t next_ = 0;        // which of them goes next
  double value_ = 0.0;
};

}  // namespace goblin
