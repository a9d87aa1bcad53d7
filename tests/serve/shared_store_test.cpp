#include "serve/shared_store.hpp"

#include "memory_log.hpp"
#include "temporary_folder.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace shared_store_test {

using testing::HasSubstr;

Record reward(const std::string& user, double value) {
  return {.kind = RecordKind::reward, .user = user, .context = {1.0, value}, .reward = value};
}

bool same(const Record& a, const Record& b) {
  return a.offset == b.offset && a.time == b.time && a.kind == b.kind && a.event == b.event &&
         a.decision == b.decision && a.user == b.user && a.other_user == b.other_user && a.item == b.item &&
         a.context == b.context && a.reward == b.reward && a.weight == b.weight && a.arm == b.arm &&
         a.candidates == b.candidates && a.candidate_items == b.candidate_items && a.scores == b.scores &&
         a.cluster == b.cluster &&
         std::bit_cast<std::uint64_t>(a.probability) == std::bit_cast<std::uint64_t>(b.probability);
}

TEST(Entry, comes_back_as_it_was) {
  const std::vector<Record> records = {
      {.time = 17,
       .kind = RecordKind::decision,
       .event = "mine",
       .user = "ann",
       .item = "tea",
       .context = {1.0, -0.0, 1e-300},
       .arm = 3,
       .probability = std::numeric_limits<double>::quiet_NaN(),
       .candidates = std::string("\0\1\2", 3),
       .scores = "[0.5]"},
      {.time = -1, .kind = RecordKind::reward, .decision = 7, .user = "ann", .context = {0.5}, .reward = -2.5},
      {.kind = RecordKind::edge, .user = "ann", .other_user = "bob", .weight = 0.25},
      {.kind = RecordKind::user, .user = "", .cluster = 0},
      {.kind = RecordKind::start, .user = "one"},
      {.kind = RecordKind::expired, .reward = -0.0}};
  const Entry entry = entry_of(bytes_of({.founding = "gob.lin", .begin = 12, .records = records}));
  EXPECT_EQ(entry.founding, "gob.lin");
  EXPECT_EQ(entry.begin, 12);
  ASSERT_EQ(entry.records.size(), records.size());
  for (std::size_t k = 0; k < records.size(); ++k) {
    EXPECT_TRUE(same(entry.records[k], records[k])) << k;
    for (std::size_t j = 0; j < records[k].context.size(); ++j) {
      EXPECT_EQ(std::signbit(entry.records[k].context[j]), std::signbit(records[k].context[j]));
    }
  }
  EXPECT_TRUE(std::signbit(entry.records.back().reward));
}

TEST(Entry, what_was_altered_is_noticed) {
  const std::string whole = bytes_of({.begin = 1, .records = {reward("ann", 1.0), reward("bob", 2.0)}});
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_THROW(entry_of(whole.substr(0, size)), BadEntry);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    EXPECT_THROW(entry_of(changed), BadEntry) << at;
  }
  EXPECT_THROW(entry_of(whole + "x"), BadEntry);
  std::string newer = whole;
  newer[4] = 2;
  try {
    static_cast<void>(entry_of(newer));
    FAIL();
  } catch (const BadEntry& bad) {
    EXPECT_TRUE(bad.is_newer);
    EXPECT_STREQ(bad.what(), "it is of version 2, and this goblin reads version 1");
  }
}

/// A process of its own: a copy, and hands on the log.
struct Process {
  Process(const std::filesystem::path& folder, std::shared_ptr<SharedEntries> entries,
          const std::string& founding = "F", std::vector<Record> first = {})
      : log(std::move(entries)),
        copy({.folder = folder, .is_copy = true}),
        store(copy, log, founding, std::move(first), {.warn = [this](const std::string& word) { said = word; }}) {}

  std::vector<Record> records() const {
    std::vector<Record> all;
    copy.read(1, [&](const Record& record) {
      all.push_back(record);
      return true;
    });
    return all;
  }
  void append(Record record) {
    store.begin();
    store.put(record);
    store.commit();
  }

  std::string said;
  MemoryLog log;
  SqliteStore copy;
  SharedStore store;
};

class SharedStoreTest : public testing::Test {
 protected:
  std::unique_ptr<Process> start(const std::string& name, const std::string& founding = "F",
                                 std::vector<Record> first = {}) {
    return std::make_unique<Process>(folder_ / name, entries_, founding, std::move(first));
  }
  std::string refusal(const std::string& name, const std::string& founding = "F") {
    try {
      start(name, founding);
    } catch (const LogError& error) {
      return error.what();
    }
    return "accepted";
  }
  static void expect_same(const Process& a, const Process& b) {
    const auto of_a = a.records();
    const auto of_b = b.records();
    ASSERT_EQ(of_a.size(), of_b.size());
    for (std::size_t k = 0; k < of_a.size(); ++k) ASSERT_TRUE(same(of_a[k], of_b[k])) << k;
  }

  TemporaryFolder folder_;
  std::shared_ptr<SharedEntries> entries_ = std::make_shared<SharedEntries>();
};

TEST_F(SharedStoreTest, everybody_has_the_same_copy) {
  const auto one = start("one", "F", {{.kind = RecordKind::item, .item = "tea", .context = {1.0, 0.0}}});
  one->append(reward("ann", 1.0));
  const auto two = start("two");
  EXPECT_EQ(two->store.end(), 3);
  EXPECT_TRUE(two->store.others().empty()) << "what was there at the start is in the copy";
  two->append(reward("bob", 2.0));
  const auto others = one->store.others();
  ASSERT_EQ(others.size(), 1);
  EXPECT_EQ(others.front().user, "bob");
  EXPECT_EQ(others.front().offset, 3);
  EXPECT_TRUE(two->store.others().empty()) << "its own";
  one->append(reward("cat", 3.0));
  EXPECT_EQ(two->store.others().size(), 1);
  expect_same(*one, *two);
  EXPECT_EQ(one->records().front().item, "tea");
}

TEST_F(SharedStoreTest, whoever_was_not_first_looks_again) {
  const auto one = start("one");
  const auto two = start("two");
  // Both know of an empty log; two is first.
  one->log.before_append = [&] { two->append(reward("bob", 2.0)); };
  Record mine = reward("ann", 1.0);
  one->store.begin();
  one->store.put(mine);
  EXPECT_THROW(one->store.commit(), Overtaken);
  EXPECT_EQ(one->store.end(), 2) << "what overtook it is there";
  ASSERT_EQ(one->store.others().size(), 1);
  one->append(mine);
  EXPECT_EQ(one->store.end(), 3);
  EXPECT_EQ(two->store.others().size(), 1);
  expect_same(*one, *two);
  EXPECT_EQ(entries_->bytes.size(), 4) << "the founding, two's, one's in vain, one's";
}

TEST_F(SharedStoreTest, what_was_overtaken_by_nothing_is_in_force) {
  const auto one = start("one");
  const auto two = start("two");
  one->log.before_append = [&] {
    two->store.prove_writable();                                                 // an entry without records
    entries_->append(bytes_of({.begin = 77, .records = {reward("eve", 9.0)}}));  // one that comes too late
  };
  one->append(reward("ann", 1.0));
  EXPECT_EQ(one->store.end(), 2);
  EXPECT_TRUE(one->store.others().empty());
  EXPECT_EQ(two->store.others().size(), 1);
  expect_same(*one, *two);
}

// The own entry is in the log and in force, but whoever wrote it could not read on to see that: its caller was told
// that it failed, so it has to be learned as what others wrote.
TEST_F(SharedStoreTest, what_was_appended_but_not_seen_is_told_later) {
  const auto one = start("one");
  const auto two = start("two");
  one->log.before_append = [&] {
    two->store.prove_writable();  // so that it is not the next entry
    one->log.failing_takes = 1;
  };
  EXPECT_THROW(one->append(reward("ann", 1.0)), LogError);
  EXPECT_EQ(one->store.end(), 1);
  const auto others = one->store.others();
  ASSERT_EQ(others.size(), 1);
  EXPECT_EQ(others.front().user, "ann");
  EXPECT_EQ(one->store.end(), 2);
  expect_same(*one, *start("three"));
}

TEST_F(SharedStoreTest, nothing_behind_the_own_entry_is_taken_in_with_it) {
  const auto one = start("one");
  const auto two = start("two");
  one->log.before_append = [&] { two->store.prove_writable(); };
  one->log.after_append = [&] {
    EXPECT_EQ(two->store.others().size(), 1);
    two->append(reward("bob", 2.0));
  };
  one->append(reward("ann", 1.0));
  EXPECT_EQ(one->store.end(), 2) << "or whoever learns up to the end would miss what comes now";
  ASSERT_EQ(one->store.others().size(), 1);
  EXPECT_EQ(one->store.end(), 3);
  // Nor does somebody else's start change the own number.
  one->log.before_append = [&] { two->store.prove_writable(); };
  one->log.after_append = [&] { EXPECT_EQ(two->store.log_start("two"), 2); };
  EXPECT_EQ(one->store.log_start("one"), 1);
  EXPECT_EQ(one->store.others().size(), 1);
  expect_same(*one, *two);
}

// Processes give up old records when they like, and with them the names.
TEST_F(SharedStoreTest, a_name_that_one_gave_up_may_come_again) {
  const auto one = start("one");
  const auto two = start("two");
  const auto decision = [](double value) {
    return Record{.kind = RecordKind::decision, .event = "order", .user = "ann", .context = {value}, .scores = "[1]"};
  };
  one->append(decision(1.0));
  one->append(reward("ann", 1.0));
  one->store.truncate(2);
  EXPECT_FALSE(one->store.find("order"));
  one->append(decision(2.0));
  EXPECT_EQ(two->store.others().size(), 3);
  for (Process* each : {one.get(), two.get()}) EXPECT_EQ(each->store.find("order")->decision.context.front(), 2.0);
  two->store.truncate(2);
  EXPECT_EQ(two->store.find("order")->decision.offset, 3);
  expect_same(*one, *two);
}

TEST_F(SharedStoreTest, refuses_what_is_too_large_for_an_entry) {
  const auto one = start("one");
  Record large = reward("ann", 1.0);
  large.context.assign(SharedLog::most_entry_bytes / 8 + 1, 0.5);
  EXPECT_THROW(one->append(large), TooLarge);
  EXPECT_EQ(one->store.end(), 1);
  EXPECT_EQ(entries_->bytes.size(), 1);
  one->append(reward("ann", 1.0));
  entries_ = std::make_shared<SharedEntries>();
  try {
    start("two", "F", {{.kind = RecordKind::item, .item = "tea", .context = large.context}});
    FAIL();
  } catch (const LogError& error) {
    EXPECT_THAT(error.what(), HasSubstr("(must be at most 15000000); begin with fewer, and add the others with PUT"));
  }
  EXPECT_TRUE(entries_->bytes.empty());
}

// A broker that cannot be reached, and one whose answer gets lost.
TEST_F(SharedStoreTest, what_is_not_known_to_be_safe_may_be_there) {
  const auto one = start("one");
  one->log.fault = MemoryLog::Fault::lost;
  EXPECT_THROW(one->append(reward("ann", 1.0)), LogError);
  EXPECT_TRUE(one->store.others().empty());
  EXPECT_EQ(one->store.end(), 1);
  one->log.fault = MemoryLog::Fault::unknown;
  EXPECT_THROW(one->append(reward("bob", 2.0)), LogError);
  EXPECT_EQ(one->store.end(), 1);
  one->log.fault = MemoryLog::Fault::none;
  // Whoever tries again before having looked comes second.
  EXPECT_THROW(one->append(reward("bob", 2.0)), Overtaken);
  EXPECT_EQ(one->store.others().size(), 1);
  EXPECT_EQ(one->records().size(), 1);
  expect_same(*one, *start("two"));
}

TEST_F(SharedStoreTest, an_entry_that_is_there_twice_counts_once) {
  const auto one = start("one");
  one->append(reward("ann", 1.0));
  entries_->append(entries_->bytes.back());
  entries_->append(entries_->bytes.front());
  one->append(reward("bob", 2.0));
  EXPECT_EQ(one->records().size(), 2);
  expect_same(*one, *start("two"));
}

TEST_F(SharedStoreTest, what_is_no_entry_is_passed_over_by_everybody) {
  const auto one = start("one");
  entries_->append("a poison record");
  std::string torn = bytes_of({.begin = 1, .records = {reward("eve", 1.0)}});
  entries_->append(torn.substr(0, torn.size() / 2));
  one->append(reward("ann", 1.0));
  EXPECT_THAT(one->said, HasSubstr("memory://log: entry 2 is passed over, here and by everybody: it was altered"));
  expect_same(*one, *start("two"));
  std::string newer = torn;
  newer[4] = 9;
  entries_->append(newer);
  for (int time = 0; time < 3; ++time) EXPECT_THROW(static_cast<void>(one->store.others()), LogError);
  EXPECT_THAT(refusal("three"), HasSubstr("entry 4: it is of version 9, and this goblin reads version 1; use a newer"));
}

TEST_F(SharedStoreTest, a_copy_goes_on_where_it_was) {
  start("one")->append(reward("ann", 1.0));
  start("two")->append(reward("bob", 2.0));
  {
    const auto one = start("one");
    EXPECT_EQ(one->records().size(), 2);
    one->append(reward("cat", 3.0));
    EXPECT_EQ(one->store.log_start("one"), 1);
  }
  const auto two = start("two");
  EXPECT_EQ(two->store.log_start("two"), 2);
  const auto one = start("one");
  EXPECT_EQ(one->store.log_start("one"), 3);
  EXPECT_EQ(two->store.others().size(), 1);
  expect_same(*one, *two);
}

TEST_F(SharedStoreTest, names_what_does_not_belong_together) {
  start("one")->append(reward("ann", 1.0));
  EXPECT_THAT(refusal("other", "G"), HasSubstr("memory://log: begins with F, and G was asked for"));
  {
    SqliteStore own({.folder = folder_ / "own"});
    Record record = reward("ann", 1.0);
    own.begin();
    own.put(record);
    own.commit();
    EXPECT_FALSE(is_copy_of_shared_log(own));
  }
  EXPECT_THAT(refusal("own"), HasSubstr("has a log of its own, and is no copy of memory://log"));
  EXPECT_TRUE(is_copy_of_shared_log(SqliteStore({.folder = folder_ / "one"})));
  // Another topic of the same name, shorter and as long.
  const auto before = entries_;
  entries_ = std::make_shared<SharedEntries>();
  entries_->append(bytes_of({.founding = "F"}));
  EXPECT_THAT(refusal("one"), HasSubstr("is not the log that the store is a copy of, but another one of that name"));
  entries_->append(bytes_of({.begin = 1, .records = {reward("bob", 1.0)}}));
  EXPECT_THAT(refusal("one"), HasSubstr("is not the log that the store is a copy of, but another one of that name"));
  // A topic that somebody else writes to.
  entries_ = std::make_shared<SharedEntries>();
  entries_->append("{\"click\": 1}");
  EXPECT_THAT(refusal("new"),
              HasSubstr("its first entry is not goblin's (it is not goblin's); name a topic of its own"));
  entries_ = std::make_shared<SharedEntries>();
  entries_->append(bytes_of({.begin = 1, .records = {reward("bob", 1.0)}}));
  EXPECT_THAT(refusal("newer"), HasSubstr("does not say how the log begins"));
  // What was deleted.
  entries_ = before;
  start("two");
  start("three")->append(reward("bob", 1.0));
  entries_->first = 3;
  EXPECT_EQ(refusal("three"), "accepted");
  EXPECT_THAT(refusal("empty"),
              HasSubstr("begins at entry 3, because older ones were deleted, and the store is empty"));
  EXPECT_THAT(refusal("one"), HasSubstr("the store goes to entry 1; put a copy of the store of another process there"));
}

// Threads that append at the same time, as processes do: everybody gets everything in, and all copies are the same.
TEST_F(SharedStoreTest, many_append_at_the_same_time) {
  constexpr int count = 4;
  constexpr int each = 50;
  std::vector<std::unique_ptr<Process>> processes;
  for (int k = 0; k < count; ++k) processes.push_back(start(fmt::format("{}", k)));
  std::atomic<int> overtaken = 0;
  std::vector<std::thread> threads;
  for (int k = 0; k < count; ++k) {
    threads.emplace_back([&, k] {
      Process& process = *processes[static_cast<std::size_t>(k)];
      for (int number = 0; number < each;) {
        static_cast<void>(process.store.others());
        try {
          process.append(reward(fmt::format("{} {}", k, number), 1.0));
          ++number;
        } catch (const Overtaken&) {
          ++overtaken;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& process : processes) static_cast<void>(process->store.others());
  for (const auto& process : processes) {
    expect_same(*process, *processes.front());
    std::vector<int> next(count, 0);
    for (const Record& record : process->records()) {
      const auto who = static_cast<std::size_t>(record.user[0] - '0');
      EXPECT_EQ(record.user, fmt::format("{} {}", who, next[who]++));
    }
    EXPECT_EQ(next, std::vector<int>(count, each));
  }
  EXPECT_EQ(entries_->bytes.size(), 1 + count * each + overtaken);
}

}  // namespace shared_store_test
}  // namespace goblin::serve
