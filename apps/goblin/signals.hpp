#pragma once

#include <csignal>
#include <cstddef>
#include <span>
#include <streambuf>
#include <vector>

namespace goblin::app {

/// While it lives, the first SIGINT (Ctrl-C) or SIGTERM is only noted; a second of the same kind ends the program
/// as usual.
class StopOnSignal {
 public:
  StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  ~StopOnSignal();

 private:
  struct sigaction before_interrupt_ {};
  struct sigaction before_terminate_ {};
};

/// While it lives, writing to a pipe that the reader has closed fails with EPIPE and does not end the program.
class SurviveClosedPipe {
 public:
  SurviveClosedPipe();
  SurviveClosedPipe(const SurviveClosedPipe&) = delete;
  SurviveClosedPipe& operator=(const SurviveClosedPipe&) = delete;
  ~SurviveClosedPipe();

 private:
  struct sigaction before_ {};
};

/// The signal that was noted since the last StopOnSignal was made; 0 if none was.
[[nodiscard]] int noted_signal();

[[nodiscard]] inline bool interrupted() { return noted_signal() != 0; }

/// The exit code of a program that a signal stopped.
[[nodiscard]] inline int exit_code_of(int signal) { return 128 + signal; }

/// "SIGINT", "SIGTERM".
[[nodiscard]] const char* name_of_signal(int signal);

/// Waits for bytes and reads them: how many, and 0 at the end, or if a signal was noted, or something can be read from
/// `other`, before any came. Throws std::system_error if they cannot be read.
[[nodiscard]] std::size_t read_interruptibly(int descriptor, std::span<char> bytes, int other = -1);

/// Standard input that comes to its end when a signal is noted, even while it waits for something to read. (std::cin
/// goes on waiting.)
class InterruptibleInput : public std::streambuf {
 public:
  InterruptibleInput() : block_(std::size_t{1} << 16U) {}

 protected:
  int_type underflow() override;
  /// Whether there is something to read at once.
  std::streamsize showmanyc() override;

 private:
  std::vector<char> block_;
};

/// The time that has passed, in seconds since some moment.
[[nodiscard]] double seconds_now();
/// The processor time that the calling thread has taken, in seconds. Simulations are measured by it: each runs on one
/// thread, and what else the machine does adds little to it.
[[nodiscard]] double processor_seconds();

}  // namespace goblin::app
