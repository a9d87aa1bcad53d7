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
    failed_.clear();
  }
  changed_.notify_all();
}

void Partitions::wait_until_open() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ != nullptr || all_open(); });
  if (failure_ == nullptr) return;
  wanted_.clear();
  std::rethrow_exception(failure_);
}

Partitions::State Partitions::state() const {
  if (only_) return {.asked = true, .all_open = true, .trouble = {}};
  const std::lock_guard lock(mutex_);
  return {.asked = asked_,
          .all_open = all_open(),
          .trouble = failed_.empty() ? std::string() : failed_.begin()->second.trouble};
}

bool Partitions::all_open() const {
  return std::all_of(wanted_.begin(), wanted_.end(),
                     [this](std::size_t partition) { return here_.contains(partition); });
}

std::optional<std::size_t> Partitions::next_to_open() const {
  const auto now = Clock::now();
  for (const std::size_t partition : wanted_) {
    // One that was let go of, and is still at its last answers, has the store.
    if (here_.contains(partition) || leaving_.contains(partition)) continue;
    if (const auto failed = failed_.find(partition); failed != failed_.end() && now < failed->second.next_try) continue;
    return partition;
  }
  return std::nullopt;
}

void Partitions::run() {
  // Nobody says when a service is kept no more.
  constexpr auto look_again = std::chrono::milliseconds(20);
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (let_go(lock)) continue;  // nobody was heard meanwhile
    if (const auto partition = next_to_open()) {
      open(*partition, lock);
    } else if (!leaving_.empty()) {
      changed_.wait_for(lock, look_again);
    } else if (!failed_.empty()) {
      const auto first = std::min_element(failed_.begin(), failed_.end(), [](const auto& a, const auto& b) {
        return a.second.next_try < b.second.next_try;
      });
      changed_.wait_until(lock, Clock::time_point(first->second.next_try));
    } else {
      changed_.wait(lock);
    }
  }
  wanted_.clear();
  let_go(lock);
  while (!leaving_.empty()) {
    changed_.wait_for(lock, look_again);
    let_go(lock);
  }
}

void Partitions::open(std::size_t partition, std::unique_lock<std::mutex>& lock) {
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
    failed_.erase(partition);
  } else if (wanted_.contains(partition)) {  // still
    failed_[partition] = {Clock::now() + options_.try_again, std::move(trouble)};
    failure_ = failure;
  }
  changed_.notify_all();
}

bool Partitions::let_go(std::unique_lock<std::mutex>& lock) {
  for (auto each = here_.begin(); each != here_.end();) {
    if (wanted_.contains(each->first)) {
      ++each;
    } else {
      leaving_.insert(here_.extract(each++));
    }
  }
  // Only this thread gives out what is leaving no more, so that one who is alone with it stays alone.
  std::vector<std::shared_ptr<Service>> ending;
  for (auto each = leaving_.begin(); each != leaving_.end();) {
    if (each->second.use_count() > 1) {
      ++each;
    } else {
      ending.push_back(std::move(each->second));
      each = leaving_.erase(each);
    }
  }
  if (ending.empty()) return false;
  lock.unlock();
  ending.clear();  // takes a snapshot of each
  lock.lock();
  return true;
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
