#include "serve/learner.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <utility>

namespace goblin::serve {
namespace {

bool is_reward(const Record& record) { return record.kind == RecordKind::reward || record.kind == RecordKind::expired; }

}  // namespace

Learner::Learner(const Log& log, Fold fold, std::function<void(const Record&)> learned_record, LearnerOptions options)
    : log_(log),
      fold_(std::move(fold)),
      learned_record_(std::move(learned_record)),
      options_(std::move(options)),
      learned_(fold_.learned()),
      end_(fold_.learned() + 1),
      next_stop_(options_.stop_every == 0 ? 0 : (learned_ / options_.stop_every + 1) * options_.stop_every),
      thread_([this] { run(); }) {}

Learner::~Learner() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Learner::take(std::vector<Record> records, Offset end) {
  committed_rewards_ += static_cast<std::size_t>(std::count_if(records.begin(), records.end(), is_reward));
  {
    const std::lock_guard lock(mutex_);
    for (const Record& record : records) {
      if (options_.joins_first && record.kind == RecordKind::user) joins_.push_back(record);
    }
    if (records_.size() + records.size() > options_.most_in_memory) left_out_ = true;
    // Once some were left out, those that follow are read from the log, too, until it has caught up.
    if (!left_out_) {
      records_.insert(records_.end(), std::make_move_iterator(records.begin()), std::make_move_iterator(records.end()));
    }
    end_ = end;
    if (busy_ || !is_idle()) {
      wake_.notify_one();
      return;
    }
    learned_ = end - 1;  // nothing to learn in what was written
  }
  if (options_.progress) options_.progress(end - 1);
}

void Learner::between(std::function<void(Offset)> work) {
  {
    const std::lock_guard lock(mutex_);
    between_.push_back(std::move(work));
  }
  wake_.notify_one();
}

std::string Learner::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void Learner::wait_until_learned() const {
  std::unique_lock lock(mutex_);
  caught_up_.wait(lock, [&] { return learned_ + 1 >= end_; });
}

bool Learner::is_idle() const { return records_.empty() && joins_.empty() && !left_out_; }

void Learner::run() {
  std::vector<Record> joins;  // what is under way; stays, if memory runs out, until it could be learned
  std::vector<Record> batch;
  for (;;) {
    std::function<void(Offset)> work;
    std::optional<Offset> read_to;
    {
      std::unique_lock lock(mutex_);
      if (!trouble_.empty()) {
        wake_.wait_for(lock, options_.try_again, [&] { return stop_; });
      } else {
        wake_.wait(lock, [&] { return stop_ || !is_idle() || !between_.empty(); });
      }
      if (stop_) return;
      busy_ = true;
      joins.insert(joins.end(), std::make_move_iterator(joins_.begin()), std::make_move_iterator(joins_.end()));
      joins_.clear();
      if (batch.empty() && !records_.empty()) {
        const auto count = static_cast<std::ptrdiff_t>(std::min(records_.size(), options_.most_together));
        batch.assign(std::make_move_iterator(records_.begin()), std::make_move_iterator(records_.begin() + count));
        records_.erase(records_.begin(), records_.begin() + count);
      } else if (batch.empty() && left_out_) {
        read_to = end_;
      }
      if (!between_.empty()) {
        work = std::move(between_.front());
        between_.pop_front();
      }
    }
    std::string trouble;
    try {
      while (!joins.empty()) {
        fold_.join(joins.front());
        learned_record_(joins.front());
        joins.erase(joins.begin());
      }
      if (read_to) read(*read_to, batch);
      learn_with_stops(batch);
      batch.clear();
    } catch (const std::exception& error) {
      trouble = error.what();
    }
    {
      const std::lock_guard lock(mutex_);
      learned_ = std::max(learned_.load(), fold_.learned());
      trouble_ = std::move(trouble);
      busy_ = !joins.empty() || !batch.empty();  // what could not be learned is not behind us
      if (read_to && fold_.learned() + 1 >= end_) left_out_ = false;
      if (joins.empty() && batch.empty() && is_idle()) learned_ = end_ - 1;
    }
    caught_up_.notify_all();
    if (options_.progress) options_.progress(learned_);
    if (work) work(learned_);
  }
}

/// The next records from the log, as many as are learned together.
void Learner::read(Offset end, std::vector<Record>& batch) {
  Offset seen = fold_.learned();
  log_.read(seen + 1, [&](const Record& record) {
    if (record.offset >= end) return false;
    seen = record.offset;
    if (is_learned(record.kind)) batch.push_back(record);
    return batch.size() < options_.most_together;
  });
  if (batch.empty()) fold_.skip_to(seen);
}

/// Some stops may lie between two records; what lies between them needs no learning. Those that are behind us after a
/// failure are not made again.
void Learner::learn_with_stops(std::span<const Record> records) {
  while (next_stop_ > 0 && !records.empty() && records.back().offset > next_stop_) {
    const auto after =
        std::find_if(records.begin(), records.end(), [&](const Record& record) { return record.offset > next_stop_; });
    learn(records.first(static_cast<std::size_t>(after - records.begin())));
    const Offset first_after = after->offset;
    options_.at_stop(next_stop_);
    next_stop_ = ((first_after - 1) / options_.stop_every + 1) * options_.stop_every;
    records = records.subspan(static_cast<std::size_t>(after - records.begin()));
  }
  learn(records);
}

void Learner::learn(std::span<const Record> records) {
  const auto rewards_before = [&](Offset offset) {
    return static_cast<std::size_t>(std::count_if(records.begin(), records.end(), [&](const Record& record) {
      return is_reward(record) && record.offset <= offset;
    }));
  };
  const std::size_t before = rewards_before(fold_.learned());
  struct Count {
    std::function<void()> count;
    ~Count() { count(); }
  } const count{[&] { learned_rewards_ += rewards_before(fold_.learned()) - before; }};
  fold_.learn(records);
  for (const Record& record : records) {
    const bool is_edge = record.kind == RecordKind::edge || record.kind == RecordKind::no_edge;
    if (is_edge || (record.kind == RecordKind::user && !options_.joins_first)) learned_record_(record);
  }
}

}  // namespace goblin::serve
