#include "serve/write_back.hpp"

#include <chrono>
#include <fcntl.h>
#include <unistd.h>

namespace goblin::serve {
namespace {

// In which time SQLite copies a few hundred kilobytes.
constexpr auto between_pieces = std::chrono::microseconds(100);

}  // namespace

WriteBack::~WriteBack() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  if (file_ >= 0) ::close(file_);
}

void WriteBack::open(const std::filesystem::path& file) {
  file_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ >= 0) thread_ = std::thread([this] { run(); });
}

void WriteBack::set_running(bool running) {
  {
    const std::lock_guard lock(mutex_);
    running_ = running;
  }
  wake_.notify_one();
}

void WriteBack::run() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || running_; });
    }
    while (running_ && !stop_) {
      // Where a file system does not know that, the sync at the end has it all to do.
      ::sync_file_range(file_, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
      std::this_thread::sleep_for(between_pieces);
    }
    if (stop_) return;
  }
}

}  // namespace goblin::serve
