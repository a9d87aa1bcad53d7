#pragma once

#include "serve/service.hpp"

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace goblin::serve {

/// Those who wait until somebody new has joined. A join is logged and learned once, however many ask meanwhile.
class Joins {
 public:
  using Then = std::function<void(std::optional<Problem>)>;

  /// Whether the caller is the first who asks for this user, and is to see to the join. `then` is called as a task of
  /// the mailbox.
  [[nodiscard]] bool wait_for(const std::string& user, Mailbox& mailbox, Then then);
  /// Somebody is on disk, and will be there in a moment.
  void expect(const std::string& user);
  [[nodiscard]] bool expects(const std::string& user) const;
  /// A join is being written, or is in the log and will be learned: whoever comes after it, comes second.
  void write(const std::string& user);
  [[nodiscard]] bool is_written(const std::string& user) const;
  /// The user is there, or cannot join: those who wait are told.
  void tell(const std::string& user, const std::optional<Problem>& problem = {});
  void tell_all(const Problem& problem);
  [[nodiscard]] std::size_t size() const;

 private:
  using Waiting = std::vector<std::pair<Mailbox*, Then>>;

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Waiting> waiting_;
  std::unordered_set<std::string> expected_;
  std::unordered_set<std::string> written_;
};

}  // namespace goblin::serve
