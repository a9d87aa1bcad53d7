// What is forgotten: rewards that go, and what counts less than it did.

#include "belief/belief.hpp"
#include "belief/engine_factory.hpp"
#include "belief/memory.hpp"
#include "vectors.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace goblin {

/// Changes in several steps that are all or nothing: if it is not kept, the evidence is put back bit by bit, and the
/// belief of the components that had begun to change is computed anew from it.
class Belief::Attempt {
 public:
  explicit Attempt(Belief& belief)
      : belief_(belief),
        rewards_(belief.rewards_),
        longest_learned_(belief.longest_learned_),
        log_determinant_(belief.log_determinant_),
        log_determinant_error_(belief.log_determinant_error_),
        unconverged_solves_(belief.unconverged_solves_) {
    for (std::size_t k = 0; belief.lenses_.scale() && k < belief.components_.size(); ++k) {
      shares_.emplace_back(belief.components_[k].log_determinant, belief.components_[k].log_determinant_error);
    }
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt() = default;

  /// What is going to change, as it is now.
  void remember(NodeId user, NodeId node) {
    if (nodes_.insert(node).second) of_nodes_.push_back(belief_.evidence_.before(node));
    if (belief_.user_evidence_ && users_.insert(user).second) {
      of_users_.push_back(belief_.user_evidence_->before(user));
    }
  }
  void remember(std::span<const UserReward> rewards) {
    for (const UserReward& one : rewards) remember(one.user, one.node);
  }
  /// From here on the belief is not what the evidence says.
  void begin() { begun_ = true; }

  void take_back() {
    for (Evidence::Before& one : of_nodes_) belief_.evidence_.put_back(one);
    for (Evidence::Before& one : of_users_) belief_.user_evidence_->put_back(one);
    belief_.rewards_ = rewards_;
    belief_.longest_learned_ = longest_learned_;
    belief_.log_determinant_ = log_determinant_;
    belief_.log_determinant_error_ = log_determinant_error_;
    belief_.unconverged_solves_ = unconverged_solves_;
    for (std::size_t k = 0; k < shares_.size(); ++k) {
      std::tie(belief_.components_[k].log_determinant, belief_.components_[k].log_determinant_error) = shares_[k];
    }
    if (!begun_) return;
    std::set<NodeId> components;
    for (const NodeId node : nodes_) components.insert(belief_.places_[node].component);
    for (const NodeId component : components) (void)belief_.rebuild(belief_.components_[component], {});
  }

 private:
  Belief& belief_;
  std::set<NodeId> nodes_;
  std::set<NodeId> users_;
  std::vector<Evidence::Before> of_nodes_;
  std::vector<Evidence::Before> of_users_;
  std::size_t rewards_;
  double longest_learned_;
  double log_determinant_;
  double log_determinant_error_;
  std::size_t unconverged_solves_;
  std::vector<std::pair<double, double>> shares_;  // of the components in ln|M|, where they are kept
  bool begun_ = false;
};

/// What the node learns of a reward's context; `room` holds it if it is not there yet.
std::span<const double> Belief::behind_lens(const UserReward& one, std::vector<double>& room) const {
  if (lenses_.are_plain() || one.at_node != nullptr) return {one.learned(), dimension()};
  room.resize(dimension());
  lenses_.of(one.user, one.node).to_node({one.context, lenses_.dimension()}, room);
  return room;
}

/// Where lenses scale, a node has one user, and its sums are computed anew from the user's: no rounding stays behind.
void Belief::sum_up_anew(NodeId user, NodeId node) {
  evidence_.clear(node);
  evidence_.add(node, lenses_.of(user, node).to_node(user_evidence_->at(user)).view());
}

double Belief::longest_of(std::span<const UserReward> rewards) const {
  double longest = 0.0;
  std::vector<double> room;
  for (const UserReward& one : rewards) {
    longest = std::max(longest, length_at(one.node, behind_lens(one, room)));
  }
  return longest;
}

void Belief::pass_over(std::size_t count, double longest) noexcept {
  longest_learned_ = std::max(longest_learned_, longest);
  rewards_ += count;
}

SolveSummary Belief::forget(const UserReward& one) {
  std::vector<double> room;
  const std::span<const double> context = behind_lens(one, room);
  if (user_evidence_) user_evidence_->take_away(one.user, {one.context, lenses_.dimension()}, one.reward);
  if (lenses_.scale()) {
    sum_up_anew(one.user, one.node);
  } else {
    evidence_.take_away(one.node, context, one.reward);
  }
  if (is_zero(context)) return {};
  Component& component = components_[places_[one.node].component];
  const NodeId index = places_[one.node].index;
  std::optional<Engine::Changed> changed;
  const auto forget = [&] { changed = component.engine->forget(index, context, one.reward, evidence_of(component)); };
  if (component.engine->kind() == EngineKind::local) {
    exclusively(forget);
  } else {
    forget();
  }
  if (!changed) {
    // The determinant by the way back, learning the reward again, where nothing cancels.
    Engine::Learned learned;
    learned.solve = rebuild(component, {});
    double mean = 0.0;
    double mean_error = 0.0;
    component.engine->evaluate(index, context, {},
                               {.means = {&mean, 1},
                                .variances = {&learned.variance, 1},
                                .mean_errors = {&mean_error, 1},
                                .variance_errors = {&learned.variance_error, 1}});
    changed = learned.change();
    changed->log_determinant = changed->error - changed->log_determinant;
  }
  return account_for(places_[one.node].component, *changed);
}

SolveSummary Belief::learn_and_forget(std::span<const UserReward> learned, std::span<const UserReward> forgotten) {
  if (forgotten.empty()) return learn_many(learned);
  Attempt attempt(*this);
  const double share = static_cast<double>(learned.size()) / static_cast<double>(learned.size() + forgotten.size());
  const auto progress = options_.progress;
  const Work all{.threads = 1, .spare_bytes = {}, .progress = progress};
  SolveSummary summary;
  try {
    attempt.remember(learned);
    attempt.remember(forgotten);
    options_.progress = all.part(0.0, share).progress;
    summary = learn_many(learned);
    attempt.begin();
    const Work rest = all.part(share, 1.0);
    for (std::size_t k = 0; k < forgotten.size(); ++k) {
      summary.add(forget(forgotten[k]));
      if ((k + 1) % 256 == 0) rest.tell(static_cast<double>(k + 1) / static_cast<double>(forgotten.size()));
    }
  } catch (...) {
    options_.progress = progress;
    attempt.take_back();
    throw;
  }
  options_.progress = progress;
  return summary;
}

SolveSummary Belief::learn_anew(std::span<const UserReward> rewards, std::size_t new_rewards) {
  const std::vector<std::uint32_t> by_node = order_by_node(rewards);
  const std::vector<BulkPart> parts = parts_of(rewards, by_node);
  const double needed =
      (rewards.empty() ? 0.0 : bulk_bytes(parts, rewards.size(), rewards.size())) + static_cast<double>(bytes());
  check_memory(
      fmt::format("learning {} rewards anew", rewards.size()), needed, options_, [this] { return this->bytes(); },
      [](std::size_t /*available*/) { return std::string("what would fit: fewer at once"); });

  std::vector<double> contexts;
  std::vector<UserReward> seen;
  if (!lenses_.are_plain()) {
    contexts = behind_lenses(rewards, seen);
    rewards = seen;
  }
  // Everything beside what there is, which it takes the place of at the end.
  Evidence evidence(dimension(), node_count(), evidence_.takes_away());
  std::optional<Evidence> user_evidence;
  if (user_evidence_) user_evidence.emplace(lenses_.dimension(), user_evidence_->size(), user_evidence_->takes_away());
  for (const UserReward& one : rewards) {
    evidence.add(one.node, {one.learned(), dimension()}, one.reward);
    if (user_evidence) user_evidence->add(one.user, {one.context, lenses_.dimension()}, one.reward);
  }
  const auto spare_bytes = [this, needed] {
    return static_cast<double>(available_bytes(options_, [this] { return bytes(); })) - needed;
  };
  const Work work{.threads = thread_count(), .spare_bytes = spare_bytes, .progress = never_back(options_.progress)};
  const auto engine_for = [this](const Component& component) {
    auto engine = engine_factory().make(component.engine->kind(), component.engine->prior(), dimension(), options_);
    return engine;
  };
  std::vector<std::unique_ptr<Engine>> engines(components_.size());
  std::vector<Engine::Changed> changed(components_.size());
  std::vector<NodeReward> lessons;
  std::size_t at = 0;
  for (const BulkPart& part : parts) {
    const Component& component = components_[part.component];
    lessons.clear();
    for (const std::size_t end = at + part.rewards; at < end; ++at) {
      const UserReward& one = rewards[by_node[at]];
      if (!is_zero({one.learned(), dimension()})) {
        lessons.push_back({places_[one.node].index, one.learned(), one.reward});
      }
    }
    auto& engine = engines[part.component];
    engine = engine_for(component);
    if (lessons.empty()) continue;
    const double begin = static_cast<double>(at - part.rewards) / static_cast<double>(rewards.size());
    const double end = static_cast<double>(at) / static_cast<double>(rewards.size());
    changed[part.component] = engine->learn_many(lessons, {evidence, component.nodes}, work.part(begin, end));
  }
  for (std::size_t k = 0; k < components_.size(); ++k) {
    const Component& component = components_[k];
    const auto observed = [&](NodeId node) { return evidence_.at(node).count > 0; };
    if (engines[k] || std::none_of(component.nodes.begin(), component.nodes.end(), observed)) continue;
    engines[k] = engine_for(component);
  }
  evidence_ = std::move(evidence);
  user_evidence_ = std::move(user_evidence);
  for (std::size_t k = 0; k < components_.size(); ++k) {
    if (engines[k]) exchange(components_[k], engines[k]);
  }
  log_determinant_ = 0.0;
  log_determinant_error_ = 0.0;
  pass_over(new_rewards, longest_of(rewards.last(new_rewards)));
  SolveSummary summary;
  for (NodeId k = 0; k < components_.size(); ++k) {
    components_[k].log_determinant = components_[k].log_determinant_error = 0.0;
    summary.add(account_for(k, changed[k]));
  }
  return summary;
}

SolveSummary Belief::forget_user(NodeId user, NodeId node, std::span<const UserReward> rewards,
                                 std::span<const NodeId> stay) {
  const std::size_t count = evidence(user, node).count;
  if (count == 0) return {};
  rewards_ -= count;
  if (user_evidence_ ? user_evidence_->takes_away() : evidence_.takes_away()) return learn_and_forget({}, rewards);
  Evidence gone(dimension(), 1);
  const Lens lens = lenses_.of(user, node);
  gone.add(0, lenses_.are_plain() ? evidence(user, node) : lens.to_node(evidence(user, node)).view());
  if (user_evidence_) user_evidence_->clear(user);
  // Summed anew, so that no rounding of a difference stays behind.
  evidence_.clear(node);
  for (const NodeId other : stay) {
    if (user_evidence_->at(other).count == 0) continue;
    if (lenses_.are_plain()) {
      evidence_.add(node, *user_evidence_, other);
    } else {
      evidence_.add(node, lenses_.of(other, node).to_node(user_evidence_->at(other)).view());
    }
  }
  const UserEvidence sums = gone.at(0);
  if (is_zero(sums.contexts)) return {};
  const Component& component = components_[places_[node].component];
  return account_for(places_[node].component,
                     component.engine->change_evidence(places_[node].index, sums, -1, evidence_of(component)));
}

/// N loses a share of the sums of a user, at most d columns at one node: the price of an edge.
SolveSummary Belief::discount(const Discount& one, Engine& engine) {
  const UserEvidence before = evidence(one.user, one.node);
  if (before.count == 0) return {};
  std::vector<double> contexts(before.contexts.begin(), before.contexts.end());
  std::vector<double> rewards(before.rewards.begin(), before.rewards.end());
  for (double& value : contexts) value *= 1.0 - one.factor;
  for (double& value : rewards) value *= 1.0 - one.factor;
  const UserEvidence lost{.contexts = contexts,
                          .rewards = rewards,
                          .count = before.count,
                          .squared_rewards = (1.0 - one.factor) * before.squared_rewards};
  const Lens lens = lenses_.of(one.user, one.node);
  if (lenses_.scale()) {
    user_evidence_->scale(one.user, one.factor);
    sum_up_anew(one.user, one.node);
  } else if (user_evidence_) {
    if (lens.hashes()) {
      evidence_.take_away(one.node, lens.to_node(before).view());
      user_evidence_->scale(one.user, one.factor);
      evidence_.add(one.node, lens.to_node(user_evidence_->at(one.user)).view());
    } else {
      evidence_.take_away(one.node, before);
      user_evidence_->scale(one.user, one.factor);
      evidence_.add(one.node, user_evidence_->at(one.user));
    }
  } else {
    evidence_.scale(one.node, one.factor);
  }
  if (is_zero(contexts)) return {};
  const Component& component = components_[places_[one.node].component];
  const Lens::Sums at_node = lenses_.are_plain() ? Lens::Sums() : lens.to_node(lost);
  return account_for(places_[one.node].component,
                     engine.change_evidence(places_[one.node].index, lenses_.are_plain() ? lost : at_node.view(), -1,
                                            evidence_of(component)));
}

SolveSummary Belief::discount_and_learn(std::span<const Discount> discounts, std::span<const UserReward> rewards) {
  Attempt attempt(*this);
  const auto progress = options_.progress;
  const Work all{.threads = 1, .spare_bytes = {}, .progress = progress};
  const double share = static_cast<double>(discounts.size()) / static_cast<double>(discounts.size() + rewards.size());
  SolveSummary summary;
  try {
    attempt.remember(rewards);
    for (const Discount& one : discounts) attempt.remember(one.user, one.node);
    attempt.begin();
    const Work first = all.part(0.0, share);
    std::map<NodeId, std::vector<Discount>> by_component;
    for (const Discount& one : discounts) by_component[places_[one.node].component].push_back(one);
    std::size_t done = 0;
    for (const auto& [part, list] : by_component) {
      Component& component = components_[part];
      const bool in_a_copy = access_ != nullptr && component.engine->kind() != EngineKind::local;
      auto copy = in_a_copy ? component.engine->clone() : nullptr;
      for (const Discount& one : list) {
        if (in_a_copy) {
          summary.add(discount(one, *copy));
        } else {
          exclusively([&] { summary.add(discount(one, *component.engine)); });
        }
        if (++done % 64 == 0) first.tell(static_cast<double>(done) / static_cast<double>(discounts.size()));
      }
      if (in_a_copy) exchange(component, copy);
    }
    options_.progress = all.part(share, 1.0).progress;
    summary.add(learn_many(rewards));
  } catch (...) {
    options_.progress = progress;
    attempt.take_back();
    throw;
  }
  options_.progress = progress;
  return summary;
}

}  // namespace goblin
