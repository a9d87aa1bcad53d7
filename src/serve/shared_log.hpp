#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace goblin::serve {

/// A log outside of this process that other processes append to, too: a partition of a Kafka topic, say. Its entries
/// are bytes in one order that is the same for everybody; what they mean is SharedStore's matter.
class SharedLog {
 public:
  /// Where an entry stands: 0, 1, 2, ... without gaps.
  using Place = std::int64_t;

  /// The largest entry: what goblin topic create lets a message be, and something to spare for its frame.
  static constexpr std::size_t most_entry_bytes = 15'000'000;

  struct Entry {
    Place place = 0;
    std::string bytes;
  };
  struct Bounds {
    Place first = 0;  ///< of those that are still there
    Place end = 0;    ///< that the next one will have
  };

  virtual ~SharedLog() = default;

  /// Appends an entry behind whatever the others appended meanwhile. When it returns, the entry is safe, and its place
  /// is known. Throws TooLarge if the log does not take entries of that size, and LogError if it is not known to be
  /// safe: it may be in the log nevertheless.
  [[nodiscard]] virtual Place append(const std::string& bytes) = 0;
  /// From now on, take() gives the entries from that place on. `arrived` is called by a thread of the log's when there
  /// are new ones; it must not call the log.
  virtual void read_from(Place place, std::function<void()> arrived) = 0;
  /// `arrived` is not called any more, once this returns.
  virtual void stop_reading() = 0;
  /// The entries that have come, in their order; waits up to so long for the first one. Throws LogError if the place
  /// where it should go on is gone.
  [[nodiscard]] virtual std::vector<Entry> take(std::chrono::milliseconds wait) = 0;
  /// Asks those who keep the log. Throws LogError.
  [[nodiscard]] virtual Bounds bounds() = 0;
  /// The end alone, by the thread that appends, which waits no longer than append() does.
  [[nodiscard]] virtual Place end() = 0;
  /// "kafka://127.0.0.1:9092/clicks", for messages.
  [[nodiscard]] virtual const std::string& name() const = 0;
};

}  // namespace goblin::serve
