#pragma once

#include "goblin/bandit/shared_bandit.hpp"
#include "serve/record.hpp"

#include <functional>
#include <span>
#include <string>

namespace goblin::serve {

/// Whether a record changes what is believed; the others are passed over.
[[nodiscard]] bool is_learned(RecordKind kind);

/// Turns records into belief. Everybody who folds the same log has the same evidence to the bit, because sums are taken
/// in the order of the log, and the same belief to the engine's tolerance, however the records are cut into pieces.
class Fold {
 public:
  /// Everything up to `learned` is in the bandit already. `warn` hears of a record that the bandit refuses; it is
  /// passed over, here and in every process that folds the same log.
  Fold(SharedBandit& bandit, Offset learned, std::function<void(std::string)> warn);

  /// Learns the records, in their order; those up to learned() are passed over. Rewards that follow each other are
  /// learned together. If memory runs out, which throws std::bad_alloc or CapacityError, learned() says how far it got,
  /// and it may be called again with the same records.
  void learn(std::span<const Record> records);
  /// Takes a join before its turn: somebody new has neither friends nor rewards, so that only the order of the joins
  /// among each other matters (but not in dynucb, where it counts how many are in a cluster). When its turn comes, it
  /// is passed over, as somebody is there by that name.
  void join(const Record& record);

  [[nodiscard]] Offset learned() const { return learned_; }
  void skip_to(Offset learned) { learned_ = learned; }

 private:
  void learn_rewards(std::span<const Record> records);
  void learn_edges(std::span<const Record> records);

  SharedBandit& bandit_;
  Offset learned_;
  std::function<void(std::string)> warn_;
};

}  // namespace goblin::serve
