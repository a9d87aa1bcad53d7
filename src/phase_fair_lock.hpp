#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace goblin {

/// Many readers or one writer, and nobody starves: readers and writers take turns. A reader waits for one writer at the
/// most, a writer for those readers that came before it and for the writers before it, in the order they came. (The
/// ticket lock of Brandenburg and Anderson, "Reader-Writer Synchronization for Shared-Memory Multiprocessor Real-Time
/// Systems", 2009. std::shared_mutex lets a stream of readers keep a writer out for ever.)
///
/// Taking it costs a few atomic operations while nobody is in the way. Those who wait spin for some microseconds, then
/// sleep. While a writer spins, readers still come and go; only then it makes them wait for its turn. It fills a cache
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
  // Both count readers in fours. The two bits that this leaves in arrived_ say that a writer is there, and whether its
  // number is odd: a reader that waits for one writer does not mistake the next for it.
  std::atomic<std::uint32_t> arrived_ = 0;
  std::atomic<std::uint32_t> left_ = 0;
  std::atomic<std::uint32_t> next_writer_ = 0;
  std::atomic<std::uint32_t> writer_ = 0;  // whose turn it is
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
