#include "goblin/belief/evidence.hpp"

#include "binary.hpp"

namespace goblin {

void Evidence::add(std::size_t node, std::span<const double> context, double reward) {
  auto& [count, sums] = nodes_[node];
  if (sums.empty()) sums.assign(packed_size() + dimension_, 0.0);
  double* out = sums.data();
  for (std::size_t column = 0; column < dimension_; ++column) {
    for (std::size_t row = column; row < dimension_; ++row) *out++ += context[column] * context[row];
  }
  for (std::size_t row = 0; row < dimension_; ++row) *out++ += reward * context[row];
  ++count;
}

std::size_t Evidence::bytes() const {
  std::size_t total = nodes_.capacity() * sizeof(Node);
  for (const Node& node : nodes_) total += node.sums.capacity() * sizeof(double);
  return total;
}

std::size_t Evidence::bytes(std::size_t dimension, std::size_t node_count) {
  return node_count * (sizeof(Node) + dimension * (dimension + 3) / 2 * sizeof(double));
}

void Evidence::save(BinaryWriter& out) const {
  out.size(dimension_);
  out.size(node_count());
  for (const Node& node : nodes_) {
    out.size(node.count);
    out.array(node.sums);
  }
}

Evidence Evidence::load(BinaryReader& in) {
  const std::size_t dimension = in.size(std::size_t{1} << 24, "the dimension");
  const std::size_t node_count = in.size(in.left() / 16, "the number of nodes");
  Evidence evidence(dimension, node_count);
  for (Node& node : evidence.nodes_) {
    node.count = in.size();
    node.sums = in.array<double>();
    in.expect(node.sums.size() == (node.count == 0 ? 0 : evidence.packed_size() + dimension), "the size of a sum");
  }
  return evidence;
}

}  // namespace goblin
