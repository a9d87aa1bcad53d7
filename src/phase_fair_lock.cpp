#include "phase_fair_lock.hpp"

#include "mixed.hpp"

namespace goblin {
namespace {

constexpr int spins = 200;  // some microseconds

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Tries for a while, which is shorter than falling asleep and being woken.
template <typename Try>
bool tries(Try attempt) {
  for (int k = 0; k < spins; ++k) {
    if (attempt()) return true;
    pause();
  }
  return false;
}

std::size_t part_of_this_thread(std::size_t parts) {
  thread_local const char here = 0;
  return mixed(reinterpret_cast<std::uintptr_t>(&here)) % parts;
}

}  // namespace

void PhaseFairLock::lock() {
  if (tries([this] { return try_lock(); })) return;
  std::unique_lock lock(mutex_);
  // From here on new readers wait; those who came before finish.
  may_write_.wait(lock, [this, number = next_writer_++] { return writer_ == number && !writing_ && reading_ == 0; });
  ++writer_;
  writing_ = true;
}

bool PhaseFairLock::try_lock() {
  const std::lock_guard lock(mutex_);
  if (writing_ || reading_ > 0 || writers_wait()) return false;
  writing_ = true;
  return true;
}

/// All readers that wait come in, whoever else wants to write.
void PhaseFairLock::unlock() {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  ++phase_;
  reading_ += readers_waiting_;
  if (readers_waiting_ > 0) may_read_.notify_all();
  readers_waiting_ = 0;
  if (reading_ == 0 && writers_wait()) may_write_.notify_all();
}

bool PhaseFairLock::try_lock_shared() {
  const std::lock_guard lock(mutex_);
  if (writing_ || writers_wait()) return false;
  ++reading_;
  return true;
}

void PhaseFairLock::lock_shared() {
  if (tries([this] { return try_lock_shared(); })) return;
  std::unique_lock lock(mutex_);
  if (!writing_ && !writers_wait()) {
    ++reading_;
    return;
  }
  ++readers_waiting_;  // the next writer who is done counts it in
  may_read_.wait(lock, [this, phase = phase_] { return phase_ != phase; });
}

void PhaseFairLock::unlock_shared() {
  const std::lock_guard lock(mutex_);
  if (--reading_ == 0 && writers_wait()) may_write_.notify_all();
}

bool PhaseFairLock::readers_wait() const {
  const std::lock_guard lock(mutex_);
  return readers_waiting_ > 0;
}

void ReadMostlyLock::lock() {
  for (PhaseFairLock& part : parts_) part.lock();
}

void ReadMostlyLock::unlock() {
  for (PhaseFairLock& part : parts_) part.unlock();
}

void ReadMostlyLock::lock_shared() { parts_[part_of_this_thread(parts_.size())].lock_shared(); }

void ReadMostlyLock::unlock_shared() { parts_[part_of_this_thread(parts_.size())].unlock_shared(); }

}  // namespace goblin
