#include "serve/service.hpp"

#include "serve/founding.hpp"
#include "serve/refusals.hpp"
#include "serve/service_state.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <future>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

ServiceOptions checked(ServiceOptions options) {
  if (options.horizon.count() <= 0) {
    throw std::invalid_argument(fmt::format("horizon: {} ms (must be above 0)", options.horizon.count()));
  }
  if (options.keep && *options.keep < options.horizon) {
    throw std::invalid_argument(
        fmt::format("keep: {} ms (must be at least the horizon, {} ms: rewards have to find their decisions)",
                    options.keep->count(), options.horizon.count()));
  }
  if (options.default_reward && !(std::abs(*options.default_reward) <= 1e100)) {
    throw std::invalid_argument(
        fmt::format("default_reward: {} (must be between -1e100 and 1e100)", *options.default_reward));
  }
  if (options.snapshots_kept == 0) throw std::invalid_argument("snapshots_kept: 0 (must be at least 1)");
  return options;
}

/// Makes a transaction of something that is no record.
void in_transaction(Store& store, const std::function<void()>& work) {
  store.begin();
  try {
    work();
  } catch (...) {
    store.roll_back();
    throw;
  }
  store.commit();
}

/// Where snapshots are noted: by the committer once there is one, which is then the only one who writes.
Snapshots::Ledger ledger(SqliteStore& store, Committer* committer) {
  const auto note = [&store](const std::string& name, const std::string& value) {
    in_transaction(store, [&] { store.remember(name, value); });
  };
  const auto have_noted = [note, committer](const std::string& name, const std::string& value) {
    // Words go from thread to thread, not exceptions, whose memory both would have a hand in.
    std::promise<std::string> reason;
    committer->between([&](Store&) {
      std::string why_not;
      try {
        note(name, value);
      } catch (const std::exception& error) {
        why_not = error.what();
      }
      reason.set_value(std::move(why_not));
    });
    if (const std::string why_not = reason.get_future().get(); !why_not.empty()) throw LogError(why_not);
  };
  const auto noted = [&store](const std::string& name) { return store.remembered(name); };
  if (committer == nullptr) return {.remember = note, .remembered = noted};
  return {.remember = have_noted, .remembered = noted};
}

/// The items that a new log begins with.
std::vector<Record> item_records(const data::Items* items, std::size_t dimension) {
  if (items == nullptr) return {};
  if (items->dimension != dimension) {
    throw std::invalid_argument(
        fmt::format("{}: items of dimension {} (must be {}, the bandit's)", items->file, items->dimension, dimension));
  }
  std::vector<Record> records;
  for (std::size_t k = 0; k < items->names.size(); ++k) {
    const auto context = std::span(items->numbers).subspan(k * dimension, dimension);
    records.push_back(
        {.kind = RecordKind::item, .item = std::string(items->names[k]), .context = {context.begin(), context.end()}});
  }
  return records;
}

/// A log that others append to, where there is one. A store that is the copy of one cannot go on by itself.
std::unique_ptr<SharedStore> shared_store(SqliteStore& copy, const Bandit& given, const data::Items* items,
                                          const ServiceOptions& options, std::function<void()> arrived) {
  if (options.log == nullptr) {
    if (is_copy_of_shared_log(copy)) {
      throw LogError("store: is the copy of a log that others append to (must be started with --log)");
    }
    return nullptr;
  }
  const std::string founding = options.partitions == 1 ? founding_of(given)
                                                       : fmt::format("partition {} of {}: {}", options.partition,
                                                                     options.partitions, founding_of(given));
  return std::make_unique<SharedStore>(copy, *options.log, founding, item_records(items, given.options().dimension),
                                       SharedStore::Options{.warn = options.warn, .arrived = std::move(arrived)});
}

/// Whether options that the belief depends on are the same; those of single policies are left out.
bool believes_alike(const BanditOptions& a, const BanditOptions& b) {
  return a.ridge == b.ridge && a.coupling == b.coupling && a.laplacian == b.laplacian && a.intercept == b.intercept &&
         a.forgetting == b.forgetting;
}

/// The bandit of the newest good snapshot. A new store gets the given bandit as its first, and these records.
Snapshots::Loaded recover(Bandit given, std::vector<Record> first_records, SqliteStore& store, Snapshots& snapshots,
                          const std::function<void(std::string)>& warn) {
  if (!snapshots.find_first()) {
    in_transaction(store, [&] {
      for (Record& record : first_records) store.put(record);
    });
    in_transaction(store, [&] { store.remember("graph", fingerprint_of(given.graph())); });
    snapshots.save(given, 0);
    return {.bandit = std::move(given), .offset = 0};
  }
  auto loaded = snapshots.load_newest(store.first() - 1, store.end() - 1);
  if (!loaded) {
    throw LogError(fmt::format("{}: no snapshot is good, and the log begins at record {}; put a copy of the store back",
                               "snapshots", store.first()));
  }
  const Bandit& stored = loaded->bandit;
  if (stored.policy() != given.policy() || stored.options().dimension != given.options().dimension) {
    throw std::invalid_argument(fmt::format(
        "store: has {} of dimension {}, and {} of dimension {} was asked for; name another folder",
        name_of(stored.policy()), stored.options().dimension, name_of(given.policy()), given.options().dimension));
  }
  if (warn && !believes_alike(stored.options(), given.options())) {
    warn(
        "store: goes on with the ridge, coupling, Laplacian, intercept and forgetting that it began with, not with "
        "those asked for; a new store would have these");
  }
  if (const std::string began = store.remembered("graph"), now = fingerprint_of(given.graph());
      warn && !began.empty() && began != now) {
    const auto counts = [](const std::string& text) { return text.substr(0, text.find(',')); };
    warn(fmt::format(
        "graph: {}, which is another than the store began with ({}); the store goes on with its own, and PUT /v1/users "
        "and /v1/edges change it",
        counts(now), counts(began)));
  }
  // Only decisions depend on these, and a file does not hold the threads.
  loaded->bandit.set_exploration(given.exploration());
  loaded->bandit.set_threads(given.options().engine.threads);
  return std::move(*loaded);
}

/// Learns what the log has after a snapshot, some thousands of records at a time.
Fold catch_up(SharedBandit& bandit, const SqliteStore& store, Offset learned,
              const std::function<void(std::string)>& warn) {
  constexpr std::size_t together = 4'096;
  Fold fold(bandit, learned, warn);
  std::vector<Record> batch;
  store.read(learned + 1, [&](const Record& record) {
    if (is_learned(record.kind)) batch.push_back(record);
    if (batch.size() == together) {
      fold.learn(batch);
      batch.clear();
    }
    return true;
  });
  fold.learn(batch);
  fold.skip_to(store.end() - 1);
  return fold;
}

/// The bandit refused somebody whom nothing else speaks against; the warning of the fold says why.
std::optional<Problem> could_not_join(const std::string& user) {
  return refusals::full(fmt::format("user: \"{}\" cannot join (the server's log says why)", user));
}

std::uint64_t random_seed() {
  std::random_device random;
  return (static_cast<std::uint64_t>(random()) << 32) | random();
}

/// Decisions without a reward, whose horizon has passed.
class ExpireWrite final : public Write {
 public:
  static constexpr std::size_t together = 1'000;

  explicit ExpireWrite(Service::State& state) : state_(state) {}

  void write(Transaction& transaction) override {
    Store& store = transaction.store();
    const std::size_t room = state_.room_in_backlog(transaction.to_learn());
    const auto overdue = store.overdue(store.now() - state_.options.horizon.count(), std::min(together, room));
    count_ = overdue.size();
    for (const Record& decision : overdue) {
      transaction.put_to_learn({.kind = RecordKind::expired,
                                .decision = decision.offset,
                                .user = decision.user,
                                .item = decision.item,
                                .context = decision.context,
                                .reward = *state_.options.default_reward});
    }
  }
  void done(const Problem* problem) override {
    if (problem == nullptr) state_.rewards_expired += count_;
    state_.expiring = false;
    if (problem == nullptr && count_ == together) state_.expire();
  }

 private:
  Service::State& state_;
  std::size_t count_ = 0;
};

/// What evidence this process has, unless another one was first to say that it has the same.
class EvidenceWrite final : public Write {
 public:
  EvidenceWrite(const Agreement& agreement, Offset offset, std::uint64_t checksum, std::string process)
      : agreement_(agreement),
        checksum_(checksum),
        record_{.kind = RecordKind::evidence,
                .event = fmt::format("{:016x}", checksum),
                .decision = offset,
                .user = std::move(process)} {}

  void write(Transaction& transaction) override {
    if (!agreement_.is_said(record_.decision, checksum_)) transaction.put(record_);
  }
  void done(const Problem* /*another one will say it*/) override {}

 private:
  const Agreement& agreement_;
  std::uint64_t checksum_;
  Record record_;
};

}  // namespace

Service::State::State(Bandit given, const data::Items* items, ServiceOptions the_options)
    : options(checked(std::move(the_options))),
      store({.folder = options.store, .warn = options.warn, .vfs = options.vfs, .is_copy = options.log != nullptr}),
      shared(shared_store(store, given, items, options, [this] { doorbell.ring(); })),
      start_number(shared ? shared->log_start(options.process) : store.start_number()),
      snapshots(options.store / "snapshots", ledger(store, nullptr), options.warn),
      bandit([&] {
        auto first_records =
            shared ? std::vector<Record>() : item_records(items, given.options().dimension);  // or the log has them
        auto recovered = recover(std::move(given), std::move(first_records), store, snapshots, options.warn);
        recovered_from = recovered.offset;
        return std::move(recovered.bandit);
      }()),
      is_random(bandit.exploration().is_random()),
      has_names(bandit.user_count() == 0 || bandit.has_names()),
      dimension(bandit.dimension()),
      edits(committer, learner, 1'000),
      learner(store, catch_up(bandit, store, recovered_from, options.warn),
              [this](const Record& record) {
                if (record.kind == RecordKind::user) {
                  joins.tell(record.user, bandit.has_user(record.user) ? std::nullopt : could_not_join(record.user));
                }
                edits.learned(record.offset);
              },
              // Everybody counts in the centre of a cluster of dynucb, which the rewards are compared with.
              {.joins_first = bandit.policy() != Policy::dynucb,
               .progress = [this](Offset learned) { waits.reached(learned); },
               .stop_every = shared ? options.compare_every : 0,
               .at_stop = [this](Offset offset) { compare_evidence(offset); }}),
      committer(shared ? static_cast<Store&>(*shared) : store,
                [this](std::vector<Record> records, Offset end) { learner.take(std::move(records), end); },
                {.most_writes = options.most_writes,
                 .warn = options.warn,
                 .others = [this](std::vector<Record> records, Offset end) { take_others(std::move(records), end); }}),
      seed(options.seed != 0 ? options.seed : random_seed()),
      newest_snapshot(recovered_from) {
  snapshots.set_ledger(ledger(store, &committer));
  store.items([&](std::string_view name, std::vector<double> context) { catalogue.put(name, std::move(context)); });
  look_at_bandit();
  at_the_door.emplace(doorbell, committer);
  doorbell.ring();  // for what came since the log was read

  using namespace std::chrono_literals;
  if (options.default_reward) {
    const auto pause = std::clamp<std::chrono::milliseconds>(options.horizon / 4, 10ms, 1s);
    tickers.push_back(std::make_unique<Ticker>(pause, [this] { expire(); }));
  }
  if (options.keep) {
    const auto pause = std::clamp<std::chrono::milliseconds>(*options.keep / 4, 10ms, 60s);
    tickers.push_back(std::make_unique<Ticker>(pause, [this] { truncate(); }));
  }
  tickers.push_back(std::make_unique<Ticker>(1s, [this] { look_at_bandit(); }));
  tickers.push_back(std::make_unique<Ticker>(
      100ms, [this] { waits.look_at_clock(std::chrono::steady_clock::now(), learner.learned()); }));
  // More often than one is due: one that could not be saved is tried again soon.
  tickers.push_back(std::make_unique<Ticker>(std::min(options.snapshot_every, options.snapshot_again), [this] {
    if (std::chrono::steady_clock::now() >= next_snapshot && try_snapshot()) {
      next_snapshot = std::chrono::steady_clock::now() + options.snapshot_every;
    }
  }));
}

Service::State::~State() {
  at_the_door.reset();
  tickers.clear();
  try_snapshot();
  edits.stop();
  joins.tell_all(refusals::stopping());
  waits.tell_all(refusals::stopping());
}

/// What other processes wrote is learned as what is written here. Those who wait for a join are told by the learner.
void Service::State::take_others(std::vector<Record> records, Offset end) {
  for (const Record& record : records) {
    if (record.kind == RecordKind::user) {
      joins.write(record.user);  // so that nobody joins a second time before the learner comes to it
    } else if (record.kind == RecordKind::item) {
      catalogue.put(record.item, record.context);
    } else if (record.kind == RecordKind::no_item) {
      catalogue.remove(record.item);
    } else if (record.kind == RecordKind::evidence) {
      std::uint64_t checksum = 0;
      std::from_chars(record.event.data(), record.event.data() + record.event.size(), checksum, 16);
      agreement.heard(record.decision, checksum, record.user);
    }
  }
  warn_of_disagreement();
  std::erase_if(records, [](const Record& record) { return !is_learned(record.kind); });
  learner.take(std::move(records), end);
}

void Service::State::warn_of_disagreement() {
  const std::string words = agreement.disagreement();
  if (!words.empty() && !disagreed.exchange(true) && options.warn) options.warn(words);
}

void Service::State::submit(std::unique_ptr<Write> write) {
  auto problem = committer.submit(write);
  if (!problem) return;
  if (write->mailbox == nullptr) return write->done(&*problem);
  Mailbox& mailbox = *write->mailbox;
  mailbox.post({[its_write = std::shared_ptr<Write>(std::move(write)), its_problem = std::move(*problem)] {
    its_write->done(&its_problem);
  }});
}

void Service::State::take_snapshot() {
  const std::lock_guard one_at_a_time(snapshot_mutex);
  // Between two batches, so that it is known what is in it.
  std::promise<std::optional<Snapshots::Loaded>> copied;
  learner.between([&](Offset learned) {
    try {
      copied.set_value(learned == newest_snapshot ? std::nullopt
                                                  : std::optional(Snapshots::Loaded{bandit.snapshot(), learned}));
    } catch (...) {
      copied.set_exception(std::current_exception());
    }
  });
  const std::optional<Snapshots::Loaded> copy = copied.get_future().get();
  if (!copy) return;
  snapshots.save(copy->bandit, copy->offset);
  newest_snapshot = copy->offset;
  ++snapshot_count;
  bandit.take_variances(copy->bandit);
  snapshots.keep_newest(options.snapshots_kept);
}

bool Service::State::try_snapshot() {
  std::string trouble;
  try {
    take_snapshot();
  } catch (const std::exception& error) {
    trouble = fmt::format("no snapshot could be saved: {}", error.what());
    if (options.warn) options.warn(trouble);
  }
  const std::lock_guard lock(seen_mutex);
  snapshot_trouble = std::move(trouble);
  return snapshot_trouble.empty();
}

void Service::State::expire() {
  if (room_in_backlog() == 0 || expiring.exchange(true)) return;
  submit(std::make_unique<ExpireWrite>(*this));
}

void Service::State::truncate() {
  const std::vector<Offset> kept = snapshots.offsets();
  if (kept.empty()) return;
  // An older snapshot may be needed, and with it the log after it.
  const Offset before = std::min(store.first_within(options.keep->count()), kept.front() + 1);
  if (before <= store.first()) return;
  committer.between([this, before](Store& its_store) {
    try {
      // What is overdue but not learned yet, because nobody was there at the time, is still needed.
      Offset until = before;
      if (options.default_reward) {
        for (const Record& oldest : its_store.overdue(its_store.now(), 1)) until = std::min(until, oldest.offset);
      }
      its_store.truncate(until);
    } catch (const LogError& error) {
      if (options.warn) options.warn(error.what());
    }
  });
}

/// What evidence there is, up to an offset at which all processes look at theirs. Whoever comes first says so in the
/// log, and so does whoever has something else than was said.
void Service::State::compare_evidence(Offset offset) {
  const std::uint64_t checksum = checksum_of_evidence(bandit.snapshot());
  agreement.found(offset, checksum);
  warn_of_disagreement();
  if (agreement.is_said(offset, checksum)) return;
  submit(std::make_unique<EvidenceWrite>(agreement, offset, checksum, options.process));
}

/// What takes longer to find out than a question for the state of things should.
void Service::State::look_at_bandit() {
  const auto now = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock(seen_mutex);
    if (now < next_look) return;
  }
  const BanditSummary summary = bandit.summary();
  std::set<std::string_view> kinds;
  for (const ComponentSummary& component : summary.components) kinds.insert(goblin::name_of(component.engine));
  const std::size_t edge_count = bandit.edge_count();
  const std::lock_guard lock(seen_mutex);
  engines = fmt::format("{}", fmt::join(kinds, ", "));
  bandit_bytes = summary.bytes;
  edges = edge_count;
  // Rewards wait while it looks: at most a fiftieth of the time.
  next_look = now + 50 * (std::chrono::steady_clock::now() - now);
}

std::optional<Problem> Service::State::check_name(std::string_view field, std::string_view name) const {
  if (name.empty()) return refusals::invalid(fmt::format("{}: \"\" (must not be empty)", field));
  if (name.size() > options.most_name_bytes) {
    return refusals::invalid(
        fmt::format("{}: {} bytes long (must be at most {})", field, name.size(), options.most_name_bytes));
  }
  return std::nullopt;
}

std::optional<Problem> Service::State::check_reward(double reward) const {
  if (std::abs(reward) <= 1e100) return std::nullopt;
  return refusals::invalid(fmt::format("reward: {} (must be between -1e100 and 1e100)", reward));
}

std::size_t Service::State::room_in_backlog(std::size_t being_written) const {
  const std::size_t backlog = learner.backlog() + being_written;
  return options.backlog_limit - std::min(options.backlog_limit, backlog);
}

std::optional<Problem> Service::State::check_backlog(std::size_t being_written) const {
  if (room_in_backlog(being_written) > 0) return std::nullopt;
  return refusals::learning_behind(
      fmt::format("{} rewards wait to be learned (must be below {})", options.backlog_limit, options.backlog_limit));
}

Draw Service::State::next_draw() { return {.seed = seed, .decision = draws.fetch_add(1, std::memory_order_relaxed)}; }

Service::Service(Bandit bandit, const data::Items* items, ServiceOptions options)
    : state_(std::make_unique<State>(std::move(bandit), items, std::move(options))) {}
Service::~Service() = default;

void Service::take_snapshot() { state_->take_snapshot(); }

}  // namespace goblin::serve
