#include "serve/partition_table.hpp"

#include "goblin/random.hpp"
#include "serve/checksum.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

constexpr NodeId nobody = std::numeric_limits<NodeId>::max();

std::size_t cluster_count(std::span<const NodeId> clusters) {
  return clusters.empty() ? 0 : std::size_t{*std::max_element(clusters.begin(), clusters.end())} + 1;
}

}  // namespace

PartitionTable::PartitionTable(std::size_t count) : count_(count) {
  if (count == 0) throw std::invalid_argument("partitions: 0 (must be at least 1)");
}

PartitionTable::PartitionTable(std::size_t count, Graph users, std::vector<NodeId> of) : PartitionTable(count) {
  users_ = std::move(users);
  of_ = std::move(of);
  if (!users_.has_names() && users_.node_count() > 0) {
    throw std::invalid_argument("users without names (must have names: they say which partition somebody is in)");
  }
  if (of_.size() != users_.node_count()) {
    throw std::invalid_argument(
        fmt::format("{} partitions for {} users (must be one for each)", of_.size(), users_.node_count()));
  }
  for (std::size_t user = 0; user < of_.size(); ++user) {
    if (of_[user] < count_) continue;
    throw std::invalid_argument(
        fmt::format("user \"{}\" is in partition {} (must be below {})", users_.names()[user], of_[user], count_));
  }
}

std::size_t PartitionTable::of(std::string_view user) const {
  if (count_ == 1) return 0;
  if (const auto listed = users_.names().find(user)) return of_[*listed];
  return static_cast<std::size_t>(scrambled(checksum_of(user)) % count_);
}

std::vector<NodeId> spread(std::span<const NodeId> clusters, std::size_t partitions) {
  std::vector<std::size_t> sizes(cluster_count(clusters));
  for (const NodeId cluster : clusters) ++sizes[cluster];
  std::vector<NodeId> largest_first(sizes.size());
  std::iota(largest_first.begin(), largest_first.end(), NodeId{0});
  std::stable_sort(largest_first.begin(), largest_first.end(), [&](NodeId a, NodeId b) { return sizes[a] > sizes[b]; });
  std::vector<std::size_t> users(partitions);
  std::vector<NodeId> partition_of(sizes.size());
  for (const NodeId cluster : largest_first) {
    const auto fewest = std::min_element(users.begin(), users.end());
    *fewest += sizes[cluster];
    partition_of[cluster] = static_cast<NodeId>(fewest - users.begin());
  }
  std::vector<NodeId> of;
  of.reserve(clusters.size());
  for (const NodeId cluster : clusters) of.push_back(partition_of[cluster]);
  return of;
}

std::optional<std::string> divided_cluster(const Graph& users, std::span<const NodeId> clusters,
                                           const PartitionTable& table) {
  std::vector<NodeId> partition_of(cluster_count(clusters), nobody);
  for (std::size_t user = 0; user < clusters.size(); ++user) {
    const auto own = static_cast<NodeId>(table.of(users.names()[user]));
    NodeId& partition = partition_of[clusters[user]];
    if (partition == nobody) partition = own;
    if (partition != own) {
      return fmt::format("cluster {} has users of the partitions {} and {}", clusters[user], partition, own);
    }
  }
  return std::nullopt;
}

PartOfGraph part_of(const Graph& graph, std::span<const NodeId> clusters, const PartitionTable& table,
                    std::size_t partition) {
  if (table.count() == 1) return {.graph = graph, .clusters = {clusters.begin(), clusters.end()}};
  Names names;
  std::vector<NodeId> number(graph.node_count(), nobody);
  for (std::size_t user = 0; user < graph.node_count(); ++user) {
    if (table.of(graph.names()[user]) == partition) number[user] = names.insert(graph.names()[user]);
  }
  EdgeList edges;
  PartOfGraph part;
  std::vector<NodeId> cluster_number(cluster_count(clusters), nobody);
  NodeId next_cluster = 0;
  for (std::size_t user = 0; user < graph.node_count(); ++user) {
    if (number[user] == nobody) continue;
    const auto neighbours = graph.neighbours(user);
    const auto weights = graph.weights(user);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      if (user < neighbours[k] && number[neighbours[k]] != nobody) {
        edges.add({number[user], number[neighbours[k]], weights[k]});
      }
    }
    if (clusters.empty()) continue;
    NodeId& cluster = cluster_number[clusters[user]];
    if (cluster == nobody) cluster = next_cluster++;
    part.clusters.push_back(cluster);
  }
  part.graph = Graph(std::move(names), edges);
  return part;
}

}  // namespace goblin::serve
