#pragma once

#include "jobs.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

namespace goblin::offline {

/// Counts what is done, on any thread, and tells the caller's function on the caller's thread. If that throws, the
/// other threads stop at their next tick.
class Work {
 public:
  /// What the other threads throw then, and nobody sees: the caller gets what its function threw.
  struct Stopped : std::exception {};

  Work(std::size_t threads, std::function<void(double)> progress)
      : threads_(threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency())),
        progress_(std::move(progress)),
        owner_(std::this_thread::get_id()) {}

  /// So much is still to come, in whatever unit. It need not be exact.
  void expect(double amount) { expected_ += amount; }
  void tick(double amount) {
    double before = done_;
    while (!done_.compare_exchange_weak(before, before + amount)) {
    }
    if (stopped_) throw Stopped();
    if (!progress_ || std::this_thread::get_id() != owner_) return;
    shown_ = std::max(shown_, std::min(1.0, done_ / std::max(expected_.load(), 1e-300)));
    try {
      progress_(shown_);
    } catch (...) {
      stopped_ = true;
      throw;
    }
  }
  /// The jobs 0, ..., count - 1, on all threads.
  template <typename Job>
  void run(std::size_t count, const Job& job) const {
    run_jobs(count, threads_, [&](std::size_t k) {
      try {
        job(k);
      } catch (const Stopped&) {
        return false;
      }
      return true;
    });
  }

 private:
  std::size_t threads_;
  std::function<void(double)> progress_;
  std::thread::id owner_;
  std::atomic<double> expected_ = 0.0;
  std::atomic<double> done_ = 0.0;
  std::atomic<bool> stopped_ = false;
  double shown_ = 0.0;
};

}  // namespace goblin::offline
