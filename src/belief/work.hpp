#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace goblin {

/// The same progress, but never told less than before: work that is given up for another way begins anew, and a
/// residual may grow for a while.
inline std::function<void(double share)> never_back(std::function<void(double share)> progress) {
  if (!progress) return progress;
  return [progress = std::move(progress), told = std::make_shared<double>(0.0)](double share) {
    *told = std::max(*told, share);
    progress(*told);
  };
}

/// What an engine may use for a change of many things at once, and whom it tells how far it is.
struct Work {
  std::size_t threads = 1;
  /// The bytes that are free beside those which the engine said it needs (Engine::bulk_bytes and the like). Asked only
  /// by engines that could do with more; without it there are none.
  std::function<double()> spare_bytes = {};
  /// Told now and then the share of the work that is done, 0 to 1, by the thread that called the engine. What it throws
  /// stops the work.
  std::function<void(double share)> progress = {};

  void tell(double share) const {
    if (progress) progress(share);
  }
  /// The same for a part of the work, which begins and ends at these shares of the whole.
  [[nodiscard]] Work part(double begin, double end) const {
    Work result = *this;
    if (progress) {
      result.progress = [begin, end, whole = progress](double share) { whole(begin + share * (end - begin)); };
    }
    return result;
  }
};

}  // namespace goblin
