#include "goblin/graph/graph.hpp"

#include "graph/rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin {
namespace {

constexpr NodeId unseen = static_cast<NodeId>(-1);

void check_node_count(std::size_t node_count) {
  if (node_count >= unseen) {
    throw std::invalid_argument(fmt::format("node_count: {} (must be below {})", node_count, unseen));
  }
}

/// For messages: "node 13", and its name where it has one.
std::string words_of(std::size_t node, const Names* names) {
  if (names == nullptr) return fmt::format("node {}", node);
  return fmt::format("'{}' (node {})", (*names)[node], node);
}

void check_edge(const Edge& edge, std::size_t index, std::size_t node_count, const Names* names) {
  if (edge.a >= node_count || edge.b >= node_count) {
    throw std::invalid_argument(fmt::format("edges[{}]: node {} (must be below the number of nodes, {})", index,
                                            std::max(edge.a, edge.b), node_count));
  }
  if (edge.a == edge.b) {
    throw std::invalid_argument(
        fmt::format("edges[{}]: joins {} to itself (self loops are not allowed)", index, words_of(edge.a, names)));
  }
  if (!(std::isfinite(edge.weight) && edge.weight > 0.0)) {
    throw std::invalid_argument(fmt::format("edges[{}]: weight {} (must be finite and positive)", index, edge.weight));
  }
}

template <typename Visit>
void for_each_edge(std::span<const Edge> edges, Visit visit) {
  for (const Edge& edge : edges) visit(edge);
}

template <typename Visit>
void for_each_edge(const EdgeList& edges, Visit visit) {
  edges.for_each(visit);
}

}  // namespace

Components::Components(std::vector<NodeId> component_of, std::size_t count)
    : component_of_(std::move(component_of)), begins_(count + 1, 0), nodes_(component_of_.size()) {
  for (const NodeId component : component_of_) ++begins_[component + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
  for (std::size_t node = 0; node < component_of_.size(); ++node) {
    nodes_[next[component_of_[node]]++] = static_cast<NodeId>(node);
  }
}

template <typename Edges>
std::shared_ptr<const Graph::Rows> Graph::build(std::size_t node_count, const Edges& edges, const Names* names) {
  check_node_count(node_count);
  auto rows = std::make_shared<Rows>();
  auto& begins = rows->begins;
  auto& neighbours = rows->neighbours;
  auto& weights = rows->weights;

  // Counting sort into rows. begins[v + 1] first counts v's entries, then is where the next one of v goes, and ends
  // as the end of row v: the array needs no copy.
  begins.assign(node_count + 2, 0);
  std::size_t index = 0;
  for_each_edge(edges, [&](const Edge& edge) {
    check_edge(edge, index++, node_count, names);
    ++begins[edge.a + std::size_t{2}];
    ++begins[edge.b + std::size_t{2}];
  });
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  neighbours.resize(2 * edges.size());
  weights.resize(2 * edges.size());
  const auto put = [&](NodeId from, NodeId to, double weight) {
    const std::size_t at = begins[from + std::size_t{1}]++;
    neighbours[at] = to;
    weights[at] = weight;
  };
  for_each_edge(edges, [&put](const Edge& edge) {
    put(edge.a, edge.b, edge.weight);
    put(edge.b, edge.a, edge.weight);
  });
  begins.pop_back();

  // Sort each row by (neighbour, weight), so that parallel edges are added in the same order at both ends, and close
  // the gaps that adding them leaves.
  std::vector<std::pair<NodeId, double>> row;
  std::size_t out = 0;
  std::size_t row_begin = 0;
  for (std::size_t node = 0; node < node_count; ++node) {
    const std::size_t row_end = begins[node + 1];
    row.clear();
    for (std::size_t at = row_begin; at < row_end; ++at) row.emplace_back(neighbours[at], weights[at]);
    std::sort(row.begin(), row.end());
    begins[node] = out;
    for (const auto& [neighbour, weight] : row) {
      if (out > begins[node] && neighbours[out - 1] == neighbour) {
        weights[out - 1] += weight;
        if (!std::isfinite(weights[out - 1])) {
          throw std::invalid_argument(fmt::format("edges: the weights between {} and {} add up to infinity",
                                                  words_of(node, names), words_of(neighbour, names)));
        }
      } else {
        neighbours[out] = neighbour;
        weights[out] = weight;
        ++out;
      }
    }
    row_begin = row_end;
  }
  begins[node_count] = out;
  const bool much_smaller = out < neighbours.size() / 8 * 7;  // else a copy would cost more than it frees
  neighbours.resize(out);
  weights.resize(out);
  if (much_smaller) {
    neighbours.shrink_to_fit();
    weights.shrink_to_fit();
  }
  return rows;
}

Graph::Graph() : Graph(0) {}

Graph::Graph(std::size_t node_count) : Graph(node_count, std::span<const Edge>{}) {}

Graph::Graph(std::size_t node_count, std::span<const Edge> edges)
    : Graph(build(node_count, edges, nullptr), std::make_shared<const Names>()) {}

Graph::Graph(Names names, std::span<const Edge> edges)
    : rows_(build(names.size(), edges, &names)), names_(std::make_shared<const Names>(std::move(names))) {}

Graph::Graph(Names names, const EdgeList& edges)
    : rows_(build(names.size(), edges, &names)), names_(std::make_shared<const Names>(std::move(names))) {}

double Graph::degree(std::size_t node) const { return rows::degree(*this, node); }
double Graph::weight(std::size_t a, std::size_t b) const { return rows::weight(*this, a, b); }
std::vector<Edge> Graph::edges() const { return rows::edges(*this); }

Graph Graph::single() const { return Graph(1); }

Graph Graph::edgeless() const {
  return {filtered([](NodeId, NodeId) { return false; }), names_};
}

Graph Graph::within(std::span<const NodeId> labels) const {
  check_labels(labels);
  return {filtered([labels](NodeId a, NodeId b) { return labels[a] == labels[b]; }), names_};
}

/// The same nodes and the edges that keep(a, b) keeps.
template <typename Keep>
std::shared_ptr<const Graph::Rows> Graph::filtered(Keep keep) const {
  auto rows = std::make_shared<Rows>();
  rows->begins.reserve(node_count() + 1);
  for (NodeId a = 0; a < node_count(); ++a) {
    const auto row = neighbours(a);
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (!keep(a, row[k])) continue;
      rows->neighbours.push_back(row[k]);
      rows->weights.push_back(weights(a)[k]);
    }
    rows->begins.push_back(rows->neighbours.size());
  }
  return rows;
}

Graph Graph::quotient(std::span<const NodeId> labels) const {
  check_labels(labels);
  const std::size_t count = labels.empty() ? 0 : *std::max_element(labels.begin(), labels.end()) + std::size_t{1};
  std::vector<Edge> between;
  for (const Edge& edge : edges()) {
    if (labels[edge.a] != labels[edge.b]) between.push_back({labels[edge.a], labels[edge.b], edge.weight});
  }
  return {count, between};
}

Graph Graph::induced(std::span<const NodeId> nodes) const {
  std::vector<NodeId> new_index(node_count(), unseen);
  for (std::size_t k = 0; k < nodes.size(); ++k) new_index[nodes[k]] = static_cast<NodeId>(k);
  auto rows = std::make_shared<Rows>();
  rows->begins.reserve(nodes.size() + 1);
  for (const NodeId node : nodes) {
    const auto row = neighbours(node);
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (new_index[row[k]] == unseen) continue;
      rows->neighbours.push_back(new_index[row[k]]);
      rows->weights.push_back(weights(node)[k]);
    }
    rows->begins.push_back(rows->neighbours.size());
  }
  return {std::move(rows), std::make_shared<const Names>()};
}

void Graph::check_labels(std::span<const NodeId> labels) const {
  if (labels.size() != node_count()) {
    throw std::invalid_argument(
        fmt::format("labels: {} of them (must be one for each of the {} nodes)", labels.size(), node_count()));
  }
  for (std::size_t node = 0; node < labels.size(); ++node) {
    if (labels[node] >= node_count()) {
      throw std::invalid_argument(
          fmt::format("labels[{}]: {} (must be below the number of nodes, {})", node, labels[node], node_count()));
    }
  }
}

Components Graph::components() const {
  std::vector<NodeId> component_of(node_count(), unseen);
  std::vector<NodeId> stack;
  NodeId count = 0;
  for (NodeId start = 0; start < node_count(); ++start) {
    if (component_of[start] != unseen) continue;
    component_of[start] = count;
    stack.push_back(start);
    while (!stack.empty()) {
      const NodeId node = stack.back();
      stack.pop_back();
      for (const NodeId neighbour : neighbours(node)) {
        if (component_of[neighbour] != unseen) continue;
        component_of[neighbour] = count;
        stack.push_back(neighbour);
      }
    }
    ++count;
  }
  return {std::move(component_of), count};
}

std::size_t Graph::bytes() const {
  return rows_->begins.capacity() * sizeof(std::size_t) + rows_->neighbours.capacity() * sizeof(NodeId) +
         rows_->weights.capacity() * sizeof(double) + names_->bytes();
}

}  // namespace goblin
