#pragma once

#include "serve/service.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goblin::serve {

/// A number that one thread counts and others may read at any time: no two threads write to it.
class Counter {
 public:
  void add(std::uint64_t amount = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

/// How long calls took, and how they ended: of one call, in one thread.
struct CallMetrics {
  /// Bucket b has the calls that took at most 10 us * 2^b; the last one all that took longer.
  static constexpr std::size_t buckets = 22;
  /// Statuses, each with a counter of its own; others share the last.
  static constexpr std::array<int, 20> statuses = {200, 304, 400, 401, 403, 404, 405, 408, 409, 410,
                                                   411, 413, 415, 429, 431, 500, 503, 507, 100, 0};

  std::array<Counter, buckets> times;
  std::array<Counter, statuses.size()> ended;
  Counter nanoseconds;

  void count(int status, std::chrono::nanoseconds time);
};

/// What one thread that talks to callers counts. Whoever shows it adds the threads up, so that nobody waits.
struct ThreadMetrics {
  explicit ThreadMetrics(std::size_t calls) : of_call(calls) {}
  std::vector<CallMetrics> of_call;
  Counter connections_opened;
  Counter connections_closed;
  Counter connections_refused;
  Counter timeouts;
  Counter bytes_read;
  Counter bytes_written;
};

/// The counters of all threads.
class Metrics {
 public:
  /// Of calls with these names.
  Metrics(std::vector<std::string> calls, std::size_t threads);

  [[nodiscard]] ThreadMetrics& of_thread(std::size_t thread) { return *threads_[thread]; }
  /// In the text format of Prometheus, with all of the status.
  void append_prometheus(std::string& out, const Status& status, double uptime) const;
  /// "requests": how many of each call, how many with an error, and how long they took, in seconds; "times" has
  /// [from, to, count] for all durations that occurred, so that whoever asks twice knows those in between.
  void append_requests(std::string& out) const;

 private:
  struct Sum;
  [[nodiscard]] Sum sum_of(std::size_t call) const;
  std::vector<std::string> calls_;
  std::vector<std::unique_ptr<ThreadMetrics>> threads_;
};

}  // namespace goblin::serve
