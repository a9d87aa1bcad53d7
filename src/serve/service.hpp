#pragma once

#include "goblin/bandit/shared_bandit.hpp"
#include "goblin/data/own_files.hpp"
#include "serve/record.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace goblin::serve {

/// Why a call was refused (RFC 9457). The detail names the field, its value and its bound.
struct Problem {
  int status = 400;        ///< of HTTP
  std::string type = {};   ///< short and stable, "unknown-event": it is put behind "/problems/"
  std::string title = {};  ///< the same sentence for every problem of the type
  std::string detail = {};
  int retry_after = 0;  ///< seconds; 0: none
};

template <typename Value>
using Result = std::variant<Value, Problem>;

/// Where answers that had to wait are given back: one for each thread that talks to callers. The service calls post()
/// from its own threads, once for all answers of a batch; the tasks are then to be run on that thread.
class Mailbox {
 public:
  virtual ~Mailbox() = default;
  virtual void post(std::vector<std::function<void()>> tasks) = 0;
};

struct SelectRequest {
  std::string user;
  /// Either contexts, all numbers in one block, or items.
  std::vector<double> contexts = {};
  std::vector<std::string> items = {};
  std::vector<std::uint8_t> allowed = {};  ///< one a candidate, or none
  std::string event = {};                  ///< what the caller calls the decision; empty: the service names it
  std::size_t k = 1;                       ///< for rank
  Offset after = 0;                        ///< what must have been learned before
};

struct Decided {
  std::string event;
  std::size_t arm = 0;
  std::string item = {};
  std::string scores = {};  ///< a JSON array: a number for each candidate, null for one that was left out
  double probability = 1.0;
  Offset offset = 0;
};

/// The places of a ranking, best first; each has an event of its own, for which a reward may come.
struct RankedPlace {
  std::string event;
  std::size_t arm = 0;
  std::string item = {};
  double score = 0.0;
  double probability = 1.0;
};
struct RankedPlaces {
  std::vector<RankedPlace> places;
  Offset offset = 0;  ///< of the last
};

/// A reward for a decision, or for a user and a context, or a user and an item.
struct RewardRequest {
  std::string event = {};
  std::string user = {};
  std::vector<double> context = {};
  std::string item = {};
  double reward = 0.0;
};

/// A change that is on disk.
struct Accepted {
  Offset offset = 0;      ///< of the record; of the first one where the same was sent again
  Offset learned = 0;     ///< everything up to here has been learned by now
  bool repeated = false;  ///< the same was there already; nothing was changed
};

struct UserRequest {
  std::string user;
  std::vector<std::pair<std::string, double>> friends = {};  ///< with weights
  std::optional<NodeId> cluster = {};
};

struct ItemView {
  std::string item;
  std::vector<double> context;
};

struct UserView {
  std::string user;
  std::size_t rewards = 0;
  std::vector<double> mean;
  std::vector<double> deviations;  ///< the square roots of the diagonal of C_i
  std::optional<NodeId> cluster = {};
  struct Friend {
    std::string user;
    double weight = 1.0;
    std::size_t rewards = 0;
  };
  std::vector<Friend> friends;  ///< at most a hundred, the heaviest first
  std::size_t friend_count = 0;
};

/// What the process is doing; /v1/status, /metrics and the dashboard are made from it.
struct Status {
  std::string policy;
  std::string exploration;
  std::size_t dimension = 0;
  std::size_t users = 0;
  std::size_t edges = 0;
  std::size_t items = 0;
  std::size_t rewards = 0;  ///< learned, ever
  Offset end = 0;           ///< of the log
  Offset durable = 0;       ///< the last record on disk
  Offset learned = 0;       ///< the last record that the belief has in it
  std::size_t backlog = 0;  ///< rewards that are on disk and not learned yet
  std::size_t backlog_limit = 0;
  Offset snapshot = 0;       ///< offset of the newest snapshot; 0: none
  std::string engines = {};  ///< "sparse", "dense, local"
  std::size_t bytes = 0;     ///< of the bandit
  bool ready = false;
  std::string trouble = {};  ///< what is wrong, in words: the disk is full, ...; empty: nothing
  /// Why it is not ready, for strangers: without names of files.
  std::string public_trouble = {};
  // Counters since the start.
  std::uint64_t decisions = 0;
  std::uint64_t rewards_accepted = 0;
  std::uint64_t rewards_repeated = 0;
  std::uint64_t rewards_expired = 0;
  std::uint64_t explored = 0;  ///< decisions for an arm that is not the one with the highest mean
  double reward_sum = 0.0;     ///< of rewards_accepted
  double squared_reward_sum = 0.0;
  std::uint64_t commits = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t comparisons = 0;  ///< of evidence with that of other processes
  bool disagrees = false;         ///< one of them has other evidence
};

class SharedLog;

struct ServiceOptions {
  std::filesystem::path store;
  /// A log that other processes append to as well; `store` then has a copy of it. None: the log is in `store`.
  std::shared_ptr<SharedLog> log = {};
  std::string process = {};  ///< what this one is called in that log
  /// Where that log is one of several, each for some of the users: which one.
  std::size_t partition = 0;
  std::size_t partitions = 1;
  bool durable_decisions = true;
  std::chrono::milliseconds horizon = std::chrono::hours(24);
  std::optional<double> default_reward = 0.0;  ///< none: decisions without a reward are not learned
  bool refuse_unknown_users = false;
  std::size_t most_candidates = 10'000;
  std::size_t most_users = 10'000'000;
  std::size_t most_items = 1'000'000;
  std::size_t most_name_bytes = 256;      ///< of users, items and events
  std::size_t backlog_limit = 1'000'000;  ///< rewards
  std::size_t most_writes = 65'536;       ///< that wait for the disk
  /// How long a decision may wait for what it comes after (SelectRequest::after).
  std::chrono::milliseconds most_waiting = std::chrono::seconds(5);
  /// With a log that others append to: after so many records, all of them compare their evidence.
  Offset compare_every = 100'000;
  std::chrono::milliseconds snapshot_every = std::chrono::minutes(5);
  /// When one that could not be saved is tried again.
  std::chrono::milliseconds snapshot_again = std::chrono::seconds(5);
  std::size_t snapshots_kept = 3;
  std::optional<std::chrono::milliseconds> keep = {};  ///< how long log is kept; none: for ever
  std::uint64_t seed = 0;                              ///< of exploration's draws; 0: a new one at each start
  bool keep_candidates = true;  ///< whether decisions keep all candidates, so that the log can be evaluated
  /// Hears what an operator should know of, in words: a snapshot that cannot be used, a clock that went back. Called
  /// by any thread, also while the service is made.
  std::function<void(std::string)> warn = {};
  std::string vfs = {};  ///< what SQLite reaches files through; empty: as usual. For tests that let writes fail
};

/// The bandit that decides, learns and remembers: everything of `goblin serve` but HTTP. Any thread may call any
/// function at any time. Functions with `done` give back at once; `done` is called exactly once: before they do, where
/// the answer is known already, or later, as a task of the mailbox.
class Service {
 public:
  struct State;

  /// Opens the store, or makes it: a new one begins with this bandit and these items. One that is there already has its
  /// own bandit (the newest good snapshot, and the log after it), and the given one must be of the same policy and
  /// dimension. Throws LogError or std::invalid_argument.
  Service(Bandit bandit, const data::Items* items, ServiceOptions options);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  /// Commits what is under way, takes a snapshot, and stops.
  ~Service();

  void select(SelectRequest request, Mailbox& mailbox, std::function<void(Result<Decided>)> done);
  void rank(SelectRequest request, Mailbox& mailbox, std::function<void(Result<RankedPlaces>)> done);
  void reward(RewardRequest request, Mailbox& mailbox, std::function<void(Result<Accepted>)> done);
  /// Each has its own result, in the order of the requests.
  void rewards(std::vector<RewardRequest> requests, Mailbox& mailbox,
               std::function<void(std::vector<Result<Accepted>>)> done);
  void put_user(UserRequest request, Mailbox& mailbox, std::function<void(Result<Accepted>)> done);
  void put_edge(std::string a, std::string b, double weight, Mailbox& mailbox,
                std::function<void(Result<Accepted>)> done);
  void delete_edge(std::string a, std::string b, Mailbox& mailbox, std::function<void(Result<Accepted>)> done);
  void put_item(ItemView item, Mailbox& mailbox, std::function<void(Result<Accepted>)> done);
  void delete_item(std::string item, Mailbox& mailbox, std::function<void(Result<Accepted>)> done);
  [[nodiscard]] Result<ItemView> item(std::string_view item) const;
  [[nodiscard]] Result<UserView> user(std::string_view user) const;
  /// May take long: a solve. For a context, or an item.
  [[nodiscard]] Result<Explanation> explain(std::string_view user, std::vector<double> context, std::string_view item,
                                            std::size_t k) const;
  /// A user's name, for explanations.
  [[nodiscard]] std::string name_of(NodeId user) const;

  /// Records of the log from an offset on, at most so many, as JSON lines in the format that replay, fit, tune and
  /// evaluate read: logged decisions stand where their reward came (docs/serving.md). `next` is where to go on.
  struct LogPage {
    std::string lines;
    Offset next = 0;
    bool end = false;
  };
  [[nodiscard]] LogPage log(Offset from, std::size_t most_bytes) const;
  /// The newest records, newest first, for the dashboard.
  [[nodiscard]] std::vector<Record> newest(std::size_t count) const;

  [[nodiscard]] Status status() const;
  /// Everything of the log up to here has been learned.
  [[nodiscard]] Offset learned() const;
  /// Takes a snapshot now; for those who stop, and for tests.
  void take_snapshot();
  /// Waits until everything that is on disk has been learned.
  void wait_until_learned() const;
  [[nodiscard]] const SharedBandit& bandit() const;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace goblin::serve
