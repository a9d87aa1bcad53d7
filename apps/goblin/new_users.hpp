#pragma once

#include "goblin/bandit/bandit.hpp"

#include <string_view>

namespace goblin::app {

/// The users of a log, who join the bandit if nobody has heard of them.
class NewUsers {
 public:
  explicit NewUsers(Bandit& bandit) : bandit_(bandit), named_(bandit.user_count() == 0 || bandit.graph().has_names()) {}

  /// Whether the user would be new. In a bandit without names a user is an index, and a new one can only be the one
  /// after the last; throws std::invalid_argument of any other.
  [[nodiscard]] bool is_new(std::string_view name) const;
  void add(std::string_view name) { bandit_.add_user(named_ ? name : std::string_view()); }

 private:
  Bandit& bandit_;
  bool named_;
};

}  // namespace goblin::app
