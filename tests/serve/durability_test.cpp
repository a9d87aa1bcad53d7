#include "faulty_vfs.hpp"
#include "serve/sqlite.hpp"
#include "serve/sqlite_store.hpp"
#include "service_fixture.hpp"

#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <map>
#include <sqlite3.h>
#include <sys/mount.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace durability_test {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

class DurabilityTest : public testing::Test {
 protected:
  DurabilityTest() {
    options_.store = folder_ / "store";
    options_.snapshot_every = 1h;
    options_.vfs = vfs_.name();
    options_.default_reward = std::nullopt;
  }
  static Bandit bandit() { return Bandit::linucb_ind(named_cliques(), {.dimension = 3}); }
  std::unique_ptr<Service> start() { return std::make_unique<Service>(bandit(), nullptr, options_); }

  TemporaryFolder folder_;
  FaultyVfs vfs_;
  ServiceOptions options_;
};

TEST_F(DurabilityTest, what_was_acknowledged_survives_when_all_that_was_not_synced_is_lost) {
  std::map<std::string, double> rewarded;  // what was acknowledged
  std::map<std::string, std::size_t> decided;
  std::mutex mutex;
  for (unsigned life = 0; life < 8; ++life) {
    auto service = start();
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&, thread] {
        Caller caller(*service);
        for (std::uint64_t k = 0; !stop; ++k) {
          SelectRequest request = request_for(fmt::format("u{}", k % 12), k * 3 + thread);
          if (k % 3 == 0) request.event = fmt::format("e{}-{}-{}", life, thread, k);
          const auto decision = caller.select(request);
          if (std::holds_alternative<Problem>(decision)) return;
          const Decided& made = std::get<Decided>(decision);
          {
            const std::lock_guard lock(mutex);
            EXPECT_TRUE(decided.emplace(made.event, made.arm).second) << made.event;
          }
          const double reward = static_cast<double>(k % 5);
          if (std::holds_alternative<Problem>(caller.reward(made.event, reward))) return;
          const std::lock_guard lock(mutex);
          rewarded.emplace(made.event, reward);
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + 7 * life));
    if (life % 2 == 0) service->take_snapshot();
    vfs_.crash();
    for (std::thread& thread : threads) thread.join();
    service.reset();
    vfs_.restore(life);

    service = start();
    Caller caller(*service);
    std::size_t count = 0;
    std::map<Offset, int> rewards_of;
    SqliteStore::Options look{.folder = options_.store};
    for (const auto& [event, reward] : rewarded) {
      const Accepted again = good(caller.reward(event, reward));
      EXPECT_TRUE(again.repeated) << event << " was acknowledged and is lost";
    }
    for (const auto& [event, arm] : decided) {
      const auto result = caller.reward(event, -7.0);
      EXPECT_THAT(problem_of(result), testing::AnyOf("accepted", StartsWith("409"))) << event;
      if (std::holds_alternative<Accepted>(result)) rewarded[event] = -7.0;
    }
    service->wait_until_learned();
    const Bandit restarted = service->bandit().snapshot();
    service.reset();
    const SqliteStore store(look);
    Bandit whole = bandit();
    store.read(1, [&](const Record& record) {
      if (record.kind != RecordKind::reward) return true;
      EXPECT_EQ(++rewards_of[record.decision], 1) << "a reward is there twice";
      whole.update(record.user, record.context, record.reward);
      ++count;
      return true;
    });
    EXPECT_GE(count, rewarded.size());
    expect_same(restarted, whole);
    Database check(options_.store / "log.sqlite", {.read_only = true});
    Statement integrity(check, "PRAGMA integrity_check");
    ASSERT_TRUE(integrity.step());
    EXPECT_EQ(integrity.text(0), "ok");
  }
  EXPECT_GT(rewarded.size(), 20);
}

TEST_F(DurabilityTest, a_disk_that_fails_is_said_and_all_goes_on_when_it_works_again) {
  const auto service = start();
  Caller caller(*service);
  const Decided before = good(caller.select(request_for("u1", 1)));
  for (const int code : {SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC}) {
    vfs_.fail_with(code);
    EXPECT_THAT(problem_of(caller.select(request_for("u1", 2))), StartsWith("503 store-unavailable: "));
    EXPECT_THAT(problem_of(caller.reward(before.event, 1.0)), StartsWith("503 store-unavailable: "));
    EXPECT_THAT(problem_of(caller.put_edge("u1", "u7")), StartsWith("503 store-unavailable: "));
    EXPECT_THAT(problem_of(caller.select(request_for("somebody new", 2))), StartsWith("503 store-unavailable: "));
    EXPECT_THAT(service->status().trouble, HasSubstr("log.sqlite"));
    EXPECT_FALSE(service->status().ready);
    vfs_.fail_with(0);
    // By itself: nobody asks for anything.
    while (!service->status().trouble.empty()) std::this_thread::sleep_for(5ms);
    EXPECT_TRUE(service->status().ready);
  }
  EXPECT_EQ(service->status().end, 2) << "nothing of what failed is there";
  EXPECT_FALSE(good(caller.reward(before.event, 1.0)).repeated);
  good(caller.put_edge("u1", "u7"));
  good(caller.select(request_for("somebody new", 2)));
  service->wait_until_learned();
  EXPECT_EQ(service->bandit().rewards(), 1);
}

TEST_F(DurabilityTest, a_snapshot_that_could_not_be_saved_is_tried_again_soon) {
  options_.snapshot_again = 10ms;
  bool failed = false;
  // A snapshot is taken at once after a start that found something new in the log; the disk fails meanwhile, or, if
  // this thread is late, in the next life.
  for (int life = 0; life < 100 && !failed; ++life) {
    vfs_.fail_with(0);
    const auto service = start();
    vfs_.fail_with(SQLITE_FULL);
    for (int k = 0; k < 20 && !failed; ++k) {
      std::this_thread::sleep_for(5ms);
      failed = service->status().trouble.find("no snapshot could be saved") != std::string::npos;
    }
    vfs_.fail_with(0);
    while (!service->status().trouble.empty()) std::this_thread::sleep_for(5ms);
    Caller caller(*service);
    good(caller.select(request_for("u1", 1)));
    vfs_.fail_with(SQLITE_FULL);  // so that the last snapshot of this life is missing
  }
  EXPECT_TRUE(failed);
}

TEST_F(DurabilityTest, decisions_that_were_answered_first_are_written_when_the_disk_works_again) {
  options_.durable_decisions = false;
  const auto service = start();
  Caller caller(*service);
  vfs_.fail_with(SQLITE_FULL);
  std::vector<std::string> events;
  for (std::uint64_t k = 0; k < 10; ++k) events.push_back(good(caller.select(request_for("u1", k))).event);
  EXPECT_THAT(problem_of(caller.reward(events[0], 1.0)), StartsWith("503 store-unavailable"));
  vfs_.fail_with(0);
  while (service->status().end < 11) std::this_thread::sleep_for(5ms);
  for (const std::string& event : events) EXPECT_FALSE(good(caller.reward(event, 1.0)).repeated);
  EXPECT_EQ(service->status().end, 21);
}

TEST_F(DurabilityTest, nobody_waits_for_ever_behind_decisions_that_were_answered_first) {
  options_.durable_decisions = false;
  std::vector<std::string> events;
  {
    const auto service = start();
    Caller caller(*service);
    vfs_.fail_with(SQLITE_FULL);
    // More than fit into one transaction.
    for (std::uint64_t k = 0; k < 3'000; ++k) events.push_back(good(caller.select(request_for("u1", k))).event);
    while (service->status().trouble.empty()) std::this_thread::sleep_for(1ms);
    EXPECT_THAT(problem_of(caller.reward(events.back(), 1.0)), StartsWith("503 store-unavailable"));
    EXPECT_THAT(problem_of(caller.put_edge("u1", "u7")), StartsWith("503 store-unavailable"));
    events.push_back(good(caller.select(request_for("u1", 3'001))).event);
    vfs_.fail_with(0);
    while (service->status().end < 3'002) std::this_thread::sleep_for(5ms);
    for (const std::string& event : events) EXPECT_FALSE(good(caller.reward(event, 1.0)).repeated);
    EXPECT_EQ(service->status().end, 6'003);
    vfs_.fail_with(SQLITE_FULL);
    for (std::uint64_t k = 0; k < 3'000; ++k) good(caller.select(request_for("u1", k)));
  }  // and it ends
  vfs_.fail_with(0);
  EXPECT_EQ(start()->status().end, 6'003);
}

TEST(DiskFullTest, a_full_disk_is_said_and_what_was_acknowledged_stays) {
  const TemporaryFolder folder;
  const auto mounted = folder / "small";
  std::filesystem::create_directory(mounted);
  if (::mount("tmpfs", mounted.c_str(), "tmpfs", 0, "size=2m") != 0) GTEST_SKIP() << "mounting is not permitted here";
  std::size_t acknowledged = 0;
  {
    Service service(Bandit::linucb_ind(named_cliques(), {.dimension = 3}), nullptr,
                    {.store = mounted / "store", .default_reward = std::nullopt});
    Caller caller(service);
    std::string problem;
    for (std::uint64_t k = 0; k < 10'000; ++k) {
      SelectRequest request = request_for("u1", k);
      request.contexts.resize(30'000, 1.0 / 3.0);
      const auto result = caller.select(request);
      problem = problem_of(result);
      if (problem != "accepted") break;
      ++acknowledged;
    }
    EXPECT_THAT(problem,
                testing::AllOf(StartsWith("503 store-unavailable"), HasSubstr("full"), HasSubstr("make room")));
    EXPECT_THAT(service.status().trouble, HasSubstr("full"));
    ASSERT_EQ(::mount("tmpfs", mounted.c_str(), "tmpfs", MS_REMOUNT, "size=16m"), 0);
    good(caller.select(request_for("u1", 1)));
    while (!service.status().trouble.empty()) std::this_thread::sleep_for(5ms);
    EXPECT_EQ(service.status().end, acknowledged + 2);
  }
  {
    const SqliteStore store({.folder = mounted / "store"});
    std::size_t there = 0;
    store.read(1, [&](const Record&) {
      ++there;
      return true;
    });
    EXPECT_EQ(there, acknowledged + 1);
  }
  ::umount(mounted.c_str());
}

}  // namespace durability_test
}  // namespace goblin::serve
