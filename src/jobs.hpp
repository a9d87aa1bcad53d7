#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

namespace goblin {

/// Runs job(0), ..., job(count - 1) on so many threads (or as many as the machine gives), the caller's among them, each
/// thread taking the next job when it has done one. A job that gives false, or throws, is the last to be started; the
/// first exception is thrown again here when all threads are done. Gives whether all jobs gave true.
bool run_jobs(std::size_t count, std::size_t threads, const std::function<bool(std::size_t)>& job);

/// How many parts of so many things there are, the last one perhaps smaller.
inline std::size_t part_count(std::size_t count, std::size_t size) { return (count + size - 1) / size; }

/// Calls work(part, first, end) for parts of 0, ..., count - 1 on so many threads. The parts do not depend on the
/// threads, so neither do sums that are taken for each part and then added.
template <typename Work>
void run_parts(std::size_t count, std::size_t size, std::size_t threads, const Work& work) {
  const auto job = [&](std::size_t part) {
    work(part, part * size, std::min(count, (part + 1) * size));
    return true;
  };
  run_jobs(part_count(count, size), threads, std::ref(job));  // a reference takes no memory
}

}  // namespace goblin
