#include "phase_fair_lock.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace goblin {
namespace phase_fair_lock_test {

template <typename Lock>
class FairLock : public testing::Test {};
using Locks = testing::Types<PhaseFairLock, ReadMostlyLock>;
TYPED_TEST_SUITE(FairLock, Locks);

TYPED_TEST(FairLock, readers_see_what_one_writer_wrote) {
  TypeParam lock;
  std::array<int, 64> numbers{};
  std::atomic<bool> differ = false;
  std::vector<std::jthread> threads;
  for (int writer = 0; writer < 2; ++writer) {
    threads.emplace_back([&] {
      for (int k = 0; k < 2000; ++k) {
        const std::lock_guard alone(lock);
        for (int& number : numbers) ++number;
      }
    });
  }
  for (int reader = 0; reader < 2; ++reader) {
    threads.emplace_back([&] {
      for (int k = 0; k < 5000; ++k) {
        const std::shared_lock beside_others(lock);
        for (const int number : numbers) differ = differ || number != numbers.front();
      }
    });
  }
  threads.clear();
  EXPECT_FALSE(differ);
  EXPECT_EQ(numbers.front(), 4000);
}

TYPED_TEST(FairLock, readers_are_there_at_the_same_time) {
  TypeParam lock;
  std::atomic<int> inside = 0;
  std::vector<std::jthread> threads;
  for (int reader = 0; reader < 3; ++reader) {
    threads.emplace_back([&] {
      const std::shared_lock beside_others(lock);
      ++inside;
      while (inside < 3) std::this_thread::yield();
    });
  }
  threads.clear();
  EXPECT_EQ(inside, 3);
}

/// Both without pause, until each has had it often enough while the others wanted it too.
TYPED_TEST(FairLock, nobody_starves) {
  constexpr std::size_t enough = 1000;
  TypeParam lock;
  std::array<std::atomic<std::size_t>, 4> counts = {};
  const auto all_have_enough = [&] {
    return std::all_of(counts.begin(), counts.end(), [](const auto& count) { return count >= enough; });
  };
  std::vector<std::jthread> threads;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    threads.emplace_back([&, k] {
      for (; !all_have_enough(); ++counts[k]) {
        // Held until the next has come, so that there is always somebody.
        if (k == 0) {
          const std::lock_guard alone(lock);
          std::this_thread::yield();
        } else {
          const std::shared_lock beside_others(lock);
          std::this_thread::yield();
        }
      }
    });
  }
  threads.clear();
  EXPECT_TRUE(all_have_enough());
}

TEST(PhaseFairLock, a_writer_knows_of_readers_that_wait) {
  PhaseFairLock lock;
  lock.lock();
  EXPECT_FALSE(lock.readers_wait());
  std::atomic<bool> read = false;
  std::jthread reader([&] {
    const std::shared_lock beside_others(lock);
    read = true;
  });
  while (!lock.readers_wait()) std::this_thread::yield();
  EXPECT_FALSE(read);
  // The reader comes first, though the writer does not wait.
  lock.unlock();
  lock.lock();
  EXPECT_TRUE(read);
  EXPECT_FALSE(lock.readers_wait());
  lock.unlock();
}

}  // namespace phase_fair_lock_test
}  // namespace goblin
