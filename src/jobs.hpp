#pragma once

#include <cstddef>
#include <functional>

namespace goblin {

/// Runs job(0), ..., job(count - 1) on so many threads, the caller's among them, each thread taking the next job when
/// it has done one. A job that gives false, or throws, is the last to be started; the first exception is thrown again
/// here when all threads are done. Gives whether all jobs gave true.
bool run_jobs(std::size_t count, std::size_t threads, const std::function<bool(std::size_t)>& job);

}  // namespace goblin
