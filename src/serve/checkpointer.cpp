#include "serve/checkpointer.hpp"

#include "serve/log.hpp"
#include "serve/sqlite.hpp"
#include "serve/write_back.hpp"

#include <chrono>
#include <sqlite3.h>
#include <utility>

namespace goblin::serve {
namespace {

// What the writer may be left with: a few milliseconds of work.
constexpr int short_rest = 32;
constexpr int most_passes = 8;
// How long the writer waits for readers, in milliseconds.
constexpr int most_milliseconds = 20;
// Somebody who reads for long keeps the log from starting over; trying all the time would not help.
constexpr auto pause = std::chrono::milliseconds(200);

}  // namespace

Checkpointer::Checkpointer(std::filesystem::path file, std::string vfs, std::size_t pages, WriteBack& write_back)
    : file_(std::move(file)), vfs_(std::move(vfs)), pages_(pages), write_back_(write_back), thread_([this] {
        run();
      }) {}

Checkpointer::~Checkpointer() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Checkpointer::written(std::size_t pages) {
  if (pages < pages_ || begin_.load(std::memory_order_relaxed)) return;
  {
    const std::lock_guard lock(mutex_);
    begin_ = true;
  }
  wake_.notify_one();
}

void Checkpointer::finish(sqlite3* writer, int busy_milliseconds) {
  if (!rest_.load(std::memory_order_acquire)) return;
  // Moves the rest and waits, but not for long, for those who still read from the write-ahead log. If they take longer,
  // or the disk is full, it stays as long as it is, and the thread begins again later.
  sqlite3_busy_timeout(writer, most_milliseconds);
  const int code = sqlite3_wal_checkpoint_v2(writer, nullptr, SQLITE_CHECKPOINT_RESTART, nullptr, nullptr);
  sqlite3_busy_timeout(writer, busy_milliseconds);
  const std::lock_guard lock(mutex_);
  later_ = code != SQLITE_OK;
  rest_ = false;
  begin_ = false;
}

void Checkpointer::run() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || (begin_ && !rest_); });
      if (later_) wake_.wait_for(lock, pause, [&] { return stop_; });
      if (stop_) return;
    }
    try {
      Database database(file_, {.vfs = vfs_});
      // SQLite looks for a write-ahead log when it reads for the first time; without that there is nothing to move.
      static_cast<void>(database.number("PRAGMA user_version"));
      const WriteBack::Running running(write_back_);
      for (int pass = 0; pass < most_passes; ++pass) {
        int before = 0;
        int moved = 0;
        int all = 0;
        // Passive: neither waits for others nor lets them wait.
        if (sqlite3_wal_checkpoint_v2(database.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &before, &moved) !=
            SQLITE_OK) {
          break;
        }
        // What came in meanwhile is seen by asking again.
        if (sqlite3_wal_checkpoint_v2(database.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &all, &moved) !=
                SQLITE_OK ||
            all - before < short_rest) {
          break;
        }
      }
      rest_.store(true, std::memory_order_release);
    } catch (const LogError&) {
      // The disk is full, or memory is: the writer will hear of it, too. Later again.
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, pause, [&] { return stop_; });
    }
  }
}

}  // namespace goblin::serve
