#include "signals.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

namespace goblin::app {
namespace {

volatile std::sig_atomic_t noted = 0;

/// A signal that comes just before a read would be missed by it, so the handler also writes into this pipe, and whoever
/// waits for input waits for the pipe as well. It is made once and stays.
std::array<int, 2> wake_up = {-1, -1};

void remember_signal(int signal) {
  const int before = errno;
  noted = signal;
  const char byte = 0;
  static_cast<void>(::write(wake_up[1], &byte, 1));
  errno = before;
}

void make_pipe() {
  if (wake_up[0] < 0 && ::pipe2(wake_up.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw std::runtime_error("a pipe cannot be made");
  }
  for (char byte = 0; ::read(wake_up[0], &byte, 1) == 1;) continue;  // of signals that are long gone
}

}  // namespace

StopOnSignal::StopOnSignal() {
  noted = 0;
  make_pipe();
  struct sigaction action {};
  action.sa_handler = remember_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, &before_interrupt_);
  ::sigaction(SIGTERM, &action, &before_terminate_);
}

StopOnSignal::~StopOnSignal() {
  ::sigaction(SIGINT, &before_interrupt_, nullptr);
  ::sigaction(SIGTERM, &before_terminate_, nullptr);
}

SurviveClosedPipe::SurviveClosedPipe() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before_);
}

SurviveClosedPipe::~SurviveClosedPipe() { ::sigaction(SIGPIPE, &before_, nullptr); }

int noted_signal() { return noted; }

const char* name_of_signal(int signal) { return signal == SIGTERM ? "SIGTERM" : "SIGINT"; }

std::size_t read_interruptibly(int descriptor, std::span<char> bytes, int other) {
  for (;;) {
    std::array<pollfd, 3> waiting = {pollfd{descriptor, POLLIN, 0}, pollfd{wake_up[0], POLLIN, 0},
                                     pollfd{other, POLLIN, 0}};
    const int ready = ::poll(waiting.data(), waiting.size(), -1);
    if (interrupted() || waiting[2].revents != 0) return 0;
    if (ready < 0 && errno == EINTR) continue;
    const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) throw std::system_error(errno, std::generic_category(), "cannot be read");
    return static_cast<std::size_t>(count);
  }
}

InterruptibleInput::int_type InterruptibleInput::underflow() {
  const std::size_t count = read_interruptibly(STDIN_FILENO, block_);  // the stream is bad if it throws
  if (count == 0) return traits_type::eof();
  setg(block_.data(), block_.data(), block_.data() + count);
  return traits_type::to_int_type(*gptr());
}

std::streamsize InterruptibleInput::showmanyc() {
  pollfd waiting = {STDIN_FILENO, POLLIN, 0};
  return ::poll(&waiting, 1, 0) > 0 ? 1 : 0;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace goblin::app
