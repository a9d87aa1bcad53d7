#include "offline/work.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace goblin::offline {
namespace work_test {

TEST(Work, gives_what_the_callers_function_threw_though_another_thread_stops_first) {
  using namespace std::chrono_literals;
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> other_stopped = false;
  Work work(2, [](double) { throw std::range_error("enough"); });
  work.expect(1.0);
  // Leaves a job only after the other thread has left its own.
  struct LeavesLast {
    bool is_last;
    std::atomic<bool>& other;
    ~LeavesLast() {
      if (!is_last) {
        other = true;
        return;
      }
      for (int waited = 0; !other && waited < 1000; ++waited) std::this_thread::sleep_for(1ms);
      std::this_thread::sleep_for(20ms);
    }
  };
  const auto tick_on = [&](std::size_t) {
    const LeavesLast leaves{std::this_thread::get_id() == caller, other_stopped};
    for (;;) work.tick(1.0);
  };
  EXPECT_THROW(work.run(2, tick_on), std::range_error);
}

}  // namespace work_test
}  // namespace goblin::offline
