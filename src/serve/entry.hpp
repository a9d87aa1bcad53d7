#pragma once

#include "serve/record.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace goblin::serve {

/// What is appended to a shared log at a time: records that are in force together, or not at all.
///
/// They are in force if nothing came between: if `begin` is the offset that the next record has when the entry's turn
/// comes. Whoever wrote the entry had looked at all records before that one, so that whatever was checked then (is this
/// the first reward for that decision?) is still true. Otherwise somebody else was quicker, the entry means nothing, to
/// everybody who reads the log, and its writer looks again and tries again. An entry that is there twice means nothing
/// the second time.
struct Entry {
  /// The first entry of a log says in words how its bandit begins; empty for all others.
  std::string founding = {};
  Offset begin = 1;
  std::vector<Record> records = {};  ///< without offsets: they follow each other
};

/// docs/kafka.md has the form.
[[nodiscard]] std::string bytes_of(const Entry& entry);

/// Bytes that are no entry, or one that this goblin cannot read; what() says why.
class BadEntry : public std::runtime_error {
 public:
  explicit BadEntry(const std::string& reason, bool newer = false) : std::runtime_error(reason), is_newer(newer) {}

  bool is_newer;  ///< another goblin can read it
};
/// Throws BadEntry.
[[nodiscard]] Entry entry_of(std::string_view bytes);

}  // namespace goblin::serve
