#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace goblin::serve {

/// Where time comes from; tests have their own.
struct Clocks {
  /// Milliseconds since 1970. May jump, when somebody sets the clock.
  std::function<std::int64_t()> wall;
  /// Milliseconds since some moment; goes on evenly, also while the machine sleeps.
  std::function<std::int64_t()> steady;

  [[nodiscard]] static Clocks of_the_machine();
};

/// A time that never goes back and does not jump: the wall's at the start, and from then on as much later as the steady
/// clock says.
class LogClock {
 public:
  /// `last` is the time of the newest record, 0 if there is none; the clock starts there if the wall is behind.
  LogClock(Clocks clocks, std::int64_t last);

  [[nodiscard]] std::int64_t now() const { return base_ + (clocks_.steady() - steady_base_); }
  /// Another clock has been there already: this one goes on from that time, if it is behind.
  void go_on_from(std::int64_t time) {
    if (const std::int64_t missing = time - now(); missing > 0) base_ += missing;
  }
  /// By how many milliseconds the wall was behind the newest record at the start; 0: it was not.
  [[nodiscard]] std::int64_t behind() const { return behind_; }
  /// By how many it was ahead of it; 0: it was not, or there was no record.
  [[nodiscard]] std::int64_t ahead() const { return ahead_; }

 private:
  Clocks clocks_;
  std::int64_t steady_base_;
  std::atomic<std::int64_t> base_;
  std::int64_t behind_;
  std::int64_t ahead_;
};

}  // namespace goblin::serve
