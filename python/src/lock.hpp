#pragma once

#include <mutex>
#include <nanobind/nanobind.h>
#include <shared_mutex>

namespace goblin::python {

/// Many readers or one writer, in the order they come: a stream of readers does not keep a writer waiting for ever.
class FairSharedMutex {
 public:
  void lock() {
    const std::lock_guard turn(turnstile_);
    mutex_.lock();
  }
  bool try_lock() {
    const std::unique_lock turn(turnstile_, std::try_to_lock);
    return turn.owns_lock() && mutex_.try_lock();
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

/// Does work under a lock (std::shared_lock or std::unique_lock) and without the GIL. Nobody ever waits for the lock
/// with the GIL held, so a thread that holds the lock may wait for the GIL. The work must not touch Python.
template <template <typename> typename Lock, typename Work>
void work_under(FairSharedMutex& mutex, Work work) {
  const nanobind::gil_scoped_release released;
  const Lock<FairSharedMutex> lock(mutex);
  work();
}

/// For work on Python's objects and the bandit together: holds both the lock and the GIL.
class LockWithGil {
 public:
  explicit LockWithGil(FairSharedMutex& mutex) : lock_(mutex, std::try_to_lock) {
    if (lock_.owns_lock()) return;
    const nanobind::gil_scoped_release released;
    lock_.lock();
  }

 private:
  std::unique_lock<FairSharedMutex> lock_;
};

}  // namespace goblin::python
