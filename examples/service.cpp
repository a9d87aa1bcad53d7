// How a service uses a bandit: two threads answer requests, one learns from the rewards as they come in, and snapshots
// are saved meanwhile. Requests wait for neither.

#include <goblin/bandit/shared_bandit.hpp>
#include <goblin/graph/generators.hpp>
#include <goblin/random.hpp>

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t dimension = 5;
constexpr std::size_t arms = 10;

/// What was shown to a user, and what came of it.
struct Feedback {
  goblin::NodeId user = 0;
  std::vector<double> item;
  double reward = 0.0;
};

/// Feedback on its way to the learner.
class Inbox {
 public:
  void put(Feedback feedback) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(feedback));
    arrived_.notify_one();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    arrived_.notify_one();
  }
  /// All that has come since the last time, some at least; nothing once it is closed and empty.
  std::vector<Feedback> take() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    return std::exchange(waiting_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Feedback> waiting_;
  bool closed_ = false;
};

/// Closes the inbox at the end of a block, however it ends: the learner must not wait for ever.
struct CloseAtTheEnd {
  Inbox& inbox;
  ~CloseAtTheEnd() { inbox.close(); }
};

/// The items that a request offers.
std::vector<double> items_of(std::uint64_t request) {
  goblin::Random random(1, 0, request);
  std::vector<double> numbers(arms * dimension);
  for (double& value : numbers) value = random.uniform(-1.0, 1.0) / std::sqrt(5.0);
  return numbers;
}

/// Each clique of users likes one coordinate and dislikes another.
double reward_of(goblin::NodeId user, std::span<const double> item) {
  return user < 20 ? item[0] - item[1] : item[2] - item[3];
}

}  // namespace

int main() {
  constexpr std::uint64_t requests = 50'000;
  goblin::SharedBandit bandit(
      goblin::Bandit::gob_lin(goblin::generate::cliques(2, 20), {.dimension = dimension, .alpha = 0.1}));
  Inbox inbox;

  std::atomic<std::uint64_t> next = 0;
  const auto answer_requests = [&] {
    goblin::Decision decision;  // its memory is used again
    for (std::uint64_t request = next++; request < requests; request = next++) {
      const auto user = static_cast<goblin::NodeId>(request * 7 % 40);
      const auto items = items_of(request);
      bandit.select(user, {items, dimension}, {}, decision);
      const auto item = std::span(items).subspan(decision.arm * dimension, dimension);
      inbox.put({user, {item.begin(), item.end()}, reward_of(user, item)});
    }
  };
  const auto learn = [&] {
    for (auto arrived = inbox.take(); !arrived.empty(); arrived = inbox.take()) {
      std::vector<goblin::Observation> batch;
      for (const Feedback& one : arrived) batch.push_back({one.user, one.item, one.reward});
      bandit.update(batch);
    }
  };

  std::jthread learner(learn);
  const CloseAtTheEnd close{inbox};  // after the two below have ended, if something is thrown
  std::jthread first(answer_requests);
  std::jthread second(answer_requests);

  // A snapshot is the bandit at one moment, whatever goes on.
  const auto file = std::filesystem::temp_directory_path() / "goblin-example-service.model";
  int snapshots = 0;
  do {
    bandit.save(file);
    ++snapshots;
  } while (next < requests);

  first.join();
  second.join();
  inbox.close();
  learner.join();
  bandit.save(file);
  const auto loaded = goblin::Bandit::load(file);
  std::filesystem::remove(file);

  const auto items = items_of(requests);
  const auto liked = loaded.select(0, {items, dimension}).arm;
  std::cout << requests << " requests, " << bandit.rewards() << " rewards learned, " << snapshots
            << " snapshots meanwhile\n"
            << "user 0 gets an item worth " << reward_of(0, std::span(items).subspan(liked * dimension, dimension))
            << '\n';
  return loaded.rewards() == requests && liked == bandit.select(0, {items, dimension}).arm ? 0 : 1;
}
