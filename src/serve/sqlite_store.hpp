#pragma once

#include "serve/clock.hpp"
#include "serve/log.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goblin::serve {

/// The log in a SQLite file, `FOLDER/log.sqlite`, which any SQL tool can look at, also while the server runs:
///
///     log        every record; contexts are BLOBs, as in packed_numbers.hpp (in a store of version 1, and in the table
///                items, 8-byte numbers, lowest byte first)
///     events     names that callers gave to decisions
///     open       decisions that wait for their reward
///     rewarded   what became of the others
///     items      the catalogue as it is now
///     meta       what the store is
///     decisions, rewards    views of log, with times and names that people can read
///
/// A write-ahead log with synchronous=FULL: commit() returns when the records are on disk. Who reads does not stop who
/// writes. The file is kept in order (checkpoints) by a thread of its own; the writer only does the rest of a
/// checkpoint, which is short. One process at a time has the store; `FOLDER/lock` says which.
class SqliteStore final : public Store {
 public:
  struct Options {
    std::filesystem::path folder;
    Clocks clocks = Clocks::of_the_machine();
    std::function<void(std::string)> warn = {};  ///< called in the constructor
    std::string vfs = {};                        ///< as in Database
    /// Of the write-ahead log, from which on a checkpoint begins. Commits wait for the disk behind each of them, for
    /// about as long whether it has 500 pages or 4,000: so there are few.
    std::size_t checkpoint_pages = 4'000;
    /// It repeats another log (SharedStore), which has what is lost here: commit() does not wait for the disk.
    bool is_copy = false;
  };

  /// Opens the store, or makes one. Throws LogError if it cannot be written, is of a newer version, no store at all, or
  /// another process has it.
  explicit SqliteStore(Options options);
  ~SqliteStore() override;

  void read(Offset from, const std::function<bool(const Record&)>& visit) const override;
  [[nodiscard]] Offset end() const override;
  void truncate(Offset before) override;

  void begin() override;
  void put(Record& record) override;
  /// The same of a record that has its time already, not before that of the last one. Gives the offset.
  void put_with_time(Record& record);
  void commit() override;
  void roll_back() override;
  [[nodiscard]] std::optional<DecisionState> find(std::string_view event) override;
  [[nodiscard]] std::vector<Record> overdue(std::int64_t before, std::size_t most) override;
  void prove_writable() override;
  [[nodiscard]] std::int64_t now() const override;
  [[nodiscard]] Offset first() const override;

  /// The newest records, newest first, without their candidates. Any thread.
  [[nodiscard]] std::vector<Record> newest(std::size_t count) const;
  /// The offset of the first record at or after that time; end() if there is none. Any thread.
  [[nodiscard]] Offset first_since(std::int64_t time) const;
  /// The offset of the first record that is not older than so many milliseconds. A silence of more than a day before a
  /// start does not count, because nobody can tell it from a clock that was wrong then. Any thread.
  [[nodiscard]] Offset first_within(std::int64_t milliseconds) const;
  /// Calls `visit` with every item there is, by name. Any thread.
  void items(const std::function<void(std::string_view name, std::vector<double> context)>& visit) const;

  /// The record of that offset, with its candidates. Any thread.
  [[nodiscard]] std::optional<Record> at(Offset offset) const;

  /// A line of `meta`: something to be remembered beside the log; an empty text forgets it. Only in a transaction.
  void remember(std::string_view name, std::string_view value);
  /// Empty if there is none. Any thread.
  [[nodiscard]] std::string remembered(std::string_view name) const;

  /// A random text that this store has and no other.
  [[nodiscard]] const std::string& id() const;
  /// How often the store was opened, this time too: whoever needs names that no earlier process gave.
  [[nodiscard]] std::uint64_t start_number() const;
  /// Whether it was made just now.
  [[nodiscard]] bool is_new() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace goblin::serve
