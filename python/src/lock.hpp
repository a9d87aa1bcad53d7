#pragma once

#include <mutex>
#include <nanobind/nanobind.h>
#include <shared_mutex>

/// Python threads share a bandit, and the bandit works without the GIL, so it has a lock of its own. Nobody ever waits
/// for that lock with the GIL held: so a thread that holds the lock may wait for the GIL.
namespace goblin::python {

/// Many readers or one writer, in the order they come: a stream of readers does not keep a writer waiting for ever.
class FairSharedMutex {
 public:
  void lock() {
    const std::lock_guard turn(turnstile_);
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

  void lock_shared() {
    const std::lock_guard turn(turnstile_);
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::mutex turnstile_;
  std::shared_mutex mutex_;
};

using ReadLock = std::shared_lock<FairSharedMutex>;
using WriteLock = std::unique_lock<FairSharedMutex>;

/// Does work under a lock and without the GIL. The work must not touch Python.
template <typename Lock, typename Work>
void work_under(FairSharedMutex& mutex, Work work) {
  const nanobind::gil_scoped_release released;
  const Lock lock(mutex);
  work();
}

/// For work on Python's objects and the bandit together: waits for the lock without the GIL, and gives it when it has
/// both. While it is held, run nobody else's Python code: that could call the same bandit, and wait for ever.
template <typename Lock>
[[nodiscard]] Lock lock_with_gil(FairSharedMutex& mutex) {
  const nanobind::gil_scoped_release released;
  return Lock(mutex);
}

}  // namespace goblin::python
