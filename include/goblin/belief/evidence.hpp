#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace goblin {

class BinaryReader;
class BinaryWriter;

/// What was observed, node by node: S_i = sum of x x^T and c_i = sum of reward * x over the rewards seen at node i.
///
/// A sum, so the order of arrival does not matter. Everything a bandit believes
/// follows from the evidence and the graph. A node takes memory from its first observation on: d (d + 3) / 2 doubles.
class Evidence {
 public:
  Evidence(std::size_t dimension, std::size_t node_count) : dimension_(dimension), nodes_(node_count) {}

  [[nodiscard]] std::size_t dimension() const { return dimension_; }
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }

  void add_node() { nodes_.emplace_back(); }

  /// O(d^2).
  void add(std::size_t node, std::span<const double> context, double reward);

  /// The number of observations at a node.
  [[nodiscard]] std::size_t count(std::size_t node) const { return nodes_[node].count; }

  /// The lower triangle of S_i column by column: (0,0), (1,0), ..., (d-1,0), (1,1), ...; empty if nothing was observed.
  [[nodiscard]] std::span<const double> contexts(std::size_t node) const { return part(node, 0, packed_size()); }

  /// c_i; empty if nothing was observed.
  [[nodiscard]] std::span<const double> rewards(std::size_t node) const {
    return part(node, packed_size(), dimension_);
  }

  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] static std::size_t bytes(std::size_t dimension, std::size_t node_count);

  void save(BinaryWriter& out) const;
  static Evidence load(BinaryReader& in);

 private:
  struct Node {
    std::size_t count = 0;
    std::vector<double> sums;  // S packed, then c
  };

  [[nodiscard]] std::size_t packed_size() const { return dimension_ * (dimension_ + 1) / 2; }
  [[nodiscard]] std::span<const double> part(std::size_t node, std::size_t begin, std::size_t size) const {
    const auto& sums = nodes_[node].sums;
    return sums.empty() ? std::span<const double>{} : std::span(sums).subspan(begin, size);
  }

  std::size_t dimension_;
  std::vector<Node> nodes_;
};

}  // namespace goblin
