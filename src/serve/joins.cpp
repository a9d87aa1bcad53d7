#include "serve/joins.hpp"

namespace goblin::serve {

bool Joins::wait_for(const std::string& user, Mailbox& mailbox, Then then) {
  const std::lock_guard lock(mutex_);
  Waiting& waiting = waiting_[user];
  waiting.emplace_back(&mailbox, std::move(then));
  return waiting.size() == 1;
}

void Joins::expect(const std::string& user) {
  const std::lock_guard lock(mutex_);
  expected_.insert(user);
}

bool Joins::expects(const std::string& user) const {
  const std::lock_guard lock(mutex_);
  return expected_.contains(user);
}

void Joins::write(const std::string& user) {
  const std::lock_guard lock(mutex_);
  written_.insert(user);
}

bool Joins::is_written(const std::string& user) const {
  const std::lock_guard lock(mutex_);
  return written_.contains(user);
}

void Joins::tell(const std::string& user, const std::optional<Problem>& problem) {
  Waiting waiting;
  {
    const std::lock_guard lock(mutex_);
    expected_.erase(user);
    written_.erase(user);
    const auto place = waiting_.find(user);
    if (place == waiting_.end()) return;
    waiting = std::move(place->second);
    waiting_.erase(place);
  }
  for (auto& [mailbox, then] : waiting) {
    mailbox->post({[its_then = std::move(then), problem] { its_then(problem); }});
  }
}

void Joins::tell_all(const Problem& problem) {
  for (;;) {
    std::string user;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) return;
      user = waiting_.begin()->first;
    }
    tell(user, problem);
  }
}

std::size_t Joins::size() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

}  // namespace goblin::serve
