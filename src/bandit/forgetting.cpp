#include "bandit/forgetting.hpp"

#include "bandit/state.hpp"
#include "binary.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace goblin {

RewardWindow::Entry RewardWindow::operator[](std::size_t k) const {
  const std::size_t at = (oldest_ + k) % size();
  const double* const numbers = numbers_.data() + at * row();
  return {users_[at], numbers, numbers[dimension_]};
}

std::size_t RewardWindow::leaving(std::size_t coming) const {
  const std::size_t room = capacity_ - size();
  return coming > room ? std::min(coming - room, size()) : 0;
}

void RewardWindow::reserve(std::size_t coming) {
  const std::size_t needed = coming < capacity_ - size() ? size() + coming : capacity_;
  if (needed <= users_.capacity()) return;
  const std::size_t room = std::max(needed, std::min(capacity_, 2 * users_.capacity()));
  numbers_.reserve(room * row());
  users_.reserve(room);
}

void RewardWindow::push(const Entry& entry) {
  if (size() < capacity_) {
    users_.push_back(entry.user);
    numbers_.insert(numbers_.end(), entry.context, entry.context + dimension_);
    numbers_.push_back(entry.reward);
    return;
  }
  users_[oldest_] = entry.user;
  std::copy_n(entry.context, dimension_, numbers_.begin() + static_cast<std::ptrdiff_t>(oldest_ * row()));
  numbers_[oldest_ * row() + dimension_] = entry.reward;
  oldest_ = (oldest_ + 1) % capacity_;
}

void RewardWindow::remove(NodeId user) {
  RewardWindow rest(dimension_, capacity_);
  for (std::size_t k = 0; k < size(); ++k) {
    const Entry entry = (*this)[k];
    if (entry.user == user) continue;
    rest.reserve(1);
    rest.push(entry);
  }
  *this = std::move(rest);
}

std::size_t RewardWindow::bytes() const {
  return users_.capacity() * sizeof(NodeId) + numbers_.capacity() * sizeof(double);
}

double RewardWindow::bytes(std::size_t dimension, std::size_t capacity) {
  return static_cast<double>(capacity) * (sizeof(NodeId) + (static_cast<double>(dimension) + 1.0) * sizeof(double));
}

void RewardWindow::save(BinaryWriter& out) const {
  out.size(size());
  for (std::size_t k = 0; k < size(); ++k) {
    const Entry entry = (*this)[k];
    out.number(entry.user);
    for (std::size_t c = 0; c < dimension_; ++c) out.number(entry.context[c]);
    out.number(entry.reward);
  }
}

RewardWindow RewardWindow::load(BinaryReader& in, std::size_t dimension, std::size_t capacity) {
  RewardWindow window(dimension, capacity);
  const std::size_t bytes_of_one = sizeof(NodeId) + (dimension + 1) * sizeof(double);
  const std::size_t size = in.size(std::min(capacity, in.left() / bytes_of_one), "the number of rewards in the window");
  window.reserve(size);
  for (std::size_t k = 0; k < size; ++k) {
    const auto user = in.number<NodeId>();
    const auto numbers = in.numbers<double>(dimension + 1);
    for (const double value : numbers) in.expect(std::isfinite(value), "a reward in the window");
    window.push({user, numbers.data(), numbers[dimension]});
  }
  return window;
}

SolveSummary Bandit::State::learn(std::span<const RewardWindow::Entry> rewards) {
  if (online_clusters) return learn_in_order(rewards);
  if (window) return learn_in_window(rewards);
  if (options.forgetting.discount < 1.0) return learn_discounted(rewards);
  if (rewards.size() == 1) {
    const UserReward one = at_node(rewards[0]);
    return belief.learn(one.user, one.node, {one.context, options.weight_count()}, one.reward);
  }
  return belief.learn_many(at_nodes(rewards));
}

/// Of more rewards than the window has places, only the last ones are learned. Where many leave, what stays is learned
/// anew, which then costs less than that the others leave one by one.
SolveSummary Bandit::State::learn_in_window(std::span<const RewardWindow::Entry> rewards) {
  const std::size_t passed = rewards.size() - std::min(rewards.size(), window->capacity());
  const auto coming = rewards.subspan(passed);
  const double longest_passed = belief.longest_of(at_nodes(rewards.first(passed)));
  const std::size_t leaving = window->leaving(coming.size());
  const std::size_t staying = window->size() - leaving;
  window->reserve(coming.size());
  belief.set_bytes_beside(window->bytes());

  constexpr std::size_t worth_more = 4;     // a reward that leaves costs as much as so many that are learned at once
  constexpr std::size_t worth_to_sum = 32;  // and as so many that are only summed up
  const std::size_t kept = staying + coming.size();
  SolveSummary summary;
  const std::size_t solves = std::min(kept, belief.dimension() * belief.node_count());
  if (leaving > 1 && worth_more * leaving >= solves && worth_to_sum * leaving >= kept) {
    std::vector<UserReward> all;
    all.reserve(kept);
    for (std::size_t k = leaving; k < window->size(); ++k) all.push_back(at_node((*window)[k]));
    for (const auto& one : coming) all.push_back(at_node(one));
    summary = belief.learn_anew(all, coming.size());
  } else {
    std::vector<UserReward> forgotten;
    forgotten.reserve(leaving);
    for (std::size_t k = 0; k < leaving; ++k) forgotten.push_back(at_node((*window)[k]));
    summary = belief.learn_and_forget(at_nodes(coming), forgotten);
  }
  belief.pass_over(passed, longest_passed);
  for (const auto& one : coming) window->push(one);
  return summary;
}

/// All rewards of a user are one change: with k of them, what was known counts discount^k, and the j-th of them
/// discount^(k - j).
SolveSummary Bandit::State::learn_discounted(std::span<const RewardWindow::Entry> rewards) {
  const std::size_t d = options.weight_count();
  std::unordered_map<NodeId, double> factors;  // of what came before
  std::vector<double> numbers(rewards.size() * d);
  std::vector<UserReward> learned(rewards.size());
  std::vector<NodeId> who;  // in the order of their last rewards
  for (std::size_t k = rewards.size(); k-- > 0;) {
    const auto& one = rewards[k];
    const auto [factor, is_first] = factors.emplace(one.user, 1.0);
    if (is_first) who.push_back(one.user);
    const double root = std::sqrt(factor->second);
    double* const context = numbers.data() + k * d;
    for (std::size_t c = 0; c < d; ++c) context[c] = root * one.context[c];
    learned[k] = at_node({one.user, context, root * one.reward});
    factor->second *= options.forgetting.discount;
  }
  std::vector<Belief::Discount> discounts;
  discounts.reserve(who.size());
  for (const NodeId user : who) discounts.push_back({user, users.node_of(user), factors[user]});
  return belief.discount_and_learn(discounts, learned);
}

bool Bandit::State::window_is_what_was_observed() const {
  std::vector<std::size_t> of_nodes(belief.node_count());
  std::vector<std::size_t> of_users(users.user_count());
  for (std::size_t k = 0; k < window->size(); ++k) {
    const NodeId user = (*window)[k].user;
    if (user >= of_users.size()) return false;
    ++of_users[user];
    ++of_nodes[users.node_of(user)];
  }
  for (NodeId node = 0; node < of_nodes.size(); ++node) {
    if (belief.node_evidence(node).count != of_nodes[node]) return false;
  }
  for (NodeId user = 0; user < of_users.size() && belief.has_user_evidence(); ++user) {
    if (belief.evidence(user, users.node_of(user)).count != of_users[user]) return false;
  }
  return true;
}

}  // namespace goblin
