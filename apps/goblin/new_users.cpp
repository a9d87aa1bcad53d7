#include "new_users.hpp"

#include "goblin/graph/names.hpp"

#include <cstddef>
#include <stdexcept>

#include <fmt/format.h>

namespace goblin::app {

bool NewUsers::is_new(std::string_view name) const {
  if (bandit_.has_user(name)) return false;
  const std::size_t count = bandit_.user_count();
  if (!named_ && number_named(name) != count) {
    throw std::invalid_argument(
        fmt::format("'user' is '{}' (must be a whole number, at most {}: this bandit's users have no names, and {} "
                    "would be the next new one)",
                    name, count, count));
  }
  return true;
}

}  // namespace goblin::app
