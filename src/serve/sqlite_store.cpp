#include "serve/sqlite_store.hpp"

#include "serve/checkpointer.hpp"
#include "serve/packed_numbers.hpp"
#include "serve/sqlite.hpp"
#include "serve/store_lock.hpp"
#include "serve/write_back.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <random>
#include <sqlite3.h>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

constexpr std::int64_t application = 0x676f626c;  // "gobl", in the head of the file
constexpr std::int64_t version = 2;
// From this one on, contexts of records are packed. An older store goes on as it began, so that the goblin that made it
// can still read it.
constexpr std::int64_t version_of_packed_contexts = 2;

constexpr const char* schema = R"(
CREATE TABLE log (
  offset INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,        -- milliseconds since 1970
  kind INTEGER NOT NULL,        -- 1 decision, 2 reward, 3 expired, 4 user, 5 edge, 6 no edge, 7 item, 8 no item, 9 start, 10 evidence
  event TEXT,                   -- what the caller calls a decision; NULL: 'g-' and its offset
  decision INTEGER,             -- that a reward is for
  user TEXT, other_user TEXT, item TEXT,
  arm INTEGER, reward REAL, weight REAL, probability REAL, cluster INTEGER,
  context BLOB,                 -- as in packed_numbers.hpp; in version 1: 8-byte numbers, lowest byte first
  scores TEXT,                  -- of a decision that its caller named
  candidates                    -- TEXT: names of items, a JSON array; BLOB: contexts, as in packed_numbers.hpp
);
CREATE TABLE events (event TEXT PRIMARY KEY, decision INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE early (event INTEGER PRIMARY KEY, decision INTEGER NOT NULL);  -- 'g-3-17': 3 * 2^40 + 17
CREATE TABLE open (decision INTEGER PRIMARY KEY, time INTEGER NOT NULL);
CREATE TABLE rewarded (decision INTEGER PRIMARY KEY, offset INTEGER NOT NULL, reward REAL NOT NULL,
                       expired INTEGER NOT NULL);
CREATE TABLE items (item TEXT PRIMARY KEY, context BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE VIEW decisions AS
  SELECT l.offset, strftime('%Y-%m-%dT%H:%M:%fZ', l.time / 1000.0, 'unixepoch') AS at,
         coalesce(l.event, 'g-' || l.offset) AS event, l.user, l.item, l.arm, l.probability, r.reward,
         coalesce(r.expired, 0) AS expired
  FROM log l LEFT JOIN rewarded r ON r.decision = l.offset WHERE l.kind = 1;
CREATE VIEW rewards AS
  SELECT offset, strftime('%Y-%m-%dT%H:%M:%fZ', time / 1000.0, 'unixepoch') AS at, decision, user, item, reward,
         kind = 3 AS expired
  FROM log WHERE kind IN (2, 3);
)";

/// In the order in which record_of reads them; the long ones last.
constexpr std::string_view columns =
    "offset, time, kind, event, decision, user, other_user, item, arm, reward, weight, probability, cluster, context, "
    "scores";

constexpr int column_count = 15;

/// The same where several tables have columns of these names.
std::string columns_of(std::string_view table) {
  std::string text;
  for (std::string_view rest = columns; !rest.empty();) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    text += fmt::format("{}{}.{}", text.empty() ? "" : ", ", table, rest.substr(0, end));
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return text;
}

Record record_of(const Statement& row, bool packed_contexts, bool with_candidates) {
  Record record;
  record.offset = static_cast<Offset>(row.integer(0));
  record.time = row.integer(1);
  record.kind = static_cast<RecordKind>(row.integer(2));
  record.event = row.text(3);
  record.decision = static_cast<Offset>(row.integer(4));
  record.user = row.text(5);
  record.other_user = row.text(6);
  record.item = row.text(7);
  record.arm = static_cast<std::uint32_t>(row.integer(8));
  record.reward = row.real(9);
  record.weight = row.is_null(10) ? 1.0 : row.real(10);
  record.probability = row.is_null(11) ? std::numeric_limits<double>::quiet_NaN() : row.real(11);
  if (!row.is_null(12)) record.cluster = static_cast<NodeId>(row.integer(12));
  record.context = packed_contexts ? unpacked(row.bytes(13)) : row.numbers(13);
  record.scores = row.text(14);
  if (with_candidates) {
    if (row.is_text(15)) {
      record.candidate_items = row.text(15);
    } else {
      record.candidates = row.bytes(15);
    }
  }
  return record;
}

bool answers_decision(const Record& record) {
  return (record.kind == RecordKind::reward || record.kind == RecordKind::expired) && record.decision != 0;
}

std::string random_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// Makes the tables of a new file, or says why the file that is there cannot be used.
bool prepare(Database& database) {
  const std::int64_t tables = database.number("SELECT count(*) FROM sqlite_master");
  const std::int64_t who = database.number("PRAGMA application_id");
  if (tables == 0 && who == 0) {
    database.run("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN IMMEDIATE");
    database.run(schema);
    database.run(fmt::format("INSERT INTO meta VALUES ('id', '{}'), ('starts', 0); PRAGMA application_id = {}; "
                             "PRAGMA user_version = {}; COMMIT",
                             random_id(), application, version)
                     .c_str());
    return true;
  }
  if (who != application) {
    throw LogError(fmt::format("{}: is a database of another program, not a store of goblin; name another folder",
                               database.file().string()));
  }
  const std::int64_t written = database.number("PRAGMA user_version");
  if (written > version) {
    throw LogError(fmt::format("{}: is of version {}, and this goblin reads versions up to {}; use a newer goblin",
                               database.file().string(), written, version));
  }
  return false;
}

/// The writer's connection, set up.
struct Writer : Database {
  explicit Writer(const SqliteStore::Options& options)
      : Database(options.folder / "log.sqlite", {.create = true, .vfs = options.vfs}),
        is_new(prepare(*this)),
        packed_contexts(number("PRAGMA user_version") >= version_of_packed_contexts) {
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; "
        "PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY");
    // A crash of the machine may take the last commits, but leaves the file whole.
    if (options.is_copy) run("PRAGMA synchronous = NORMAL");
  }
  bool is_new;
  bool packed_contexts;
};

}  // namespace

struct SqliteStore::State {
  explicit State(Options the_options)
      : options(std::move(the_options)),
        lock(options.folder),
        writer(options),
        begin(writer, "BEGIN IMMEDIATE"),
        commit(writer, "COMMIT"),
        insert(writer, fmt::format("INSERT INTO log ({}, candidates) "
                                   "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                                   columns)),
        // Those who append to a log that is copied may have given up a name that is kept here: the last one counts.
        insert_event(writer, options.is_copy ? "INSERT OR REPLACE INTO events VALUES (?, ?)"
                                             : "INSERT INTO events VALUES (?, ?)"),
        insert_early(writer, "INSERT INTO early VALUES (?, ?)"),
        insert_open(writer, "INSERT INTO open VALUES (?, ?)"),
        delete_open(writer, "DELETE FROM open WHERE decision = ?"),
        insert_rewarded(writer, "INSERT INTO rewarded VALUES (?, ?, ?, ?)"),
        put_item(writer, "INSERT INTO items VALUES (?, ?) ON CONFLICT (item) DO UPDATE SET context = excluded.context"),
        delete_item(writer, "DELETE FROM items WHERE item = ?"),
        find_event(writer, "SELECT decision FROM events WHERE event = ?"),
        find_early(writer, "SELECT decision FROM early WHERE event = ?"),
        find_decision(writer, fmt::format("SELECT {}, r.offset, r.reward, r.expired FROM log l "
                                          "LEFT JOIN rewarded r ON r.decision = l.offset "
                                          "WHERE l.offset = ? AND l.kind = 1",
                                          columns_of("l"))),
        open_decisions(writer, "SELECT decision, time FROM open ORDER BY decision"),
        clock(options.clocks, writer.number("SELECT time FROM log ORDER BY offset DESC LIMIT 1")),
        checkpointer(writer.file(), options.vfs, options.checkpoint_pages, write_back) {
    write_back.open(writer.file());
    const std::int64_t last = writer.number("SELECT max(offset) FROM log");
    const std::int64_t oldest = writer.number("SELECT min(offset) FROM log");
    next = static_cast<Offset>(last) + 1;
    end = next;
    first = oldest == 0 ? next : static_cast<Offset>(oldest);
    writer.run("UPDATE meta SET value = value + 1 WHERE name = 'starts'");
    starts = static_cast<std::uint64_t>(writer.number("SELECT value FROM meta WHERE name = 'starts'"));
    Statement the_id(writer, "SELECT value FROM meta WHERE name = 'id'");
    if (the_id.step()) id = the_id.text(0);
    if (writer.is_new) {
      sync_folder(options.folder);
      sync_folder(std::filesystem::absolute(options.folder).parent_path());
    }
    if (clock.behind() > 0 && options.warn) {
      options.warn(fmt::format(
          "the clock is {} ms behind the newest record of {}; time goes on from that record, and horizons with it",
          clock.behind(), writer.file().string()));
    }
    note_silence();
    sqlite3_wal_hook(
        writer.handle(),
        [](void* its_checkpointer, sqlite3*, const char*, int pages) {
          static_cast<Checkpointer*>(its_checkpointer)->written(static_cast<std::size_t>(pages));
          return SQLITE_OK;
        },
        &checkpointer);
  }

  /// A long time without records before this start is remembered; what is kept for a while is kept for longer then.
  void note_silence() {
    constexpr std::int64_t day = 24LL * 3'600 * 1'000;
    if (clock.ahead() <= day) return;
    writer.run(fmt::format("INSERT INTO meta VALUES ('silence {0}', {1}) ON CONFLICT (name) DO UPDATE SET value = {1}",
                           next, clock.ahead())
                   .c_str());
    if (!options.warn) return;
    options.warn(fmt::format(
        "the clock is {} days ahead of the newest record of {}; if it is wrong, stop the server and set it: decisions "
        "expire by it, and records get its time",
        clock.ahead() / day, writer.file().string()));
  }

  [[nodiscard]] Record record_of(const Statement& row, bool with_candidates) const {
    return serve::record_of(row, writer.packed_contexts, with_candidates);
  }

  /// A connection that only reads, taken from those that are free or made anew.
  struct Reader {
    explicit Reader(const Options& options)
        : database(options.folder / "log.sqlite", {.read_only = true, .vfs = options.vfs}),
          from(database, fmt::format("SELECT {}, candidates FROM log WHERE offset >= ? ORDER BY offset", columns)),
          newest(database, fmt::format("SELECT {} FROM log ORDER BY offset DESC LIMIT ?", columns)) {}
    Database database;
    Statement from;
    Statement newest;
  };

  template <typename Ask>
  auto reading(Ask ask) const {
    std::unique_ptr<Reader> reader;
    {
      const std::lock_guard lock_readers(readers_mutex);
      if (!readers.empty()) {
        reader = std::move(readers.back());
        readers.pop_back();
      }
    }
    if (reader == nullptr) reader = std::make_unique<Reader>(options);
    struct Back {
      const State& state;
      std::unique_ptr<Reader>& reader;
      ~Back() {
        const std::lock_guard lock_readers(state.readers_mutex);
        if (state.readers.size() < 4) state.readers.push_back(std::move(reader));
      }
    } const back{*this, reader};
    return ask(*reader);
  }

  Options options;
  StoreLock lock;
  WriteBack write_back;  // ends after all connections
  Writer writer;
  Statement begin, commit, insert, insert_event, insert_early, insert_open, delete_open, insert_rewarded, put_item,
      delete_item;
  Statement find_event, find_early, find_decision, open_decisions;
  LogClock clock;
  Checkpointer checkpointer;
  Offset next = 1;             // as the writer sees it
  std::int64_t time = 0;       // of the records of this transaction
  std::atomic<Offset> end{1};  // as readers see it
  std::atomic<Offset> first{1};
  std::string id;
  std::uint64_t starts = 0;
  mutable std::mutex readers_mutex;
  mutable std::vector<std::unique_ptr<Reader>> readers;
};

SqliteStore::SqliteStore(Options options) : state_(std::make_unique<State>(std::move(options))) {}
SqliteStore::~SqliteStore() = default;

void SqliteStore::begin() {
  state_->checkpointer.finish(state_->writer.handle(), Database::Options().busy_milliseconds);
  state_->begin.run();
  state_->time = state_->clock.now();
}

void SqliteStore::put(Record& record) {
  record.time = state_->time;
  put_with_time(record);
}

void SqliteStore::put_with_time(Record& record) {
  State& state = *state_;
  record.offset = state.next;
  state.clock.go_on_from(record.time);
  const auto offset = static_cast<std::int64_t>(record.offset);
  const bool is_decision = record.kind == RecordKind::decision;
  const bool is_reward = record.kind == RecordKind::reward || record.kind == RecordKind::expired;

  Statement& insert = state.insert;
  const auto text = [&](int parameter, const std::string& value) {
    value.empty() ? insert.bind_null(parameter) : insert.bind(parameter, value);
  };
  insert.bind(1, offset);
  insert.bind(2, record.time);
  insert.bind(3, static_cast<std::int64_t>(record.kind));
  text(4, record.event);
  record.decision == 0 ? insert.bind_null(5) : insert.bind(5, static_cast<std::int64_t>(record.decision));
  text(6, record.user);
  text(7, record.other_user);
  text(8, record.item);
  is_decision ? insert.bind(9, static_cast<std::int64_t>(record.arm)) : insert.bind_null(9);
  is_reward ? insert.bind(10, record.reward) : insert.bind_null(10);
  record.kind == RecordKind::edge ? insert.bind(11, record.weight) : insert.bind_null(11);
  is_decision ? insert.bind(12, record.probability) : insert.bind_null(12);  // SQLite keeps no NaN: NULL
  record.cluster ? insert.bind(13, static_cast<std::int64_t>(*record.cluster)) : insert.bind_null(13);
  std::string context;
  if (record.context.empty()) {
    insert.bind_null(14);
  } else if (state.writer.packed_contexts) {
    context = packed_with_signs(record.context);
    insert.bind_bytes(14, context);
  } else {
    insert.bind(14, std::span<const double>(record.context));
  }
  const auto early = early_number(record.event);
  const bool is_named = !record.event.empty() && !early;
  is_named ? text(15, record.scores) : insert.bind_null(15);
  record.candidates.empty() ? text(16, record.candidate_items) : insert.bind_bytes(16, record.candidates);
  insert.run();

  if (is_decision) {
    state.insert_open.bind(1, offset);
    state.insert_open.bind(2, record.time);
    state.insert_open.run();
    if (early) {
      state.insert_early.bind(1, static_cast<std::int64_t>(*early));
      state.insert_early.bind(2, offset);
      state.insert_early.run();
    } else if (is_named) {
      state.insert_event.bind(1, record.event);
      state.insert_event.bind(2, offset);
      state.insert_event.run();
    }
  } else if (answers_decision(record)) {
    const auto decision = static_cast<std::int64_t>(record.decision);
    state.insert_rewarded.bind(1, decision);
    state.insert_rewarded.bind(2, offset);
    state.insert_rewarded.bind(3, record.reward);
    state.insert_rewarded.bind(4, std::int64_t{record.kind == RecordKind::expired});
    state.insert_rewarded.run();
    state.delete_open.bind(1, decision);
    state.delete_open.run();
  } else if (record.kind == RecordKind::item) {
    state.put_item.bind(1, record.item);
    state.put_item.bind(2, std::span<const double>(record.context));
    state.put_item.run();
  } else if (record.kind == RecordKind::no_item) {
    state.delete_item.bind(1, record.item);
    state.delete_item.run();
  }
  ++state.next;
}

void SqliteStore::commit() {
  try {
    state_->commit.run();
  } catch (const LogError&) {
    roll_back();
    throw;
  }
  state_->end.store(state_->next, std::memory_order_release);
}

void SqliteStore::roll_back() {
  // SQLite may have done it by itself. What fails here has failed before: the file is as it was after the last commit.
  if (state_->writer.in_transaction()) sqlite3_exec(state_->writer.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  state_->next = state_->end.load(std::memory_order_relaxed);
}

std::optional<DecisionState> SqliteStore::find(std::string_view event) {
  State& state = *state_;
  std::optional<Offset> offset = decision_of(event);
  if (!offset) {
    const auto early = early_number(event);
    Statement& find = early ? state.find_early : state.find_event;
    early ? find.bind(1, static_cast<std::int64_t>(*early)) : find.bind(1, event);
    const Reset again(find);
    if (!find.step()) return std::nullopt;
    offset = static_cast<Offset>(find.integer(0));
  }
  if (*offset >= state.next) return std::nullopt;
  const auto number = static_cast<std::int64_t>(*offset);
  state.find_decision.bind(1, number);
  const Reset again(state.find_decision);
  if (!state.find_decision.step()) return std::nullopt;
  DecisionState found{.decision = state.record_of(state.find_decision, false)};
  // A decision that its caller named has no second name.
  if (decision_of(event) && !found.decision.event.empty()) return std::nullopt;
  const Statement& row = state.find_decision;
  if (!row.is_null(column_count)) {
    found.reward_offset = static_cast<Offset>(row.integer(column_count));
    found.reward = row.real(column_count + 1);
    found.expired = row.integer(column_count + 2) != 0;
  }
  return found;
}

std::vector<Record> SqliteStore::overdue(std::int64_t before, std::size_t most) {
  State& state = *state_;
  std::vector<Record> records;
  const Reset again(state.open_decisions);
  // Times never decrease, so the first one that is not older ends it.
  while (records.size() < most && state.open_decisions.step() && state.open_decisions.integer(1) < before) {
    state.find_decision.bind(1, state.open_decisions.integer(0));
    const Reset again_too(state.find_decision);
    if (state.find_decision.step()) records.push_back(state.record_of(state.find_decision, false));
  }
  return records;
}

void SqliteStore::truncate(Offset before) {
  State& state = *state_;
  before = std::min(before, state.next - 1);  // the newest record stays: the next offset is known from it
  // Some at a time, so that nobody waits for long who wants to append.
  constexpr Offset piece = 2'000;
  Statement remove_events(state.writer,
                          "DELETE FROM events WHERE event IN (SELECT event FROM log WHERE offset < ?1 AND kind = 1) "
                          "AND decision < ?1");
  // Their names ascend with the decisions, but for a few that crossed, which go the next time.
  Statement remove_early(state.writer,
                         "DELETE FROM early WHERE event < "
                         "(SELECT event FROM early WHERE decision >= ? ORDER BY event LIMIT 1)");
  Statement remove_open(state.writer, "DELETE FROM open WHERE decision < ?");
  Statement remove_rewarded(state.writer, "DELETE FROM rewarded WHERE decision < ?");
  Statement remove_silences(state.writer,
                            "DELETE FROM meta WHERE name LIKE 'silence %' AND CAST(substr(name, 9) AS INTEGER) <= ?");
  Statement remove(state.writer, "DELETE FROM log WHERE offset < ?");
  while (state.first < before) {
    const Offset until = std::min(before, state.first + piece);
    begin();
    try {
      for (Statement* statement :
           {&remove_events, &remove_early, &remove_open, &remove_rewarded, &remove_silences, &remove}) {
        statement->bind(1, static_cast<std::int64_t>(until));
        statement->run();
      }
    } catch (...) {
      roll_back();
      throw;
    }
    commit();
    state.first = until;
  }
}

void SqliteStore::read(Offset from, const std::function<bool(const Record&)>& visit) const {
  // Read in pieces, and visited between them: a reader that takes its time does not keep the write-ahead log from
  // starting over.
  constexpr std::size_t most_records = 256;
  constexpr std::size_t most_bytes = 1 << 20;
  for (;;) {
    std::vector<Record> piece;
    state_->reading([&](State::Reader& reader) {
      reader.from.bind(1, static_cast<std::int64_t>(from));
      const Reset again(reader.from);
      std::size_t bytes = 0;
      while (piece.size() < most_records && bytes < most_bytes && reader.from.step()) {
        piece.push_back(state_->record_of(reader.from, true));
        const Record& last = piece.back();
        bytes += last.candidate_items.size() + last.candidates.size() + 8 * last.context.size();
      }
    });
    if (piece.empty()) return;
    for (const Record& record : piece) {
      if (!visit(record)) return;
    }
    from = piece.back().offset + 1;
  }
}

std::optional<Record> SqliteStore::at(Offset offset) const {
  return state_->reading([&](State::Reader& reader) -> std::optional<Record> {
    reader.from.bind(1, static_cast<std::int64_t>(offset));
    const Reset again(reader.from);
    if (!reader.from.step() || reader.from.integer(0) != static_cast<std::int64_t>(offset)) return std::nullopt;
    return state_->record_of(reader.from, true);
  });
}

std::vector<Record> SqliteStore::newest(std::size_t count) const {
  std::vector<Record> records;
  state_->reading([&](State::Reader& reader) {
    reader.newest.bind(1, static_cast<std::int64_t>(count));
    const Reset again(reader.newest);
    while (reader.newest.step()) records.push_back(state_->record_of(reader.newest, false));
  });
  return records;
}

Offset SqliteStore::first_since(std::int64_t time) const {
  return state_->reading([&](State::Reader& reader) {
    // Times never decrease with the offset.
    Statement time_of(reader.database, "SELECT time FROM log WHERE offset = ?");
    Offset low = first();
    Offset high = end();
    while (low < high) {
      const Offset middle = low + (high - low) / 2;
      time_of.bind(1, static_cast<std::int64_t>(middle));
      const Reset again(time_of);
      // A record that is gone meanwhile was older.
      if (time_of.step() && time_of.integer(0) >= time) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  });
}

Offset SqliteStore::first_within(std::int64_t milliseconds) const {
  std::vector<std::pair<Offset, std::int64_t>> silences;  // before which record, and how long; the newest first
  state_->reading([&](State::Reader& reader) {
    Statement all(
        reader.database,
        "SELECT CAST(substr(name, 9) AS INTEGER), value FROM meta WHERE name LIKE 'silence %' ORDER BY 1 DESC");
    while (all.step()) silences.emplace_back(static_cast<Offset>(all.integer(0)), all.integer(1));
  });
  std::int64_t time = now() - milliseconds;
  Offset first = first_since(time);
  for (const auto& [before, length] : silences) {
    if (first > before) break;  // some that came after it are too old already
    time -= length;
    first = std::min(before, first_since(time));
  }
  return first;
}

void SqliteStore::items(const std::function<void(std::string_view name, std::vector<double> context)>& visit) const {
  state_->reading([&](State::Reader& reader) {
    Statement all(reader.database, "SELECT item, context FROM items ORDER BY item");
    while (all.step()) visit(all.text(0), all.numbers(1));
  });
}

void SqliteStore::prove_writable() {
  begin();
  try {
    remember("tried", fmt::format("{}", state_->time));
  } catch (...) {
    roll_back();
    throw;
  }
  commit();
}

void SqliteStore::remember(std::string_view name, std::string_view value) {
  if (value.empty()) {
    Statement forget(state_->writer, "DELETE FROM meta WHERE name = ?");
    forget.bind(1, name);
    return forget.run();
  }
  Statement put(state_->writer,
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value");
  put.bind(1, name);
  put.bind(2, value);
  put.run();
}

std::string SqliteStore::remembered(std::string_view name) const {
  return state_->reading([&](State::Reader& reader) {
    Statement get(reader.database, "SELECT value FROM meta WHERE name = ?");
    get.bind(1, name);
    return get.step() ? std::string(get.text(0)) : std::string();
  });
}

Offset SqliteStore::end() const { return state_->end.load(std::memory_order_acquire); }
Offset SqliteStore::first() const { return state_->first; }
std::int64_t SqliteStore::now() const { return state_->clock.now(); }
const std::string& SqliteStore::id() const { return state_->id; }
std::uint64_t SqliteStore::start_number() const { return state_->starts; }
bool SqliteStore::is_new() const { return state_->writer.is_new; }

}  // namespace goblin::serve
