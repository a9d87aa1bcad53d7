#include "goblin/bandit/shared_bandit.hpp"

#include "bandit/state.hpp"
#include "mixed.hpp"
#include "phase_fair_lock.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace goblin {
namespace {

/// What decisions need to know of all rewards. Readers write nothing, so any number of them do not disturb each other:
/// they read again if the version says that a writer was there meanwhile. One writer at a time.
class SharedKnowledge {
 public:
  void set(const Knowledge& known) {
    version_.fetch_add(1);  // odd: being written
    rewards_.store(known.rewards);
    log_determinant_.store(known.log_determinant);
    log_determinant_error_.store(known.log_determinant_error);
    version_.fetch_add(1);
  }
  [[nodiscard]] Knowledge get() const {
    for (;; std::this_thread::yield()) {
      const std::uint32_t version = version_.load();
      const Knowledge known{.rewards = rewards_.load(),
                            .log_determinant = log_determinant_.load(),
                            .log_determinant_error = log_determinant_error_.load()};
      if (version % 2 == 0 && version == version_.load()) return known;
    }
  }

 private:
  std::atomic<std::uint32_t> version_ = 0;
  std::atomic<std::size_t> rewards_ = 0;
  std::atomic<double> log_determinant_ = 0.0;
  std::atomic<double> log_determinant_error_ = 0.0;
};

}  // namespace

/// Three locks, always taken in this order. Whoever changes the bandit holds `changes` all the time, and the others for
/// moments only. Decisions hold `structure` and the place of their node.
struct SharedBandit::State final : Access {
  explicit State(Bandit the_bandit) : bandit(std::move(the_bandit)) { publish(); }

  void begin_reading(std::size_t place) override { place_lock(place).lock_shared(); }
  void end_reading(std::size_t place) override { place_lock(place).unlock_shared(); }
  void begin_writing(std::size_t place) override { place_lock(place).lock(); }
  [[nodiscard]] bool try_writing(std::size_t place) override { return place_lock(place).try_lock(); }
  void end_writing(std::size_t place) override { place_lock(place).unlock(); }
  [[nodiscard]] bool readers_wait(std::size_t place) const override { return place_lock(place).readers_wait(); }
  void begin_writing_everywhere() override {
    for (PhaseFairLock& lock : places) lock.lock();
  }
  void end_writing_everywhere() override {
    for (PhaseFairLock& lock : places) lock.unlock();
  }
  void exclusively(const std::function<void()>& work) override {
    const std::lock_guard nobody_else(structure);
    work();
  }

  [[nodiscard]] PhaseFairLock& place_lock(std::size_t place) const { return places[mixed(place) % places.size()]; }
  /// What is believed of the candidates. The choice looks at nothing that others change.
  [[nodiscard]] Choice judge(UserRef user, Contexts contexts, Mask allowed, const std::optional<Draw>& draw,
                             Decision& decision) const {
    const std::shared_lock stays(structure);
    return bandit.state().judge(user, contexts, allowed, knowledge.get(), draw, decision);
  }
  /// Shows what the bandit knows now to decisions.
  void publish() { knowledge.set(bandit.state().knowledge()); }

  mutable PhaseFairLock changes;     // what is changed at all; those who look at everything read
  mutable ReadMostlyLock structure;  // who the users are, which node decides for whom, and which engine for a node
  mutable std::array<PhaseFairLock, 256> places;  // what is believed of a node
  SharedKnowledge knowledge;
  Bandit bandit;
};

SharedBandit::SharedBandit(Bandit bandit) : state_(std::make_unique<State>(std::move(bandit))) {
  state_->bandit.state().belief.set_access(state_.get());
}
SharedBandit::~SharedBandit() = default;

/// Beside whoever learns.
template <typename Ask>
auto SharedBandit::read(Ask ask) const {
  const std::shared_lock stays(state_->structure);
  return ask(std::as_const(state_->bandit));
}

/// Between two changes.
template <typename Ask>
auto SharedBandit::look(Ask ask) const {
  const std::shared_lock no_changes(state_->changes);
  return ask(std::as_const(state_->bandit));
}

/// A change that leaves the structure alone or sees to that itself (Belief). What it did is shown even if it throws.
template <typename Work>
auto SharedBandit::write(Work work) {
  const std::lock_guard turn(state_->changes);
  struct Publish {
    State& state;
    ~Publish() { state.publish(); }
  } const publish{*state_};
  return work(state_->bandit);
}

Decision SharedBandit::select(UserRef user, Contexts contexts, Mask allowed, const std::optional<Draw>& draw) const {
  Decision decision;
  select(user, contexts, allowed, decision, draw);
  return decision;
}

void SharedBandit::select(UserRef user, Contexts contexts, Mask allowed, Decision& decision,
                          const std::optional<Draw>& draw) const {
  state_->judge(user, contexts, allowed, draw, decision).choose(allowed, decision);
}

std::vector<Ranked> SharedBandit::rank(UserRef user, Contexts contexts, std::size_t k, Mask allowed,
                                       const std::optional<Draw>& draw) const {
  Decision decision;
  std::vector<Ranked> ranked;
  rank(user, contexts, k, allowed, decision, ranked, draw);
  return ranked;
}

void SharedBandit::rank(UserRef user, Contexts contexts, std::size_t k, Mask allowed, Decision& decision,
                        std::vector<Ranked>& ranked, const std::optional<Draw>& draw) const {
  state_->judge(user, contexts, allowed, draw, decision).rank(k, allowed, decision, ranked);
}

std::vector<double> SharedBandit::probabilities(UserRef user, Contexts contexts, Mask allowed, const Draw& draw) const {
  Draw every_arm = draw;
  every_arm.every_arm = true;
  return select(user, contexts, allowed, every_arm).probabilities;
}

std::vector<double> SharedBandit::mean(UserRef user) const {
  return read([&](const Bandit& it) { return it.mean(user); });
}
std::vector<double> SharedBandit::covariance(UserRef user) const {
  return read([&](const Bandit& it) { return it.covariance(user); });
}
void SharedBandit::check(UserRef user, std::span<const double> context, double reward) const {
  read([&](const Bandit& it) { it.check(user, context, reward); });
}
void SharedBandit::check(std::span<const Observation> batch) const { check_in_pieces(batch, batch.size()); }
void SharedBandit::check(const RewardTable& table) const { check_in_pieces(table, table.users.size()); }

/// A piece takes some ten microseconds: changes do not wait longer, nor do decisions behind them.
template <typename Batch>
void SharedBandit::check_in_pieces(const Batch& batch, std::size_t size) const {
  constexpr std::size_t piece = 256;
  std::size_t first = 0;
  do {
    const std::size_t end = std::min(first + piece, size);
    read([&](const Bandit& it) { it.check_some(batch, first, end); });
    first = end;
  } while (first < size);
}

void SharedBandit::check_new_user(std::span<const double> context, double reward) const {
  read([&](const Bandit& it) { it.check_new_user(context, reward); });
}
Policy SharedBandit::policy() const {
  return read([](const Bandit& it) { return it.policy(); });
}
BanditOptions SharedBandit::options() const {
  return read([](const Bandit& it) { return it.options(); });
}
std::size_t SharedBandit::dimension() const {
  return read([](const Bandit& it) { return it.options().dimension; });
}
std::size_t SharedBandit::weight_count() const {
  return read([](const Bandit& it) { return it.weight_count(); });
}
Exploration SharedBandit::exploration() const {
  return read([](const Bandit& it) { return it.exploration(); });
}
std::size_t SharedBandit::user_count() const {
  return read([](const Bandit& it) { return it.user_count(); });
}
std::size_t SharedBandit::node_count() const {
  return read([](const Bandit& it) { return it.node_count(); });
}
NodeId SharedBandit::user(UserRef user) const {
  return read([&](const Bandit& it) { return it.user(user); });
}
bool SharedBandit::has_user(UserRef user) const {
  return read([&](const Bandit& it) { return it.has_user(user); });
}
bool SharedBandit::has_names() const {
  return read([](const Bandit& it) { return it.state().users.has_names(); });
}
std::string SharedBandit::name(NodeId user) const {
  return read([&](const Bandit& it) { return it.state().users.name(it.user(user)); });
}
std::optional<NodeId> SharedBandit::cluster(UserRef user) const {
  return read([&](const Bandit& it) { return it.cluster(user); });
}
NodeId SharedBandit::node(UserRef user) const {
  return read([&](const Bandit& it) { return it.node(user); });
}
std::size_t SharedBandit::rewards() const { return state_->knowledge.get().rewards; }
double SharedBandit::log_determinant() const { return state_->knowledge.get().log_determinant; }
double SharedBandit::log_determinant_error() const { return state_->knowledge.get().log_determinant_error; }

SolveSummary SharedBandit::update(UserRef user, std::span<const double> context, double reward) {
  return write([&](Bandit& it) { return it.update(user, context, reward); });
}
SolveSummary SharedBandit::update(std::span<const Observation> batch) {
  return write([&](Bandit& it) { return it.update(batch); });
}
SolveSummary SharedBandit::update(const RewardTable& table) {
  return write([&](Bandit& it) { return it.update(table); });
}
SolveSummary SharedBandit::merge(const Bandit& other, bool compare_names) {
  return write([&](Bandit& it) { return it.merge(other, compare_names); });
}
SolveSummary SharedBandit::add_edge(UserRef a, UserRef b, double weight) {
  return write([&](Bandit& it) { return it.add_edge(a, b, weight); });
}
SolveSummary SharedBandit::remove_edge(UserRef a, UserRef b) {
  return write([&](Bandit& it) { return it.remove_edge(a, b); });
}
SolveSummary SharedBandit::update_edges(std::span<const EdgeChange> changes) {
  return write([&](Bandit& it) { return it.update_edges(changes); });
}
SolveSummary SharedBandit::rebuild() {
  return write([](Bandit& it) { return it.rebuild(); });
}

NodeId SharedBandit::add_user(std::string_view name, std::optional<NodeId> cluster) {
  return write([&](Bandit& it) {
    const NodeId user = [&] {
      const std::lock_guard nobody_else(state_->structure);
      return it.add_user_alone(name, cluster);
    }();
    try {
      it.join_to_hub(user);
    } catch (...) {
      const std::lock_guard nobody_else(state_->structure);
      it.remove_user_alone(user);
      throw;
    }
    return user;
  });
}

void SharedBandit::set_exploration(const Exploration& exploration) {
  write([&](Bandit& it) {
    const std::lock_guard nobody_else(state_->structure);
    it.set_exploration(exploration);
  });
}

void SharedBandit::set_alpha(double alpha) {
  write([&](Bandit& it) {
    const std::lock_guard nobody_else(state_->structure);
    it.set_alpha(alpha);
  });
}

void SharedBandit::set_threads(std::size_t threads) {
  write([&](Bandit& it) {
    const std::lock_guard nobody_else(state_->structure);
    it.set_threads(threads);
  });
}

SolveSummary SharedBandit::remove_users(std::span<const UserRef> users) {
  return write([&](Bandit& it) { return it.remove_users(users); });
}
SolveSummary SharedBandit::remove_user(UserRef user) {
  return write([&](Bandit& it) { return it.remove_user(user); });
}

SolveSummary SharedBandit::move_user(UserRef user, NodeId cluster) {
  SolveSummary summary;
  change([&](Bandit& it) { summary = it.move_user(user, cluster); });
  return summary;
}

void SharedBandit::change(const std::function<void(Bandit&)>& work) {
  write([&](Bandit& it) {
    it.state().belief.check_copy_fits();
    Bandit changed(it);
    work(changed);
    changed.state().belief.set_access(state_.get());
    const std::lock_guard nobody_else(state_->structure);
    std::swap(it, changed);
    state_->publish();  // with the rest, so that no decision mixes the old and the new bandit
  });
}

Bandit SharedBandit::snapshot() const {
  return look([](const Bandit& it) { return it; });
}
void SharedBandit::save(const std::filesystem::path& path, const Names& names) const {
  const Bandit copy = snapshot();
  copy.save(path, names);
  take_variances(copy);
}
void SharedBandit::take_variances(const Bandit& snapshot) const {
  look([&](const Bandit& it) { it.state().belief.take_prior_variances(snapshot.state().belief); });
}

Explanation SharedBandit::explain(UserRef user, std::span<const double> context, std::size_t k) const {
  return look([&](const Bandit& it) { return it.explain(user, context, k); });
}
EvidenceCopy SharedBandit::evidence(UserRef user) const {
  return look([&](const Bandit& it) {
    const UserEvidence seen = it.evidence(user);
    return EvidenceCopy{.contexts = {seen.contexts.begin(), seen.contexts.end()},
                        .rewards = {seen.rewards.begin(), seen.rewards.end()},
                        .count = seen.count,
                        .squared_rewards = seen.squared_rewards};
  });
}
std::vector<Friend> SharedBandit::friends(UserRef user) const {
  return look([&](const Bandit& it) {
    std::vector<Friend> friends;
    it.state().users.for_each_friend(
        it.user(user), [&](NodeId other, double weight) { friends.push_back({.user = other, .weight = weight}); });
    return friends;
  });
}
double SharedBandit::weight(UserRef a, UserRef b) const {
  return look([&](const Bandit& it) { return it.state().users.weight(it.user(a), it.user(b)); });
}
std::size_t SharedBandit::edge_count() const {
  return look([](const Bandit& it) { return it.state().users.edge_count(); });
}
Graph SharedBandit::graph() const {
  return look([](const Bandit& it) { return it.graph(); });
}
Graph SharedBandit::node_graph() const {
  return look([](const Bandit& it) { return it.node_graph(); });
}
BanditSummary SharedBandit::summary() const {
  return look([](const Bandit& it) { return it.summary(); });
}

}  // namespace goblin
