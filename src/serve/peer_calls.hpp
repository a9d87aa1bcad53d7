#pragma once

#include "serve/peers.hpp"
#include "serve/workers.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace goblin::serve {

/// Calls that wait for other servers. Each server has threads and a queue of its own, so that one that does not answer
/// keeps nobody waiting who asks another one. Any thread may call any function.
class PeerCalls {
 public:
  using Clock = std::chrono::steady_clock;

  /// `peers` may be nullptr, if nobody is asked.
  explicit PeerCalls(Peers* peers) : peers_(peers) {}
  PeerCalls(const PeerCalls&) = delete;
  PeerCalls& operator=(const PeerCalls&) = delete;
  /// Calls that wait are answered with a problem, within a second or two.
  ~PeerCalls() { end_by(Clock::now()); }

  /// `done` gets the answer, in another thread. Whether it was taken; it is not if too many wait already.
  [[nodiscard]] bool ask(Question question, std::function<void(Result<Reply>)> done);
  /// From then on nobody waits.
  void end_by(Clock::time_point end) { end_ = end; }

 private:
  struct Line {
    std::unique_ptr<Workers> workers;
    Clock::time_point used;
  };

  Peers* peers_;
  std::atomic<Clock::time_point> end_ = Clock::time_point::max();
  std::mutex mutex_;
  std::map<std::string, Line> lines_;  // by who is asked; empty: nobody knows whom to ask
};

}  // namespace goblin::serve
