#pragma once

#include "goblin/data/own_files.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace goblin::app {

/// What is wrong with a log, and where: how many of its lines (or rewards, where it has no lines) are good before that
/// in its block.
struct BadPlace {
  std::size_t at = 0;
  std::string reason;
  bool of_one = true;  ///< it is one of them that is bad; otherwise it is the log that cannot be read on
};

/// Some rewards of a log, one after the other, as columns.
struct RewardBlock {
  /// A text for each reward, one after the other, and where each ends; none where users go by numbers.
  std::string names;
  std::vector<std::size_t> name_ends;
  /// Which of the log's users it was: RewardFormat::user_name.
  std::vector<std::uint32_t> numbers;
  std::vector<double> contexts;
  std::vector<double> rewards;
  std::vector<std::size_t> places;  ///< which line of the block (or which reward) each of them is
  std::size_t length = 0;           ///< how many lines (or rewards) the block has
  std::size_t passed_over = 0;      ///< lines that hold no reward
  std::size_t bytes = 0;            ///< of the log
  std::optional<BadPlace> bad;      ///< after the rewards

  [[nodiscard]] std::size_t size() const { return rewards.size(); }
  [[nodiscard]] std::string_view name(std::size_t row) const {
    const std::size_t begin = row == 0 ? 0 : name_ends[row - 1];
    return std::string_view(names).substr(begin, name_ends[row] - begin);
  }
};

/// Where the bytes of a log come from.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;
  /// Reads some bytes, at least one; 0 at the end, and after stop().
  virtual std::size_t read(std::span<char> bytes) = 0;
  /// Ends a read that waits in another thread, and all that come after it.
  virtual void stop() = 0;
  /// Whether nothing has come for a moment.
  [[nodiscard]] virtual bool pauses() const = 0;
  /// Whether the end was that of the log: not a stop, not a signal.
  [[nodiscard]] virtual bool whole() const = 0;

  /// Reads until so many bytes are there or the end is reached; gives how many there are.
  std::size_t read_all(std::span<char> bytes);
};

/// The bytes of a file, or of standard input for "-"; a signal (StopOnSignal) ends them too. Throws DataError if it
/// cannot be opened or read.
[[nodiscard]] std::unique_ptr<ByteSource> open_bytes(const std::string& path);
/// Those of a text.
[[nodiscard]] std::unique_ptr<ByteSource> bytes_of(std::string text);

/// A form that a log may have. Its pieces are read one after the other and parsed side by side.
class RewardFormat {
 public:
  struct Piece {
    std::vector<char> bytes;      // and room after them that a parser may read
    std::size_t size = 0;         // of the bytes
    std::size_t users = 0;        // that the log has named so far, where it has numbers
    std::optional<BadPlace> bad;  // after the bytes; nothing can be read after it
  };

  RewardFormat() = default;
  RewardFormat(const RewardFormat&) = delete;
  RewardFormat& operator=(const RewardFormat&) = delete;
  virtual ~RewardFormat() = default;

  /// The next piece; none at the end. Called by one thread at a time.
  virtual std::optional<Piece> read() = 0;
  /// May be called by several threads at once.
  [[nodiscard]] virtual RewardBlock parse(const Piece& piece) const = 0;
  /// Ends a read that waits.
  virtual void stop() = 0;

  /// What the log consists of: "line", "reward".
  [[nodiscard]] virtual std::string unit() const = 0;
  /// The user with a number, if the log has numbers. Called by one thread, for numbers of blocks that it has got.
  [[nodiscard]] virtual std::string user_name(std::uint32_t number) const = 0;
};

/// JSON lines (EventReader), of which fit takes logged decisions and those that only learn.
[[nodiscard]] std::unique_ptr<RewardFormat> json_lines(std::unique_ptr<ByteSource> source, std::string beginning,
                                                       std::size_t dimension, std::shared_ptr<const data::Items> items);
/// The binary form: docs/events-file.md. The name is for messages.
[[nodiscard]] std::unique_ptr<RewardFormat> events_file(std::unique_ptr<ByteSource> source, std::string beginning,
                                                        std::size_t dimension, const std::string& name);
/// The one of them that the first bytes show; JSON lines may name the items. Throws DataError if the log is of another
/// dimension, std::invalid_argument if the items are.
[[nodiscard]] std::unique_ptr<RewardFormat> format_of(std::unique_ptr<ByteSource> source, std::size_t dimension,
                                                      const std::string& name,
                                                      std::shared_ptr<const data::Items> items = nullptr);

/// Reads a log ahead of whoever takes it, on threads of its own.
class RewardLog {
 public:
  /// Threads stop reading while so many rewards wait. There are fewer of them where the machine has no more.
  RewardLog(std::unique_ptr<RewardFormat> format, std::size_t threads, std::size_t most_waiting);
  RewardLog(const RewardLog&) = delete;
  RewardLog& operator=(const RewardLog&) = delete;
  ~RewardLog();

  struct Next {
    std::optional<RewardBlock> block;
    bool ended = false;  ///< otherwise, without a block: the log pauses
  };

  /// The blocks in the order of the log. Throws DataError if it cannot be read further.
  [[nodiscard]] Next next();
  [[nodiscard]] const RewardFormat& format() const { return *format_; }

 private:
  void work();
  [[nodiscard]] std::optional<RewardFormat::Piece> read_piece(std::size_t& place);

  std::unique_ptr<RewardFormat> format_;
  std::size_t most_waiting_;
  std::mutex reading_;  // taken before mutex_
  std::mutex mutex_;
  std::condition_variable changed_;
  struct Parsed {
    RewardBlock block;
    std::exception_ptr failure;
  };
  std::map<std::size_t, Parsed> parsed_;  // by their place in the log
  std::size_t read_ = 0;                  // pieces
  std::size_t taken_ = 0;                 // blocks
  std::size_t waiting_ = 0;               // rewards
  bool ended_ = false;                    // nothing more will be read
  std::exception_ptr failure_;            // why
  std::vector<std::jthread> threads_;
};

}  // namespace goblin::app
