#pragma once

#include "serve/replica_group.hpp"
#include "serve/service.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace goblin::serve {

/// The field with which one server asks another one: the partition that it thinks the other one has. Whoever gets such
/// a request answers it or refuses it, and passes it on to nobody.
inline constexpr const char* partition_field = "Goblin-Partition";

/// A call that another server is to answer.
struct Question {
  std::size_t partition = 0;
  std::string method;
  std::string target;  ///< "/v1/select"
  std::string body;
  std::string authorization;  ///< of who asked first
  std::string request_id;
};

/// What it answers.
struct Reply {
  int status = 0;
  int retry_after = 0;  ///< seconds; 0: it says nothing of that
  std::string body;
};

/// The other servers of a replica group.
class Peers {
 public:
  /// `redirects`: callers are told where to go, and go there themselves.
  Peers(ReplicaGroup& group, bool redirects) : group_(group), redirects_(redirects) {}

  [[nodiscard]] bool redirects() const { return redirects_; }
  [[nodiscard]] std::optional<std::string> owner(std::size_t partition) const { return group_.owner(partition); }
  /// Asks the one that has the partition, and waits for its answer. If it cannot be reached, or has it no more, it is
  /// looked up again who has it.
  [[nodiscard]] Result<Reply> ask(const Question& question);

 private:
  ReplicaGroup& group_;
  bool redirects_;
};

}  // namespace goblin::serve
