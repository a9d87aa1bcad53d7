#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace goblin {

/// Bad data: a file or stream whose content breaks its format. `what()` reads "file:line: reason"; the line is left
/// out where the format has none (line() == 0).
class DataError : public std::runtime_error {
 public:
  DataError(const std::string& file, std::size_t line, const std::string& reason);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  std::string file_;
  std::string reason_;
  std::size_t line_;
};

/// A user was named who is not there.
class UnknownUser : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Something was asked for that does not fit into memory. Thrown before anything is allocated; `what()` names the
/// bytes needed, the bytes there are, and what would fit instead.
class CapacityError : public std::invalid_argument {
 public:
  CapacityError(const std::string& reason, std::size_t needed, std::size_t available)
      : std::invalid_argument(reason), needed_(needed), available_(available) {}

  [[nodiscard]] std::size_t bytes_needed() const { return needed_; }
  [[nodiscard]] std::size_t bytes_available() const { return available_; }

 private:
  std::size_t needed_;
  std::size_t available_;
};

}  // namespace goblin
