#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace goblin::app {

/// A bar on standard error with speed and time left, where that is a terminal; silent elsewhere. advance and show may
/// be called from several threads.
class Progress {
 public:
  /// The unit is what is counted: "rounds"; of bytes, it shows megabytes. A total of 0 is not known yet.
  Progress(std::string unit, std::uint64_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Wipes the bar away.
  ~Progress();

  void advance() { show(++done_); }
  /// One that needed no work: it counts as done, but not for the speed.
  void skip() {
    ++skipped_;
    show(++done_);
  }
  void show(std::uint64_t done);
  void set_total(std::uint64_t total) { total_ = total; }

 private:
  using Clock = std::chrono::steady_clock;

  std::string unit_;
  std::atomic<std::uint64_t> total_;
  bool terminal_;
  Clock::time_point begin_;
  Clock::time_point drawn_;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> skipped_ = 0;
  std::mutex drawing_;
};

}  // namespace goblin::app
