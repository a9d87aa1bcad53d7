#pragma once

#include <csignal>

namespace goblin::app {

/// While it lives, the first Ctrl-C is only noted; the second ends the program as usual.
class StopOnInterrupt {
 public:
  StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
  ~StopOnInterrupt();

 private:
  struct sigaction before_ {};
};

/// Whether Ctrl-C was pressed since the last StopOnInterrupt was made.
[[nodiscard]] bool interrupted();

/// The exit code of a program that Ctrl-C stopped.
inline constexpr int interrupted_exit = 128 + SIGINT;

/// The clock that simulations are measured by.
[[nodiscard]] double seconds_now();

}  // namespace goblin::app
