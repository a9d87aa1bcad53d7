#pragma once

#include "serve/log.hpp"
#include "serve/service.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace goblin::serve {

/// What those who keep the log said about its end, once for all tries of a transaction.
struct AskedEnd {
  std::int64_t end = 0;
  std::string trouble;  ///< why they did not say it
};

/// What a Write sees of the store while it is its turn: it looks, and it puts.
class Transaction {
 public:
  Transaction(Store& store, AskedEnd& asked) : store_(&store), asked_(&asked) {}

  [[nodiscard]] Store& store() const { return *store_; }
  /// Before it is said that something is not there. What puts a record is checked by the place that this gets in the
  /// log; what puts none might have been looked at too early. Throws Overtaken if something has to be taken in first,
  /// and LogError if nobody says whether.
  void make_sure_of_absence();
  /// Gives the record its offset and time, which it returns with.
  void put(Record& record) {
    store_->put(record);
    is_empty_ = false;
  }
  /// The same for a record that others learn from once it is on disk.
  Offset put_to_learn(Record record);
  /// How many of these there are so far.
  [[nodiscard]] std::size_t to_learn() const { return to_learn_.size(); }

 private:
  friend class Committer;
  Store* store_;
  AskedEnd* asked_;
  std::vector<Record> to_learn_;
  bool is_empty_ = true;
};

/// Something that somebody wants to be written, and waits for.
class Write {
 public:
  virtual ~Write() = default;

  /// In the writer's thread. Called again in another transaction if another process was quicker (Overtaken), or if this
  /// one fails and the write stays (stays()).
  virtual void write(Transaction& transaction) = 0;
  /// In the writer's thread, when it is on disk, before anybody is told.
  virtual void written() {}
  /// The same when it could not be written, and does not stay.
  virtual void failed() {}
  /// Afterwards, as a task of the mailbox, or in the writer's thread if there is none: on disk, or the reason why not.
  virtual void done(const Problem* problem) = 0;
  /// Was answered already: nobody waits for it, and it is tried again until it is on disk.
  [[nodiscard]] virtual bool stays() const { return false; }
  /// About how much memory it takes.
  [[nodiscard]] virtual std::size_t bytes() const { return 256; }

  Mailbox* mailbox = nullptr;
};

struct CommitterOptions {
  std::size_t most_writes = 65'536;  ///< that wait; more are refused
  std::size_t most_bytes = 256 << 20;
  std::size_t most_together = 1'024;  ///< writes in one transaction
  /// How long writes that nobody waits for may lie before they are written.
  std::chrono::milliseconds most_delay = std::chrono::milliseconds(3);
  /// Where a transaction had this many writes, others are on their way, and the next one waits for them: until there
  /// are enough, or as many as in the one before, and at most so long after that began. A sync costs as much for one
  /// write as for a hundred. Where few call, nobody waits.
  std::size_t many = 16;
  std::size_t enough = 64;
  std::chrono::microseconds most_gathering = std::chrono::milliseconds(1);
  std::chrono::milliseconds try_again = std::chrono::milliseconds(200);
  /// How long a transaction is tried while other processes are quicker.
  std::chrono::milliseconds most_overtaken = std::chrono::seconds(10);
  std::function<void(std::string)> warn = {};  ///< hears of every new trouble, in the writer's thread
  /// Gets what other processes appended to the log (Store::others), in the writer's thread, in the order of the log and
  /// before what was appended here after it.
  std::function<void(std::vector<Record>, Offset end)> others = {};
};

/// The one thread that writes to the store. Everything that came in while it was writing goes into one transaction and
/// is on disk with one sync. A transaction that fails, because the disk is full, is a problem (503) to all that are
/// in it, and the next one is tried as if nothing had happened.
class Committer {
 public:
  /// `learn` is called in the writer's thread after every commit, before anybody is told: with the records to learn,
  /// and the end of the log. The store is used by this thread only, but for reading.
  Committer(Store& store, std::function<void(std::vector<Record>, Offset end)> learn, CommitterOptions options = {});
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;
  /// Writes what was submitted; what cannot be written then is told so, or lost if nobody waits for it.
  ~Committer();

  /// Any thread. Gives the write back, with the reason, if too much waits.
  [[nodiscard]] std::optional<Problem> submit(std::unique_ptr<Write>& write);
  /// Whether half of what may wait does. Whoever could be answered at once should wait now, too, so that nobody has to
  /// be refused.
  [[nodiscard]] bool is_crowded() const { return crowded_.load(std::memory_order_relaxed); }
  /// Whether the last transaction failed, and none has worked since.
  [[nodiscard]] bool is_troubled() const { return troubled_.load(std::memory_order_relaxed); }
  /// Other processes have appended something, which the writer is to take in soon. Any thread.
  void look_for_others();
  /// Something else for the writer's thread to do with the store, between two transactions.
  void between(std::function<void(Store&)> work);

  struct State {
    std::uint64_t commits = 0;
    std::size_t waiting = 0;
    std::string trouble;  ///< why the last transaction failed; empty: it did not
  };
  [[nodiscard]] State state() const;

 private:
  using Writes = std::vector<std::unique_ptr<Write>>;

  void run();
  void commit(Writes& writes);
  void commit_in_parts(Writes& writes, const TooLarge& error);
  void fail(Writes& writes, const Problem& problem);
  struct Written {
    std::vector<Record> to_learn;
    bool is_empty = true;  // nothing was put
    std::string trouble;   // why nobody said where the log ends
  };
  [[nodiscard]] Written write_all(const Writes& writes);
  void learn_of_health(const Written& written);
  void take_in_others();
  void tell(Writes writes, const Problem* problem);
  void set_trouble(std::string trouble);
  void prove_health();
  void look_at_crowd();
  void refuse_those_who_wait();

  Store& store_;
  std::function<void(std::vector<Record>, Offset)> learn_;
  CommitterOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Writes queue_;
  std::size_t bytes_ = 0;
  bool urgent_ = false;  // somebody waits
  /// Gathering: until there are enough; light: for a while; deep: until something comes.
  enum class Sleep { none, gathering, light, deep } sleep_ = Sleep::none;
  std::size_t enough_ = 0;  // writes, while gathering
  bool stop_ = false;
  std::deque<std::function<void(Store&)>> between_;
  std::uint64_t commits_ = 0;
  std::string trouble_;

  std::size_t staying_count_ = 0;  // of writes that stay and could not be written yet; counts in the queue's bound
  std::size_t staying_bytes_ = 0;
  std::atomic<bool> crowded_ = false;
  std::atomic<bool> troubled_ = false;
  bool others_came_ = false;
  std::thread thread_;
};

}  // namespace goblin::serve
