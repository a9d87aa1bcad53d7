#pragma once

#include <mutex>
#include <nanobind/nanobind.h>

/// Python threads share a bandit, and the bandit works without the GIL; SharedBandit sees to it that they may. Nobody
/// ever waits for a lock with the GIL held, so a thread that holds a lock may wait for the GIL.
namespace goblin::python {

/// Does work without the GIL, and gives what it gives. The work must not touch Python.
template <typename Work>
auto without_gil(Work work) {
  const nanobind::gil_scoped_release released;
  return work();
}

/// Waits for the mutex without the GIL, and gives it when it has both. While it is held, run nobody else's Python code:
/// that could call the same bandit, and wait for ever.
[[nodiscard]] inline std::unique_lock<std::mutex> lock_with_gil(std::mutex& mutex) {
  return without_gil([&] { return std::unique_lock(mutex); });
}

}  // namespace goblin::python
