#include "serve/partitions.hpp"

#include "memory_log.hpp"
#include "service_fixture.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace partitions_test {

using namespace std::chrono_literals;
using testing::HasSubstr;

template <typename Condition>
bool comes_true(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

/// Four partitions, each with a log that others have hands on, too.
class PartitionsTest : public testing::Test {
 protected:
  PartitionsTest() {
    for (std::size_t k = 0; k < 4; ++k) entries_.push_back(std::make_shared<SharedEntries>());
  }
  std::shared_ptr<Service> open(std::size_t partition) {
    ++opened_[partition];
    if (broken_[partition]) throw LogError("nobody answers");
    ServiceOptions options;
    options.store = folder_ / fmt::format("partition-{}", partition);
    options.process = "one";
    options.partition = partition;
    options.partitions = 4;
    options.log = std::make_shared<MemoryLog>(entries_[partition]);
    return std::make_shared<Service>(Bandit::gob_lin(named_cliques(), {.dimension = 3}), nullptr, options);
  }
  Partitions::Options options() {
    return {.table = PartitionTable(4),
            .open = [this](std::size_t partition) { return open(partition); },
            .warn =
                [this](const std::string& words) {
                  const std::lock_guard lock(mutex_);
                  warnings_.push_back(words);
                },
            .try_again = 20ms};
  }

  TemporaryFolder folder_;
  std::vector<std::shared_ptr<SharedEntries>> entries_;
  std::array<std::atomic<int>, 4> opened_{};
  std::array<std::atomic<bool>, 4> broken_{};
  std::mutex mutex_;
  std::vector<std::string> warnings_;
};

TEST_F(PartitionsTest, come_and_go_as_they_are_asked_for) {
  Partitions partitions(options());
  EXPECT_FALSE(partitions.state().asked);
  EXPECT_FALSE(status_of(partitions).ready) << "nobody said yet what is to be here";
  partitions.have({0, 2});
  ASSERT_TRUE(comes_true([&] { return partitions.here().size() == 2; }));
  EXPECT_EQ(partitions.at(1), nullptr);
  ASSERT_NE(partitions.at(2), nullptr);
  EXPECT_TRUE(comes_true([&] { return status_of(partitions).ready; }));

  // One that somebody keeps goes on until they are done; only then another server may be sure that it says nothing
  // more.
  auto kept = partitions.at(2);
  Caller caller(*kept);
  const Decided decided = good(caller.select(request_for("u1", 1)));
  EXPECT_THAT(decided.event, testing::StartsWith("g-2:")) << "events say where they are";
  partitions.have({0, 3});
  EXPECT_TRUE(comes_true([&] { return partitions.at(2) == nullptr; }));
  good(caller.reward(decided.event, 1.0));
  EXPECT_TRUE(comes_true([&] { return partitions.at(3) != nullptr; })) << "others do not wait for it";

  // It comes back once it is gone, with all that it had.
  partitions.have({1, 2});
  EXPECT_TRUE(comes_true([&] { return partitions.at(1) != nullptr; }));
  EXPECT_EQ(opened_[2], 1) << "it waits for itself";
  kept.reset();
  ASSERT_TRUE(comes_true([&] { return partitions.at(2) != nullptr; }));
  Caller again(*partitions.at(2));
  EXPECT_TRUE(good(again.reward(decided.event, 1.0)).repeated);
}

TEST_F(PartitionsTest, what_cannot_be_opened_is_said_and_tried_again) {
  broken_[1] = true;
  Partitions partitions(options());
  partitions.have({0, 1, 2});
  ASSERT_TRUE(comes_true([&] { return opened_[1] >= 3; }));
  const Status status = status_of(partitions);
  EXPECT_FALSE(status.ready);
  EXPECT_EQ(status.trouble, "partition 1: nobody answers");
  EXPECT_EQ(status.public_trouble, "a partition cannot be opened (/v1/status says why)");
  EXPECT_TRUE(comes_true([&] { return partitions.at(0) != nullptr && partitions.at(2) != nullptr; }))
      << "the others work meanwhile";
  broken_[1] = false;
  EXPECT_TRUE(comes_true([&] { return partitions.at(1) != nullptr && status_of(partitions).ready; }));
  EXPECT_TRUE(status_of(partitions).trouble.empty());
  const std::lock_guard lock(mutex_);
  EXPECT_THAT(warnings_, testing::Each("partition 1: nobody answers"));
}

TEST_F(PartitionsTest, whoever_needs_all_of_them_hears_why_one_is_not_there) {
  Partitions partitions(options());
  broken_[3] = true;
  partitions.have({0, 1, 2, 3});
  try {
    partitions.wait_until_open();
    FAIL();
  } catch (const LogError& error) {
    EXPECT_STREQ(error.what(), "nobody answers");
  }
  broken_[3] = false;
  partitions.have({0, 1, 2, 3});
  partitions.wait_until_open();
  EXPECT_EQ(partitions.here().size(), 4);
}

TEST_F(PartitionsTest, the_end_waits_for_those_who_are_still_at_work) {
  std::thread worker;
  std::atomic<bool> ended = false;
  {
    Partitions partitions(options());
    partitions.have({0});
    ASSERT_TRUE(comes_true([&] { return partitions.at(0) != nullptr; }));
    worker = std::thread([&ended, kept = partitions.at(0)]() mutable {
      std::this_thread::sleep_for(100ms);
      ended = true;
      kept.reset();
    });
  }
  EXPECT_TRUE(ended);
  worker.join();
}

TEST_F(PartitionsTest, numbers_of_several_are_added_up) {
  Partitions partitions(options());
  partitions.have({0, 1});
  ASSERT_TRUE(comes_true([&] { return partitions.here().size() == 2; }));
  for (std::size_t partition = 0; partition < 2; ++partition) {
    Caller caller(*partitions.at(partition));
    const Decided decided = good(caller.select(request_for("u1", 1)));
    good(caller.reward(decided.event, 2.0));
    partitions.at(partition)->wait_until_learned();
  }
  const Status status = status_of(partitions);
  EXPECT_EQ(status.users, 24);
  EXPECT_EQ(status.rewards, 2);
  EXPECT_EQ(status.decisions, 2);
  EXPECT_EQ(status.rewards_accepted, 2);
  EXPECT_EQ(status.reward_sum, 4.0);
}

}  // namespace partitions_test
}  // namespace goblin::serve
