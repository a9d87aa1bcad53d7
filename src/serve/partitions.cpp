#include "serve/partitions.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {

Partitions::Partitions(Service& only) : only_(std::shared_ptr<void>(), &only) {}

Partitions::Partitions(Options options) : options_(std::move(options)), thread_([this] { run(); }) {}

Partitions::~Partitions() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<Service> Partitions::at(std::size_t partition) const {
  if (only_) return partition == 0 ? only_ : nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = here_.find(partition);
  return found == here_.end() ? nullptr : found->second;
}

std::map<std::size_t, std::shared_ptr<Service>> Partitions::here() const {
  if (only_) return {{0, only_}};
  const std::lock_guard lock(mutex_);
  return here_;
}

void Partitions::have(std::set<std::size_t> wanted) {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = std::move(wanted);
    asked_ = true;
    failure_ = nullptr;
    next_try_ = {};
  }
  changed_.notify_all();
}

void Partitions::wait_until_open() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ != nullptr || !missing(); });
  if (failure_ == nullptr) return;
  wanted_.clear();
  std::rethrow_exception(failure_);
}

Partitions::State Partitions::state() const {
  if (only_) return {.asked = true, .all_open = true, .trouble = {}};
  const std::lock_guard lock(mutex_);
  return {.asked = asked_, .all_open = !missing(), .trouble = trouble_};
}

std::optional<std::size_t> Partitions::missing() const {
  for (const std::size_t partition : wanted_) {
    if (!here_.contains(partition)) return partition;
  }
  return std::nullopt;
}

void Partitions::run() {
  // Nobody says when a service is kept no more.
  constexpr auto look_again = std::chrono::milliseconds(20);
  std::unique_lock lock(mutex_);
  while (!stop_) {
    let_go(lock);
    if (missing() && Clock::now() >= next_try_) {
      open_next(lock);
    } else if (!leaving_.empty()) {
      changed_.wait_for(lock, look_again);
    } else if (missing()) {
      changed_.wait_until(lock, next_try_);
    } else {
      changed_.wait(lock);
    }
  }
  wanted_.clear();
  while (!here_.empty() || !leaving_.empty()) {
    let_go(lock);
    changed_.wait_for(lock, look_again);
  }
}

void Partitions::open_next(std::unique_lock<std::mutex>& lock) {
  const std::size_t partition = *missing();
  // One that was let go of, and is still at its last answers, has the store.
  if (!leaving_.empty()) {
    changed_.wait_for(lock, std::chrono::milliseconds(5));
    return;
  }
  lock.unlock();
  std::shared_ptr<Service> service;
  std::string trouble;
  std::exception_ptr failure;
  try {
    service = options_.open(partition);
  } catch (const std::exception& error) {
    trouble = fmt::format("partition {}: {}", partition, error.what());
    failure = std::current_exception();
  }
  if (!trouble.empty() && options_.warn) options_.warn(trouble);
  lock.lock();
  if (service) {
    here_[partition] = std::move(service);
  } else {
    next_try_ = Clock::now() + options_.try_again;
  }
  trouble_ = std::move(trouble);
  failure_ = failure;
  changed_.notify_all();
}

void Partitions::let_go(std::unique_lock<std::mutex>& lock) {
  for (auto each = here_.begin(); each != here_.end();) {
    if (wanted_.contains(each->first)) {
      ++each;
    } else {
      leaving_.push_back(std::move(each->second));
      each = here_.erase(each);
    }
  }
  // Only this thread gives out what is leaving no more, so that one who is alone with it stays alone.
  const auto unused = std::partition(leaving_.begin(), leaving_.end(),
                                     [](const std::shared_ptr<Service>& each) { return each.use_count() > 1; });
  std::vector<std::shared_ptr<Service>> ending(std::make_move_iterator(unused),
                                               std::make_move_iterator(leaving_.end()));
  leaving_.erase(unused, leaving_.end());
  if (ending.empty()) return;
  lock.unlock();
  ending.clear();  // takes a snapshot of each
  lock.lock();
}

Status status_of(const Partitions& partitions) {
  const auto here = partitions.here();
  Status all;
  bool first = true;
  for (const auto& [partition, service] : here) {
    const Status one = service->status();
    if (std::exchange(first, false)) {
      all = one;
      continue;
    }
    for (auto member :
         {&Status::users, &Status::edges, &Status::rewards, &Status::backlog, &Status::backlog_limit, &Status::bytes}) {
      all.*member += one.*member;
    }
    for (auto member : {&Status::decisions, &Status::rewards_accepted, &Status::rewards_repeated,
                        &Status::rewards_expired, &Status::explored, &Status::commits, &Status::snapshots,
                        &Status::comparisons, &Status::end, &Status::durable, &Status::learned}) {
      all.*member += one.*member;
    }
    all.reward_sum += one.reward_sum;
    all.squared_reward_sum += one.squared_reward_sum;
    all.items = std::max(all.items, one.items);
    all.snapshot = std::min(all.snapshot, one.snapshot);
    all.disagrees = all.disagrees || one.disagrees;
    all.ready = all.ready && one.ready;
    if (all.engines.find(one.engines) == std::string::npos) all.engines += ", " + one.engines;
    for (auto member : {&Status::trouble, &Status::public_trouble}) {
      if ((all.*member).empty() && !(one.*member).empty()) {
        all.*member = fmt::format("partition {}: {}", partition, one.*member);
      }
    }
  }
  const Partitions::State state = partitions.state();
  all.ready = all.ready || here.empty();
  if (!state.asked || !state.all_open) {
    all.ready = false;
    if (all.public_trouble.empty()) {
      all.public_trouble = !state.asked            ? "it has not joined its replica group yet"
                           : state.trouble.empty() ? "a partition is being opened"
                                                   : "a partition cannot be opened (/v1/status says why)";
    }
    if (all.trouble.empty()) all.trouble = state.trouble.empty() ? all.public_trouble : state.trouble;
  }
  return all;
}

}  // namespace goblin::serve
