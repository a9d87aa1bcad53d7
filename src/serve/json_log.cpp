#include "serve/json_log.hpp"

#include "serve/json_text.hpp"

#include <cerrno>
#include <chrono>
#include <optional>
#include <poll.h>
#include <unistd.h>

#include <climits>
#include <fmt/chrono.h>

namespace goblin::serve {
namespace {

constexpr std::size_t most_waiting = std::size_t{1} << 20U;

/// How long the end waits for somebody who does not read.
constexpr auto patience = std::chrono::seconds(2);
constexpr int look_again = 100;  // milliseconds

/// As many whole lines as a pipe that has room takes at once, or what fits of one.
std::string_view piece_of(std::string_view text) {
  if (text.size() <= PIPE_BUF) return text;
  const std::size_t end = text.rfind('\n', PIPE_BUF - 1);
  return text.substr(0, end == std::string_view::npos ? PIPE_BUF : end + 1);
}

/// All of it, unless nobody will ever read it: it ends some time after it was asked to stop. Never begins to write what
/// there is no room for, as nothing would end that. Whether all was written.
bool write_all(int descriptor, std::string_view text, const std::stop_token& stop) {
  std::optional<std::chrono::steady_clock::time_point> latest;
  while (!text.empty()) {
    pollfd ready = {descriptor, POLLOUT, 0};
    const bool has_room = ::poll(&ready, 1, look_again) > 0;
    if (stop.stop_requested()) {
      const auto now = std::chrono::steady_clock::now();
      if (!latest) latest = now + patience;
      if (now >= *latest) return false;
    }
    if (!has_room) continue;
    const std::string_view piece = piece_of(text);
    const ssize_t count = ::write(descriptor, piece.data(), piece.size());
    if (count > 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EAGAIN && errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::string_view name_of(JsonLog::Level level) {
  switch (level) {
    case JsonLog::Level::info:
      return "info";
    case JsonLog::Level::warning:
      return "warning";
    default:
      return "error";
  }
}

std::string line_of(JsonLog::Level level, std::string_view message, const JsonLog::Members& members) {
  std::string line = fmt::format(R"({{"time":"{}","level":"{}","message":)", time_now(), name_of(level));
  append_string(line, message);
  for (const auto& [name, value] : members) {
    append(line, ",\"{}\":", name);
    append_string(line, value);
  }
  line += "}\n";
  return line;
}

}  // namespace

std::string time_now() {
  using namespace std::chrono;
  const auto now = floor<milliseconds>(system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(system_clock::to_time_t(now)),
                     now.time_since_epoch().count() % 1000);
}

JsonLog::JsonLog(int descriptor)
    : descriptor_(descriptor), writer_([this](const std::stop_token& stop) { write_lines(stop); }) {}

JsonLog::~JsonLog() {
  writer_.request_stop();
  writer_.join();
}

void JsonLog::say(Level level, std::string_view message, const Members& members) {
  std::string line = line_of(level, message, members);
  append(line, 1);
}

void JsonLog::append(std::string& lines, std::size_t count) {
  if (lines.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() + lines.size() > most_waiting) {
      dropped_ += count;
    } else {
      waiting_ += lines;
    }
  }
  lines.clear();
  changed_.notify_one();
}

void JsonLog::write_lines(const std::stop_token& stop) {
  std::string writing;
  for (bool last = false; !last;) {
    std::size_t dropped = 0;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return !waiting_.empty(); });
      last = stop.stop_requested();
      writing.swap(waiting_);
      waiting_.clear();
      dropped = std::exchange(dropped_, 0);
    }
    if (dropped > 0) {
      writing += line_of(Level::warning, "Lines of this log were left out: they are not read as fast as they come.",
                         {{"lines", std::to_string(dropped)}});
    }
    const bool all = write_all(descriptor_, writing, stop);
    writing.clear();
    if (!all && stop.stop_requested()) return;
  }
}

}  // namespace goblin::serve
