#include "serve/committer.hpp"

#include "serve/refusals.hpp"

#include <algorithm>
#include <exception>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

std::size_t bytes_of(const std::vector<std::unique_ptr<Write>>& writes) {
  std::size_t bytes = 0;
  for (const auto& write : writes) bytes += write->bytes();
  return bytes;
}

}  // namespace

void Transaction::make_sure_of_absence() {
  if (!asked_->trouble.empty()) throw LogError(asked_->trouble);
  try {
    if (asked_->end == 0) asked_->end = store_->end_of_all();
  } catch (const LogError& error) {
    asked_->trouble = error.what();
    throw;
  }
  if (!store_->has_all_before(asked_->end)) throw Overtaken();
}

Offset Transaction::put_to_learn(Record record) {
  put(record);
  const Offset offset = record.offset;
  to_learn_.push_back(std::move(record));
  return offset;
}

Committer::Committer(Store& store, std::function<void(std::vector<Record>, Offset)> learn, CommitterOptions options)
    : store_(store), learn_(std::move(learn)), options_(std::move(options)), thread_([this] { run(); }) {}

Committer::~Committer() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

std::optional<Problem> Committer::submit(std::unique_ptr<Write>& write) {
  const std::size_t bytes = write->bytes();
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() + staying_count_ >= options_.most_writes ||
        bytes_ + staying_bytes_ + bytes > options_.most_bytes) {
      if (!trouble_.empty()) return refusals::store_unavailable(trouble_);
      return refusals::busy(fmt::format("{} requests wait, at most {} may; try again in a second",
                                        queue_.size() + staying_count_, options_.most_writes));
    }
    urgent_ = urgent_ || !write->stays();
    bytes_ += bytes;
    queue_.push_back(std::move(write));
    look_at_crowd();
    // Waking costs more than writing. While the writer works it looks by itself, and what nobody waits for can lie.
    wake = sleep_ == Sleep::deep || (sleep_ == Sleep::light && urgent_) ||
           (sleep_ == Sleep::gathering && queue_.size() >= enough_);
    if (wake) sleep_ = Sleep::none;
  }
  if (wake) wake_.notify_one();
  return std::nullopt;
}

void Committer::between(std::function<void(Store&)> work) {
  {
    const std::lock_guard lock(mutex_);
    between_.push_back(std::move(work));
    sleep_ = Sleep::none;
  }
  wake_.notify_one();
}

void Committer::look_for_others() {
  {
    const std::lock_guard lock(mutex_);
    others_came_ = true;
    if (sleep_ == Sleep::none) return;  // it looks by itself before it sleeps
    sleep_ = Sleep::none;
  }
  wake_.notify_one();
}

Committer::State Committer::state() const {
  const std::lock_guard lock(mutex_);
  return {.commits = commits_, .waiting = queue_.size() + staying_count_, .trouble = trouble_};
}

void Committer::set_trouble(std::string trouble) {
  bool is_news = false;
  {
    const std::lock_guard lock(mutex_);
    if (trouble.empty()) ++commits_;
    is_news = !trouble.empty() && trouble != trouble_;
    trouble_ = trouble;
    troubled_.store(!trouble_.empty(), std::memory_order_relaxed);
  }
  if (is_news && options_.warn) options_.warn(std::move(trouble));
}

/// With the lock. While the disk fails, waiting would help nobody.
void Committer::look_at_crowd() {
  crowded_.store(trouble_.empty() && (2 * (queue_.size() + staying_count_) >= options_.most_writes ||
                                      2 * (bytes_ + staying_bytes_) >= options_.most_bytes),
                 std::memory_order_relaxed);
}

/// Those who wait behind writes that stay and cannot be written would wait for ever: there may be no room for them in
/// the next transaction, and theirs cannot overtake, because a reward comes after its decision.
void Committer::refuse_those_who_wait() {
  Writes refused;
  std::optional<Problem> problem;
  {
    const std::lock_guard lock(mutex_);
    const auto rest =
        std::stable_partition(queue_.begin(), queue_.end(), [](const auto& write) { return write->stays(); });
    refused.assign(std::make_move_iterator(rest), std::make_move_iterator(queue_.end()));
    queue_.erase(rest, queue_.end());
    if (stop_) queue_.clear();  // nobody waits for these, and there will be no other try
    bytes_ = bytes_of(queue_);
    urgent_ = false;
    look_at_crowd();
    problem = refusals::store_unavailable(trouble_);
  }
  for (const auto& write : refused) write->failed();
  tell(std::move(refused), &*problem);
}

void Committer::run() {
  Writes staying;                // answered already, but not on disk
  std::size_t last_waiting = 0;  // callers whom the last transaction answered
  std::chrono::steady_clock::time_point last_begin;
  for (;;) {
    Writes writes;
    std::function<void(Store&)> work;
    bool last = false;
    bool troubled = false;
    bool others_came = false;
    {
      std::unique_lock lock(mutex_);
      if (last_waiting >= options_.many) {
        sleep_ = Sleep::gathering;
        enough_ = std::min(options_.enough, last_waiting);  // those who called before may be all there are
        wake_.wait_until(lock, last_begin + options_.most_gathering,
                         [&] { return stop_ || others_came_ || !between_.empty() || queue_.size() >= enough_; });
      }
      troubled = !trouble_.empty();
      // While what the others wrote cannot be taken in, their next entry is no reason to try again at once.
      const auto something = [&] { return stop_ || urgent_ || (others_came_ && !troubled) || !between_.empty(); };
      if (!something() && (troubled || !staying.empty())) {
        sleep_ = Sleep::light;
        wake_.wait_for(lock, options_.try_again, something);
      } else if (!something()) {
        sleep_ = Sleep::deep;
        wake_.wait(lock, [&] { return something() || !queue_.empty(); });
        sleep_ = Sleep::light;
        wake_.wait_for(lock, options_.most_delay, something);
      }
      sleep_ = Sleep::none;
      writes = std::move(staying);
      staying.clear();
      const std::size_t room = options_.most_together - std::min(options_.most_together, writes.size());
      if (queue_.size() <= room) {
        writes.insert(writes.end(), std::make_move_iterator(queue_.begin()), std::make_move_iterator(queue_.end()));
        queue_.clear();
      } else {
        const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(room);
        writes.insert(writes.end(), std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
        queue_.erase(queue_.begin(), end);
      }
      bytes_ = queue_.empty() ? 0 : bytes_of(queue_);
      urgent_ = !queue_.empty();
      look_at_crowd();
      if (!between_.empty()) {
        work = std::move(between_.front());
        between_.pop_front();
      }
      others_came = std::exchange(others_came_, false);
      last = stop_ && queue_.empty() && between_.empty();
    }

    last_waiting = static_cast<std::size_t>(
        std::count_if(writes.begin(), writes.end(), [](const auto& write) { return !write->stays(); }));
    last_begin = std::chrono::steady_clock::now();
    if (!writes.empty()) {
      commit(writes);
      staying = std::move(writes);
      {
        const std::lock_guard lock(mutex_);
        staying_count_ = staying.size();
        staying_bytes_ = bytes_of(staying);
        look_at_crowd();
      }
      if (!staying.empty()) refuse_those_who_wait();
    } else if (troubled) {
      prove_health();
    } else if (others_came) {
      try {
        take_in_others();
      } catch (const std::exception& error) {
        set_trouble(error.what());
      }
    }
    if (work) work(store_);
    if (last) return;
  }
}

/// As often as others are quicker, it takes in what they wrote, and tries again, for a while.
Committer::Written Committer::write_all(const Writes& writes) {
  const auto deadline = std::chrono::steady_clock::now() + options_.most_overtaken;
  AskedEnd asked;
  for (;;) {
    try {
      if (!store_.has_all_before(asked.end)) store_.wait_for(asked.end);
    } catch (const LogError& error) {
      asked = {.end = 0, .trouble = error.what()};
    }
    take_in_others();
    Transaction transaction(store_, asked);
    store_.begin();
    try {
      try {
        for (const auto& write : writes) write->write(transaction);
      } catch (...) {
        store_.roll_back();
        throw;
      }
      store_.commit();
      return {.to_learn = std::move(transaction.to_learn_),
              .is_empty = transaction.is_empty_,
              .trouble = std::move(asked.trouble)};
    } catch (const Overtaken&) {
      // One of those who tried was first, so that all of them together get on. But it need not ever be this one.
      if (std::chrono::steady_clock::now() > deadline) {
        throw LogError(fmt::format("other processes were quicker for {} ms", options_.most_overtaken.count()));
      }
    }
  }
}

void Committer::take_in_others() {
  std::vector<Record> records = store_.others();
  if (!records.empty() && options_.others) options_.others(std::move(records), store_.end());
}

/// Leaves those that stay if the transaction fails.
void Committer::commit(Writes& writes) {
  Written written;
  try {
    written = write_all(writes);
  } catch (const TooLarge& error) {
    return commit_in_parts(writes, error);
  } catch (const std::exception& error) {
    set_trouble(error.what());
    return fail(writes, refusals::store_unavailable(error.what()));
  }
  learn_of_health(written);
  for (const auto& write : writes) write->written();
  learn_(std::move(written.to_learn), store_.end());
  tell(std::exchange(writes, {}), nullptr);
}

/// What was put and is safe shows that the log can be written. Where nothing was put, that has to be seen.
void Committer::learn_of_health(const Written& written) {
  if (!written.trouble.empty()) return set_trouble(written.trouble);
  if (written.is_empty && is_troubled()) return prove_health();
  set_trouble({});
}

/// Two halves, one after the other; one write alone is refused.
void Committer::commit_in_parts(Writes& writes, const TooLarge& error) {
  if (writes.size() == 1) {
    if (writes.front()->stays() && options_.warn)
      options_.warn(fmt::format("a decision is not logged: {}", error.what()));
    writes.front()->failed();
    const Problem problem = refusals::too_large(error.what());
    return tell(std::exchange(writes, {}), &problem);
  }
  const auto middle = writes.begin() + static_cast<std::ptrdiff_t>(writes.size() / 2);
  Writes rest(std::make_move_iterator(middle), std::make_move_iterator(writes.end()));
  writes.erase(middle, writes.end());
  commit(writes);
  // What comes later must not overtake: a reward comes after its decision.
  writes.empty() ? commit(rest) : fail(rest, refusals::store_unavailable(state().trouble));
  writes.insert(writes.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
}

/// Tells all but those that stay, and leaves these.
void Committer::fail(Writes& writes, const Problem& problem) {
  const auto rest =
      std::stable_partition(writes.begin(), writes.end(), [](const auto& write) { return write->stays(); });
  Writes failed(std::make_move_iterator(rest), std::make_move_iterator(writes.end()));
  writes.erase(rest, writes.end());
  for (const auto& write : failed) write->failed();
  tell(std::move(failed), &problem);
}

/// One task a mailbox, however many writes: waking a thread costs more than the work.
void Committer::tell(Writes writes, const Problem* problem) {
  std::vector<std::pair<Mailbox*, std::shared_ptr<Writes>>> letters;
  for (auto& write : writes) {
    if (write->mailbox == nullptr) {
      write->done(problem);
      continue;
    }
    auto letter =
        std::find_if(letters.begin(), letters.end(), [&](const auto& other) { return other.first == write->mailbox; });
    if (letter == letters.end()) {
      letters.emplace_back(write->mailbox, std::make_shared<Writes>());
      letter = letters.end() - 1;
    }
    letter->second->push_back(std::move(write));
  }
  for (auto& [mailbox, letter] : letters) {
    std::vector<std::function<void()>> tasks;
    tasks.emplace_back([its_writes = std::move(letter),
                        its_problem = problem == nullptr ? std::nullopt : std::optional<Problem>(*problem)] {
      for (const auto& write : *its_writes) write->done(its_problem ? &*its_problem : nullptr);
    });
    mailbox->post(std::move(tasks));
  }
}

/// After a failure, when nobody writes: whether it would work again.
void Committer::prove_health() {
  try {
    take_in_others();  // it is no use to be able to write if what others write cannot be read
    store_.prove_writable();
    const std::lock_guard lock(mutex_);
    trouble_.clear();
    troubled_.store(false, std::memory_order_relaxed);
  } catch (const std::exception& error) {
    set_trouble(error.what());
  }
}

}  // namespace goblin::serve
