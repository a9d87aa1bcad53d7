#include "interrupt.hpp"

#include <chrono>

namespace goblin::app {
namespace {

volatile std::sig_atomic_t noted = 0;

}  // namespace

StopOnInterrupt::StopOnInterrupt() {
  noted = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { noted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, &before_);
}

StopOnInterrupt::~StopOnInterrupt() { ::sigaction(SIGINT, &before_, nullptr); }

bool interrupted() { return noted != 0; }

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace goblin::app
