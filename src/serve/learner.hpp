#pragma once

#include "serve/fold.hpp"
#include "serve/log.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace goblin::serve {

struct LearnerOptions {
  std::size_t most_together = 4'096;    ///< rewards that are learned in one go
  std::size_t most_in_memory = 65'536;  ///< records; when it is further behind, it reads them from the log
  std::chrono::milliseconds try_again = std::chrono::milliseconds(1'000);
  /// Whether somebody new joins before the rewards that wait are learned. Only where that makes no difference to what
  /// is believed.
  bool joins_first = true;
  /// Told how far it is, whenever it got on.
  std::function<void(Offset learned)> progress = {};
  /// Where the evidence is looked at: at every so-manieth record, once all up to there is learned and nothing after it,
  /// but for joins. 0: nowhere.
  Offset stop_every = 0;
  std::function<void(Offset)> at_stop = {};
};

/// The thread that learns what is on disk, in the order of the log, while others decide. Decisions never wait for it.
class Learner {
 public:
  /// `learned_record` is called in its thread for every user and edge that was learned.
  Learner(const Log& log, Fold fold, std::function<void(const Record&)> learned_record, LearnerOptions options = {});
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  /// Stops where it is: the log has the rest.
  ~Learner();

  /// Records that are on disk by now, in the order of the log, and the offset after the last record of any kind.
  /// Called by one thread.
  void take(std::vector<Record> records, Offset end);
  /// Something to do between two batches, in the learner's thread: all of the log up to the offset that `work` gets is
  /// in the bandit then, and nothing after it, but for joins.
  void between(std::function<void(Offset learned)> work);

  /// Everything up to here has been learned.
  [[nodiscard]] Offset learned() const { return learned_; }
  /// Rewards that are on disk and were not learned yet.
  [[nodiscard]] std::size_t backlog() const {
    const std::size_t learned = learned_rewards_;  // first: what is committed meanwhile may be learned, too
    return committed_rewards_ - learned;
  }
  /// Why it cannot go on, and tries again every second; empty: nothing is wrong.
  [[nodiscard]] std::string trouble() const;
  void wait_until_learned() const;

 private:
  void run();
  [[nodiscard]] bool is_idle() const;
  void read(Offset end, std::vector<Record>& batch);
  void learn_with_stops(std::span<const Record> records);
  void learn(std::span<const Record> records);

  const Log& log_;
  Fold fold_;
  std::function<void(const Record&)> learned_record_;
  LearnerOptions options_;

  std::atomic<Offset> learned_;
  std::atomic<std::size_t> committed_rewards_ = 0;
  std::atomic<std::size_t> learned_rewards_ = 0;

  mutable std::mutex mutex_;
  mutable std::condition_variable wake_;
  mutable std::condition_variable caught_up_;
  std::deque<Record> records_;  // the next to learn, unless some were left out
  bool left_out_ = false;       // some are only in the log
  std::deque<Record> joins_;    // all of them, to be taken first
  std::deque<std::function<void(Offset)>> between_;
  Offset end_;  // of the log
  std::string trouble_;
  bool busy_ = false;
  bool stop_ = false;
  Offset next_stop_ = 0;
  std::thread thread_;
};

}  // namespace goblin::serve
