#include "serve/clock.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

namespace goblin::serve {
namespace {

std::int64_t milliseconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

Clocks Clocks::of_the_machine() {
  return {.wall = [] { return milliseconds(CLOCK_REALTIME); }, .steady = [] { return milliseconds(CLOCK_BOOTTIME); }};
}

LogClock::LogClock(Clocks clocks, std::int64_t last) : clocks_(std::move(clocks)), steady_base_(clocks_.steady()) {
  const std::int64_t wall = clocks_.wall();
  base_ = std::max(wall, last);
  behind_ = std::max<std::int64_t>(last - wall, 0);
  ahead_ = last > 0 ? std::max<std::int64_t>(wall - last, 0) : 0;
}

}  // namespace goblin::serve
