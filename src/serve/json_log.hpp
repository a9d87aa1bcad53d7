#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace goblin::serve {

/// Which requests get a line.
enum class LogRequests : std::uint8_t { errors, all, none };

/// What the server says: JSON lines, {"time", "level", "message", ...}, never a key and never a body. A thread of its
/// own writes them, so that nobody waits for a slow reader; what does not fit into its memory is left out, and a line
/// says how many.
class JsonLog {
 public:
  enum class Level : std::uint8_t { info, warning, error };
  /// Members beside the message; the values are texts.
  using Members = std::vector<std::pair<std::string_view, std::string>>;

  /// Writes to a file descriptor, which must stay open.
  explicit JsonLog(int descriptor);
  JsonLog(const JsonLog&) = delete;
  JsonLog& operator=(const JsonLog&) = delete;
  /// Writes what is left, as far as somebody reads it within two seconds or so.
  ~JsonLog();

  void say(Level level, std::string_view message, const Members& members = {});
  /// Whole lines, as many as that; empties the text.
  void append(std::string& lines, std::size_t count);

 private:
  void write_lines(const std::stop_token& stop);

  int descriptor_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string waiting_;
  std::size_t dropped_ = 0;
  std::jthread writer_;
};

/// "2026-11-16T21:40:57.123Z", of now.
[[nodiscard]] std::string time_now();

}  // namespace goblin::serve
