#include "phase_fair_lock.hpp"

#include "mixed.hpp"

namespace goblin {
namespace {

constexpr std::uint32_t one_reader = 4;
constexpr std::uint32_t writer_bits = 3;
constexpr int spins = 200;  // some microseconds

constexpr std::uint32_t bits_of(std::uint32_t writer) { return 1 | (writer & 1) << 1; }

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

template <typename Done>
void wait_until(const std::atomic<std::uint32_t>& number, Done done) {
  for (int k = 0; k < spins; ++k) {
    if (done(number.load())) return;
    pause();
  }
  for (std::uint32_t now = number.load(); !done(now); now = number.load()) number.wait(now);
}

/// Which part a thread reads through: its own variables lie elsewhere than those of others.
std::size_t part_of_this_thread(std::size_t parts) {
  thread_local const char here = 0;
  return mixed(reinterpret_cast<std::uintptr_t>(&here)) % parts;
}

}  // namespace

void PhaseFairLock::lock() {
  for (int k = 0; k < spins; ++k) {
    if (try_lock()) return;
    pause();
  }
  const std::uint32_t number = next_writer_.fetch_add(1);
  wait_until(writer_, [number](std::uint32_t turn) { return turn == number; });
  // From here on new readers wait; those who came before finish.
  const std::uint32_t before = arrived_.fetch_add(bits_of(number));
  wait_until(left_, [before](std::uint32_t left) { return left == before; });
}

bool PhaseFairLock::try_lock() {
  std::uint32_t number = writer_.load();
  std::uint32_t arrived = arrived_.load();
  if (arrived != left_.load() || next_writer_.load() != number) return false;
  if (!next_writer_.compare_exchange_strong(number, number + 1)) return false;
  if (arrived_.compare_exchange_strong(arrived, arrived + bits_of(number))) return true;
  writer_.fetch_add(1);  // a reader came first
  writer_.notify_all();
  return false;
}

void PhaseFairLock::unlock() {
  arrived_.fetch_and(~writer_bits);
  arrived_.notify_all();
  writer_.fetch_add(1);
  writer_.notify_all();
}

void PhaseFairLock::lock_shared() {
  const std::uint32_t writer = arrived_.fetch_add(one_reader) & writer_bits;
  if (writer == 0) return;
  wait_until(arrived_, [writer](std::uint32_t arrived) { return (arrived & writer_bits) != writer; });
}

void PhaseFairLock::unlock_shared() {
  left_.fetch_add(one_reader);
  if ((arrived_.load() & writer_bits) != 0) left_.notify_all();
}

bool PhaseFairLock::readers_wait() const { return (arrived_.load() & ~writer_bits) != left_.load(); }

void ReadMostlyLock::lock() {
  for (PhaseFairLock& part : parts_) part.lock();
}

void ReadMostlyLock::unlock() {
  for (PhaseFairLock& part : parts_) part.unlock();
}

void ReadMostlyLock::lock_shared() { parts_[part_of_this_thread(parts_.size())].lock_shared(); }

void ReadMostlyLock::unlock_shared() { parts_[part_of_this_thread(parts_.size())].unlock_shared(); }

}  // namespace goblin
