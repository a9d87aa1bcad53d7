#include "graph/editable_graph.hpp"

#include "graph/rows.hpp"

#include <algorithm>

namespace goblin {

EditableGraph::EditableGraph(const EditableGraph& other)
    : base_(other.base_), edits_(other.edits_ ? std::make_unique<Edits>(*other.edits_) : nullptr) {}

EditableGraph& EditableGraph::operator=(const EditableGraph& other) {
  if (this != &other) *this = EditableGraph(other);
  return *this;
}

double EditableGraph::degree(std::size_t node) const { return rows::degree(*this, node); }
double EditableGraph::weight(std::size_t a, std::size_t b) const { return rows::weight(*this, a, b); }
std::vector<Edge> EditableGraph::edges() const { return edits_ ? rows::edges(*this) : base_.edges(); }

EditableGraph::Edits& EditableGraph::edits() {
  if (!edits_) {
    auto edits = std::make_unique<Edits>();
    edits->edge_count = base_.edge_count();
    edits->row_of.assign(base_.node_count(), none);
    edits_ = std::move(edits);
  }
  return *edits_;
}

void EditableGraph::add_nodes(std::size_t count) {
  Edits& edits = this->edits();
  for (std::size_t k = 0; k < count; ++k) {
    edits.row_of.push_back(static_cast<std::uint32_t>(edits.rows.size()));
    edits.rows.emplace_back();
  }
}

/// The node's own row, which it gets if it has none.
EditableGraph::Row& EditableGraph::row(NodeId node) {
  Edits& edits = this->edits();
  if (edits.row_of[node] == none) {
    edits.row_of[node] = static_cast<std::uint32_t>(edits.rows.size());
    const auto neighbours = base_.neighbours(node);
    const auto weights = base_.weights(node);
    edits.rows.push_back({{neighbours.begin(), neighbours.end()}, {weights.begin(), weights.end()}});
  }
  return edits.rows[edits.row_of[node]];
}

void EditableGraph::set_end(NodeId from, NodeId to, double weight) {
  Row& row = this->row(from);
  const auto at = std::lower_bound(row.neighbours.begin(), row.neighbours.end(), to);
  const auto weight_at = row.weights.begin() + (at - row.neighbours.begin());
  const bool is_there = at != row.neighbours.end() && *at == to;
  if (weight > 0.0 && is_there) {
    *weight_at = weight;
  } else if (weight > 0.0) {
    row.neighbours.insert(at, to);
    row.weights.insert(weight_at, weight);
  } else if (is_there) {
    row.neighbours.erase(at);
    row.weights.erase(weight_at);
    if (row.neighbours.capacity() > 4 * row.neighbours.size() + 16) {
      row.neighbours.shrink_to_fit();
      row.weights.shrink_to_fit();
    }
  }
}

void EditableGraph::set_weight(NodeId a, NodeId b, double weight) {
  const double before = this->weight(a, b);
  if (weight == before) return;
  set_end(a, b, weight);
  set_end(b, a, weight);
  if (before == 0.0) ++edits_->edge_count;
  if (weight == 0.0) --edits_->edge_count;
}

Graph EditableGraph::snapshot() const {
  if (!edits_) return base_;
  return {node_count(), edges()};
}

Graph EditableGraph::induced(std::span<const NodeId> nodes) const {
  if (nodes.size() == node_count() && !base_.has_names()) return snapshot();
  std::vector<Edge> edges;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const auto row = neighbours(nodes[k]);
    // Both ascend, so the search for a neighbour begins where the last one was found.
    auto from = nodes.begin() + static_cast<std::ptrdiff_t>(k);
    for (std::size_t n = 0; n < row.size(); ++n) {
      if (row[n] < nodes[k]) continue;
      from = std::lower_bound(from, nodes.end(), row[n]);
      if (from == nodes.end()) break;
      if (*from == row[n]) {
        edges.push_back({static_cast<NodeId>(k), static_cast<NodeId>(from - nodes.begin()), weights(nodes[k])[n]});
      }
    }
  }
  return {nodes.size(), edges};
}

std::size_t EditableGraph::bytes() const {
  std::size_t total = base_.bytes();
  if (!edits_) return total;
  total += sizeof(Edits) + edits_->row_of.capacity() * sizeof(std::uint32_t) + edits_->rows.capacity() * sizeof(Row);
  for (const Row& row : edits_->rows) {
    total += row.neighbours.capacity() * sizeof(NodeId) + row.weights.capacity() * sizeof(double);
  }
  return total;
}

}  // namespace goblin
