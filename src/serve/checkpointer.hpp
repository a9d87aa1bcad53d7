#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

struct sqlite3;

namespace goblin::serve {

class WriteBack;

/// Moves what is in SQLite's write-ahead log into the database, on a thread of its own, while the writer goes on.
///
/// The write-ahead log starts over only when all of it has been moved at a moment at which nobody writes. While records
/// keep coming that never happens by itself; so the thread moves nearly all of it, and then lets the writer do the rest
/// between two commits.
class Checkpointer {
 public:
  /// A checkpoint begins when the write-ahead log has so many pages. What it writes goes to the disk by `write_back`
  /// meanwhile, so that commits do not wait behind it.
  Checkpointer(std::filesystem::path file, std::string vfs, std::size_t pages, WriteBack& write_back);
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;
  ~Checkpointer();

  /// The writer says after a commit how many pages the write-ahead log has.
  void written(std::size_t pages);
  /// The writer asks between two commits; does the short rest of a checkpoint, if there is one. Leaves the writer with
  /// that timeout for locks of others.
  void finish(sqlite3* writer, int busy_milliseconds);

 private:
  void run();

  std::filesystem::path file_;
  std::string vfs_;
  std::size_t pages_;
  WriteBack& write_back_;
  std::atomic<bool> begin_ = false;
  std::atomic<bool> rest_ = false;  // the thread has done its part
  std::mutex mutex_;
  std::condition_variable wake_;
  bool later_ = false;  // the last one did not get to the end
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace goblin::serve
