#pragma once

#include "goblin/bandit/bandit.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goblin {

/// A copy of UserEvidence, which stays as it is while the bandit learns on.
struct EvidenceCopy {
  std::vector<double> contexts;  ///< as in UserEvidence
  std::vector<double> rewards;
  std::size_t count = 0;
  double squared_rewards = 0.0;
};

/// Somebody whom an edge joins a user to.
struct Friend {
  NodeId user = 0;
  double weight = 1.0;
};

/// A bandit that many threads use at the same time: any of them may call any function at any time.
///
///     #include <goblin/goblin.hpp>
///     #include <iostream>
///     #include <thread>
///
///     int main() {
///       const goblin::Graph friends(3, std::vector<goblin::Edge>{{0, 1}, {1, 2}});
///       goblin::SharedBandit bandit(goblin::Bandit::gob_lin(friends, {.dimension = 2}));
///       const std::vector<double> arms = {1.0, 0.0, 0.0, 1.0};  // two candidates
///       std::jthread learner([&] {
///         for (int reward = 0; reward < 1000; ++reward) bandit.update(0, std::span(arms).first(2), 1.0);
///       });
///       std::jthread service([&] {
///         goblin::Decision decision;  // its memory is used again
///         for (int request = 0; request < 1000; ++request) bandit.select(1, {arms, 2}, {}, decision);
///       });
///       learner.join();
///       std::cout << "user 2 gets arm " << bandit.select(2, {arms, 2}).arm << '\n';
///     }
///
/// Decisions do not wait for what is being learned. A reward is worked out beside them, and what it changes is put in
/// place a few nodes at a time, which takes microseconds. A decision sees the belief about its user as it is before or
/// after a reward (with the engine local also on the way, and its bounds hold there); all that a call changed is seen
/// by every decision that begins after the call. docs/threads.md says how, and what the rest may wait for.
///
/// What changes the bandit is done one call after the other, in the order of the calls. Nobody starves: neither
/// decisions, nor rewards, nor snapshots. Arguments, results and exceptions are those of Bandit.
class SharedBandit {
 public:
  explicit SharedBandit(Bandit bandit);
  SharedBandit(const SharedBandit&) = delete;
  SharedBandit& operator=(const SharedBandit&) = delete;
  ~SharedBandit();

  // Decisions, and what else does not wait for somebody who learns.
  [[nodiscard]] Decision select(UserRef user, Contexts contexts, Mask allowed = {},
                                const std::optional<Draw>& draw = {}) const;
  void select(UserRef user, Contexts contexts, Mask allowed, Decision& decision,
              const std::optional<Draw>& draw = {}) const;
  [[nodiscard]] std::vector<Ranked> rank(UserRef user, Contexts contexts, std::size_t k, Mask allowed = {},
                                         const std::optional<Draw>& draw = {}) const;
  void rank(UserRef user, Contexts contexts, std::size_t k, Mask allowed, Decision& decision,
            std::vector<Ranked>& ranked, const std::optional<Draw>& draw = {}) const;
  [[nodiscard]] std::vector<double> probabilities(UserRef user, Contexts contexts, Mask allowed = {},
                                                  const Draw& draw = {}) const;
  [[nodiscard]] std::vector<double> mean(UserRef user) const;
  [[nodiscard]] std::vector<double> covariance(UserRef user) const;
  void check(UserRef user, std::span<const double> context, double reward) const;
  void check(std::span<const Observation> batch) const;
  void check(const RewardTable& table) const;
  void check_new_user(std::span<const double> context, double reward = 0.0) const;
  [[nodiscard]] Policy policy() const;
  [[nodiscard]] BanditOptions options() const;
  [[nodiscard]] std::size_t dimension() const;
  [[nodiscard]] std::size_t weight_count() const;
  [[nodiscard]] Exploration exploration() const;
  [[nodiscard]] std::size_t user_count() const;
  [[nodiscard]] std::size_t node_count() const;
  [[nodiscard]] NodeId user(UserRef user) const;
  [[nodiscard]] bool has_user(UserRef user) const;
  [[nodiscard]] bool has_names() const;
  /// What a user is called: the name, or the index as text where users have none.
  [[nodiscard]] std::string name(NodeId user) const;
  [[nodiscard]] std::optional<NodeId> cluster(UserRef user) const;
  [[nodiscard]] NodeId node(UserRef user) const;
  [[nodiscard]] std::size_t rewards() const;
  [[nodiscard]] double log_determinant() const;
  [[nodiscard]] double log_determinant_error() const;

  // Changes, one after the other.
  SolveSummary update(UserRef user, std::span<const double> context, double reward);
  /// Many rewards for a component are learned by a copy of its belief, which takes its place when it is done.
  SolveSummary update(std::span<const Observation> batch);
  SolveSummary update(const RewardTable& table);
  NodeId add_user(std::string_view name = {}, std::optional<NodeId> cluster = {});
  /// Edges too are worked out in a copy; with the engine local, where they take less time than that, decisions wait.
  SolveSummary add_edge(UserRef a, UserRef b, double weight = 1.0);
  SolveSummary remove_edge(UserRef a, UserRef b);
  /// All or none, but one component after the other: a decision may see some of them already.
  SolveSummary update_edges(std::span<const EdgeChange> changes);
  /// By change(...): copies the bandit.
  SolveSummary move_user(UserRef user, NodeId cluster);
  /// In a copy of the bandit.
  SolveSummary remove_users(std::span<const UserRef> users);
  SolveSummary remove_user(UserRef user);
  /// Adds what another bandit has learned, worked out like a batch.
  SolveSummary merge(const Bandit& other, bool compare_names = true);
  void set_exploration(const Exploration& exploration);
  void set_alpha(double alpha);
  void set_threads(std::size_t threads);
  SolveSummary rebuild();
  /// Any other change: `work` is done to a copy of the bandit, which then takes the bandit's place; if it throws,
  /// nothing changes. It must not call this bandit.
  void change(const std::function<void(Bandit&)>& work);

  // All of the bandit at one moment, between two changes. Waits for the change that is under way; other changes wait
  // meanwhile, decisions do not.
  [[nodiscard]] Bandit snapshot() const;
  /// Saves a snapshot; changes wait for the copy, not for the file.
  void save(const std::filesystem::path& path, const Names& names = {}) const;
  [[nodiscard]] Explanation explain(UserRef user, std::span<const double> context, std::size_t k = 10) const;
  /// Saving a snapshot finds variances that nobody had asked for yet (docs/engines.md#sparse). This takes them over, so
  /// that the next snapshot has them; save does it by itself.
  void take_variances(const Bandit& snapshot) const;
  [[nodiscard]] EvidenceCopy evidence(UserRef user) const;
  /// A user's friends, by index, and the weight of the edge between two users, 0 if there is none.
  [[nodiscard]] std::vector<Friend> friends(UserRef user) const;
  [[nodiscard]] double weight(UserRef a, UserRef b) const;
  /// Between users.
  [[nodiscard]] std::size_t edge_count() const;
  [[nodiscard]] Graph graph() const;
  [[nodiscard]] Graph node_graph() const;
  [[nodiscard]] BanditSummary summary() const;

 private:
  struct State;
  template <typename Ask>
  auto read(Ask ask) const;
  template <typename Ask>
  auto look(Ask ask) const;
  template <typename Work>
  auto write(Work work);
  template <typename Batch>
  void check_in_pieces(const Batch& batch, std::size_t size) const;

  std::unique_ptr<State> state_;
};

}  // namespace goblin
