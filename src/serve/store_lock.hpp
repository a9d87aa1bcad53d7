#pragma once

#include <filesystem>

namespace goblin::serve {

/// Holds `FOLDER/lock`, so that no second process uses the store. Makes the folder where it is missing. The lock goes
/// with the process, however that ends.
class StoreLock {
 public:
  /// Throws LogError if the folder cannot be written, or with the number of the process that has it.
  explicit StoreLock(const std::filesystem::path& folder);
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;
  ~StoreLock();

 private:
  int file_ = -1;
};

/// Makes sure that the entries of a folder are on disk: files that were made, renamed or removed there.
void sync_folder(const std::filesystem::path& folder);

}  // namespace goblin::serve
