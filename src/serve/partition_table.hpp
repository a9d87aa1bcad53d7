#pragma once

#include "goblin/graph/graph.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goblin::serve {

/// Which partition of a log each user belongs to. A partition is a log of its own, with an order of its own, so
/// nothing that one user's rewards teach may concern a user of another partition: clusters are not divided.
class PartitionTable {
 public:
  /// One partition, which has everybody.
  PartitionTable() = default;
  /// So many, over which all users are spread by a checksum of their names.
  explicit PartitionTable(std::size_t count);
  /// `of[user]` is the partition of that user of the graph; others are spread by their names. Throws
  /// std::invalid_argument if the users have no names, if there is not one number for each, or if one is not below
  /// `count`.
  PartitionTable(std::size_t count, Graph users, std::vector<NodeId> of);

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t of(std::string_view user) const;

 private:
  std::size_t count_ = 1;
  Graph users_;
  std::vector<NodeId> of_;
};

/// The partition of each user, so that clusters stay whole and partitions have about as many users each: the largest
/// cluster first, always into the partition with the fewest users.
[[nodiscard]] std::vector<NodeId> spread(std::span<const NodeId> clusters, std::size_t partitions);

/// "cluster 3 has users of the partitions 0 and 1", the first that is divided; nothing if none is.
[[nodiscard]] std::optional<std::string> divided_cluster(const Graph& users, std::span<const NodeId> clusters,
                                                         const PartitionTable& table);

/// What a partition has of a graph: its users, in the order of the graph, the edges among them, and their clusters,
/// which are numbered anew.
struct PartOfGraph {
  Graph graph;
  std::vector<NodeId> clusters;
};
[[nodiscard]] PartOfGraph part_of(const Graph& graph, std::span<const NodeId> clusters, const PartitionTable& table,
                                  std::size_t partition);

}  // namespace goblin::serve
