#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace goblin {

/// Many readers or one writer, and nobody starves: readers and writers take turns. A reader waits for one writer at the
/// most, a writer for those readers that came before it and for the writers before it, in the order they came. (The
/// idea is Brandenburg and Anderson's, "Reader-Writer Synchronization for Shared-Memory Multiprocessor Real-Time
/// Systems", 2009. std::shared_mutex lets a stream of readers keep a writer out for ever.)
///
/// Taking it costs a mutex that is held for some nanoseconds. Those who wait spin for some microseconds, then sleep.
/// While a writer spins, readers still come and go; only then it makes them wait for its turn. It begins at a cache
/// line, so that neighbours in an array do not slow each other down.
class alignas(64) PhaseFairLock {
 public:
  void lock();
  /// Whether it got the lock, which it does not wait for.
  bool try_lock();
  void unlock();
  void lock_shared();
  void unlock_shared();
  /// Whether readers wait for the writer, which asks.
  [[nodiscard]] bool readers_wait() const;

 private:
  [[nodiscard]] bool try_lock_shared();
  [[nodiscard]] bool writers_wait() const { return next_writer_ != writer_; }

  mutable std::mutex mutex_;  // for what follows, held for some nanoseconds
  std::condition_variable may_read_;
  std::condition_variable may_write_;
  bool writing_ = false;
  std::size_t reading_ = 0;
  std::size_t next_writer_ = 0;  // the numbers of writers that wait, and whose turn it is
  std::size_t writer_ = 0;
  std::size_t readers_waiting_ = 0;
  std::size_t phase_ = 0;  // how many writers are done
};

/// The same for what is read all the time and hardly ever written: readers in different threads touch different cache
/// lines, so any number of them take it at the same time at full speed. A writer takes all parts.
class ReadMostlyLock {
 public:
  void lock();
  void unlock();
  void lock_shared();
  /// From the thread that took it.
  void unlock_shared();

 private:
  std::array<PhaseFairLock, 32> parts_;
};

}  // namespace goblin
