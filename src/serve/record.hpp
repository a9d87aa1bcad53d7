#pragma once

#include "goblin/graph/names.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace goblin::serve {

/// The place of a record in the log: 1, 2, 3, ...
using Offset = std::uint64_t;

/// What may happen. The numbers stand in files.
enum class RecordKind : std::uint8_t {
  decision = 1,  ///< something was chosen for a user
  reward = 2,    ///< a reward, for a decision or on its own
  expired = 3,   ///< no reward came for a decision before the horizon passed; `reward` is what is learned instead
  user = 4,      ///< somebody joined
  edge = 5,      ///< two users are friends, with this weight instead of what was between them
  no_edge = 6,   ///< they are no more
  item = 7,      ///< an item came, or has another context
  no_item = 8,   ///< an item went
  // Of a log that several processes append to, in which `user` says which of them it was.
  start = 9,      ///< one of them began
  evidence = 10,  ///< one of them says what evidence it has: `event` is the checksum of all up to the record `decision`
};

/// One entry of the log. The belief is a fold over these, in their order: whatever time or chance decided is written
/// down, so that nothing has to be decided again. A reward is whole: learning from it takes no other record.
struct Record {
  Offset offset = 0;      ///< the log gives it
  std::int64_t time = 0;  ///< milliseconds since 1970, never less than that of the record before; the log gives it
  RecordKind kind = RecordKind::decision;

  /// decision: what the caller calls it; empty for one that is called after its offset (event_of).
  std::string event = {};
  /// reward, expired: the decision that it is for; 0 for a reward on its own.
  Offset decision = 0;
  /// decision, reward, expired, user; edge, no_edge: one of the two.
  std::string user = {};
  std::string other_user = {};  ///< edge, no_edge
  /// decision, reward, expired: what was chosen, where candidates are items; item, no_item.
  std::string item = {};
  /// decision, reward, expired: that of what was chosen. item: its own.
  std::vector<double> context = {};
  double reward = 0.0;       ///< reward, expired
  double weight = 1.0;       ///< edge
  std::uint32_t arm = 0;     ///< decision
  double probability = 1.0;  ///< decision: of what was chosen; not a number where nobody knows
  /// decision: the candidates, one of the two: their contexts, all numbers in one block (packed_numbers.hpp), or the
  /// items as a JSON array, "["a","b"]". Both are empty where only what was chosen is kept, as for the places of a
  /// ranking.
  std::string candidates = {};
  std::string candidate_items = {};
  /// decision: the scores as a JSON array, so that who asks again gets the same answer. Kept where somebody can: where
  /// the caller named the decision.
  std::string scores = {};
  /// user: of the policies whose clusters are given; none for a new one.
  std::optional<NodeId> cluster = {};
};

/// "g-17": what a decision is called whose caller did not name it. Names that callers choose must not begin with "g-".
[[nodiscard]] std::string event_of(Offset decision);
/// "g-3-17": what a decision is called that was answered before it had an offset, the 17th of those since the third
/// start of the store.
[[nodiscard]] std::string early_event(std::uint64_t start, std::uint64_t number);
/// Both numbers in one, another one for every such name; nothing if it is another text.
[[nodiscard]] std::optional<std::uint64_t> early_number(std::string_view event);
/// The offset in such a name; nothing if it is another text.
[[nodiscard]] std::optional<Offset> decision_of(std::string_view event);

/// "g-2:17" for "g-17": what a decision is called outside of the second of several partitions, so that everybody knows
/// where it is. Names that callers chose stay as they are.
[[nodiscard]] std::string with_partition(std::string event, std::size_t partition);
/// "g-17" for "g-2:17"; other names stay as they are.
[[nodiscard]] std::string without_partition(std::string event);
/// 2 for "g-2:17"; nothing if it is another text.
[[nodiscard]] std::optional<std::size_t> partition_of_event(std::string_view event);

}  // namespace goblin::serve
