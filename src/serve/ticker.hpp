#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace goblin::serve {

/// Calls something at once and then again and again, with a pause in between, on a thread of its own.
class Ticker {
 public:
  Ticker(std::chrono::milliseconds pause, std::function<void()> work)
      : pause_(pause), work_(std::move(work)), thread_([this] { run(); }) {}
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;
  /// Waits for the call that is under way.
  ~Ticker() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      lock.unlock();
      work_();
      lock.lock();
      wake_.wait_for(lock, pause_, [&] { return stop_; });
    }
  }

  std::chrono::milliseconds pause_;
  std::function<void()> work_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace goblin::serve
