#pragma once

#include "serve/service.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>

namespace goblin::serve {

/// Those who want to be answered with what was learned up to some offset, and come before it was.
class Waits {
 public:
  using Clock = std::chrono::steady_clock;
  using Then = std::function<void(const std::optional<Problem>&)>;

  /// `then` is called as a task of the mailbox when everything up to the offset has been learned, or with the reason
  /// why not, when it has not been by that time.
  void wait_for(Offset offset, Clock::time_point until, Mailbox& mailbox, Then then);
  /// Everything up to here has been learned. Costs nothing where nobody waits.
  void reached(Offset learned);
  /// Those whose time has come are told how far learning is.
  void look_at_clock(Clock::time_point now, Offset learned);
  void tell_all(const Problem& problem);

 private:
  struct Waiting {
    Clock::time_point until;
    Mailbox* mailbox;
    Then then;
  };
  static constexpr Offset nobody = std::numeric_limits<Offset>::max();

  static void tell(Waiting waiting, const std::optional<Problem>& problem);

  std::mutex mutex_;
  std::multimap<Offset, Waiting> waiting_;
  std::atomic<Offset> first_ = nobody;  // of those that are waited for
};

}  // namespace goblin::serve
