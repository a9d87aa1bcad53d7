// What rewards do.
#include "serve/refusals.hpp"
#include "serve/service_state.hpp"

#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

Problem unknown(std::string_view event) {
  return refusals::unknown_event(
      fmt::format("event: \"{}\" (must be a decision of this server that is still in its log)", event));
}

/// Rewards on their way to the disk, each with its own result.
class RewardsWrite final : public Write {
 public:
  using Done = std::function<void(std::vector<Result<Accepted>>)>;

  /// The results of requests that were refused already are there.
  RewardsWrite(Service::State& state, Mailbox& its_mailbox, std::vector<RewardRequest> requests,
               std::vector<std::optional<Problem>> problems, Done done)
      : state_(state), requests_(std::move(requests)), problems_(std::move(problems)), done_(std::move(done)) {
    mailbox = &its_mailbox;
  }

  void write(Transaction& transaction) override {
    results_.clear();
    for (std::size_t k = 0; k < requests_.size(); ++k) {
      results_.push_back(problems_[k] ? Result<Accepted>(*problems_[k]) : write_one(transaction, requests_[k]));
    }
  }

  void written() override {
    const Offset learned = state_.learner.learned();
    for (std::size_t k = 0; k < results_.size(); ++k) {
      auto* accepted = std::get_if<Accepted>(&results_[k]);
      if (accepted == nullptr) continue;
      accepted->learned = learned;
      if (accepted->repeated) {
        state_.rewards_repeated.fetch_add(1, std::memory_order_relaxed);
      } else {
        const double reward = requests_[k].reward;
        state_.rewards_accepted.fetch_add(1, std::memory_order_relaxed);
        state_.reward_sum.fetch_add(reward, std::memory_order_relaxed);
        state_.squared_reward_sum.fetch_add(reward * reward, std::memory_order_relaxed);
      }
    }
  }

  void done(const Problem* problem) override {
    if (problem != nullptr) results_.assign(requests_.size(), *problem);
    done_(std::move(results_));
  }
  [[nodiscard]] std::size_t bytes() const override { return 256 + 512 * requests_.size(); }

 private:
  Result<Accepted> write_one(Transaction& transaction, const RewardRequest& request) {
    Record record{.kind = RecordKind::reward, .reward = request.reward};
    if (request.event.empty()) {
      record.user = request.user;
      record.item = request.item;
      record.context = request.context;
      if (auto problem = state_.check_backlog(transaction.to_learn())) return *problem;
      return Accepted{.offset = transaction.put_to_learn(std::move(record))};
    }
    auto found = transaction.store().find(request.event);
    if (!found) return absent(transaction, request.event);
    if (found->reward && !found->expired) {
      if (*found->reward == request.reward) return Accepted{.offset = found->reward_offset, .repeated = true};
      return refusals::other_reward(
          fmt::format("reward: {} for event \"{}\" (must be {}, which it has since offset {})", request.reward,
                      state_.outward(request.event), *found->reward, found->reward_offset));
    }
    const std::int64_t age = transaction.store().now() - found->decision.time;
    if (found->expired || age > state_.options.horizon.count()) {
      return refusals::past_horizon(fmt::format(
          "event: \"{}\" was decided {:g} s ago (must be at most {:g}, the horizon)", state_.outward(request.event),
          static_cast<double>(age) / 1e3, static_cast<double>(state_.options.horizon.count()) / 1e3));
    }
    if (auto problem = state_.check_backlog(transaction.to_learn())) return *problem;
    record.decision = found->decision.offset;
    record.user = std::move(found->decision.user);
    record.item = std::move(found->decision.item);
    record.context = std::move(found->decision.context);
    return Accepted{.offset = transaction.put_to_learn(std::move(record))};
  }

  /// That the decision is not there, after a look at what others may have appended meanwhile. With several partitions,
  /// a name that the caller chose is looked for in all of them: most have nothing to do with it, and are not asked
  /// twice.
  [[nodiscard]] Problem absent(Transaction& transaction, const std::string& event) const {
    const bool may_be_elsewhere = state_.options.partitions > 1 && !decision_of(event) && !early_number(event);
    if (!may_be_elsewhere) {
      if (state_.shared && state_.committer.is_troubled()) {
        return refusals::store_unavailable(state_.committer.state().trouble);
      }
      try {
        transaction.make_sure_of_absence();
      } catch (const LogError& error) {
        return refusals::store_unavailable(error.what());
      }
    }
    return unknown(state_.outward(event));
  }

  Service::State& state_;
  std::vector<RewardRequest> requests_;
  std::vector<std::optional<Problem>> problems_;
  std::vector<Result<Accepted>> results_;
  Done done_;
};

/// Looks at a request as far as the store is not needed; fills in the context of an item.
std::optional<Problem> prepare(const Service::State& state, RewardRequest& request) {
  if (auto problem = state.check_reward(request.reward)) return problem;
  if (auto problem = state.check_backlog()) return problem;
  if (!request.event.empty()) {
    if (!request.user.empty() || !request.context.empty() || !request.item.empty()) {
      return refusals::invalid("event: beside a user, context or item (must be one or the other)");
    }
    if (auto problem = state.check_name("event", request.event)) return problem;
    auto inward = state.inward(request.event);
    if (!inward) return unknown(request.event);
    request.event = std::move(*inward);
    return std::nullopt;
  }
  if (auto problem = state.check_name("user", request.user)) return problem;
  if (!request.item.empty()) {
    if (!request.context.empty()) return refusals::invalid("item: beside a context (must be one of them)");
    auto context = state.catalogue.find(request.item);
    if (!context) {
      return refusals::unknown_item(fmt::format("item: \"{}\" (must be an item of the catalogue)", request.item));
    }
    request.context = std::move(*context);
  }
  try {
    if (state.bandit.has_user(request.user)) {
      state.bandit.check(request.user, request.context, request.reward);
    } else {
      state.bandit.check_new_user(request.context, request.reward);
    }
  } catch (const std::invalid_argument& error) {
    return refusals::invalid(error.what());
  }
  return std::nullopt;
}

}  // namespace

void Service::reward(RewardRequest request, Mailbox& mailbox, std::function<void(Result<Accepted>)> done) {
  std::vector<RewardRequest> requests;
  requests.push_back(std::move(request));
  rewards(std::move(requests), mailbox, [its_done = std::move(done)](std::vector<Result<Accepted>> results) {
    its_done(std::move(results.front()));
  });
}

void Service::rewards(std::vector<RewardRequest> requests, Mailbox& mailbox,
                      std::function<void(std::vector<Result<Accepted>>)> done) {
  State& state = *state_;
  std::vector<std::optional<Problem>> problems;
  problems.reserve(requests.size());
  std::set<std::string> strangers;
  for (RewardRequest& request : requests) {
    problems.push_back(prepare(state, request));
    if (problems.back() || !request.event.empty() || state.bandit.has_user(request.user)) continue;
    strangers.insert(request.user);
  }
  if (strangers.empty()) {
    return state.submit(
        std::make_unique<RewardsWrite>(state, mailbox, std::move(requests), std::move(problems), std::move(done)));
  }

  // Those who are new join first. All tasks of a mailbox run on one thread, so counting needs no lock.
  struct Waiting {
    std::vector<RewardRequest> requests;
    std::vector<std::optional<Problem>> problems;
    std::function<void(std::vector<Result<Accepted>>)> done;
    std::size_t left;
  };
  auto waiting =
      std::make_shared<Waiting>(Waiting{std::move(requests), std::move(problems), std::move(done), strangers.size()});
  for (const std::string& user : strangers) {
    state.join(
        user, mailbox,
        [&state, &mailbox, waiting, user, life = std::weak_ptr(state.life)](const std::optional<Problem>& problem) {
          for (std::size_t k = 0; problem && k < waiting->requests.size(); ++k) {
            if (waiting->requests[k].user == user && !waiting->problems[k]) waiting->problems[k] = problem;
          }
          if (--waiting->left > 0) return;
          if (life.expired()) {
            return waiting->done(std::vector<Result<Accepted>>(waiting->requests.size(), refusals::stopping()));
          }
          state.submit(std::make_unique<RewardsWrite>(state, mailbox, std::move(waiting->requests),
                                                      std::move(waiting->problems), std::move(waiting->done)));
        });
  }
}

}  // namespace goblin::serve
