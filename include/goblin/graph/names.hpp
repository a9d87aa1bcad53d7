#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goblin {

/// Indexes the nodes of a graph, the users of a bandit, the clusters of a labelling.
using NodeId = std::uint32_t;

/// The whole number that a text is, written as one writes numbers: digits only, and no zero before others. Nothing if
/// it is another text, or if the number is too large. Where users have no names, this is how a text names one.
[[nodiscard]] std::optional<std::size_t> number_named(std::string_view text);

/// A two-way map between distinct names and the indices 0, 1, 2, ... in order of insertion. An index may lose its name.
///
/// The texts lie in one block, the hash table holds indices only: about 20 bytes a name beside its text.
class Names {
 public:
  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] bool empty() const { return ends_.empty(); }

  /// The name of an index below size(), empty if it has none; valid until the next change.
  [[nodiscard]] std::string_view operator[](std::size_t index) const {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(text_).substr(begin, ends_[index] - begin);
  }

  [[nodiscard]] std::optional<NodeId> find(std::string_view name) const;

  /// The index of the name, which is added if it is new.
  NodeId insert(std::string_view name);
  /// Another index, without a name.
  NodeId insert_nameless();
  /// Takes the names of some indices (ascending), which others may get then. O(size).
  void remove(std::span<const NodeId> indices);
  /// Takes away the names that were added after so many. Takes no memory.
  void keep_first(std::size_t count);

  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] std::size_t slot_of(std::string_view name) const;
  void grow();
  void check_room() const;
  [[nodiscard]] bool is_nameless(std::size_t index) const;

  std::string text_;
  std::vector<std::uint64_t> ends_;
  std::vector<NodeId> slots_;     // open addressing, a power of two long; holds index + 1, 0 is free
  std::vector<NodeId> nameless_;  // ascending
};

}  // namespace goblin
