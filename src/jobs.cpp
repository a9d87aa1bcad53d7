#include "jobs.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace goblin {

bool run_jobs(std::size_t count, std::size_t threads, const std::function<bool(std::size_t)>& job) {
  if (threads == 0) throw std::invalid_argument("threads: 0 (must be at least 1)");
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> whole = true;
  std::exception_ptr failure;
  std::mutex failure_lock;
  const auto work = [&] {
    for (std::size_t k = next++; k < count && whole; k = next++) {
      try {
        if (!job(k)) whole = false;
      } catch (...) {
        const std::lock_guard lock(failure_lock);
        if (!failure) failure = std::current_exception();
        whole = false;
      }
    }
  };
  std::vector<std::jthread> helpers;
  try {
    for (std::size_t k = 1; k < std::min(threads, count); ++k) helpers.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads are to be had: those there are do it, at least the caller's.
  } catch (const std::bad_alloc&) {
    // Nor where there is no memory for one.
  }
  work();
  helpers.clear();
  if (failure) std::rethrow_exception(failure);
  return whole;
}

}  // namespace goblin
