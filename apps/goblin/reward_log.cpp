#include "reward_log.hpp"

#include "goblin/error.hpp"
#include "signals.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace goblin::app {
namespace {

class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path)
      : name_(path == "-" ? "standard input" : path),
        descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw DataError(name_, 0, fmt::format("the file cannot be opened: {}", std::strerror(errno)));
    if (::pipe2(stop_.data(), O_CLOEXEC) != 0) {
      const int reason = errno;
      close_file();
      throw std::system_error(reason, std::generic_category(), "a pipe");
    }
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override {
    close_file();
    for (const int end : stop_) ::close(end);
  }

  std::size_t read(std::span<char> bytes) override {
    if (stopped_ || interrupted()) return 0;
    try {
      return read_interruptibly(descriptor_, bytes, stop_[0]);
    } catch (const std::system_error& error) {
      throw DataError(name_, 0, fmt::format("cannot be read: {}", error.code().message()));
    }
  }
  [[nodiscard]] bool pauses() const override {
    constexpr int moment = 50;  // milliseconds
    pollfd waiting = {descriptor_, POLLIN, 0};
    return ::poll(&waiting, 1, moment) == 0;
  }
  void stop() override {
    stopped_ = true;
    const char byte = 0;
    static_cast<void>(::write(stop_[1], &byte, 1));
  }
  [[nodiscard]] bool whole() const override { return !stopped_ && !interrupted(); }

 private:
  void close_file() const {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
  }

  std::string name_;
  int descriptor_;
  std::array<int, 2> stop_ = {-1, -1};
  std::atomic<bool> stopped_ = false;
};

class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  std::size_t read(std::span<char> bytes) override {
    const std::size_t count = stopped_ ? 0 : std::min(bytes.size(), text_.size() - at_);
    std::copy_n(text_.data() + at_, count, bytes.data());
    at_ += count;
    return count;
  }
  [[nodiscard]] bool pauses() const override { return false; }
  void stop() override { stopped_ = true; }
  [[nodiscard]] bool whole() const override { return !stopped_; }

 private:
  std::string text_;
  std::size_t at_ = 0;
  std::atomic<bool> stopped_ = false;
};

}  // namespace

std::size_t ByteSource::read_all(std::span<char> bytes) {
  std::size_t there = 0;
  while (there < bytes.size()) {
    const std::size_t count = read(bytes.subspan(there));
    if (count == 0) break;
    there += count;
  }
  return there;
}

std::unique_ptr<ByteSource> open_bytes(const std::string& path) { return std::make_unique<FileSource>(path); }
std::unique_ptr<ByteSource> bytes_of(std::string text) { return std::make_unique<TextSource>(std::move(text)); }

RewardLog::RewardLog(std::unique_ptr<RewardFormat> format, std::size_t threads, std::size_t most_waiting)
    : format_(std::move(format)), most_waiting_(most_waiting) {
  try {
    while (threads_.size() < threads) threads_.emplace_back([this] { work(); });
  } catch (const std::exception&) {
    if (threads_.empty()) throw;  // otherwise those that could be made read it
  }
}

RewardLog::~RewardLog() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  format_->stop();
  threads_.clear();
}

/// The next piece and its place; none at the end of the log or of this object.
std::optional<RewardFormat::Piece> RewardLog::read_piece(std::size_t& place) {
  const std::lock_guard turn(reading_);
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || waiting_ < most_waiting_; });
    if (ended_) return std::nullopt;
  }
  std::optional<RewardFormat::Piece> piece;
  std::exception_ptr failure;
  try {
    piece = format_->read();
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  if (ended_) return std::nullopt;
  if (piece) {
    place = read_++;
  } else {
    failure_ = failure;
    ended_ = true;
    changed_.notify_all();
  }
  return piece;
}

/// What each thread does: takes the next piece, when it is its turn, and parses it beside the others.
void RewardLog::work() {
  std::size_t place = 0;
  while (const auto piece = read_piece(place)) {
    Parsed parsed;
    try {
      parsed.block = format_->parse(*piece);
    } catch (...) {
      parsed.failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    waiting_ += parsed.block.size();
    parsed_.emplace(place, std::move(parsed));
    changed_.notify_all();
  }
}

RewardLog::Next RewardLog::next() {
  constexpr auto patience = std::chrono::milliseconds(500);
  std::unique_lock lock(mutex_);
  const auto ended = [this] { return ended_ && taken_ >= read_; };
  changed_.wait_for(lock, patience, [&] { return parsed_.contains(taken_) || ended(); });
  const auto found = parsed_.find(taken_);
  if (found == parsed_.end()) {
    if (ended() && failure_) std::rethrow_exception(failure_);
    return {.block = std::nullopt, .ended = ended()};
  }
  if (found->second.failure) std::rethrow_exception(found->second.failure);
  Next result{.block = std::move(found->second.block)};
  parsed_.erase(found);
  ++taken_;
  waiting_ -= result.block->size();
  changed_.notify_all();
  return result;
}

}  // namespace goblin::app
