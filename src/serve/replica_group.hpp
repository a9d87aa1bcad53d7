#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace goblin::serve {

/// Servers that share the partitions of a log among them: who has which.
class ReplicaGroup {
 public:
  virtual ~ReplicaGroup() = default;

  /// "http://10.0.0.1:8080": where the server is that had the partition when somebody last looked. Costs nothing.
  [[nodiscard]] virtual std::optional<std::string> owner(std::size_t partition) const = 0;
  /// Looks again, because what owner() said did not work. May take a while.
  virtual void look() = 0;
};

}  // namespace goblin::serve
