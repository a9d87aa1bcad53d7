#include "serve/sqlite.hpp"

#include "serve/log.hpp"

#include <cstring>
#include <sqlite3.h>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

/// What somebody who runs the server can do about it.
std::string_view advice(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "; the disk is full: make room, nothing that was acknowledged is lost";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return "; check that the folder is there and may be written";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "; another program is writing to it: let it finish, or end it";
    case SQLITE_IOERR:
      return "; the disk refused: look into the system's log";
    case SQLITE_CORRUPT:
      return "; the file is damaged: put a copy of it back";
    case SQLITE_NOTADB:
      return "; it is no store of goblin: name another folder";
    default:
      return "";
  }
}

/// SQLite would count every allocation under one lock for all threads, and nobody asks it for the sum.
int without_statistics() { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

}  // namespace

Database::Database(std::filesystem::path file, const Options& options) : file_(std::move(file)) {
  [[maybe_unused]] static const int configured = without_statistics();  // before anything else of SQLite
  const int flags = (options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |
                    (options.create ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(file_.c_str(), &handle_, flags, options.vfs.empty() ? nullptr : options.vfs.c_str());
  if (code != SQLITE_OK) {
    const std::string reason = handle_ == nullptr ? "no memory" : sqlite3_errmsg(handle_);
    sqlite3_close(handle_);
    throw LogError(fmt::format("{}: {}{}", file_.string(), reason, advice(code)));
  }
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_timeout(handle_, options.busy_milliseconds);
}

Database::~Database() { sqlite3_close_v2(handle_); }

void Database::fail(int code) const {
  throw LogError(fmt::format("{}: {}{}", file_.string(), sqlite3_errmsg(handle_), advice(code)));
}

void Database::run(const char* statements) {
  const int code = sqlite3_exec(handle_, statements, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::int64_t Database::number(const char* statement) {
  Statement query(*this, statement);
  return query.step() ? query.integer(0) : 0;
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

Statement::Statement(Database& database, std::string_view text) : database_(&database) {
  check(sqlite3_prepare_v3(database.handle(), text.data(), static_cast<int>(text.size()), SQLITE_PREPARE_PERSISTENT,
                           &handle_, nullptr));
}

Statement::~Statement() { sqlite3_finalize(handle_); }

void Statement::check(int code) const {
  if (code != SQLITE_OK) database_->fail(code);
}

void Statement::bind(int parameter, std::int64_t value) { check(sqlite3_bind_int64(handle_, parameter, value)); }
void Statement::bind(int parameter, double value) { check(sqlite3_bind_double(handle_, parameter, value)); }
void Statement::bind(int parameter, std::string_view text) {
  check(sqlite3_bind_text64(handle_, parameter, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_STATIC,
                            SQLITE_UTF8));
}
void Statement::bind(int parameter, std::span<const double> numbers) {
  check(sqlite3_bind_blob64(handle_, parameter, numbers.data(), numbers.size_bytes(), SQLITE_STATIC));
}
void Statement::bind_bytes(int parameter, std::string_view bytes) {
  check(sqlite3_bind_blob64(handle_, parameter, bytes.data(), bytes.size(), SQLITE_STATIC));
}
void Statement::bind_null(int parameter) { check(sqlite3_bind_null(handle_, parameter)); }

bool Statement::step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  database_->fail(code);
}

void Statement::run() {
  const Reset again(*this);
  while (step()) {
  }
}

void Statement::reset() { sqlite3_reset(handle_); }

bool Statement::is_null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }
bool Statement::is_text(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_TEXT; }
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_, column); }
double Statement::real(int column) const { return sqlite3_column_double(handle_, column); }
std::string_view Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}
std::string_view Statement::bytes(int column) const {
  const void* bytes = sqlite3_column_blob(handle_, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}
std::vector<double> Statement::numbers(int column) const {
  const void* bytes = sqlite3_column_blob(handle_, column);
  std::vector<double> numbers(static_cast<std::size_t>(sqlite3_column_bytes(handle_, column)) / sizeof(double));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes, numbers.size() * sizeof(double));
  return numbers;
}

}  // namespace goblin::serve
