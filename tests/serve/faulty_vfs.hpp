#pragma once

#include <memory>
#include <string>

namespace goblin::serve {

/// A layer below SQLite that loses what was not synced, as a machine does whose power fails, and that lets writes fail.
/// kill -9 alone does not show whether anybody syncs: the system writes later what a killed process wrote.
///
/// Files live where they always do; what was written since a file's last sync is noted, and taken back by a crash.
class FaultyVfs {
 public:
  FaultyVfs();
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;
  ~FaultyVfs();

  [[nodiscard]] const std::string& name() const;
  /// From now on every write, sync and truncation fails with this code of SQLite; 0: none.
  void fail_with(int code);
  /// Power fails: from now on nothing gets to the files, and what was not synced is lost. Close everything, then call
  /// restore().
  void crash();
  /// Puts the files into the state of the last syncs. Some of the lost writes may have got through all the same, as
  /// they do on disks: which ones follows from the seed; 0: none.
  void restore(unsigned seed = 0);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace goblin::serve
