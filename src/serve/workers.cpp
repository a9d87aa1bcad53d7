#include "serve/workers.hpp"

#include <utility>

namespace goblin::serve {

Workers::Workers(std::size_t threads, std::size_t most_waiting) : most_waiting_(most_waiting) {
  for (std::size_t thread = 0; thread < threads; ++thread) {
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

Workers::~Workers() {
  for (auto& thread : threads_) thread.request_stop();
  threads_.clear();
}

bool Workers::take(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= most_waiting_) return false;
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

void Workers::work(const std::stop_token& stop) {
  for (;;) {
    std::function<void()> next;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    next();
  }
}

}  // namespace goblin::serve
