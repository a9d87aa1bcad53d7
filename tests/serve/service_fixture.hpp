#pragma once

#include "goblin/graph/generators.hpp"
#include "goblin/random.hpp"
#include "serve/service.hpp"
#include "temporary_folder.hpp"

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace goblin::serve {

/// A mailbox whose tasks are run by whoever waits for an answer.
class TestMailbox final : public Mailbox {
 public:
  void post(std::vector<std::function<void()>> tasks) override {
    const std::lock_guard lock(mutex_);
    for (auto& task : tasks) tasks_.push_back(std::move(task));
    came_.notify_all();
  }

  /// Runs tasks until the answer is there.
  template <typename Value>
  Value wait_for(const std::shared_ptr<std::optional<Value>>& answer) {
    while (!answer->has_value()) run_one();
    return std::move(**answer);
  }
  /// Whether there was one.
  bool run_if_there() {
    {
      const std::lock_guard lock(mutex_);
      if (tasks_.empty()) return false;
    }
    run_one();
    return true;
  }
  void run_one() {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return !tasks_.empty(); });
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::function<void()>> tasks_;
};

/// Calls of a service that wait for their answer, as a caller over HTTP does. One for each thread.
class Caller {
 public:
  explicit Caller(Service& service) : service_(service) {}

  Result<Decided> select(SelectRequest request) {
    return call<Result<Decided>>([&](auto done) { service_.select(std::move(request), mailbox_, done); });
  }
  Result<RankedPlaces> rank(SelectRequest request) {
    return call<Result<RankedPlaces>>([&](auto done) { service_.rank(std::move(request), mailbox_, done); });
  }
  Result<Accepted> reward(const std::string& event, double reward) {
    return call<Result<Accepted>>(
        [&](auto done) { service_.reward({.event = event, .reward = reward}, mailbox_, done); });
  }
  Result<Accepted> reward(RewardRequest request) {
    return call<Result<Accepted>>([&](auto done) { service_.reward(std::move(request), mailbox_, done); });
  }
  std::vector<Result<Accepted>> rewards(std::vector<RewardRequest> requests) {
    return call<std::vector<Result<Accepted>>>(
        [&](auto done) { service_.rewards(std::move(requests), mailbox_, done); });
  }
  Result<Accepted> put_user(UserRequest request) {
    return call<Result<Accepted>>([&](auto done) { service_.put_user(std::move(request), mailbox_, done); });
  }
  Result<Accepted> put_edge(const std::string& a, const std::string& b, double weight = 1.0) {
    return call<Result<Accepted>>([&](auto done) { service_.put_edge(a, b, weight, mailbox_, done); });
  }
  Result<Accepted> delete_edge(const std::string& a, const std::string& b) {
    return call<Result<Accepted>>([&](auto done) { service_.delete_edge(a, b, mailbox_, done); });
  }
  Result<Accepted> put_item(ItemView item) {
    return call<Result<Accepted>>([&](auto done) { service_.put_item(std::move(item), mailbox_, done); });
  }
  Result<Accepted> delete_item(const std::string& item) {
    return call<Result<Accepted>>([&](auto done) { service_.delete_item(item, mailbox_, done); });
  }
  TestMailbox& mailbox() { return mailbox_; }

 private:
  template <typename Value, typename Start>
  Value call(Start start) {
    auto answer = std::make_shared<std::optional<Value>>();
    start([answer](Value value) { answer->emplace(std::move(value)); });
    return mailbox_.wait_for(answer);
  }

  Service& service_;
  TestMailbox mailbox_;
};

/// The value, or a failure with the problem's words.
template <typename Value>
Value good(Result<Value> result) {
  if (const auto* problem = std::get_if<Problem>(&result)) {
    ADD_FAILURE() << problem->status << " " << problem->type << ": " << problem->detail;
    return {};
  }
  return std::get<Value>(std::move(result));
}

/// "404 unknown-event: detail"; "accepted" if there is no problem.
template <typename Value>
std::string problem_of(const Result<Value>& result) {
  const auto* problem = std::get_if<Problem>(&result);
  return problem == nullptr ? "accepted" : fmt::format("{} {}: {}", problem->status, problem->type, problem->detail);
}

/// Twelve users in three cliques, called u0, u1, ...
inline Graph named_cliques(std::size_t cliques = 3, std::size_t size = 4) {
  const Graph plain = generate::cliques(cliques, size);
  Names names;
  for (std::size_t k = 0; k < plain.node_count(); ++k) names.insert(fmt::format("u{}", k));
  return Graph(std::move(names), plain.edges());
}

/// A request for a user among `candidates` contexts that follow from the seed.
inline SelectRequest request_for(std::string user, std::uint64_t seed, std::size_t candidates = 3,
                                 std::size_t dimension = 3) {
  SelectRequest request{.user = std::move(user)};
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (std::size_t k = 0; k < candidates; ++k) {
    for (std::size_t j = 0; j < dimension; ++j) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const double number = static_cast<double>(state >> 40) / static_cast<double>(1u << 24) - 0.5;
      request.contexts.push_back(number);
    }
  }
  return request;
}

/// What two bandits have learned is the same to the last bit, and what they believe to 1e-8.
inline void expect_same(const Bandit& a, const Bandit& b) {
  ASSERT_EQ(a.user_count(), b.user_count());
  EXPECT_EQ(a.rewards(), b.rewards());
  const Graph graph = a.graph();
  const Graph other_graph = b.graph();
  EXPECT_EQ(graph.edge_count(), other_graph.edge_count());
  for (NodeId user = 0; user < a.user_count(); ++user) {
    const std::string name = std::string(graph.names()[user]);
    ASSERT_EQ(name, std::string(other_graph.names()[user]));
    const UserEvidence mine = a.evidence(user);
    const UserEvidence other = b.evidence(user);
    EXPECT_EQ(mine.count, other.count) << name;
    EXPECT_TRUE(std::equal(mine.contexts.begin(), mine.contexts.end(), other.contexts.begin(), other.contexts.end()))
        << name;
    EXPECT_TRUE(std::equal(mine.rewards.begin(), mine.rewards.end(), other.rewards.begin(), other.rewards.end()))
        << name;
    EXPECT_EQ(mine.squared_rewards, other.squared_rewards);
    const SelectRequest request = request_for("", user, 4, a.options().dimension);
    const Decision one = a.select(user, {request.contexts, a.options().dimension});
    const Decision two = b.select(user, {request.contexts, a.options().dimension});
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_NEAR(one.scores[k], two.scores[k], 1e-8 + one.bounds[k] + two.bounds[k]) << name;
    }
  }
}

}  // namespace goblin::serve
