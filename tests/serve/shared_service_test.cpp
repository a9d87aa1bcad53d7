#include "memory_log.hpp"
#include "replayed.hpp"
#include "serve/entry.hpp"
#include "serve/service.hpp"
#include "service_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace shared_service_test {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

/// One process of several that serve from the same log.
struct Instance {
  Instance(ServiceOptions options, const Bandit& bandit, std::shared_ptr<SharedEntries> entries,
           const data::Items* items = nullptr)
      : log(std::make_shared<MemoryLog>(std::move(entries))) {
    options.log = log;
    service = std::make_unique<Service>(bandit, items, std::move(options));
  }

  std::shared_ptr<MemoryLog> log;
  std::unique_ptr<Service> service;
};

class SharedServiceTest : public testing::TestWithParam<Policy> {
 protected:
  [[nodiscard]] static Bandit bandit() {
    const Policy policy = GetParam();
    std::vector<NodeId> clusters;
    for (NodeId user = 0; uses_clusters(policy) && user < 12; ++user) clusters.push_back(user / 4);
    return Bandit::make(policy, named_cliques(), clusters, {.dimension = 3});
  }
  Instance start(const std::string& name) {
    ServiceOptions options = options_;
    options.store = folder_ / name;
    options.process = name;
    options.warn = [this](const std::string& word) {
      const std::lock_guard lock(mutex_);
      warnings_.push_back(word);
    };
    return {options, bandit(), entries_};
  }
  /// Until the instance has learned what is in the log.
  static void wait_for(const Instance& instance, Offset offset) {
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (instance.service->learned() < offset && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_GE(instance.service->learned(), offset);
  }
  static void expect_same_belief(const Instance& a, const Instance& b) {
    const Offset end = std::max(a.service->status().durable, b.service->status().durable);
    wait_for(a, end);
    wait_for(b, end);
    expect_same(a.service->bandit().snapshot(), b.service->bandit().snapshot());
  }

  TemporaryFolder folder_;
  std::shared_ptr<SharedEntries> entries_ = std::make_shared<SharedEntries>();
  ServiceOptions options_;
  std::mutex mutex_;
  std::vector<std::string> warnings_;
};

// Found to be somebody else's, a decision stays so, also if the transaction has to be tried again.
TEST_P(SharedServiceTest, nobody_gets_the_decision_of_another_user) {
  Instance one = start("one");
  Instance two = start("two");
  Caller ann(*one.service);
  Caller bob(*one.service);
  Caller other(*two.service);
  SelectRequest named = request_for("u1", 1);
  named.event = "order";
  good(ann.select(named));
  const Decided decided = good(ann.select(request_for("u2", 2)));
  wait_for(two, decided.offset);
  // While the writer is held up, a taken name and a reward come into one transaction, which is then overtaken.
  std::promise<void> held;
  std::promise<void> go_on;
  one.log->before_append = [&] {
    held.set_value();
    go_on.get_future().wait();
    one.log->before_append = [&] { good(other.select(request_for("u5", 5))); };
  };
  std::thread first([&] { good(ann.select(request_for("u3", 3))); });
  held.get_future().wait();
  named.user = "u4";
  std::string answer;
  std::thread second([&] { answer = problem_of(bob.select(named)); });
  std::thread third([&] {
    Caller eve(*one.service);
    good(eve.reward(decided.event, 1.0));
  });
  std::this_thread::sleep_for(200ms);  // both wait for the writer
  go_on.set_value();
  for (std::thread* each : {&first, &second, &third}) each->join();
  EXPECT_THAT(answer, StartsWith("409 event-taken"));
  EXPECT_TRUE(one.log->before_append == nullptr) << "it was overtaken";
  expect_same_belief(one, two);
}

TEST_P(SharedServiceTest, what_one_learns_the_other_knows) {
  Instance one = start("one");
  Instance two = start("two");
  Caller ann(*one.service);
  Caller bob(*two.service);
  const Decided decided = good(ann.select(request_for("u1", 1)));
  const Accepted accepted = good(ann.reward(decided.event, 1.0));
  wait_for(two, accepted.offset);
  EXPECT_EQ(std::get<UserView>(two.service->user("u1")).rewards, 1);
  // A decision of one is rewarded at the other, once.
  const Decided other = good(ann.select(request_for("u2", 2)));
  wait_for(two, other.offset);
  EXPECT_FALSE(good(bob.reward(other.event, 0.5)).repeated);
  EXPECT_TRUE(good(ann.reward(other.event, 0.5)).repeated);
  EXPECT_THAT(problem_of(ann.reward(other.event, 0.25)), StartsWith("409 "));
  // The same name is the same decision, wherever it is asked for.
  SelectRequest named = request_for("u3", 3);
  named.event = "mine";
  const Decided first = good(ann.select(named));
  const Decided again = good(bob.select(named));
  EXPECT_EQ(first.arm, again.arm);
  EXPECT_EQ(first.scores, again.scores);
  EXPECT_EQ(first.offset, again.offset);
  named.user = "u4";
  EXPECT_THAT(problem_of(bob.select(named)), StartsWith("409 event-taken"));
  // The graph and the catalogue are those of both.
  good(bob.put_item({.item = "tea", .context = {1.0, 0.0, 0.0}}));
  good(bob.put_user({.user = "zoe", .friends = {{"u1", 2.0}}}));
  const Accepted edge = good(bob.put_edge("u0", "u11"));
  wait_for(one, edge.offset);
  EXPECT_EQ(std::get<ItemView>(one.service->item("tea")).context.front(), 1.0);
  EXPECT_EQ(std::get<UserView>(one.service->user("zoe")).friend_count, 1);
  good(ann.select({.user = "zoe", .items = {"tea"}}));
  expect_same_belief(one, two);
}

// A balancer sends the reward to another process than the decision, which may be behind.
TEST_P(SharedServiceTest, a_decision_is_known_everywhere_as_soon_as_it_was_answered) {
  Instance one = start("one");
  Instance two = start("two");
  Caller ann(*one.service);
  Caller bob(*two.service);
  for (std::uint64_t turn = 0; turn < 5; ++turn) {
    SelectRequest request = request_for("u1", turn);
    if (turn % 2 == 0) request.event = fmt::format("mine {}", turn);
    two.log->late_takes = 30;
    const Decided decided = good(ann.select(request));
    EXPECT_FALSE(good(bob.reward(decided.event, 1.0)).repeated) << "turn " << turn;
    EXPECT_TRUE(good(ann.reward(decided.event, 1.0)).repeated);
  }
  EXPECT_THAT(problem_of(bob.reward("nobody's", 1.0)), StartsWith("404 unknown-event"));
  EXPECT_THAT(problem_of(bob.reward("g-4711", 1.0)), StartsWith("404 unknown-event"));
  // While nobody can say what is in the log, nobody can say what is not.
  two.log->fault = MemoryLog::Fault::lost;
  EXPECT_THAT(problem_of(bob.reward("nobody's", 1.0)), StartsWith("503 store-unavailable"));
  two.log->fault = MemoryLog::Fault::none;
  expect_same_belief(one, two);
}

/// Some of everything, by several threads of several instances at once.
void traffic(Service& service, std::uint64_t seed, int rounds) {
  Caller caller(service);
  std::vector<std::string> open;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t number = seed * 1'000 + static_cast<std::uint64_t>(round);
    const std::string user = number % 13 == 0 ? fmt::format("new{}", number % 5) : fmt::format("u{}", number * 7 % 12);
    SelectRequest request = request_for(user, number);
    if (number % 5 == 0) request.event = fmt::format("shared {}", round / 10);  // several ask for the same name
    const auto decided = caller.select(request);
    if (const auto* got = std::get_if<Decided>(&decided)) {
      open.push_back(got->event);
    } else {
      EXPECT_THAT(problem_of(decided), StartsWith("409 event-taken"));
    }
    if (!open.empty() && number % 3 != 0) {
      // The same decision may be rewarded elsewhere, with the same value or another.
      EXPECT_THAT(problem_of(caller.reward(open[number * 5 % open.size()], static_cast<double>(number % 4))),
                  AnyOf("accepted", StartsWith("409 other-reward"), StartsWith("410 past-horizon")));
    }
    if (number % 11 == 0) good(caller.put_edge(fmt::format("u{}", number % 12), fmt::format("u{}", (number + 5) % 12)));
    if (number % 29 == 0) good(caller.put_item({.item = "tea", .context = {1.0, 0.0, static_cast<double>(number)}}));
    if (number % 17 == 0) {
      std::vector<RewardRequest> many;
      for (std::size_t k = 0; k < 10; ++k) {
        many.push_back(
            {.user = fmt::format("u{}", k), .context = {1.0, 0.1 * static_cast<double>(k), 0.0}, .reward = 1.0});
      }
      for (auto& result : caller.rewards(std::move(many))) good(std::move(result));
    }
  }
}

TEST_P(SharedServiceTest, many_write_at_the_same_time) {
  options_.horizon = 50ms;  // both see what is overdue, and one is first
  options_.default_reward = 0.0;
  std::vector<Instance> instances;
  for (const char* name : {"one", "two", "three"}) instances.push_back(start(name));
  std::vector<std::thread> threads;
  for (std::uint64_t k = 0; k < 6; ++k) {
    threads.emplace_back([&, k] { traffic(*instances[k % 3].service, k, 60); });
  }
  for (auto& thread : threads) thread.join();
  std::this_thread::sleep_for(200ms);
  for (std::size_t k = 1; k < instances.size(); ++k) expect_same_belief(instances[0], instances[k]);
  std::size_t accepted = 0;
  for (const Instance& instance : instances) {
    const Status status = instance.service->status();
    accepted += status.rewards_accepted + status.rewards_expired;
  }
  EXPECT_EQ(accepted, instances[0].service->status().rewards) << "every reward is learned once";
  // No decision has two rewards, in any of the copies.
  for (Instance& instance : instances) instance.service.reset();
  for (const char* name : {"one", "two", "three"}) {
    std::set<Offset> rewarded;
    SqliteStore({.folder = folder_ / name}).read(1, [&](const Record& record) {
      EXPECT_TRUE(record.decision == 0 || rewarded.insert(record.decision).second);
      return true;
    });
    expect_same(replayed(bandit(), folder_ / name), replayed(bandit(), folder_ / "one"));
  }
  EXPECT_TRUE(warnings_.empty()) << warnings_.front();
}

TEST_P(SharedServiceTest, a_decision_comes_after_what_was_taught_elsewhere) {
  options_.most_waiting = 300ms;
  Instance one = start("one");
  Instance two = start("two");
  Caller teacher(*one.service);
  Caller asker(*two.service);
  for (std::uint64_t k = 0; k < 30; ++k) {
    const Accepted taught = good(teacher.reward({.user = "u1", .context = {1.0, 0.0, 0.0}, .reward = 1.0}));
    SelectRequest request = request_for("u1", k);
    request.after = taught.offset;
    if (k % 2 == 0) {
      good(asker.select(request));
    } else {
      request.k = 2;
      good(asker.rank(request));
    }
    EXPECT_GE(two.service->learned(), taught.offset);
  }
  SelectRequest later = request_for("u1", 1);
  later.after = one.service->status().end + 1'000;
  EXPECT_THAT(problem_of(asker.select(later)),
              HasSubstr(fmt::format("503 not-learned-yet: after: {} (everything up to ", later.after)));
  // What waits for something that comes meanwhile.
  later.after = two.service->status().end + 4;
  auto answered = std::make_shared<std::optional<Result<Decided>>>();
  two.service->select(later, asker.mailbox(), [answered](Result<Decided> result) { *answered = std::move(result); });
  for (int k = 0; k < 6; ++k) good(teacher.reward({.user = "u2", .context = {0.0, 1.0, 0.0}, .reward = 1.0}));
  good(asker.mailbox().wait_for(answered));
}

TEST_P(SharedServiceTest, evidence_is_compared) {
  options_.compare_every = 40;
  options_.default_reward = std::nullopt;
  Instance one = start("one");
  Instance two = start("two");
  std::vector<std::thread> threads;
  for (std::uint64_t k = 0; k < 2; ++k) {
    threads.emplace_back([&, k] { traffic(k == 0 ? *one.service : *two.service, k, 80); });
  }
  for (auto& thread : threads) thread.join();
  expect_same_belief(one, two);
  const auto comparisons = [&] { return one.service->status().comparisons + two.service->status().comparisons; };
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (comparisons() < 3 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(5ms);
  EXPECT_GE(comparisons(), 3);
  EXPECT_FALSE(one.service->status().disagrees);
  EXPECT_TRUE(two.service->status().ready);

  // Somebody who has something else: it is said, and whoever asks whether it is ready hears of it.
  const Offset next_stop = (one.service->learned() / 40 + 1) * 40;
  MemoryLog third(entries_);
  for (bool in_force = false; !in_force;) {
    const Offset before = one.service->status().end;
    static_cast<void>(third.append(bytes_of(
        {.begin = before,
         .records = {
             {.kind = RecordKind::evidence, .event = "0123456789abcdef", .decision = next_stop, .user = "three"}}})));
    Caller(*one.service).select(request_for("u0", 1));
    in_force = one.service->status().end > before;
  }
  traffic(*one.service, 7, 60);
  while (!one.service->status().disagrees && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(5ms);
  const Status status = one.service->status();
  EXPECT_TRUE(status.disagrees);
  EXPECT_FALSE(status.ready);
  EXPECT_THAT(status.trouble,
              HasSubstr(fmt::format("the evidence up to record {} is not what \"three\" has", next_stop)));
}

TEST_P(SharedServiceTest, while_nobody_answers_decisions_go_on) {
  Instance one = start("one");
  Instance two = start("two");
  Caller caller(*one.service);
  good(caller.select(request_for("u0", 1)));
  for (const auto fault : {MemoryLog::Fault::lost, MemoryLog::Fault::unknown}) {
    one.log->fault = fault;
    EXPECT_THAT(problem_of(caller.reward({.user = "u1", .context = {1.0, 0.0, 0.0}, .reward = 1.0})),
                StartsWith("503 store-unavailable"));
    EXPECT_FALSE(one.service->status().ready);
    std::vector<Decided> early;
    for (std::uint64_t k = 0; k < 5; ++k) early.push_back(good(caller.select(request_for("u1", k))));
    SelectRequest ranking = request_for("u2", 9);
    ranking.k = 2;
    for (const RankedPlace& place : good(caller.rank(ranking)).places) early.push_back({.event = place.event});
    EXPECT_EQ(early.size(), 7);
    EXPECT_THAT(early.front().event, StartsWith("g-1-"));
    EXPECT_THAT(problem_of(caller.reward(early.front().event, 1.0)), StartsWith("503 "));
    one.log->fault = MemoryLog::Fault::none;
    // What was decided meanwhile is in the log once somebody answers, once each, and can be rewarded anywhere.
    Offset last = 0;
    for (const Decided& decided : early) {
      Result<Accepted> result;
      const auto until = std::chrono::steady_clock::now() + 10s;
      do {
        result = caller.reward(decided.event, 1.0);
      } while (std::holds_alternative<Problem>(result) && std::chrono::steady_clock::now() < until);
      last = good(result).offset;
    }
    wait_for(two, last);
    Caller other(*two.service);
    for (const Decided& decided : early) EXPECT_TRUE(good(other.reward(decided.event, 1.0)).repeated);
    EXPECT_TRUE(one.service->status().ready);
  }
  expect_same_belief(one, two);
}

TEST_P(SharedServiceTest, whoever_comes_back_catches_up) {
  {
    Instance one = start("one");
    traffic(*one.service, 1, 30);
  }
  Instance two = start("two");
  traffic(*two.service, 2, 30);
  two.service->take_snapshot();
  Instance one = start("one");
  expect_same_belief(one, two);
  traffic(*one.service, 3, 30);
  expect_same_belief(one, two);
  // Its own store is lost: all of it is in the log.
  one.service.reset();
  std::filesystem::remove_all(folder_ / "one");
  Instance anew = start("one");
  expect_same_belief(anew, two);
  // A copy cannot go on alone.
  two.service.reset();
  ServiceOptions alone = options_;
  alone.store = folder_ / "two";
  try {
    Service service(bandit(), nullptr, alone);
    ADD_FAILURE() << "a copy is taken for a log of its own";
  } catch (const LogError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is the copy of a log that others append to (must be started with --log)"));
  }
}

TEST_P(SharedServiceTest, another_beginning_is_refused) {
  Instance one = start("one");
  for (const double coupling : {0.5, 1.0}) {
    ServiceOptions options = options_;
    options.store = folder_ / "other";
    Graph graph = coupling == 1.0 ? named_cliques(4) : named_cliques();
    std::vector<NodeId> clusters;
    for (NodeId user = 0; uses_clusters(GetParam()) && user < graph.node_count(); ++user) clusters.push_back(user / 4);
    try {
      Instance(options, Bandit::make(GetParam(), graph, clusters, {.dimension = 3, .coupling = coupling}), entries_);
      ADD_FAILURE() << "another bandit is taken for the same";
    } catch (const LogError& error) {
      EXPECT_THAT(error.what(), HasSubstr("memory://log: begins with "));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, SharedServiceTest,
                         testing::Values(Policy::gob_lin, Policy::linucb_ind, Policy::gob_lin_block),
                         [](const auto& test) {
                           std::string name(name_of(test.param));
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
                           return name;
                         });

}  // namespace shared_service_test
}  // namespace goblin::serve
