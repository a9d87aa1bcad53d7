#pragma once

#include "serve/entry.hpp"
#include "serve/log.hpp"
#include "serve/shared_log.hpp"
#include "serve/sqlite_store.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace goblin::serve {

/// A store over a log that other processes append to as well, with a copy of it in SQLite: what is asked is asked of
/// the copy. Everybody who reads the log makes the same copy of it, with the same offsets and times.
///
/// To commit is to append an entry and to see it come into force, which it does if nothing came between (Entry). There
/// is no leader, no lease and no lock: of several who append at the same moment one is first, and the others are
/// Overtaken, take in what the first one appended, and try again. So whatever was looked at before commit() still holds
/// when it returns.
class SharedStore final : public Store {
 public:
  struct Options {
    /// Hears of entries that are passed over.
    std::function<void(std::string)> warn = {};
    /// Called by a thread of the log's when others() has something new, also while the constructor still runs.
    std::function<void()> arrived = {};
    /// How often it is said how far the beginning is.
    std::chrono::milliseconds say_every = std::chrono::seconds(5);
  };

  /// The copy must be one of this log, or new; it catches up with the log. A log in which there is nothing is founded:
  /// it begins with `founding`, which says in words what its bandit is, and with these records. The founding of a log
  /// that is there already must be the same. Throws LogError, with what to do, if it is not, or if the copy is one of
  /// another log, or older than what is left of this one.
  SharedStore(SqliteStore& copy, SharedLog& log, const std::string& founding, std::vector<Record> first_records,
              Options options);
  SharedStore(const SharedStore&) = delete;
  SharedStore& operator=(const SharedStore&) = delete;
  ~SharedStore() override { log_.stop_reading(); }

  /// Logs that this process begins, under that name; its number among all starts that the log has seen.
  std::uint64_t log_start(const std::string& process);

  void read(Offset from, const std::function<bool(const Record&)>& visit) const override { copy_.read(from, visit); }
  [[nodiscard]] Offset end() const override { return copy_.end(); }
  /// Of the copy: how long the log itself is kept is for those to say who keep it.
  void truncate(Offset before) override { copy_.truncate(before); }

  void begin() override;
  void put(Record& record) override;
  void commit() override;
  void roll_back() override;
  [[nodiscard]] std::optional<DecisionState> find(std::string_view event) override { return copy_.find(event); }
  [[nodiscard]] std::int64_t end_of_all() override { return log_.end(); }
  [[nodiscard]] bool has_all_before(std::int64_t end) const override { return progress_.next >= end; }
  void wait_for(std::int64_t end) override { take_in(end - 1); }
  [[nodiscard]] std::vector<Record> overdue(std::int64_t before, std::size_t most) override {
    return copy_.overdue(before, most);
  }
  /// Appends an entry without records.
  void prove_writable() override;
  [[nodiscard]] std::int64_t now() const override { return copy_.now(); }
  [[nodiscard]] Offset first() const override { return copy_.first(); }
  [[nodiscard]] std::vector<Record> others() override;

 private:
  /// How far the copy is.
  struct Progress {
    SharedLog::Place next = 0;  ///< the first entry that is not in it
    std::uint64_t last = 0;     ///< the checksum of the one before
    std::uint64_t starts = 0;   ///< that the log has seen
  };

  static Progress progress_of(const std::string& text);
  void open(const std::string& founding, std::vector<Record> first_records);
  void check_copy(SharedLog::Bounds bounds);
  void catch_up(SharedLog::Place end);
  /// Moves what has come from the log to those that wait here.
  void receive(std::chrono::milliseconds wait);
  /// Takes in everything that has come.
  void take_in_all();
  /// Takes in the entries up to that one, and none behind it; waits for them.
  void take_in(SharedLog::Place until);
  /// The next ones up to that one, some of them.
  void take_in_more(SharedLog::Place until);
  void take_in_some(SharedLog::Place until);
  [[nodiscard]] bool read(const SharedLog::Entry& each, Entry& entry) const;
  [[nodiscard]] std::vector<Record> dated(std::vector<Record> records) const;
  void remember(const Progress& progress);

  SqliteStore& copy_;
  SharedLog& log_;
  Options options_;
  std::string founding_;  // of the log; empty until it is known
  Progress progress_;
  std::vector<Record> written_;  // since begin()
  std::vector<Record> others_;   // that were taken in and not told yet
  std::deque<SharedLog::Entry> waiting_;
  SharedLog::Place own_ = -1;  // the entry that is waited for
  bool own_in_force_ = false;
};

/// Whether a store is the copy of a shared log, and not a log of its own.
[[nodiscard]] bool is_copy_of_shared_log(const SqliteStore& store);

}  // namespace goblin::serve
