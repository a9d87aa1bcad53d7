#pragma once

#include "goblin/bandit/bandit.hpp"
#include "serve/record.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace goblin::serve {

/// The files `FOLDER/OFFSET.goblin`: the bandit with everything of the log up to that offset in it. 0.goblin is the
/// bandit that the store began with.
///
/// The store remembers the head of every snapshot, which has the length and checksum of its content, before the file
/// gets its name. So a snapshot of another store is told apart, and one that was cut short, too.
class Snapshots {
 public:
  struct Ledger {
    std::function<void(const std::string& name, const std::string& value)> remember;  ///< on disk when it returns
    std::function<std::string(const std::string& name)> remembered;                   ///< empty: nothing
  };

  Snapshots(std::filesystem::path folder, Ledger ledger, std::function<void(std::string)> warn);

  void set_ledger(Ledger ledger) { ledger_ = std::move(ledger); }

  struct Loaded {
    Bandit bandit;
    Offset offset;
  };
  /// The newest good one with an offset from `first` to `last`. Warns of each that is not good, by its name.
  [[nodiscard]] std::optional<Loaded> load_newest(Offset first, Offset last) const;
  /// Whether the bandit that the store began with was saved. If the process that did was killed before it gave the file
  /// its name, it gets it now. Warns of snapshots beside a store that has none.
  [[nodiscard]] bool find_first() const;

  /// Throws std::system_error or LogError if it cannot be written.
  void save(const Bandit& bandit, Offset offset);
  /// Deletes all but so many of the newest, and the first. What is no snapshot of this store stays, and does not count.
  void keep_newest(std::size_t count);
  /// Of this store's snapshots, ascending, without the first.
  [[nodiscard]] std::vector<Offset> offsets() const;

 private:
  /// The same of all files that have such a name.
  [[nodiscard]] std::vector<Offset> files() const;
  [[nodiscard]] std::filesystem::path file(Offset offset) const;
  /// What a snapshot is called until it is noted.
  [[nodiscard]] std::filesystem::path fresh() const { return folder_ / "fresh"; }

  std::filesystem::path folder_;
  Ledger ledger_;
  std::function<void(std::string)> warn_;
};

}  // namespace goblin::serve
