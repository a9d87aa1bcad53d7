#pragma once

#include "serve/record.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace goblin::serve {

/// The ordered log that everything goes through. What folds it up to the same offset has the same evidence, to the bit.
class Log {
 public:
  virtual ~Log() = default;

  /// Puts records at the end, all of them or none; when it returns they are on disk. Gives each its offset and time.
  /// Throws LogError if they cannot be written; the log can be used further.
  virtual void append(std::span<Record> records) = 0;
  /// Calls `visit` with the records from that offset on, in order, until it gives false or the end is reached. May be
  /// called while another thread appends.
  virtual void read(Offset from, const std::function<bool(const Record&)>& visit) const = 0;
  /// The offset that the next record will have.
  [[nodiscard]] virtual Offset end() const = 0;
  /// Gives up the records before that offset.
  virtual void truncate(Offset before) = 0;
};

/// What became of a decision.
struct DecisionState {
  Record decision;
  /// The reward or the expiry that was learned for it, if any.
  std::optional<double> reward = {};
  bool expired = false;
  Offset reward_offset = 0;
};

/// A log that can also be asked for single decisions, and that lets its one writer look before it appends: what is put
/// is seen by the questions that follow, and is on disk after commit(). One thread writes; any may read.
class Store : public Log {
 public:
  void append(std::span<Record> records) override;

  virtual void begin() = 0;
  /// Gives the record its offset and time. Only between begin and commit.
  virtual void put(Record& record) = 0;
  /// Throws LogError, and everything since begin() is undone, if it cannot be written (TooLarge: not all at once);
  /// Overtaken, likewise, if another process appended something meanwhile: then others() has it, and the same may be
  /// tried again.
  virtual void commit() = 0;
  virtual void roll_back() = 0;

  /// The decision of that name, as the writer sees it.
  [[nodiscard]] virtual std::optional<DecisionState> find(std::string_view event) = 0;
  /// Decisions older than `before` (in time) without a reward, the oldest first, at most so many; those that were given
  /// here and got a reward or an expiry meanwhile are not given again. As the writer sees it.
  [[nodiscard]] virtual std::vector<Record> overdue(std::int64_t before, std::size_t most) = 0;
  /// Where the log of all processes ends now, which those who keep it are asked: a number for wait_for(). Throws
  /// LogError. 0 where nobody else appends.
  [[nodiscard]] virtual std::int64_t end_of_all() { return 0; }
  /// Whether what was before that end has been taken in.
  [[nodiscard]] virtual bool has_all_before(std::int64_t /*end*/) const { return true; }
  /// Waits until it has been; others() has it then. Throws LogError if it does not come. Not in a transaction.
  virtual void wait_for(std::int64_t /*end*/) {}
  /// Writes something that means nothing; throws LogError as commit does. Between transactions.
  virtual void prove_writable() = 0;
  /// What other processes appended since this was asked the last time, in the order of the log; nothing where nobody
  /// else does. The questions that follow see it. Not in a transaction.
  [[nodiscard]] virtual std::vector<Record> others() { return {}; }
  /// The time that the next record will have: that of the clock, but never before the last record's.
  [[nodiscard]] virtual std::int64_t now() const = 0;
  /// Whether every reward learned up to here is kept: the first offset that is still there.
  [[nodiscard]] virtual Offset first() const = 0;
};

/// Somebody else appended to the log before it was one's turn. Nothing is wrong: look again, and try again.
struct Overtaken : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "another process appended to the log first"; }
};

/// The log cannot be opened, read or written; what() says which file, why, and what to do.
class LogError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What was to be written in one transaction is more than the log takes at a time. In parts it may fit.
class TooLarge : public LogError {
 public:
  using LogError::LogError;
};

}  // namespace goblin::serve
