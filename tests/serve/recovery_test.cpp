#include "replayed.hpp"
#include "serve/service.hpp"
#include "service_fixture.hpp"

#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace recovery_test {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

struct Kind {
  const char* name;
  Policy policy;
  EngineKind engine;
};

class RecoveryTest : public testing::TestWithParam<Kind> {
 protected:
  RecoveryTest() {
    options_.store = folder_ / "store";
    options_.snapshot_every = 1h;
    options_.warn = [this](std::string warning) {
      const std::lock_guard lock(mutex_);
      warnings_.push_back(std::move(warning));
    };
  }

  [[nodiscard]] virtual Bandit bandit() const {
    return Bandit::make(GetParam().policy, named_cliques(4, 5), {},
                        {.dimension = 3, .engine = {.kind = GetParam().engine}});
  }
  std::unique_ptr<Service> start() { return std::make_unique<Service>(bandit(), nullptr, options_); }

  /// Decisions, rewards, joins, edges, some of everything.
  static void traffic(Service& service, std::uint64_t seed, int rounds) {
    Caller caller(service);
    std::vector<std::string> open;
    for (int round = 0; round < rounds; ++round) {
      const std::uint64_t number = seed * 1'000 + static_cast<std::uint64_t>(round);
      const std::string user = number % 17 == 0 ? fmt::format("new{}", number) : fmt::format("u{}", number * 7 % 20);
      open.push_back(good(caller.select(request_for(user, number))).event);
      if (number % 3 != 0) {
        const auto result = caller.reward(open[number * 5 % open.size()], static_cast<double>(number * 13 % 29) / 7.0);
        // Where the horizon is short, a reward may be late.
        EXPECT_THAT(problem_of(result), testing::AnyOf("accepted", testing::StartsWith("410 past-horizon")));
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(number * 5 % open.size()));
      }
      if (number % 11 == 0)
        good(caller.put_edge(fmt::format("u{}", number % 20), fmt::format("u{}", (number + 6) % 20)));
      if (number % 23 == 0) good(caller.put_edge("u0", "u19", 0.5 + static_cast<double>(number % 5)));
      if (number % 31 == 0) good(caller.put_user({.user = fmt::format("friend{}", number), .friends = {{"u3", 2.0}}}));
      if (number % 37 == 0) {
        std::vector<RewardRequest> many;
        for (std::size_t k = 0; k < 40; ++k) {
          const SelectRequest one = request_for("", number + k, 1);
          many.push_back(
              {.user = fmt::format("u{}", k % 20), .context = one.contexts, .reward = 0.1 * static_cast<double>(k)});
        }
        for (auto& result : caller.rewards(std::move(many))) good(std::move(result));
      }
    }
  }

  TemporaryFolder folder_;
  ServiceOptions options_;
  std::mutex mutex_;
  std::vector<std::string> warnings_;
};

TEST_P(RecoveryTest, a_service_that_was_stopped_believes_what_one_believes_that_was_not) {
  options_.horizon = 100ms;  // some decisions expire in between
  for (std::uint64_t life = 1; life <= 2; ++life) {
    auto service = start();
    traffic(*service, life, 40);
    if (life == 2) service->take_snapshot();
    traffic(*service, life + 10, 10);
    service->wait_until_learned();
    const Bandit before = service->bandit().snapshot();
    // As a process that is killed leaves it: what is on disk at this moment, without a farewell.
    const auto copy = folder_ / fmt::format("copy{}", life);
    std::filesystem::copy(options_.store, copy, std::filesystem::copy_options::recursive);
    service.reset();
    const Bandit whole = replayed(bandit(), copy);
    ServiceOptions again = options_;
    again.store = copy;
    again.default_reward = std::nullopt;  // nothing is added while we look
    Service recovered(bandit(), nullptr, again);
    recovered.wait_until_learned();
    expect_same(recovered.bandit().snapshot(), whole);
    EXPECT_GE(whole.rewards(), before.rewards());
  }
  EXPECT_TRUE(warnings_.empty()) << warnings_.front();
}

TEST_P(RecoveryTest, snapshots_that_cannot_be_used_are_named_and_older_ones_used) {
  {
    auto service = start();
    for (std::uint64_t life = 1; life <= 3; ++life) {
      traffic(*service, life, 20);
      service->wait_until_learned();
      service->take_snapshot();
    }
    traffic(*service, 4, 20);
  }
  const Bandit whole = replayed(bandit(), options_.store);
  std::vector<std::pair<Offset, std::filesystem::path>> files;
  for (const auto& entry : std::filesystem::directory_iterator(options_.store / "snapshots")) {
    const auto offset = number_named(entry.path().stem().string());
    ASSERT_TRUE(offset);
    files.emplace_back(*offset, entry.path());
  }
  std::sort(files.begin(), files.end());
  ASSERT_EQ(files.size(), 4) << "the first, and the three newest of four";
  const auto same_with_warning = [&](const std::string& warning) {
    warnings_.clear();
    ServiceOptions again = options_;
    again.store = folder_ / "copy";
    std::filesystem::remove_all(again.store);
    std::filesystem::copy(options_.store, again.store, std::filesystem::copy_options::recursive);
    const Service service(bandit(), nullptr, again);
    expect_same(service.bandit().snapshot(), whole);
    EXPECT_THAT(warnings_, Contains(HasSubstr(warning)));
  };
  // Cut short.
  const std::string newest = content_of(files[3].second);
  write_file(files[3].second, newest.substr(0, newest.size() / 2));
  same_with_warning(fmt::format("{}.goblin: ", files[3].first));
  // Altered, the head left as it was.
  std::string altered = newest;
  altered[altered.size() / 2] = static_cast<char>(altered[altered.size() / 2] ^ 1);
  write_file(files[3].second, altered);
  same_with_warning(fmt::format("{}.goblin: ", files[3].first));
  // A good one of another store.
  bandit().save(files[3].second);
  same_with_warning("is not what was saved there");
  bandit().save(options_.store / "snapshots" / "1.goblin");
  write_file(files[2].second, "");
  write_file(files[1].second, "x");
  same_with_warning("1.goblin: is no snapshot of this store");
  // None but the log.
  write_file(files[0].second, "nothing");
  EXPECT_THROW(start(), LogError);
}

TEST_P(RecoveryTest, a_start_that_was_cut_short_is_finished) {
  start();
  // Killed after the first snapshot was noted, before it got its name.
  std::filesystem::rename(options_.store / "snapshots" / "0.goblin", options_.store / "snapshots" / "fresh");
  const auto service = start();
  EXPECT_TRUE(warnings_.empty()) << warnings_.front();
  EXPECT_TRUE(std::filesystem::exists(options_.store / "snapshots" / "0.goblin"));
}

TEST_P(RecoveryTest, snapshots_of_another_store_do_not_displace_those_of_this_one) {
  options_.snapshots_kept = 1;
  std::filesystem::create_directories(options_.store / "snapshots");
  const auto foreign = options_.store / "snapshots" / "1000000.goblin";
  bandit().save(foreign);
  for (std::uint64_t life = 1; life <= 2; ++life) {
    auto service = start();
    traffic(*service, life, 10);
    service->take_snapshot();
    const Offset snapshot = service->status().snapshot;
    ASSERT_GT(snapshot, 0);
    EXPECT_TRUE(std::filesystem::exists(options_.store / "snapshots" / fmt::format("{}.goblin", snapshot)));
    EXPECT_TRUE(std::filesystem::exists(foreign));
    const std::lock_guard lock(mutex_);
    EXPECT_THAT(warnings_, Contains(AllOf(HasSubstr("1000000.goblin"), HasSubstr("no snapshot of this store"))));
    warnings_.clear();
  }
}

TEST_P(RecoveryTest, a_snapshot_is_taken_while_decisions_are_made_and_rewards_learned) {
  auto service = start();
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 2; ++thread) {
    threads.emplace_back([&, thread] {
      Caller caller(*service);
      for (std::uint64_t k = 0; !stop; ++k) {
        const Decided decided = good(caller.select(request_for(fmt::format("u{}", k % 20), k * 2 + thread)));
        good(caller.reward(decided.event, static_cast<double>(k % 7)));
        if (k % 50 == 0) good(caller.select(request_for(fmt::format("new{}-{}", thread, k), k)));
      }
    });
  }
  for (int k = 0; k < 5 || (k < 1000 && service->status().snapshots < 2);
       ++k) {  // there is none where nothing came in between
    std::this_thread::sleep_for(20ms);
    service->take_snapshot();
  }
  const auto copy = folder_ / "copy";
  {
    // What is in the newest snapshot and the log after it, whatever came meanwhile.
    std::filesystem::create_directories(copy);
    std::filesystem::copy(options_.store / "snapshots", copy / "snapshots", std::filesystem::copy_options::recursive);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const Status status = service->status();
  EXPECT_GE(status.snapshots, 2);
  service.reset();
  const Bandit whole = replayed(bandit(), options_.store);
  // The last snapshot, taken at the end, would hide those that were taken under way.
  std::filesystem::remove_all(options_.store / "snapshots");
  std::filesystem::copy(copy / "snapshots", options_.store / "snapshots", std::filesystem::copy_options::recursive);
  const auto recovered = start();
  expect_same(recovered->bandit().snapshot(), whole);
}

INSTANTIATE_TEST_SUITE_P(Engines, RecoveryTest,
                         testing::Values(Kind{"dense", Policy::gob_lin, EngineKind::dense},
                                         Kind{"sparse", Policy::gob_lin, EngineKind::sparse},
                                         Kind{"local", Policy::gob_lin, EngineKind::local},
                                         Kind{"linucb_ind", Policy::linucb_ind, EngineKind::automatic},
                                         Kind{"hub", Policy::gob_lin_hub, EngineKind::automatic},
                                         Kind{"dynucb", Policy::dynucb, EngineKind::automatic},
                                         Kind{"club", Policy::club, EngineKind::automatic}),
                         [](const auto& info) { return info.param.name; });

}  // namespace recovery_test
}  // namespace goblin::serve
