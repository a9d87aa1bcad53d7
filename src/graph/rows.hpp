#pragma once

#include "goblin/graph/graph.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

/// What Graph and EditableGraph read out of the rows of their nodes in the same way.
namespace goblin::rows {

template <typename AnyGraph>
double degree(const AnyGraph& graph, std::size_t node) {
  const auto row = graph.weights(node);
  return std::accumulate(row.begin(), row.end(), 0.0);
}

template <typename AnyGraph>
double weight(const AnyGraph& graph, std::size_t a, std::size_t b) {
  const auto row = graph.neighbours(a);
  const auto found = std::lower_bound(row.begin(), row.end(), b);
  if (found == row.end() || *found != b) return 0.0;
  return graph.weights(a)[static_cast<std::size_t>(found - row.begin())];
}

template <typename AnyGraph>
std::vector<Edge> edges(const AnyGraph& graph) {
  std::vector<Edge> result;
  result.reserve(graph.edge_count());
  for (NodeId a = 0; a < graph.node_count(); ++a) {
    const auto row = graph.neighbours(a);
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (a < row[k]) result.push_back({a, row[k], graph.weights(a)[k]});
    }
  }
  return result;
}

}  // namespace goblin::rows
