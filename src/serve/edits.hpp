#pragma once

#include "serve/committer.hpp"
#include "serve/learner.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace goblin::serve {

/// Changes of the graph, one after the other: each is checked against the graph with all those before it, then written,
/// then learned, and only then comes the next. So whatever is in the log could be done when its turn came.
class Edits {
 public:
  struct Edit {
    /// In the learner's thread: the records that make the change, none if nothing is to be changed, or why it cannot
    /// be.
    std::function<Result<std::vector<Record>>()> prepare;
    Mailbox* mailbox = nullptr;
    std::function<void(Result<Accepted>)> done;
    /// In the writer's thread, before they are written: why they cannot be any more. Others write, too.
    std::function<std::optional<Problem>(std::span<const Record>)> check = {};
    /// In the writer's thread, when it is on disk, before it is learned and answered.
    std::function<void()> written = {};
  };

  Edits(Committer& committer, Learner& learner, std::size_t most)
      : committer_(committer), learner_(learner), most_(most) {}

  void submit(Edit edit);
  /// The learner says which record it has learned.
  void learned(Offset offset);
  /// Those that wait are told that they come too late.
  void stop();

 private:
  class EditWrite;

  void ask_for_next();
  void next();
  void answer(Edit& edit, Result<Accepted> result);

  Committer& committer_;
  Learner& learner_;
  std::size_t most_;
  std::mutex mutex_;
  std::deque<Edit> waiting_;
  bool busy_ = false;   // one is being checked, written or learned
  Offset awaited_ = 0;  // the last record of that one
  bool stopped_ = false;
};

}  // namespace goblin::serve
