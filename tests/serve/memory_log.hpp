#pragma once

#include "serve/log.hpp"
#include "serve/shared_log.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace goblin::serve {

/// The entries that several MemoryLogs share, as several processes share a topic.
struct SharedEntries {
  std::mutex mutex;
  std::condition_variable came;
  std::deque<std::string> bytes;
  SharedLog::Place first = 0;  ///< those before are deleted
  std::mutex bells_mutex;      ///< held while they ring
  std::map<const SharedLog*, std::function<void()>> bells;

  SharedLog::Place append(const std::string& entry) {
    SharedLog::Place place = 0;
    {
      const std::lock_guard lock(mutex);
      bytes.push_back(entry);
      place = static_cast<SharedLog::Place>(bytes.size()) - 1;
    }
    came.notify_all();
    const std::lock_guard lock(bells_mutex);
    for (const auto& [log, ring] : bells) {
      if (ring) ring();
    }
    return place;
  }
};

/// One process's hands on them. Appending can be made to fail, before or after the entry is there.
class MemoryLog final : public SharedLog {
 public:
  enum class Fault { none, lost, unknown };

  explicit MemoryLog(std::shared_ptr<SharedEntries> entries) : entries_(std::move(entries)) {}

  Place append(const std::string& bytes) override {
    if (before_append) std::exchange(before_append, {})();
    if (fault == Fault::lost) throw LogError("memory: nobody answers");
    const Place place = entries_->append(bytes);
    if (after_append) std::exchange(after_append, {})();
    if (fault == Fault::unknown) throw LogError("memory: the answer got lost");
    return place;
  }
  void read_from(Place place, std::function<void()> arrived) override {
    {
      const std::lock_guard lock(entries_->mutex);
      next_ = place;
    }
    const std::lock_guard lock(entries_->bells_mutex);
    entries_->bells[this] = std::move(arrived);
  }
  void stop_reading() override {
    const std::lock_guard lock(entries_->bells_mutex);
    entries_->bells.erase(this);
  }
  std::vector<Entry> take(std::chrono::milliseconds wait) override {
    if (failing_takes > 0) {
      --failing_takes;
      throw LogError("memory: cannot be read");
    }
    if (late_takes > 0) {
      --late_takes;
      std::this_thread::sleep_for(std::min(wait, std::chrono::milliseconds(1)));
      return {};
    }
    std::unique_lock lock(entries_->mutex);
    const auto end = [&] { return static_cast<Place>(entries_->bytes.size()); };
    entries_->came.wait_for(lock, wait, [&] { return next_ < end(); });
    std::vector<Entry> taken;
    for (; next_ < end() && taken.size() < most_taken; ++next_) {
      taken.push_back({.place = next_, .bytes = entries_->bytes[static_cast<std::size_t>(next_)]});
    }
    return taken;
  }
  Bounds bounds() override {
    if (fault == Fault::lost) throw LogError("memory: nobody answers");
    const std::lock_guard lock(entries_->mutex);
    return {.first = entries_->first, .end = static_cast<Place>(entries_->bytes.size())};
  }
  Place end() override { return bounds().end; }
  const std::string& name() const override { return name_; }

  std::atomic<Fault> fault = Fault::none;
  std::function<void()> before_append;  ///< called once, as the next one
  std::function<void()> after_append;
  std::atomic<int> failing_takes = 0;  ///< how many of the next fail
  std::atomic<int> late_takes = 0;     ///< how many of the next give nothing, although there is something
  std::size_t most_taken = 1'000;

 private:
  std::shared_ptr<SharedEntries> entries_;
  std::string name_ = "memory://log";
  Place next_ = 0;
};

}  // namespace goblin::serve
