#include "phase_fair_lock.hpp"

#include "mixed.hpp"

namespace goblin {
namespace {

constexpr std::uint32_t one_reader = 4;
constexpr std::uint32_t writer_bits = 3;

/// Which part a thread reads through: its own variables lie elsewhere than those of others.
std::size_t part_of_this_thread(std::size_t parts) {
  thread_local const char here = 0;
  return mixed(reinterpret_cast<std::uintptr_t>(&here)) % parts;
}

}  // namespace

void PhaseFairLock::lock() {
  const std::uint32_t number = next_writer_.fetch_add(1);
  for (std::uint32_t turn = writer_.load(); turn != number; turn = writer_.load()) writer_.wait(turn);
  // From here on new readers wait; those who came before finish.
  const std::uint32_t before = arrived_.fetch_add(1 | (number & 1) << 1);
  for (std::uint32_t left = left_.load(); left != before; left = left_.load()) left_.wait(left);
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
  for (std::uint32_t now = arrived_.load(); (now & writer_bits) == writer; now = arrived_.load()) arrived_.wait(now);
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
