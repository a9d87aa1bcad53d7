#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace goblin::serve {

/// A few threads for what takes long, so that threads that talk to callers never wait. The queue before them is
/// bounded.
class Workers {
 public:
  Workers(std::size_t threads, std::size_t most_waiting);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  /// Does what is waiting, and stops.
  ~Workers();

  /// Whether the work was taken; it is not if too much is waiting already. It must not throw.
  [[nodiscard]] bool take(std::function<void()> work);

 private:
  void work(const std::stop_token& stop);

  std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::jthread> threads_;
};

}  // namespace goblin::serve
