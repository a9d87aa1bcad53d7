#pragma once

#include "serve/replica_group.hpp"
#include "serve/service.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace goblin::serve {

/// The field with which one server asks another one: the partition that it thinks the other one has. Whoever gets such
/// a request answers it or refuses it, and passes it on to nobody.
inline constexpr const char* partition_field = "Goblin-Partition";

/// A call that another server is to answer.
struct Question {
  std::size_t partition = 0;
  std::string method;
  std::string target;  ///< "/v1/select": the path, with the query
  std::string body;
  std::string authorization;  ///< of who asked first
  std::string request_id;
  /// Until then it may be answered: longer than any call may take.
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::now() + std::chrono::seconds(15);
};

/// What it answers.
struct Reply {
  int status = 0;
  int retry_after = 0;  ///< seconds; 0: it says nothing of that
  std::string body;
};

/// The other servers of a replica group. Any thread may call any function.
class Peers {
 public:
  /// `own_url` is where this server is; `redirects`: callers are told where to go, and go there themselves.
  Peers(ReplicaGroup& group, std::string own_url, bool redirects)
      : group_(group), own_url_(std::move(own_url)), redirects_(redirects) {}

  [[nodiscard]] bool redirects() const { return redirects_; }
  /// Who has the partition; this server, perhaps.
  [[nodiscard]] std::optional<std::string> owner(std::size_t partition) const { return group_.owner(partition); }
  /// Who else has it. What the group said last may be old: that this server has it, when it has not.
  [[nodiscard]] std::optional<std::string> other_owner(std::size_t partition) const;
  /// Asks the one that has the partition, and waits for its answer. If it cannot be reached, or has it no more, it is
  /// looked up again who has it. Waits no more once the partition is somebody else's, or `given_up` says so.
  [[nodiscard]] Result<Reply> ask(const Question& question, const std::function<bool()>& given_up = {});

 private:
  using Clock = std::chrono::steady_clock;

  /// Whether it let somebody wait in vain a moment ago, so that there is no use in asking again.
  [[nodiscard]] bool is_silent(const std::string& url) const;
  void was_silent(const std::string& url);

  ReplicaGroup& group_;
  std::string own_url_;
  bool redirects_;
  mutable std::mutex mutex_;
  std::map<std::string, Clock::time_point> silent_until_;
};

}  // namespace goblin::serve
