#include "serve/edits.hpp"

#include "serve/refusals.hpp"

#include <utility>

#include <fmt/format.h>

namespace goblin::serve {

class Edits::EditWrite final : public Write {
 public:
  EditWrite(Edits& edits, Edit edit, std::vector<Record> records)
      : edits_(edits), edit_(std::move(edit)), records_(std::move(records)) {
    mailbox = edit_.mailbox;
  }

  void write(Transaction& transaction) override {
    problem_ = edit_.check ? edit_.check(records_) : std::nullopt;
    if (problem_) return;
    for (Record& record : records_) offset_ = transaction.put_to_learn(record);
  }
  void written() override {
    if (problem_) return edits_.ask_for_next();
    if (edit_.written) edit_.written();
    learned_ = edits_.learner_.learned();
    const std::lock_guard lock(edits_.mutex_);
    edits_.awaited_ = offset_;
  }
  void done(const Problem* problem) override {
    if (problem != nullptr) return edit_.done(*problem);
    if (problem_) return edit_.done(*problem_);
    edit_.done(Accepted{.offset = offset_, .learned = learned_});
  }
  void failed() override { edits_.ask_for_next(); }

 private:
  Edits& edits_;
  Edit edit_;
  std::vector<Record> records_;
  Offset offset_ = 0;
  Offset learned_ = 0;
  std::optional<Problem> problem_;
};

void Edits::answer(Edit& edit, Result<Accepted> result) {
  edit.mailbox->post({[done = std::move(edit.done), its_result = std::move(result)] { done(its_result); }});
}

void Edits::submit(Edit edit) {
  std::unique_lock lock(mutex_);
  if (stopped_ || waiting_.size() >= most_) {
    lock.unlock();
    return answer(edit, refusals::busy(fmt::format("{} changes of the graph wait; at most {} may", most_, most_)));
  }
  waiting_.push_back(std::move(edit));
  if (std::exchange(busy_, true)) return;
  lock.unlock();
  ask_for_next();
}

void Edits::ask_for_next() {
  learner_.between([this](Offset) { next(); });
}

void Edits::next() {
  for (;;) {
    Edit edit;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) {
        busy_ = false;
        return;
      }
      edit = std::move(waiting_.front());
      waiting_.pop_front();
    }
    Result<std::vector<Record>> records = edit.prepare();
    if (auto* problem = std::get_if<Problem>(&records)) {
      answer(edit, std::move(*problem));
      continue;
    }
    auto& list = std::get<std::vector<Record>>(records);
    if (list.empty()) {
      const Offset learned = learner_.learned();
      answer(edit, Accepted{.offset = learned, .learned = learned, .repeated = true});
      continue;
    }
    auto done = edit.done;
    Mailbox* mailbox = edit.mailbox;
    std::unique_ptr<Write> write = std::make_unique<EditWrite>(*this, std::move(edit), std::move(list));
    if (auto problem = committer_.submit(write)) {
      mailbox->post({[its_done = std::move(done), its_problem = std::move(*problem)] { its_done(its_problem); }});
      continue;
    }
    return;  // goes on when it has been learned, or could not be written
  }
}

void Edits::learned(Offset offset) {
  {
    const std::lock_guard lock(mutex_);
    if (awaited_ != offset) return;
    awaited_ = 0;
  }
  next();
}

void Edits::stop() {
  std::deque<Edit> late;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    late = std::exchange(waiting_, {});
  }
  for (Edit& edit : late) answer(edit, refusals::stopping());
}

}  // namespace goblin::serve
