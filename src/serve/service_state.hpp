#pragma once

#include "serve/agreement.hpp"
#include "serve/catalogue.hpp"
#include "serve/committer.hpp"
#include "serve/edits.hpp"
#include "serve/joins.hpp"
#include "serve/learner.hpp"
#include "serve/service.hpp"
#include "serve/shared_store.hpp"
#include "serve/snapshots.hpp"
#include "serve/sqlite_store.hpp"
#include "serve/ticker.hpp"
#include "serve/waits.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace goblin::serve {

/// Through which the threads of a shared log tell the committer that others wrote, as long as there is one.
class Doorbell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    if (committer_ != nullptr) committer_->look_for_others();
  }
  void lead_to(Committer* committer) {
    const std::lock_guard lock(mutex_);
    committer_ = committer;
  }

 private:
  std::mutex mutex_;
  Committer* committer_ = nullptr;
};

/// The doorbell leads to the committer as long as this is there.
class AtTheDoor {
 public:
  AtTheDoor(Doorbell& doorbell, Committer& committer) : doorbell_(doorbell) { doorbell_.lead_to(&committer); }
  AtTheDoor(const AtTheDoor&) = delete;
  AtTheDoor& operator=(const AtTheDoor&) = delete;
  ~AtTheDoor() { doorbell_.lead_to(nullptr); }

 private:
  Doorbell& doorbell_;
};

/// The parts of a service, and how they are joined. What the calls do stands in decide.cpp, reward.cpp, change.cpp and
/// look.cpp; how it begins, keeps itself in order and ends in service.cpp.
struct Service::State {
  State(Bandit given, const data::Items* items, ServiceOptions the_options);
  ~State();

  /// Hands it to the committer; what that does not take is told so, as a task of its mailbox.
  void submit(std::unique_ptr<Write> write);
  void take_others(std::vector<Record> records, Offset end);
  /// Calls `then` as a task of the mailbox once the user is there, or with the reason why not.
  void join(const std::string& user, Mailbox& mailbox, Joins::Then then);
  void take_snapshot();
  /// Whether it was saved; else the state of things says why not.
  bool try_snapshot();
  void expire();
  void truncate();
  void look_at_bandit();
  void compare_evidence(Offset offset);
  void warn_of_disagreement();

  // What calls have in common; all give the reason why not.
  [[nodiscard]] std::optional<Problem> check_name(std::string_view field, std::string_view name) const;
  [[nodiscard]] std::optional<Problem> check_reward(double reward) const;
  /// Whether one more may wait, beside those that are just being written.
  [[nodiscard]] std::optional<Problem> check_backlog(std::size_t being_written = 0) const;
  /// How many rewards more may wait.
  [[nodiscard]] std::size_t room_in_backlog(std::size_t being_written = 0) const;
  [[nodiscard]] Draw next_draw();
  /// What a decision is called by those who do not know which partition this is.
  [[nodiscard]] std::string outward(std::string event) const {
    return options.partitions == 1 ? std::move(event) : with_partition(std::move(event), options.partition);
  }
  /// What they call a decision, as it is called here; nothing if the name is one that another partition gave.
  [[nodiscard]] std::optional<std::string> inward(std::string event) const {
    if (options.partitions == 1 || !event.starts_with("g-")) return event;
    if (partition_of_event(event) != options.partition) return std::nullopt;
    return without_partition(std::move(event));
  }

  ServiceOptions options;
  Doorbell doorbell;
  SqliteStore store;                    ///< the log, or a copy of it
  std::unique_ptr<SharedStore> shared;  ///< of a log that others append to; nullptr: the log is the store
  std::uint64_t start_number;           ///< of the process, among all starts that the log has seen
  Snapshots snapshots;
  Offset recovered_from = 0;
  SharedBandit bandit;
  bool is_random;
  bool has_names;
  std::size_t dimension;
  Catalogue catalogue;
  Joins joins;
  Waits waits;
  Agreement agreement;
  std::atomic<bool> disagreed{false};  // it has been said
  // In this order: the committer ends first, while those that its writes call are still there.
  Edits edits;
  Learner learner;
  Committer committer;
  std::optional<AtTheDoor> at_the_door;

  /// Whoever waits for a join looks whether there is still a service: its task may come when that is gone.
  std::shared_ptr<const bool> life = std::make_shared<const bool>(true);
  std::uint64_t seed;
  std::atomic<std::uint64_t> draws{0};
  std::atomic<std::uint64_t> early_names{0};
  std::atomic<bool> expiring{false};
  std::atomic<Offset> newest_snapshot{0};
  std::mutex snapshot_mutex;  // one at a time
  std::chrono::steady_clock::time_point next_snapshot = {};

  // Since the start.
  std::atomic<std::uint64_t> decisions{0};
  std::atomic<std::uint64_t> explored{0};
  std::atomic<std::uint64_t> rewards_accepted{0};
  std::atomic<std::uint64_t> rewards_repeated{0};
  std::atomic<std::uint64_t> rewards_expired{0};
  std::atomic<double> reward_sum{0.0};
  std::atomic<double> squared_reward_sum{0.0};
  std::atomic<std::uint64_t> snapshot_count{0};
  std::atomic<std::size_t> edges{0};

  mutable std::mutex seen_mutex;  // what was seen of the bandit a moment ago
  std::string engines;
  std::size_t bandit_bytes = 0;
  std::string snapshot_trouble;
  std::chrono::steady_clock::time_point next_look = {};

  std::vector<std::unique_ptr<Ticker>> tickers;
};

}  // namespace goblin::serve
