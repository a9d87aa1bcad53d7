#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace goblin::serve {

/// A connection to a SQLite file; one thread uses it at a time. What fails is thrown as LogError, with the file, what
/// SQLite says, and what to do about it.
class Database {
 public:
  struct Options {
    bool create = false;
    bool read_only = false;
    std::string vfs = {};  ///< what SQLite reaches files through; empty: as usual. For tests that let writes fail
    int busy_milliseconds = 5'000;
  };
  Database(std::filesystem::path file, const Options& options);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  /// Statements without results.
  void run(const char* statements);
  /// The one number that a statement gives.
  [[nodiscard]] std::int64_t number(const char* statement);
  /// Whether a transaction is open.
  [[nodiscard]] bool in_transaction() const;
  [[nodiscard]] sqlite3* handle() const { return handle_; }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  /// Throws what SQLite's code stands for.
  [[noreturn]] void fail(int code) const;

 private:
  std::filesystem::path file_;
  sqlite3* handle_ = nullptr;
};

/// A prepared statement. Parameters count from 1, columns from 0, as in SQLite; what is bound must live until the
/// statement has run.
class Statement {
 public:
  Statement(Database& database, std::string_view text);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  void bind(int parameter, std::int64_t value);
  void bind(int parameter, double value);
  void bind(int parameter, std::string_view text);
  void bind(int parameter, std::span<const double> numbers);
  void bind_bytes(int parameter, std::string_view bytes);
  void bind_null(int parameter);

  /// Goes to the next row; false at the end.
  [[nodiscard]] bool step();
  /// Runs a statement that gives no rows.
  void run();
  /// Makes the statement ready for another time. Everyone who reads rows does that, also after an exception (Reset).
  void reset();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] bool is_text(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  /// Valid until the next step or reset.
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::string_view bytes(int column) const;
  [[nodiscard]] std::vector<double> numbers(int column) const;

 private:
  void check(int code) const;

  Database* database_;
  sqlite3_stmt* handle_ = nullptr;
};

/// Resets a statement at the end of its scope.
class Reset {
 public:
  explicit Reset(Statement& statement) : statement_(&statement) {}
  Reset(const Reset&) = delete;
  Reset& operator=(const Reset&) = delete;
  ~Reset() { statement_->reset(); }

 private:
  Statement* statement_;
};

}  // namespace goblin::serve
