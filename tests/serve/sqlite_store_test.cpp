#include "serve/sqlite_store.hpp"

#include "serve/packed_numbers.hpp"
#include "serve/sqlite.hpp"
#include "temporary_folder.hpp"

#include <atomic>
#include <cmath>
#include <limits>
#include <sys/mount.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goblin::serve {
namespace sqlite_store_test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// What the constructor throws.
std::string refusal(const SqliteStore::Options& options) {
  try {
    const SqliteStore store(options);
  } catch (const LogError& error) {
    return error.what();
  }
  return "accepted";
}

Record decision(std::string user, std::string event = {}) {
  return {.kind = RecordKind::decision,
          .event = std::move(event),
          .user = std::move(user),
          .context = {0.1, -0.0, 1e-300},
          .arm = 2,
          .probability = 0.25,
          .candidates = packed(std::vector<double>{1, 2, 3, 4, 5, 6, 0.1, 0.0, 1e-300}),
          .scores = "[1,2,3]"};
}

Record reward_of(const Record& decision, double value) {
  return {.kind = RecordKind::reward,
          .decision = decision.offset,
          .user = decision.user,
          .item = decision.item,
          .context = decision.context,
          .reward = value};
}

std::vector<Record> all_of(const Log& log, Offset from = 1) {
  std::vector<Record> records;
  log.read(from, [&](const Record& record) {
    records.push_back(record);
    return true;
  });
  return records;
}

class SqliteStoreTest : public testing::Test {
 protected:
  SqliteStoreTest() { options_.folder = folder_ / "store"; }

  void append(Store& store, Record& record) { store.append(std::span(&record, 1)); }

  TemporaryFolder folder_;
  SqliteStore::Options options_;
};

TEST_F(SqliteStoreTest, what_was_appended_is_read_again_after_a_restart_in_every_bit) {
  std::vector<Record> records = {
      decision("ann"),
      decision("bob", "order-1"),
      {.kind = RecordKind::user, .user = "carl", .cluster = 3},
      {.kind = RecordKind::edge, .user = "ann", .other_user = "carl", .weight = 0.1},
      {.kind = RecordKind::no_edge, .user = "ann", .other_user = "carl"},
      {.kind = RecordKind::item, .item = "hat", .context = {1.0, 2.0, 3.0}},
      {.kind = RecordKind::no_item, .item = "hat"},
      {.kind = RecordKind::reward, .user = "ann", .context = {0.5, 0.25, 0.125}, .reward = -1.5},
  };
  records[1].probability = std::numeric_limits<double>::quiet_NaN();
  records[1].candidates.clear();
  records[1].candidate_items = R"(["hat","sock"])";
  records[1].item = "sock";
  {
    SqliteStore store(options_);
    EXPECT_TRUE(store.is_new());
    EXPECT_EQ(store.end(), 1);
    EXPECT_EQ(store.first(), 1);
    store.append(records);
    EXPECT_EQ(store.end(), 9);
  }
  const SqliteStore store(options_);
  EXPECT_FALSE(store.is_new());
  EXPECT_EQ(store.end(), 9);
  const std::vector<Record> read = all_of(store);
  ASSERT_EQ(read.size(), records.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].offset, i + 1);
    EXPECT_EQ(read[i].time, records[i].time);
    EXPECT_EQ(read[i].kind, records[i].kind);
    EXPECT_EQ(read[i].event, records[i].event);
    EXPECT_EQ(read[i].user, records[i].user);
    EXPECT_EQ(read[i].other_user, records[i].other_user);
    EXPECT_EQ(read[i].item, records[i].item);
    EXPECT_EQ(read[i].context, records[i].context);
    EXPECT_EQ(read[i].reward, records[i].reward);
    EXPECT_EQ(read[i].weight, records[i].weight);
    EXPECT_EQ(read[i].arm, records[i].arm);
    EXPECT_EQ(read[i].candidates, records[i].candidates);
    EXPECT_EQ(read[i].candidate_items, records[i].candidate_items);
    EXPECT_EQ(read[i].scores, records[i].event.empty() ? "" : records[i].scores) << "for who asks again by a name";
    EXPECT_EQ(read[i].cluster, records[i].cluster);
  }
  EXPECT_TRUE(std::signbit(read[0].context[1]));
  EXPECT_EQ(read[0].probability, 0.25);
  EXPECT_TRUE(std::isnan(read[1].probability));
}

TEST_F(SqliteStoreTest, reading_begins_where_it_is_told_and_stops_when_it_is_told) {
  SqliteStore store(options_);
  std::vector<Record> records(3'000, decision("ann"));
  store.append(records);
  EXPECT_EQ(all_of(store, 2'999).size(), 2);
  EXPECT_EQ(all_of(store).size(), 3'000);
  EXPECT_TRUE(all_of(store, 3'001).empty());
  std::size_t seen = 0;
  store.read(10, [&](const Record& record) {
    ++seen;
    return record.offset < 1'500;
  });
  EXPECT_EQ(seen, 1'491);
  const std::vector<Record> newest = store.newest(2);
  ASSERT_EQ(newest.size(), 2);
  EXPECT_EQ(newest[0].offset, 3'000);
  EXPECT_EQ(newest[1].offset, 2'999);
}

TEST_F(SqliteStoreTest, the_writer_sees_what_it_put_and_nobody_what_it_took_back) {
  SqliteStore store(options_);
  store.begin();
  Record first = decision("ann", "order-1");
  store.put(first);
  EXPECT_TRUE(store.find("order-1"));
  EXPECT_TRUE(all_of(store).empty());
  EXPECT_EQ(store.end(), 1);
  store.roll_back();
  store.begin();
  EXPECT_FALSE(store.find("order-1"));
  Record second = decision("bob");
  store.put(second);
  store.commit();
  EXPECT_EQ(second.offset, 1);
  EXPECT_EQ(all_of(store).size(), 1);
}

TEST_F(SqliteStoreTest, decisions_are_found_by_either_kind_of_name_with_what_became_of_them) {
  SqliteStore store(options_);
  Record named = decision("ann", "order-1");
  Record nameless = decision("bob");
  append(store, named);
  append(store, nameless);
  Record reward = reward_of(named, 0.5);
  append(store, reward);

  EXPECT_FALSE(store.find("order-2"));
  EXPECT_FALSE(store.find("g-1")) << "it has a name of its own";
  EXPECT_FALSE(store.find("g-3")) << "a reward is no decision";
  EXPECT_FALSE(store.find("g-4"));
  const auto waiting = store.find("g-2");
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->decision.user, "bob");
  EXPECT_EQ(waiting->decision.context, nameless.context);
  EXPECT_FALSE(waiting->reward);
  const auto rewarded = store.find("order-1");
  ASSERT_TRUE(rewarded);
  EXPECT_EQ(rewarded->decision.scores, "[1,2,3]");
  EXPECT_EQ(rewarded->reward, 0.5);
  EXPECT_EQ(rewarded->reward_offset, 3);
  EXPECT_FALSE(rewarded->expired);
}

TEST_F(SqliteStoreTest, neither_a_second_reward_nor_a_second_decision_of_a_name_can_be_put) {
  SqliteStore store(options_);
  Record named = decision("ann", "order-1");
  append(store, named);
  Record again = decision("ann", "order-1");
  EXPECT_THROW(append(store, again), LogError);
  Record reward = reward_of(named, 0.5);
  append(store, reward);
  Record twice = reward_of(named, 0.5);
  EXPECT_THROW(append(store, twice), LogError);
  EXPECT_EQ(all_of(store).size(), 2);
}

TEST_F(SqliteStoreTest, overdue_decisions_are_those_older_than_asked_without_a_reward) {
  std::int64_t wall = 1'000'000;
  std::int64_t steady = 0;
  options_.clocks = {.wall = [&] { return wall; }, .steady = [&] { return steady; }};
  SqliteStore store(options_);
  std::vector<Record> decisions;
  for (int i = 0; i < 5; ++i) {
    Record record = decision("ann");
    append(store, record);
    decisions.push_back(record);
    steady += 1'000;
  }
  Record reward = reward_of(decisions[1], 1.0);
  append(store, reward);
  const auto offsets = [](const std::vector<Record>& records) {
    std::vector<Offset> offsets;
    for (const Record& record : records) offsets.push_back(record.offset);
    return offsets;
  };
  EXPECT_TRUE(store.overdue(1'000'000, 10).empty());
  EXPECT_THAT(offsets(store.overdue(1'003'000, 10)), ElementsAre(1, 3));
  EXPECT_THAT(offsets(store.overdue(1'003'000, 1)), ElementsAre(1));
  Record expired = reward_of(decisions[0], 0.0);
  expired.kind = RecordKind::expired;
  append(store, expired);
  EXPECT_THAT(offsets(store.overdue(1'003'000, 10)), ElementsAre(3));
  const auto found = store.find("g-1");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->expired);
  EXPECT_EQ(found->reward, 0.0);
  EXPECT_EQ(store.first_since(1'002'000), 3);
  EXPECT_EQ(store.first_since(0), 1);
  EXPECT_EQ(store.first_since(2'000'000), store.end());
}

TEST_F(SqliteStoreTest, what_is_truncated_is_gone_and_the_offsets_go_on) {
  {
    SqliteStore store(options_);
    std::vector<Record> records;
    for (int i = 0; i < 5'000; ++i) records.push_back(decision("ann", "order-" + std::to_string(i)));
    store.append(records);
    store.truncate(4'500);
    EXPECT_EQ(store.first(), 4'500);
    EXPECT_EQ(all_of(store).size(), 501);
    EXPECT_FALSE(store.find("order-4498"));
    EXPECT_TRUE(store.find("order-4499"));
    store.truncate(9'999);
    EXPECT_EQ(all_of(store).size(), 1) << "the newest stays";
  }
  SqliteStore store(options_);
  EXPECT_EQ(store.first(), 5'000);
  EXPECT_EQ(store.end(), 5'001);
}

TEST_F(SqliteStoreTest, items_are_those_that_came_and_did_not_go) {
  SqliteStore store(options_);
  std::vector<Record> records = {{.kind = RecordKind::item, .item = "hat", .context = {1.0}},
                                 {.kind = RecordKind::item, .item = "sock", .context = {2.0}},
                                 {.kind = RecordKind::item, .item = "hat", .context = {3.0}},
                                 {.kind = RecordKind::no_item, .item = "sock"},
                                 {.kind = RecordKind::item, .item = "cap", .context = {4.0}}};
  store.append(records);
  std::vector<std::pair<std::string, double>> items;
  store.items(
      [&](std::string_view name, const std::vector<double>& context) { items.emplace_back(name, context.at(0)); });
  EXPECT_THAT(items, ElementsAre(std::pair("cap", 4.0), std::pair("hat", 3.0)));
}

TEST_F(SqliteStoreTest, a_store_of_a_newer_version_is_refused_by_its_number) {
  { const SqliteStore store(options_); }
  Database(options_.folder / "log.sqlite", {}).run("PRAGMA user_version = 7");
  EXPECT_THAT(refusal(options_),
              AllOf(HasSubstr("log.sqlite"), HasSubstr("version 7"), HasSubstr("up to 2"), HasSubstr("newer goblin")));
}

TEST_F(SqliteStoreTest, a_store_of_version_1_goes_on_as_it_began_and_the_goblin_that_made_it_can_read_it) {
  { const SqliteStore store(options_); }
  const auto file = options_.folder / "log.sqlite";
  Database(file, {}).run("PRAGMA user_version = 1");
  Record given = decision("ann");
  given.context = {0.5, -0.0, 2.0};
  {
    SqliteStore store(options_);
    append(store, given);
    const auto found = store.find("g-1");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->decision.context, given.context);
  }
  const SqliteStore store(options_);
  EXPECT_EQ(all_of(store).at(0).context, given.context);
  Database tool(file, {.read_only = true});
  EXPECT_EQ(tool.number("PRAGMA user_version"), 1);
  EXPECT_EQ(tool.number("SELECT length(context) FROM log"), 24);
}

TEST_F(SqliteStoreTest, contexts_with_few_decimals_take_three_bytes_a_number) {
  SqliteStore store(options_);
  Record given = decision("ann");
  given.context = {0.5, 0.123456, -2.0};
  append(store, given);
  EXPECT_EQ(all_of(store).at(0).context, given.context);
  Database tool(options_.folder / "log.sqlite", {.read_only = true});
  EXPECT_EQ(tool.number("SELECT length(context) FROM log"), 10);
}

TEST_F(SqliteStoreTest, a_file_of_somebody_else_is_refused_and_left_alone) {
  std::filesystem::create_directories(options_.folder);
  const auto file = options_.folder / "log.sqlite";
  write_file(file, std::string(10'000, 'x'));
  EXPECT_THAT(refusal(options_), AllOf(HasSubstr("log.sqlite"), HasSubstr("not a database")));
  EXPECT_EQ(content_of(file), std::string(10'000, 'x'));
  std::filesystem::remove(file);
  Database(file, {.create = true}).run("CREATE TABLE songs (name TEXT)");
  EXPECT_THAT(refusal(options_), HasSubstr("another program"));
}

TEST_F(SqliteStoreTest, a_second_process_is_told_who_has_the_store) {
  const SqliteStore store(options_);
  EXPECT_THAT(refusal(options_), AllOf(HasSubstr("another process"), HasSubstr(std::to_string(::getpid()))));
}

TEST_F(SqliteStoreTest, a_folder_that_cannot_be_written_is_said) {
  options_.folder = "/proc/goblin-store";
  EXPECT_THAT(refusal(options_), HasSubstr("/proc/goblin-store"));
  options_.folder = folder_ / "file";
  write_file(options_.folder, "");
  EXPECT_THAT(refusal(options_), AllOf(HasSubstr("file"), HasSubstr("folder")));
}

TEST_F(SqliteStoreTest, a_store_that_became_read_only_is_refused_and_nothing_in_it_changes) {
  const auto mounted = folder_ / "mounted";
  std::filesystem::create_directory(mounted);
  if (::mount("tmpfs", mounted.c_str(), "tmpfs", 0, "size=4m") != 0) GTEST_SKIP() << "mounting is not permitted here";
  options_.folder = mounted / "store";
  {
    SqliteStore store(options_);
    Record record = decision("ann");
    append(store, record);
  }
  ASSERT_EQ(::mount("tmpfs", mounted.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, ""), 0);
  EXPECT_THAT(refusal(options_), AllOf(HasSubstr("ead-only"), HasSubstr("store")));
  ASSERT_EQ(::mount("tmpfs", mounted.c_str(), "tmpfs", MS_REMOUNT, "size=4m"), 0);
  EXPECT_EQ(all_of(SqliteStore(options_)).size(), 1);
  ::umount(mounted.c_str());
}

TEST_F(SqliteStoreTest, a_clock_that_went_back_is_said_and_time_does_not) {
  std::int64_t wall = 1'000'000;
  std::int64_t steady = 500;
  options_.clocks = {.wall = [&] { return wall; }, .steady = [&] { return steady; }};
  std::vector<std::string> warnings;
  options_.warn = [&](std::string warning) { warnings.push_back(std::move(warning)); };
  {
    SqliteStore store(options_);
    Record record = decision("ann");
    append(store, record);
    wall = 5;  // somebody sets the clock: nobody notices
    steady += 10;
    append(store, record);
    EXPECT_EQ(record.time, 1'000'010);
  }
  EXPECT_TRUE(warnings.empty());
  steady = 0;
  SqliteStore store(options_);
  ASSERT_EQ(warnings.size(), 1);
  EXPECT_THAT(warnings[0], AllOf(HasSubstr("1000005 ms behind"), HasSubstr("log.sqlite")));
  steady = 7;
  Record record = decision("ann");
  append(store, record);
  EXPECT_EQ(record.time, 1'000'017);
}

TEST_F(SqliteStoreTest, the_write_ahead_log_starts_over_while_records_keep_coming_and_readers_read) {
  options_.checkpoint_pages = 50;
  SqliteStore store(options_);
  std::atomic<bool> stop = false;
  std::thread reader([&] {
    while (!stop) {
      Offset last = 0;
      store.read(1, [&](const Record& record) {
        EXPECT_EQ(record.offset, last + 1);
        last = record.offset;
        return true;
      });
      EXPECT_LE(store.newest(3).size(), 3);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  // How long it gets depends on how fast the machine writes while a reader is in the way. If it never started over, it
  // would have everything in it that was ever written, and some of that twice.
  constexpr std::size_t together = 20;
  constexpr std::size_t bytes = 2'000;
  std::uintmax_t longest = 0;
  std::size_t commits = 0;
  while (commits < 100 || (longest > commits * together * bytes / 2 && commits < 20'000)) {
    std::vector<Record> records(together, decision("ann"));
    for (Record& record : records) record.candidates.clear();
    for (Record& record : records) record.candidate_items.assign(bytes, ' ');
    store.append(records);
    longest = std::max(longest, std::filesystem::file_size(options_.folder / "log.sqlite-wal"));
    ++commits;
  }
  stop = true;
  reader.join();
  EXPECT_EQ(all_of(store).size(), commits * together);
  EXPECT_LE(longest, commits * together * bytes / 2);
}

TEST_F(SqliteStoreTest, every_start_has_a_number_of_its_own_and_every_store_a_name) {
  std::string id;
  {
    const SqliteStore store(options_);
    EXPECT_EQ(store.start_number(), 1);
    id = store.id();
  }
  const SqliteStore store(options_);
  EXPECT_EQ(store.start_number(), 2);
  EXPECT_EQ(store.id(), id);
  EXPECT_EQ(id.size(), 32);
  EXPECT_NE(SqliteStore({.folder = folder_ / "other"}).id(), id);
}

TEST_F(SqliteStoreTest, any_sql_tool_sees_decisions_with_their_names_times_and_rewards) {
  SqliteStore store(options_);
  Record nameless = decision("ann");
  append(store, nameless);
  Record reward = reward_of(nameless, 0.5);
  append(store, reward);
  Database tool(options_.folder / "log.sqlite", {.read_only = true});
  Statement rows(tool, "SELECT event, user, reward, at FROM decisions");
  ASSERT_TRUE(rows.step());
  EXPECT_EQ(rows.text(0), "g-1");
  EXPECT_EQ(rows.text(1), "ann");
  EXPECT_EQ(rows.real(2), 0.5);
  EXPECT_THAT(std::string(rows.text(3)), testing::MatchesRegex("20..-..-..T.*Z"));
}

}  // namespace sqlite_store_test
}  // namespace goblin::serve
