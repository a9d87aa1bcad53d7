#include "serve/shared_store.hpp"

#include "serve/checksum.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <sstream>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

using namespace std::chrono_literals;

/// How long one waits for entries that are known to be there.
constexpr auto most_waiting = 10s;
constexpr std::string_view mark = "shared";  // of a copy, in its `meta`: how far it is
constexpr std::string_view founding_mark = "founding";
constexpr SharedLog::Place all = std::numeric_limits<SharedLog::Place>::max();

std::size_t starts_in(const std::vector<Record>& records) {
  return static_cast<std::size_t>(std::count_if(records.begin(), records.end(),
                                                [](const Record& record) { return record.kind == RecordKind::start; }));
}

}  // namespace

bool is_copy_of_shared_log(const SqliteStore& store) { return !store.remembered(mark).empty(); }

SharedStore::Progress SharedStore::progress_of(const std::string& text) {
  Progress progress;
  std::istringstream(text) >> progress.next >> progress.last >> progress.starts;
  return progress;
}

SharedStore::SharedStore(SqliteStore& copy, SharedLog& log, const std::string& founding,
                         std::vector<Record> first_records, Options options)
    : copy_(copy),
      log_(log),
      options_(std::move(options)),
      founding_(copy.remembered(founding_mark)),
      progress_(progress_of(copy.remembered(mark))) {
  try {
    open(founding, std::move(first_records));
  } catch (...) {
    log_.stop_reading();
    throw;
  }
}

void SharedStore::open(const std::string& founding, std::vector<Record> first_records) {
  if (progress_.next == 0 && copy_.end() != 1) {
    throw LogError(fmt::format("store: has a log of its own, and is no copy of {}; name another folder", log_.name()));
  }
  SharedLog::Bounds bounds = log_.bounds();
  if (bounds.end == 0 && progress_.next == 0) {
    const std::string bytes = bytes_of({.founding = founding, .begin = 1, .records = dated(std::move(first_records))});
    if (bytes.size() > SharedLog::most_entry_bytes) {
      throw LogError(
          fmt::format("{}: begins with items of {} bytes together (must be at most {}); begin with fewer, and add the "
                      "others with PUT "
                      "/v1/items",
                      log_.name(), bytes.size(), SharedLog::most_entry_bytes));
    }
    static_cast<void>(log_.append(bytes));
    bounds = log_.bounds();
  }
  check_copy(bounds);
  catch_up(bounds.end);
  if (founding_ != founding) {
    throw LogError(fmt::format("{}: begins with {}, and {} was asked for; ask for the same, or name another topic",
                               log_.name(), founding_, founding));
  }
}

std::vector<Record> SharedStore::dated(std::vector<Record> records) const {
  for (Record& record : records) record.time = copy_.now();
  return records;
}

/// Goes to where the copy ends, one entry before that if there is one: it shows whether this is the log that was
/// copied.
void SharedStore::check_copy(SharedLog::Bounds bounds) {
  const auto another = [&] {
    return LogError(
        fmt::format("{}: is not the log that the store is a copy of, but another one of that name; name "
                    "another folder for the store",
                    log_.name()));
  };
  if (bounds.first > progress_.next) {
    throw LogError(fmt::format(
        "{}: begins at entry {}, because older ones were deleted, and the store {} {}; put a copy of the store of "
        "another process there, taken while that one was stopped",
        log_.name(), bounds.first, progress_.next == 0 ? "is" : "goes to entry",
        progress_.next == 0 ? "empty" : fmt::format("{}", progress_.next - 1)));
  }
  if (bounds.end < progress_.next) throw another();
  const bool can_look_back = progress_.next > 0 && bounds.first < progress_.next;
  log_.read_from(can_look_back ? progress_.next - 1 : progress_.next, options_.arrived);
  if (!can_look_back) return;
  const auto until = std::chrono::steady_clock::now() + most_waiting;
  while (waiting_.empty()) {
    receive(100ms);
    if (waiting_.empty() && std::chrono::steady_clock::now() > until) {
      throw LogError(fmt::format("{}: entry {} cannot be read", log_.name(), progress_.next - 1));
    }
  }
  if (waiting_.front().place != progress_.next - 1 || checksum_of(waiting_.front().bytes) != progress_.last)
    throw another();
}

void SharedStore::catch_up(SharedLog::Place end) {
  auto next_word = std::chrono::steady_clock::now() + options_.say_every;
  while (progress_.next < end) {
    take_in_more(end - 1);
    others_.clear();  // whoever made this store reads the copy
    if (const auto now = std::chrono::steady_clock::now(); options_.warn && now > next_word) {
      options_.warn(fmt::format("{}: {} of {} entries have been copied", log_.name(), progress_.next, end));
      next_word = now + options_.say_every;
    }
  }
}

std::uint64_t SharedStore::log_start(const std::string& process) {
  for (;;) {
    take_in_all();
    begin();
    try {
      Record record{.kind = RecordKind::start, .user = process};
      put(record);
      commit();
      others_.clear();          // as in catch_up
      return progress_.starts;  // nothing behind the own entry was taken in
    } catch (const Overtaken&) {
      // Once more, behind the others.
    }
  }
}

std::vector<Record> SharedStore::others() {
  take_in_all();
  return std::exchange(others_, {});
}

void SharedStore::begin() {
  written_.clear();
  copy_.begin();
}

void SharedStore::put(Record& record) {
  copy_.put(record);
  written_.push_back(record);
}

void SharedStore::roll_back() {
  written_.clear();
  copy_.roll_back();
}

void SharedStore::commit() {
  if (written_.empty()) return copy_.commit();
  const std::string bytes = bytes_of({.begin = written_.front().offset, .records = written_});
  if (bytes.size() > SharedLog::most_entry_bytes) {
    roll_back();
    throw TooLarge(fmt::format("{}: an entry of {} bytes (must be at most {})", log_.name(), bytes.size(),
                               SharedLog::most_entry_bytes));
  }
  SharedLog::Place place = 0;
  try {
    place = log_.append(bytes);
  } catch (...) {
    roll_back();
    throw;
  }
  if (place == progress_.next) {
    const std::size_t starts = starts_in(written_);
    try {
      remember({.next = place + 1, .last = checksum_of(bytes), .starts = progress_.starts + starts});
      copy_.commit();
    } catch (...) {
      roll_back();  // the log has it, so that it will be taken in as if another process had written it
      throw;
    }
    progress_ = {.next = place + 1, .last = checksum_of(bytes), .starts = progress_.starts + starts};
    written_.clear();
    return;
  }
  roll_back();
  own_ = place;
  own_in_force_ = false;
  try {
    take_in(place);
  } catch (...) {
    own_ =
        -1;  // nobody will be told that it came into force, so that it is taken in as if another process had written it
    throw;
  }
  if (!own_in_force_) throw Overtaken();
}

void SharedStore::prove_writable() {
  copy_.prove_writable();
  static_cast<void>(log_.append(bytes_of({.begin = 0})));
}

void SharedStore::receive(std::chrono::milliseconds wait) {
  auto entries = log_.take(wait);
  waiting_.insert(waiting_.end(), std::make_move_iterator(entries.begin()), std::make_move_iterator(entries.end()));
}

/// New ones are fetched when none wait here any more, so that they do not pile up while they cannot be taken in.
void SharedStore::take_in_all() {
  while (!waiting_.empty()) take_in_some(all);
  receive(0ms);
  while (!waiting_.empty()) take_in_some(all);
}

void SharedStore::take_in(SharedLog::Place until) {
  while (progress_.next <= until) take_in_more(until);
}

void SharedStore::take_in_more(SharedLog::Place until) {
  const auto deadline = std::chrono::steady_clock::now() + most_waiting;
  while (waiting_.empty()) {
    receive(100ms);
    if (waiting_.empty() && std::chrono::steady_clock::now() > deadline) {
      throw LogError(fmt::format("{}: entry {} has not come; it was appended, and may still come into force",
                                 log_.name(), progress_.next));
    }
  }
  take_in_some(until);
}

/// The first entries that wait, in one transaction of the copy.
void SharedStore::take_in_some(SharedLog::Place until) {
  constexpr std::size_t most_together = 1'000;  // entries
  while (!waiting_.empty() && waiting_.front().place < progress_.next) waiting_.pop_front();
  if (waiting_.empty()) return;
  if (waiting_.front().place > until) throw LogError(fmt::format("{}: lacks entry {}", log_.name(), progress_.next));
  Progress progress = progress_;
  Offset end = copy_.end();
  std::vector<Record> taken;
  std::string founding;
  bool own_in_force = false;
  std::size_t count = 0;
  copy_.begin();
  try {
    for (; count < std::min(waiting_.size(), most_together) && waiting_[count].place <= until; ++count) {
      const SharedLog::Entry& each = waiting_[count];
      Entry entry;
      const bool is_good = read(each, entry);
      progress.next = each.place + 1;
      progress.last = checksum_of(each.bytes);
      if (!is_good || entry.begin != end) continue;
      if (each.place == 0) founding = entry.founding;
      for (Record& record : entry.records) {
        copy_.put_with_time(record);
        ++end;
      }
      progress.starts += starts_in(entry.records);
      if (each.place == own_) {
        own_in_force = true;
      } else {
        taken.insert(taken.end(), std::make_move_iterator(entry.records.begin()),
                     std::make_move_iterator(entry.records.end()));
      }
    }
    if (!founding.empty()) copy_.remember(founding_mark, founding);
    remember(progress);
    copy_.commit();
  } catch (...) {
    copy_.roll_back();
    throw;
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  if (!founding.empty()) founding_ = std::move(founding);
  if (own_ >= progress_.next && own_ < progress.next) {
    own_in_force_ = own_in_force;
    own_ = -1;
  }
  progress_ = progress;
  others_.insert(others_.end(), std::make_move_iterator(taken.begin()), std::make_move_iterator(taken.end()));
}

/// Whether the bytes are an entry. What is none is passed over, by everybody who reads the log.
bool SharedStore::read(const SharedLog::Entry& each, Entry& entry) const {
  try {
    entry = entry_of(each.bytes);
  } catch (const BadEntry& bad) {
    if (bad.is_newer) {
      throw LogError(fmt::format("{}: entry {}: {}; use a newer goblin", log_.name(), each.place, bad.what()));
    }
    if (each.place == 0) {
      throw LogError(
          fmt::format("{}: its first entry is not goblin's ({}); name a topic of its own", log_.name(), bad.what()));
    }
    if (options_.warn) {
      options_.warn(
          fmt::format("{}: entry {} is passed over, here and by everybody: {}", log_.name(), each.place, bad.what()));
    }
    return false;
  }
  if (each.place == 0 && entry.founding.empty()) {
    throw LogError(fmt::format("{}: its first entry does not say how the log begins; name another topic", log_.name()));
  }
  return true;
}

void SharedStore::remember(const Progress& progress) {
  copy_.remember(mark, fmt::format("{} {} {}", progress.next, progress.last, progress.starts));
}

}  // namespace goblin::serve
