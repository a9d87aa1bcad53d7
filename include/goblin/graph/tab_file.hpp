#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace goblin {

/// A file opened for reading; throws DataError if it cannot be.
[[nodiscard]] std::ifstream open_file(const std::filesystem::path& path);

/// The name as it can stand first in a line, with a backslash before it where the line would else be read as a comment.
/// Throws std::invalid_argument for a name that no field can hold: one that is empty, or has a tab or a line end in it.
[[nodiscard]] std::string tab_line_start(std::string_view name);

/// Reads tab-separated lines from a stream, one at a time, without copying the fields.
///
/// Lines that are empty or start with '#' are passed over, a carriage return before the line end is dropped, and so is
/// a byte order mark at the start. A backslash before such a '#' or mark (and before more backslashes and then one of
/// them) is dropped: `\#x <tab> 1` is a line whose first field is `#x`. Memory: one block of the file and its longest
/// line.
class TabReader {
 public:
  /// The name is for messages.
  TabReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  /// Goes to the next line that has something to say; false at the end. Throws DataError if the stream breaks.
  bool next();

  /// The fields of the line; valid until next().
  [[nodiscard]] const std::vector<std::string_view>& fields() const { return fields_; }

  /// The field as a number; throws DataError if it is none.
  [[nodiscard]] double number(std::size_t field) const;
  /// The same for a whole number, at least 0.
  [[nodiscard]] std::uint64_t whole(std::size_t field) const;

  [[nodiscard]] std::size_t line() const { return line_; }

  /// Throws DataError with the name and the line.
  [[noreturn]] void fail(const std::string& reason) const;

 private:
  bool next_line(std::string_view& line);
  template <typename Number>
  [[nodiscard]] Number parse(std::size_t field, std::string_view kind) const;

  std::istream& in_;
  std::string name_;
  std::string block_;
  std::size_t begin_ = 0;  // of what is not read yet, in block_
  std::size_t line_ = 0;
  std::vector<std::string_view> fields_;
};

}  // namespace goblin
