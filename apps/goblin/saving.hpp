#pragma once

#include "goblin/bandit/bandit.hpp"

#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>

#include <CLI/CLI.hpp>

namespace goblin::app {

/// --save, which must not be empty.
CLI::Option* add_save_option(CLI::App& command, std::string& path, const std::string& description);

/// Throws std::system_error if no file can be written there: it is better to hear of it before the log is read. A
/// file of the kind that Bandit::save makes first, beside the one that is there, is made and removed.
void check_can_be_saved(const std::string& path);

/// Writes a file; throws std::system_error if it cannot be written.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

/// A file that is written beside another one, and takes its place only if it is kept: whatever else has to work first,
/// the old one is still there if it did not.
class NewFile {
 public:
  /// Throws std::system_error if it cannot be written.
  NewFile(std::filesystem::path path, const std::function<void(std::ostream&)>& write);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  /// Throws std::system_error if the other one cannot be replaced.
  void keep();

 private:
  std::filesystem::path path_;
  std::filesystem::path beside_;
};

/// How far a log was learned.
struct Learned {
  std::size_t count = 0;      ///< of its lines, or whatever it consists of
  std::string unit = "line";  ///< what that is
  bool nothing = true;        ///< no event was among them
};

/// Saves what was learned before something other than the end of the log ended it, and gives a line that says so. If
/// there was no event, the file stays as it is: it may be a good model, and the bandit may have learned nothing. The
/// path may be empty, for none.
[[nodiscard]] std::string save_early(const Bandit& bandit, const std::string& path, const Learned& learned);

/// The same while an exception is on its way, which nothing may hide.
[[nodiscard]] std::string save_after_failure(const Bandit& bandit, const std::string& path, const Learned& learned);

/// Saves at the end of the log, or, if a signal was noted, what was learned up to there, and says so.
void save_at_the_end(const Bandit& bandit, const std::string& path, const Learned& learned);

/// Throws CLI::RuntimeError with its exit code if a signal was noted.
void exit_after_signal();

}  // namespace goblin::app
