// What only looks: users, items, explanations, the log, the state of things.
#include "goblin/error.hpp"
#include "serve/log_page.hpp"
#include "serve/refusals.hpp"
#include "serve/service_state.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

Problem no_item(std::string_view item) {
  return refusals::unknown_item(fmt::format("item: \"{}\" (must be an item of the catalogue)", item));
}

}  // namespace

Result<ItemView> Service::item(std::string_view item) const {
  auto context = state_->catalogue.find(item);
  if (!context) return no_item(item);
  return ItemView{.item = std::string(item), .context = std::move(*context)};
}

Result<UserView> Service::user(std::string_view user) const {
  constexpr std::size_t most_friends = 100;
  const SharedBandit& bandit = state_->bandit;
  try {
    UserView view;
    view.user = user;
    view.mean = bandit.mean(user);
    const std::vector<double> covariance = bandit.covariance(user);
    const std::size_t d = view.mean.size();
    for (std::size_t k = 0; k < d; ++k) view.deviations.push_back(std::sqrt(std::max(covariance[k * (d + 1)], 0.0)));
    view.cluster = bandit.cluster(user);
    const bool counts = !bandit.options().evidence_per_node;
    if (counts) view.rewards = bandit.evidence(user).count;
    std::vector<Friend> friends = bandit.friends(user);
    view.friend_count = friends.size();
    std::stable_sort(friends.begin(), friends.end(),
                     [](const Friend& a, const Friend& b) { return a.weight > b.weight; });
    friends.resize(std::min(friends.size(), most_friends));
    for (const Friend& one : friends) {
      view.friends.push_back({.user = bandit.name(one.user),
                              .weight = one.weight,
                              .rewards = counts ? bandit.evidence(one.user).count : 0});
    }
    return view;
  } catch (const UnknownUser&) {
    return refusals::unknown_user(fmt::format("user: \"{}\" (must be there)", user));
  }
}

Result<Explanation> Service::explain(std::string_view user, std::vector<double> context, std::string_view item,
                                     std::size_t k) const {
  if (!item.empty()) {
    auto found = state_->catalogue.find(item);
    if (!found) return no_item(item);
    context = std::move(*found);
  }
  try {
    return state_->bandit.explain(user, context, k);
  } catch (const UnknownUser&) {
    return refusals::unknown_user(fmt::format("user: \"{}\" (must be there)", user));
  } catch (const std::invalid_argument& error) {
    return refusals::invalid(error.what());
  }
}

std::string Service::name_of(NodeId user) const { return state_->bandit.name(user); }

Service::LogPage Service::log(Offset from, std::size_t most_bytes) const {
  constexpr std::size_t most_records = 20'000;
  LogPage page;
  page.next = std::max<Offset>(from, 1);
  std::size_t records = 0;
  page.end = true;
  state_->store.read(page.next, [&](const Record& record) {
    append_event(
        page.lines, record, [&](Offset decision) { return state_->store.at(decision); },
        [&](std::string event) { return state_->outward(std::move(event)); });
    page.next = record.offset + 1;
    page.end = page.lines.size() < most_bytes && ++records < most_records;
    return page.end;
  });
  return page;
}

std::vector<Record> Service::newest(std::size_t count) const {
  std::vector<Record> records = state_->store.newest(count);
  for (Record& record : records) {
    const bool is_decision = record.kind == RecordKind::decision;
    if (!is_decision && record.decision == 0) continue;
    if (record.kind == RecordKind::evidence) continue;
    if (record.event.empty()) record.event = event_of(is_decision ? record.offset : record.decision);
    record.event = state_->outward(std::move(record.event));
  }
  return records;
}

Status Service::status() const {
  const State& state = *state_;
  const Committer::State writing = state.committer.state();
  Status status{.policy = std::string(goblin::name_of(state.bandit.policy())),
                .exploration = goblin::name_of(state.bandit.exploration()),
                .dimension = state.dimension,
                .users = state.bandit.user_count(),
                .edges = state.edges,
                .items = state.catalogue.size(),
                .rewards = state.bandit.rewards(),
                .end = state.store.end(),
                .durable = state.store.end() - 1,
                .learned = state.learner.learned(),
                .backlog = state.learner.backlog(),
                .backlog_limit = state.options.backlog_limit,
                .snapshot = state.newest_snapshot,
                .trouble = writing.trouble,
                .decisions = state.decisions,
                .rewards_accepted = state.rewards_accepted,
                .rewards_repeated = state.rewards_repeated,
                .rewards_expired = state.rewards_expired,
                .explored = state.explored,
                .reward_sum = state.reward_sum,
                .squared_reward_sum = state.squared_reward_sum,
                .commits = writing.commits,
                .snapshots = state.snapshot_count};
  if (!status.trouble.empty()) status.public_trouble = "the store cannot be written (/v1/status says why)";
  if (status.trouble.empty()) {
    status.trouble = state.learner.trouble();
    if (!status.trouble.empty()) status.public_trouble = "rewards cannot be learned (/v1/status says why)";
  }
  status.comparisons = state.agreement.compared();
  if (const std::string words = state.agreement.disagreement(); !words.empty()) {
    status.disagrees = true;
    if (status.trouble.empty()) status.trouble = words;
    status.public_trouble = "another process has other evidence (/v1/status says more)";
  }
  status.ready = status.trouble.empty();
  const std::lock_guard lock(state.seen_mutex);
  status.engines = state.engines;
  status.bytes = state.bandit_bytes;
  if (status.trouble.empty()) status.trouble = state.snapshot_trouble;
  return status;
}

Offset Service::learned() const { return state_->learner.learned(); }
void Service::wait_until_learned() const { state_->learner.wait_until_learned(); }
const SharedBandit& Service::bandit() const { return state_->bandit; }

}  // namespace goblin::serve
