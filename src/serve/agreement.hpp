#pragma once

#include "serve/record.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace goblin::serve {

/// Whether all processes that learn from the same log have the same evidence, to the bit, at the same offsets. If not,
/// one of them is broken: its memory, its disk, its processor or its goblin.
class Agreement {
 public:
  /// What this process has at an offset.
  void found(Offset offset, std::uint64_t checksum);
  /// What the log says that another one has.
  void heard(Offset offset, std::uint64_t checksum, const std::string& process);
  /// Whether the log says of that offset already that somebody has the same. Whoever has something else says so, even
  /// if others spoke before: so all hear of it, whoever is the one that is broken.
  [[nodiscard]] bool is_said(Offset offset, std::uint64_t checksum) const;
  /// In words; empty: none was seen.
  [[nodiscard]] std::string disagreement() const;
  [[nodiscard]] std::size_t compared() const;

 private:
  struct Heard {
    std::uint64_t checksum = 0;
    std::string process;
  };

  void compare(Offset offset, std::uint64_t own, const Heard& other);

  mutable std::mutex mutex_;
  std::map<Offset, std::uint64_t> found_;  // of the last offsets
  std::multimap<Offset, Heard> heard_;
  std::string disagreement_;
  std::size_t compared_ = 0;
};

}  // namespace goblin::serve
