// What select and rank do.
#include "goblin/error.hpp"
#include "serve/json_text.hpp"
#include "serve/packed_numbers.hpp"
#include "serve/refusals.hpp"
#include "serve/service_state.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

/// What one thread decides with; its memory is used again.
struct Scratch {
  std::vector<double> contexts;
  Decision decision;
  std::vector<Ranked> ranked;
};

Scratch& scratch() {
  thread_local Scratch mine;
  return mine;
}

std::string scores_of(std::span<const double> scores) {
  std::string text = "[";
  text.reserve(20 * scores.size() + 2);
  for (std::size_t k = 0; k < scores.size(); ++k) {
    if (k > 0) text += ',';
    append_number(text, scores[k]);
  }
  text += ']';
  return text;
}

/// A JSON array; empty if there are none.
std::string json_of(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) {
    text += text.empty() ? '[' : ',';
    append_string(text, name);
  }
  if (!text.empty()) text += ']';
  return text;
}

/// Whether the arm is not the one with the highest mean.
bool explores(const Decision& decision, Mask allowed) {
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < decision.means.size(); ++k) {
    if (allowed.empty() || allowed[k] != 0) best = std::max(best, decision.means[k]);
  }
  return decision.means[decision.arm] < best;
}

std::string place_event(const std::string& event, std::size_t place) { return fmt::format("{}.{}", event, place + 1); }

Decided decided(const Record& record) {
  return {.event = record.event.empty() ? event_of(record.offset) : record.event,
          .arm = record.arm,
          .item = record.item,
          .scores = record.scores,
          .probability = record.probability,
          .offset = record.offset};
}

RankedPlace place_of(const Record& record) {
  // The only score that a place keeps is its own: "[0.5]". Not std::stod, which refuses the smallest numbers there are.
  const double score = record.scores.empty() ? 0.0 : std::strtod(record.scores.c_str() + 1, nullptr);
  return {.event = record.event.empty() ? event_of(record.offset) : record.event,
          .arm = record.arm,
          .item = record.item,
          .score = score,
          .probability = record.probability};
}

Problem taken(const std::string& event, const Record& other, const std::string& user) {
  return refusals::event_taken(fmt::format(
      "event: \"{}\" is a decision for user \"{}\", not \"{}\"; a name is for one decision", event, other.user, user));
}

std::size_t bytes_of(const Record& record) {
  return 512 + record.scores.size() + record.candidate_items.size() + record.candidates.size() +
         8 * record.context.size();
}

/// A decision, on its way to the disk; its caller waits.
class SelectWrite final : public Write {
 public:
  SelectWrite(Mailbox& its_mailbox, Record record, std::function<void(Result<Decided>)> done)
      : record_(std::move(record)), done_(std::move(done)) {
    mailbox = &its_mailbox;
  }

  void write(Transaction& transaction) override {
    problem_.reset();
    if (!record_.event.empty()) {
      if (const auto before = transaction.store().find(record_.event)) {
        if (before->decision.user != record_.user) {
          problem_ = taken(record_.event, before->decision, record_.user);
        } else {
          record_ = before->decision;
        }
        return;
      }
    }
    transaction.put(record_);
  }
  void done(const Problem* problem) override {
    if (problem != nullptr) return done_(*problem);
    if (problem_) return done_(*problem_);
    done_(decided(record_));
  }
  [[nodiscard]] std::size_t bytes() const override { return bytes_of(record_); }

 private:
  Record record_;
  std::function<void(Result<Decided>)> done_;
  std::optional<Problem> problem_;
};

/// A decision that was answered already.
class EarlyWrite final : public Write {
 public:
  explicit EarlyWrite(Record record) : record_(std::move(record)) {}

  void write(Transaction& transaction) override {
    // One that could not be written may be in a log that others keep, all the same.
    if (std::exchange(tried_, true) && transaction.store().find(record_.event)) return;
    transaction.put(record_);
  }
  void done(const Problem* /*problem*/) override {}
  [[nodiscard]] bool stays() const override { return true; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_of(record_); }

 private:
  Record record_;
  bool tried_ = false;
};

/// A ranking: a decision for each place.
class RankWrite final : public Write {
 public:
  RankWrite(Mailbox& its_mailbox, std::string event, std::vector<Record> records,
            std::function<void(Result<RankedPlaces>)> done)
      : event_(std::move(event)), records_(std::move(records)), done_(std::move(done)) {
    mailbox = &its_mailbox;
  }

  void write(Transaction& transaction) override {
    problem_.reset();
    if (!event_.empty() && was_there(transaction.store())) return;
    for (Record& record : records_) transaction.put(record);
  }
  void done(const Problem* problem) override {
    if (problem != nullptr) return done_(*problem);
    if (problem_) return done_(*problem_);
    RankedPlaces ranking;
    for (const Record& record : records_) ranking.places.push_back(place_of(record));
    if (!records_.empty()) ranking.offset = records_.back().offset;
    done_(std::move(ranking));
  }
  [[nodiscard]] std::size_t bytes() const override { return 512 + 512 * records_.size(); }

 private:
  /// Takes the answer that was given before, if there was one.
  bool was_there(Store& store) {
    std::vector<Record> before;
    while (const auto found = store.find(place_event(event_, before.size()))) {
      // The places of a ranking follow each other in the log; else somebody else chose a name like theirs.
      if (!before.empty() && found->decision.offset != before.back().offset + 1) break;
      before.push_back(found->decision);
    }
    if (before.empty()) return is_taken(store);
    if (before.front().user != records_.front().user) {
      problem_ = taken(event_, before.front(), records_.front().user);
    } else {
      records_ = std::move(before);
    }
    return true;
  }
  /// Whether one of the later places has the name of another decision.
  bool is_taken(Store& store) {
    for (std::size_t place = 1; place < records_.size(); ++place) {
      const std::string& event = records_[place].event;
      if (!store.find(event)) continue;
      problem_ = refusals::event_taken(fmt::format(
          "event: \"{}\" would have the place \"{}\", which is another decision; choose another name", event_, event));
      return true;
    }
    return false;
  }

  std::string event_;
  std::vector<Record> records_;
  std::function<void(Result<RankedPlaces>)> done_;
  std::optional<Problem> problem_;
};

/// Everything about the request that the bandit does not check, and the contexts of items.
std::optional<Problem> prepare(const Service::State& state, const SelectRequest& request, Scratch& work,
                               std::span<const double>& contexts) {
  if (auto problem = state.check_name("user", request.user)) return problem;
  if (!request.event.empty()) {
    if (auto problem = state.check_name("event", request.event)) return problem;
    if (request.event.starts_with("g-")) {
      return refusals::invalid(
          fmt::format("event: \"{}\" (must not begin with \"g-\", as the names that the server gives)", request.event));
    }
  }
  const bool by_items = !request.items.empty();
  if (by_items && !request.contexts.empty()) return refusals::invalid("items: beside contexts (must be one of them)");
  const std::size_t candidates = by_items ? request.items.size() : request.contexts.size() / state.dimension;
  if (candidates == 0) return refusals::invalid("contexts: no candidates (must be at least 1)");
  if (candidates > state.options.most_candidates) {
    return refusals::invalid(fmt::format("{}: {} candidates (must be at most {})", by_items ? "items" : "contexts",
                                         candidates, state.options.most_candidates));
  }
  if (by_items) {
    if (const auto missing = state.catalogue.gather(request.items, work.contexts)) {
      return refusals::unknown_item(
          fmt::format("items[{}]: \"{}\" (must be an item of the catalogue)", *missing, request.items[*missing]));
    }
    contexts = work.contexts;
  } else {
    contexts = request.contexts;
  }
  return std::nullopt;
}

Record record_of(const Service::State& state, const SelectRequest& request, std::span<const double> contexts,
                 std::size_t arm, double probability) {
  const auto context = contexts.subspan(arm * state.dimension, state.dimension);
  return {.kind = RecordKind::decision,
          .user = request.user,
          .item = request.items.empty() ? std::string() : request.items[arm],
          .context = {context.begin(), context.end()},
          .arm = static_cast<std::uint32_t>(arm),
          .probability = probability};
}

/// Asks the bandit, and answers where that does not work: with a problem, or later, when a new user has joined.
/// Whether the bandit was asked with success.
template <typename Ask, typename Again, typename Done>
bool ask_bandit(Service::State& state, SelectRequest& request, std::span<const double> contexts, Mailbox& mailbox,
                Done& done, Ask ask, Again again) {
  try {
    try {
      ask();
      return true;
    } catch (const UnknownUser&) {
      // Nobody joins for a request that will be refused.
      for (std::size_t k = 0; k + state.dimension <= contexts.size(); k += state.dimension) {
        state.bandit.check_new_user(contexts.subspan(k, state.dimension));
      }
    }
    std::string user = request.user;
    // Shared, because a function has to be copied, and the request need not be.
    auto waiting = std::make_shared<std::pair<SelectRequest, Done>>(std::move(request), std::move(done));
    state.join(user, mailbox,
               [waiting, again, life = std::weak_ptr(state.life)](const std::optional<Problem>& problem) {
                 if (problem) return waiting->second(*problem);
                 if (life.expired()) return waiting->second(refusals::stopping());
                 again(std::move(waiting->first), std::move(waiting->second));
               });
  } catch (const std::invalid_argument& error) {
    done(refusals::invalid(error.what()));
  }
  return false;
}

/// Whether the request has to wait for what it comes after; `again` is called with it then.
template <typename Done, typename Again>
bool waits_for_learning(Service::State& state, SelectRequest& request, Mailbox& mailbox, Done& done, Again again) {
  const Offset after = request.after;
  if (after <= state.learner.learned()) return false;
  if (!state.shared && after >= state.store.end()) {  // nobody else could bring it
    done(refusals::invalid(fmt::format("after: {} (must be below {}, where the log ends)", after, state.store.end())));
    return true;
  }
  request.after = 0;
  auto waiting = std::make_shared<std::pair<SelectRequest, Done>>(std::move(request), std::move(done));
  state.waits.wait_for(after, Waits::Clock::now() + state.options.most_waiting, mailbox,
                       [waiting, again, life = std::weak_ptr(state.life)](const std::optional<Problem>& problem) {
                         if (problem) return waiting->second(*problem);
                         if (life.expired()) return waiting->second(refusals::stopping());
                         again(std::move(waiting->first), std::move(waiting->second));
                       });
  state.waits.reached(state.learner.learned());  // it may have come between the two
  return true;
}

/// Whoever asked hears names that say which partition they are of.
std::function<void(Result<Decided>)> named_outward(std::size_t partition, std::function<void(Result<Decided>)> done) {
  return [partition, its_done = std::move(done)](Result<Decided> result) {
    if (auto* one = std::get_if<Decided>(&result)) one->event = with_partition(std::move(one->event), partition);
    its_done(std::move(result));
  };
}

/// Whether decisions are answered before they are written. A name that the caller chose may have been used before: only
/// the writer knows. And where decisions come faster than they can be written, callers wait for the disk. But where
/// others keep the log and cannot be reached, decisions go on.
bool is_answered_first(const Service::State& state, bool usually) {
  return (usually || (state.shared && state.committer.is_troubled())) && !state.committer.is_crowded();
}

/// Not called after its offset, which it does not have yet and may lose in a crash to another.
std::string next_early_event(Service::State& state) {
  return early_event(state.start_number, state.early_names.fetch_add(1, std::memory_order_relaxed) + 1);
}

/// A ranking while the log cannot be reached: each place is a decision, which is written when that is possible again.
void rank_early(Service::State& state, std::vector<Record> records,
                const std::function<void(Result<RankedPlaces>)>& done) {
  RankedPlaces ranking;
  for (Record& record : records) {
    record.event = next_early_event(state);
    ranking.places.push_back(place_of(record));
    std::unique_ptr<Write> write = std::make_unique<EarlyWrite>(std::move(record));
    if (const auto problem = state.committer.submit(write)) return done(*problem);
  }
  done(std::move(ranking));
}

std::function<void(Result<RankedPlaces>)> named_outward(std::size_t partition,
                                                        std::function<void(Result<RankedPlaces>)> done) {
  return [partition, its_done = std::move(done)](Result<RankedPlaces> result) {
    if (auto* ranked = std::get_if<RankedPlaces>(&result)) {
      for (RankedPlace& place : ranked->places) place.event = with_partition(std::move(place.event), partition);
    }
    its_done(std::move(result));
  };
}

}  // namespace

void Service::select(SelectRequest request, Mailbox& mailbox, std::function<void(Result<Decided>)> done) {
  State& state = *state_;
  if (state.options.partitions > 1) done = named_outward(state.options.partition, std::move(done));
  if (waits_for_learning(state, request, mailbox, done, [this, &mailbox](SelectRequest again, auto its_done) {
        select(std::move(again), mailbox, std::move(its_done));
      })) {
    return;
  }
  Scratch& work = scratch();
  std::span<const double> contexts;
  if (auto problem = prepare(state, request, work, contexts)) return done(*problem);
  const bool asked = ask_bandit(
      state, request, contexts, mailbox, done,
      [&] {
        state.bandit.select(request.user, {contexts, state.dimension}, request.allowed, work.decision,
                            state.is_random ? std::optional(state.next_draw()) : std::nullopt);
      },
      [this, &mailbox](SelectRequest again, std::function<void(Result<Decided>)> its_done) {
        select(std::move(again), mailbox, std::move(its_done));
      });
  if (!asked) return;

  state.decisions.fetch_add(1, std::memory_order_relaxed);
  if (explores(work.decision, request.allowed)) state.explored.fetch_add(1, std::memory_order_relaxed);
  Record record = record_of(state, request, contexts, work.decision.arm, work.decision.probability);
  record.scores = scores_of(work.decision.scores);
  record.event = std::move(request.event);
  if (state.options.keep_candidates) {
    if (!request.contexts.empty()) record.candidates = packed(request.contexts);
    record.candidate_items = json_of(request.items);
  }
  if (record.event.empty() && is_answered_first(state, !state.options.durable_decisions)) {
    record.event = next_early_event(state);
    std::string scores = std::move(record.scores);  // nobody can ask for them again: they are not logged
    Decided early = decided(record);
    early.scores = std::move(scores);
    std::unique_ptr<Write> write = std::make_unique<EarlyWrite>(std::move(record));
    if (const auto problem = state.committer.submit(write)) return done(*problem);
    return done(std::move(early));
  }
  state.submit(std::make_unique<SelectWrite>(mailbox, std::move(record), std::move(done)));
}

void Service::rank(SelectRequest request, Mailbox& mailbox, std::function<void(Result<RankedPlaces>)> done) {
  State& state = *state_;
  if (state.options.partitions > 1) done = named_outward(state.options.partition, std::move(done));
  if (waits_for_learning(state, request, mailbox, done, [this, &mailbox](SelectRequest again, auto its_done) {
        rank(std::move(again), mailbox, std::move(its_done));
      })) {
    return;
  }
  Scratch& work = scratch();
  std::span<const double> contexts;
  if (auto problem = prepare(state, request, work, contexts)) return done(*problem);
  if (request.k == 0) return done(refusals::invalid("k: 0 (must be at least 1)"));
  if (!request.event.empty()) {
    // Rewards name the places, which have longer names.
    const std::size_t places = std::min(request.k, contexts.size() / state.dimension);
    if (auto problem = state.check_name("event of the last place", place_event(request.event, places - 1))) {
      return done(*problem);
    }
  }
  const bool asked = ask_bandit(
      state, request, contexts, mailbox, done,
      [&] {
        state.bandit.rank(request.user, {contexts, state.dimension}, request.k, request.allowed, work.decision,
                          work.ranked, state.is_random ? std::optional(state.next_draw()) : std::nullopt);
      },
      [this, &mailbox](SelectRequest again, std::function<void(Result<RankedPlaces>)> its_done) {
        rank(std::move(again), mailbox, std::move(its_done));
      });
  if (!asked) return;

  state.decisions.fetch_add(1, std::memory_order_relaxed);
  if (explores(work.decision, request.allowed)) state.explored.fetch_add(1, std::memory_order_relaxed);
  std::vector<Record> records;
  records.reserve(work.ranked.size());
  for (const Ranked& ranked : work.ranked) {
    records.push_back(record_of(state, request, contexts, ranked.arm, ranked.probability));
    records.back().scores = scores_of(std::span(&ranked.score, 1));
    if (!request.event.empty()) records.back().event = place_event(request.event, records.size() - 1);
  }
  if (request.event.empty() && is_answered_first(state, false)) return rank_early(state, std::move(records), done);
  state.submit(std::make_unique<RankWrite>(mailbox, std::move(request.event), std::move(records), std::move(done)));
}

}  // namespace goblin::serve
