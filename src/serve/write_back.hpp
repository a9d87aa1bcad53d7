#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

namespace goblin::serve {

/// Lets a file that somebody writes to in large pieces go to the disk in small ones, on a thread of its own. A sync of
/// all of it at once would keep the disk busy for tens of milliseconds, and every sync of other files waiting.
///
/// Nothing is promised by that, and nothing depends on it: whoever needs the file on disk syncs it as before, and finds
/// little left to do. (An error of the disk that is met here is told to whoever syncs, too: Linux does so since 4.13.)
class WriteBack {
 public:
  /// Must outlive all connections of this process to a database in that file: closing it gives their locks away, as
  /// POSIX has it.
  WriteBack() = default;
  WriteBack(const WriteBack&) = delete;
  WriteBack& operator=(const WriteBack&) = delete;
  ~WriteBack();

  /// Once, when the file is there. Does nothing from then on if it cannot be opened.
  void open(const std::filesystem::path& file);
  /// As long as it lives, what is written goes to the disk.
  class Running {
   public:
    explicit Running(WriteBack& file) : file_(file) { file_.set_running(true); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() { file_.set_running(false); }

   private:
    WriteBack& file_;
  };

 private:
  void set_running(bool running);
  void run();

  int file_ = -1;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> running_ = false;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace goblin::serve
