#include "serve/waits.hpp"

#include "serve/refusals.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

namespace goblin::serve {

void Waits::tell(Waiting waiting, const std::optional<Problem>& problem) {
  waiting.mailbox->post({[then = std::move(waiting.then), problem] { then(problem); }});
}

void Waits::wait_for(Offset offset, Clock::time_point until, Mailbox& mailbox, Then then) {
  const std::lock_guard lock(mutex_);
  waiting_.emplace(offset, Waiting{.until = until, .mailbox = &mailbox, .then = std::move(then)});
  first_ = waiting_.begin()->first;
}

void Waits::reached(Offset learned) {
  if (learned < first_) return;
  std::vector<Waiting> done;
  {
    const std::lock_guard lock(mutex_);
    while (!waiting_.empty() && waiting_.begin()->first <= learned) {
      done.push_back(std::move(waiting_.begin()->second));
      waiting_.erase(waiting_.begin());
    }
    first_ = waiting_.empty() ? nobody : waiting_.begin()->first;
  }
  for (Waiting& waiting : done) tell(std::move(waiting), std::nullopt);
}

void Waits::look_at_clock(Clock::time_point now, Offset learned) {
  std::vector<std::pair<Offset, Waiting>> late;
  {
    const std::lock_guard lock(mutex_);
    for (auto place = waiting_.begin(); place != waiting_.end();) {
      if (place->second.until > now) {
        ++place;
        continue;
      }
      late.emplace_back(place->first, std::move(place->second));
      place = waiting_.erase(place);
    }
    first_ = waiting_.empty() ? nobody : waiting_.begin()->first;
  }
  for (auto& [offset, waiting] : late) {
    tell(std::move(waiting), refusals::not_learned_yet(fmt::format(
                                 "after: {} (everything up to {} has been learned here; try again)", offset, learned)));
  }
}

void Waits::tell_all(const Problem& problem) {
  std::multimap<Offset, Waiting> all;
  {
    const std::lock_guard lock(mutex_);
    all = std::exchange(waiting_, {});
    first_ = nobody;
  }
  for (auto& [offset, waiting] : all) tell(std::move(waiting), problem);
}

}  // namespace goblin::serve
