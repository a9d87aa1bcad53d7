#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <numeric>
#include <sys/resource.h>
#include <vector>

/// What the benchmarks measure with: clocks, memory, and what is made of many times.
namespace goblin::bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

inline double seconds_by(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds that this thread has computed. On a busy machine the clock on the wall also counts the time in which others
/// had the processor.
inline double thread_seconds() { return seconds_by(CLOCK_THREAD_CPUTIME_ID); }

/// Seconds that all threads of this process have computed.
inline double process_seconds() { return seconds_by(CLOCK_PROCESS_CPUTIME_ID); }

/// The most memory that the process has had, in bytes.
inline double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

/// The value that a share of all values is not above: 0.5 for the median, 1 for the largest.
inline double quantile(std::vector<double> values, double share) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

inline double average(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace goblin::bench
