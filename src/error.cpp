#include "goblin/error.hpp"

#include <fmt/format.h>

namespace goblin {

DataError::DataError(const std::string& file, std::size_t line, const std::string& reason)
    : std::runtime_error(line > 0 ? fmt::format("{}:{}: {}", file, line, reason) : fmt::format("{}: {}", file, reason)),
      file_(file),
      reason_(reason),
      line_(line) {}

}  // namespace goblin
