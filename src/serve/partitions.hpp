#pragma once

#include "serve/partition_table.hpp"
#include "serve/service.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace goblin::serve {

/// The partitions of a log that are here: each has a service of its own, which decides and learns for its users. Most
/// servers have one partition, which is here for good. Any thread may call any function.
class Partitions {
 public:
  /// Makes the service of a partition; may take as long as reading its log takes. Throws if it cannot.
  using Open = std::function<std::shared_ptr<Service>(std::size_t partition)>;
  struct Options {
    PartitionTable table = {};
    Open open = {};
    std::function<void(std::string)> warn = {};                     ///< hears of what cannot be opened, and why
    std::chrono::milliseconds try_again = std::chrono::seconds(1);  ///< what could not be opened
  };

  /// One partition, which is this service.
  explicit Partitions(Service& only);
  /// Several, none of which is here yet.
  explicit Partitions(Options options);
  Partitions(const Partitions&) = delete;
  Partitions& operator=(const Partitions&) = delete;
  /// Lets go of all.
  ~Partitions();

  [[nodiscard]] std::size_t count() const { return options_.table.count(); }
  [[nodiscard]] std::size_t of(std::string_view user) const { return options_.table.of(user); }
  /// The service of a partition, which is there as long as somebody keeps it; nullptr if the partition is not here.
  [[nodiscard]] std::shared_ptr<Service> at(std::size_t partition) const;
  /// All that are here, by their numbers.
  [[nodiscard]] std::map<std::size_t, std::shared_ptr<Service>> here() const;

  /// These are to be here from now on, and no others: a thread opens them, and lets go of the others once nobody keeps
  /// them any more.
  void have(std::set<std::size_t> wanted);
  /// Until all that are to be here are. Throws what kept one of them from being opened, and then tries no more.
  void wait_until_open();

  struct State {
    bool asked = false;    ///< whether anybody said yet what is to be here
    bool all_open = true;  ///< what is to be here is
    std::string trouble;   ///< what could not be opened, and why; empty: nothing
  };
  [[nodiscard]] State state() const;

 private:
  using Clock = std::chrono::steady_clock;

  /// One that could not be opened.
  struct Failed {
    Clock::time_point next_try;
    std::string trouble;
  };

  void run();
  void open(std::size_t partition, std::unique_lock<std::mutex>& lock);
  /// Gives whether it ended one, without the lock.
  bool let_go(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool all_open() const;
  /// One that is to be here and can be opened now.
  [[nodiscard]] std::optional<std::size_t> next_to_open() const;

  Options options_;
  std::shared_ptr<Service> only_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::size_t> wanted_;
  bool asked_ = false;
  std::map<std::size_t, std::shared_ptr<Service>> here_;
  std::map<std::size_t, std::shared_ptr<Service>> leaving_;  // until nobody keeps them
  std::map<std::size_t, Failed> failed_;
  std::exception_ptr failure_;  // the last one
  bool stop_ = false;
  std::thread thread_;
};

/// The state of several services as that of one: numbers are added up, and any trouble is everybody's.
[[nodiscard]] Status status_of(const Partitions& partitions);

}  // namespace goblin::serve
