#include "serve/scattered_rewards.hpp"

#include "serve/json_text.hpp"
#include "serve/partitions.hpp"
#include "serve/peers.hpp"
#include "serve/refusals.hpp"
#include "serve/replies.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

using Results = std::vector<Result<Accepted>>;

/// The body with which another server is asked.
std::string body_of(const std::vector<RewardRequest>& requests, const std::vector<std::size_t>& which) {
  std::string body = "[";
  for (const std::size_t k : which) {
    const RewardRequest& request = requests[k];
    if (body.size() > 1) body += ',';
    body += "{\"reward\":";
    append_number(body, request.reward);
    for (const auto& [name, text] :
         {std::pair(",\"event\":", &request.event), {",\"user\":", &request.user}, {",\"item\":", &request.item}}) {
      if (text->empty()) continue;
      body += name;
      append_string(body, *text);
    }
    for (std::size_t number = 0; number < request.context.size(); ++number) {
      body += number == 0 ? ",\"context\":[" : ",";
      append_number(body, request.context[number]);
    }
    if (!request.context.empty()) body += ']';
    body += '}';
  }
  body += ']';
  return body;
}

/// Rewards on their way. All of it happens on the thread of the exchange.
class Scattered : public std::enable_shared_from_this<Scattered> {
 public:
  Scattered(Exchange& exchange, std::vector<RewardRequest> requests, std::function<void(Results)> done)
      : exchange_(exchange),
        requests_(std::move(requests)),
        done_(std::move(done)),
        results_(requests_.size()),
        candidates_(requests_.size()) {}

  void start() {
    const Partitions& partitions = exchange_.site().partitions;
    std::vector<std::size_t> everywhere;  // those that are here first
    for (const auto& [partition, service] : partitions.here()) everywhere.push_back(partition);
    for (std::size_t partition = 0; partition < partitions.count(); ++partition) {
      if (partitions.at(partition) == nullptr) everywhere.push_back(partition);
    }
    const auto asked_for = exchange_.asked_for();
    for (std::size_t k = 0; k < requests_.size(); ++k) {
      const RewardRequest& request = requests_[k];
      const auto named = partition_of_event(request.event);
      const auto own = request.event.empty() ? std::optional(partitions.of(request.user)) : std::nullopt;
      if (asked_for && own.value_or(*asked_for) != *asked_for) {
        results_[k] = refusals::other_partition(fmt::format(
            "user: \"{}\" is in partition {} (must be in {}, which is asked for)", request.user, *own, *asked_for));
      } else if (asked_for) {
        candidates_[k] = {*asked_for};
      } else if (own) {
        candidates_[k] = {*own};
      } else if (named && *named < partitions.count()) {
        candidates_[k] = {*named};
      } else {
        candidates_[k] = everywhere;
      }
    }
    next_round();
  }

 private:
  /// Those without a result yet are sent where they may belong, all for one partition together.
  void next_round() {
    std::map<std::size_t, std::vector<std::size_t>> of_partition;
    for (std::size_t k = 0; k < requests_.size(); ++k) {
      if (!candidates_[k].empty()) of_partition[candidates_[k].front()].push_back(k);
    }
    if (of_partition.empty()) return done_(std::move(results_));
    open_ = of_partition.size();
    for (auto& [partition, which] : of_partition) send(partition, std::move(which));
  }

  void send(std::size_t partition, std::vector<std::size_t> which) {
    if (auto service = exchange_.site().partitions.at(partition)) {
      std::vector<RewardRequest> part;
      part.reserve(which.size());
      for (const std::size_t k : which) part.push_back(requests_[k]);
      Service& here = *service;
      exchange_.keep(std::move(service));
      here.rewards(std::move(part), exchange_.mailbox(),
                   [self = shared_from_this(), which = std::move(which)](Results results) {
                     self->take(which, std::move(results));
                   });
      return;
    }
    std::string body = body_of(requests_, which);
    exchange_.ask(partition, "POST", "/v1/rewards", std::move(body),
                  [self = shared_from_this(), which = std::move(which)](const Result<Reply>& reply) {
                    self->take(which, accepted_of(reply, which.size()));
                  });
  }

  void take(const std::vector<std::size_t>& which, Results results) {
    for (std::size_t place = 0; place < which.size(); ++place) {
      const std::size_t k = which[place];
      const auto* problem = std::get_if<Problem>(&results[place]);
      auto& left = candidates_[k];
      left.erase(left.begin());
      const bool is_unknown = problem != nullptr && problem->type == "unknown-event";
      // One that could not be asked may be the one that knows the decision.
      const bool was_asked = problem == nullptr || problem->status != 503;
      const auto* before = std::get_if<Problem>(&results_[k]);
      const bool keeps_doubt = is_unknown && before != nullptr && before->status == 503;
      if (!keeps_doubt) results_[k] = std::move(results[place]);
      if (!is_unknown && was_asked) left.clear();
    }
    if (--open_ == 0) next_round();
  }

  Exchange& exchange_;
  std::vector<RewardRequest> requests_;
  std::function<void(Results)> done_;
  Results results_;
  std::vector<std::vector<std::size_t>> candidates_;  // where each may still belong; empty: it has its result
  std::size_t open_ = 0;                              // parts of this round without an answer
};

}  // namespace

void scatter_rewards(Exchange& exchange, std::vector<RewardRequest> requests,
                     std::function<void(std::vector<Result<Accepted>>)> done) {
  std::make_shared<Scattered>(exchange, std::move(requests), std::move(done))->start();
}

}  // namespace goblin::serve
