#include "serve/peer_calls.hpp"

#include "serve/problems.hpp"

#include <exception>
#include <utility>

namespace goblin::serve {
namespace {

/// Each waits for one answer at a time.
constexpr std::size_t threads_of_line = 16;
constexpr std::size_t most_waiting_in_line = 1024;
/// No call waits as long as that, so that nobody is at work in a line that nobody used meanwhile.
constexpr auto unused_for = std::chrono::minutes(1);

}  // namespace

bool PeerCalls::ask(Question question, std::function<void(Result<Reply>)> done) {
  const std::string url = peers_->other_owner(question.partition).value_or("");
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  auto place = lines_.find(url);
  if (place == lines_.end()) {
    std::erase_if(lines_, [now](const auto& each) { return now - each.second.used > unused_for; });
    auto workers = std::make_unique<Workers>(threads_of_line, most_waiting_in_line);
    place = lines_.emplace(url, Line{.workers = std::move(workers), .used = now}).first;
  }
  place->second.used = now;
  return place->second.workers->take([this, question = std::move(question), done = std::move(done)] {
    Result<Reply> reply;
    try {
      reply = peers_->ask(question, [this] { return Clock::now() >= end_.load(); });
    } catch (const std::exception& error) {
      reply = problems::failure(error.what());
    }
    done(std::move(reply));
  });
}

}  // namespace goblin::serve
