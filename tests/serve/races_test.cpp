#include "replayed.hpp"
#include "service_fixture.hpp"

#include <atomic>
#include <barrier>
#include <chrono>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace races_test {

using namespace std::chrono_literals;

/// Several threads that do the same at the same moment, many times.
class RacesTest : public testing::Test {
 protected:
  RacesTest() {
    options_.store = folder_ / "store";
    options_.snapshot_every = 1h;
  }
  static Bandit bandit() { return Bandit::gob_lin(named_cliques(), {.dimension = 3}); }

  template <typename Work>
  void at_once(Service& service, std::size_t threads, int rounds, Work work) {
    std::barrier together(static_cast<std::ptrdiff_t>(threads));
    std::vector<std::thread> running;
    for (std::size_t thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] {
        Caller caller(service);
        for (int round = 0; round < rounds; ++round) {
          together.arrive_and_wait();
          work(caller, thread, round);
        }
      });
    }
    for (std::thread& one : running) one.join();
  }

  TemporaryFolder folder_;
  ServiceOptions options_;
};

TEST_F(RacesTest, the_same_event_from_many_threads_is_one_decision) {
  Service service(bandit(), nullptr, options_);
  std::mutex mutex;
  std::map<int, std::set<std::string>> answers;
  at_once(service, 3, 30, [&](Caller& caller, std::size_t thread, int round) {
    SelectRequest request = request_for("u1", static_cast<std::uint64_t>(round) * 3 + thread);
    request.event = fmt::format("event {}", round);
    const Decided decided = good(caller.select(request));
    const std::lock_guard lock(mutex);
    answers[round].insert(fmt::format("{} {} {}", decided.offset, decided.arm, decided.scores));
  });
  for (const auto& [round, texts] : answers) EXPECT_EQ(texts.size(), 1);
  EXPECT_EQ(service.status().end, 31);
}

TEST_F(RacesTest, a_reward_that_is_sent_twice_at_once_counts_once) {
  Service service(bandit(), nullptr, options_);
  std::vector<std::string> events;
  Caller caller(service);
  for (std::uint64_t k = 0; k < 30; ++k) events.push_back(good(caller.select(request_for("u1", k))).event);
  std::atomic<int> first = 0;
  std::atomic<int> conflicts = 0;
  at_once(service, 3, 30, [&](Caller& its_caller, std::size_t thread, int round) {
    const auto result = its_caller.reward(events[static_cast<std::size_t>(round)], thread == 2 ? 2.0 : 1.0);
    if (std::holds_alternative<Problem>(result)) {
      EXPECT_EQ(std::get<Problem>(result).status, 409);
      ++conflicts;
    } else if (!std::get<Accepted>(result).repeated) {
      ++first;
    }
  });
  EXPECT_EQ(first, 30);
  EXPECT_GE(conflicts, 30);
  service.wait_until_learned();
  EXPECT_EQ(service.bandit().rewards(), 30);
}

TEST_F(RacesTest, somebody_new_joins_once_whoever_asks_and_however) {
  {
    Service service(bandit(), nullptr, options_);
    at_once(service, 4, 20, [&](Caller& caller, std::size_t thread, int round) {
      const std::string user = fmt::format("new{}", round);
      if (thread == 0) good(caller.select(request_for(user, 1)));
      if (thread == 1) good(caller.reward({.user = user, .context = {1.0, 2.0, 3.0}, .reward = 1.0}));
      if (thread == 2) good(caller.put_user({.user = user, .friends = {{"u1", 1.0}}}));
      if (thread == 3) good(caller.put_edge("u1", "u8", 1.0 + round));
    });
    service.wait_until_learned();
    EXPECT_EQ(service.bandit().user_count(), 32);
    EXPECT_EQ(service.bandit().rewards(), 20);
    EXPECT_EQ(service.bandit().friends("u1").size(), 24);
  }
  const Bandit whole = replayed(bandit(), options_.store);
  const Service service(bandit(), nullptr, options_);
  expect_same(service.bandit().snapshot(), whole);
}

TEST_F(RacesTest, a_cluster_that_was_accepted_is_the_one_that_the_user_has) {
  const std::vector<NodeId> clusters = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
  Service service(Bandit::make(Policy::gob_lin_macro, named_cliques(), clusters, {.dimension = 3}), nullptr, options_);
  constexpr int rounds = 300;
  std::vector<std::string> problems(rounds);
  at_once(service, 2, rounds, [&](Caller& caller, std::size_t thread, int round) {
    const std::string user = fmt::format("new{}", round);
    if (thread == 0) {
      good(caller.select(request_for(user, 1)));
    } else {
      problems[static_cast<std::size_t>(round)] = problem_of(caller.put_user({.user = user, .cluster = 1}));
    }
  });
  service.wait_until_learned();
  for (int round = 0; round < rounds; ++round) {
    const std::string user = fmt::format("new{}", round);
    const std::string& problem = problems[static_cast<std::size_t>(round)];
    if (problem == "accepted") {
      EXPECT_EQ(service.bandit().cluster(user), NodeId{1}) << user;
    } else {
      EXPECT_THAT(problem, testing::AnyOf(testing::StartsWith("409 user-joined: cluster: 1"),
                                          testing::StartsWith("400 invalid-field: cluster: 1")));
      EXPECT_NE(service.bandit().cluster(user), NodeId{1}) << user;
    }
  }
}

TEST_F(RacesTest, the_end_waits_for_what_is_under_way_and_answers_everything) {
  for (int round = 0; round < 5; ++round) {
    auto service = std::make_unique<Service>(bandit(), nullptr, options_);
    std::atomic<int> asked = 0;
    std::atomic<int> answered = 0;
    TestMailbox mailbox;
    for (int k = 0; k < 40; ++k) {
      ++asked;
      if (k % 4 == 3) {
        service->put_edge("u1", fmt::format("u{}", 4 + k % 8), 1.0 + round, mailbox, [&](const auto&) { ++answered; });
      } else {
        const std::string user = k % 4 == 0 ? fmt::format("r{}k{}", round, k) : "u1";
        service->select(request_for(user, 1), mailbox, [&](const auto&) { ++answered; });
      }
    }
    service.reset();
    while (answered < asked && mailbox.run_if_there()) {
    }
    // A decision that waited for a join is told that the service stops, or was made by a task that came too late.
    EXPECT_EQ(answered, asked);
  }
}

TEST_F(RacesTest, questions_of_all_kinds_beside_everything_else) {
  options_.horizon = 20ms;
  options_.keep = 40ms;
  options_.snapshot_every = 1s;
  Service service(bandit(), nullptr, options_);
  std::atomic<bool> stop = false;
  std::thread looking([&] {
    while (!stop) {
      EXPECT_GT(service.status().users, 0);
      EXPECT_EQ(good(service.user("u1")).mean.size(), 3);
      good(service.explain("u1", {1.0, 0.0, 0.0}, "", 3));
      Offset from = 1;
      for (int page = 0; page < 3; ++page) from = service.log(from, 10'000).next;
      EXPECT_LE(service.newest(5).size(), 5);
      service.take_snapshot();
    }
  });
  at_once(service, 2, 60, [&](Caller& caller, std::size_t thread, int round) {
    const auto number = static_cast<std::uint64_t>(round) * 2 + thread;
    const Decided decided = good(caller.select(request_for(fmt::format("u{}", round % 12), number)));
    if (round % 3 != 0) (void)caller.reward(decided.event, 1.0);
    if (round % 10 == 0) good(caller.put_item({.item = "hat", .context = {1.0, 0.0, static_cast<double>(number)}}));
    if (round % 10 == 1) good(caller.select({.user = "u1", .items = {"hat"}}));
  });
  stop = true;
  looking.join();
  EXPECT_TRUE(service.status().trouble.empty()) << service.status().trouble;
}

}  // namespace races_test
}  // namespace goblin::serve
