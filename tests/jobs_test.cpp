#include "jobs.hpp"

#include <array>
#include <cstddef>
#include <pthread.h>

#include <gtest/gtest.h>

namespace goblin {
namespace jobs_test {

/// While it lives no thread can be made: its stack would be larger than all addresses there are.
class NoNewThreads {
 public:
  NoNewThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_getattr_default_np(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 47U);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  NoNewThreads(const NoNewThreads&) = delete;
  NoNewThreads& operator=(const NoNewThreads&) = delete;
  ~NoNewThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

TEST(Jobs, are_done_by_the_threads_there_are) {
  std::array<int, 100> done = {};
  const NoNewThreads none;
  EXPECT_TRUE(run_jobs(done.size(), 4, [&](std::size_t k) { return ++done[k] == 1; }));
  for (const int times : done) EXPECT_EQ(times, 1);
}

}  // namespace jobs_test
}  // namespace goblin
