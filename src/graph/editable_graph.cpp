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
    edits.row_of.push_back(none);  // before the row: memory may run out
    edits.row_of.back() = unused_row();
  }
}

void EditableGraph::keep_first(std::size_t count) {
  if (node_count() == count) return;
  Edits& edits = *edits_;
  while (edits.row_of.size() > count) {
    const std::uint32_t last = edits.row_of.back();
    edits.row_of.pop_back();
    if (last == none) continue;
    edits.edge_count -=
        static_cast<std::size_t>(std::count_if(edits.rows[last].neighbours.begin(), edits.rows[last].neighbours.end(),
                                               [&](NodeId other) { return other < edits.row_of.size(); }));
    if (last + 1 == edits.rows.size()) {
      edits.rows.pop_back();
    } else {
      edits.rows[last] = {};
      edits.unused_rows.push_back(last);  // where it came from: there is room
    }
  }
}

/// An empty row that no node has.
std::uint32_t EditableGraph::unused_row() {
  Edits& edits = this->edits();
  if (edits.unused_rows.empty()) {
    edits.rows.emplace_back();
    return static_cast<std::uint32_t>(edits.rows.size() - 1);
  }
  const std::uint32_t row = edits.unused_rows.back();
  edits.unused_rows.pop_back();
  return row;
}

/// The node's own row, which it gets if it has none.
EditableGraph::Row& EditableGraph::row(NodeId node) {
  Edits& edits = this->edits();
  if (edits.row_of[node] == none) {
    const auto neighbours = base_.neighbours(node);
    const auto weights = base_.weights(node);
    Row row{{neighbours.begin(), neighbours.end()}, {weights.begin(), weights.end()}};
    const std::uint32_t unused = unused_row();
    edits.rows[unused] = std::move(row);
    edits.row_of[node] = unused;
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
  // What takes memory comes first: both ends change, or none.
  for (const NodeId node : {a, b}) {
    Row& row = this->row(node);
    const std::size_t size = row.neighbours.size();
    if (before > 0.0 || (row.neighbours.capacity() > size && row.weights.capacity() > size)) continue;
    row.neighbours.reserve(2 * size + 1);
    row.weights.reserve(2 * size + 1);
  }
  set_end(a, b, weight);
  set_end(b, a, weight);
  if (before == 0.0) ++edits_->edge_count;
  if (weight == 0.0) --edits_->edge_count;
}

void EditableGraph::remove_nodes(std::span<const NodeId> nodes) {
  Edits& edits = this->edits();
  // What takes memory comes first: rows of their own for all nodes that are renumbered, and for their neighbours.
  edits.unused_rows.reserve(edits.unused_rows.size() + nodes.size());
  for (std::size_t last = node_count() - nodes.size(); last < node_count(); ++last) {
    if (std::binary_search(nodes.begin(), nodes.end(), last)) continue;
    (void)row(static_cast<NodeId>(last));
    for (const NodeId other : std::vector<NodeId>(neighbours(last).begin(), neighbours(last).end())) (void)row(other);
  }
  std::size_t ends = 0;
  for (const NodeId node : nodes) ends += neighbours(node).size();
  edits.edge_count -= ends / 2;
  for (std::size_t k = nodes.size(); k-- > 0;) {
    const NodeId node = nodes[k];
    const auto last = static_cast<NodeId>(node_count() - 1);
    if (edits.row_of[node] != none) {
      edits.rows[edits.row_of[node]] = {};
      edits.unused_rows.push_back(edits.row_of[node]);
    }
    if (node != last) {
      for (const NodeId other : neighbours(last)) {
        // The highest number stands at the end.
        Row& row = this->row(other);
        const double weight = row.weights.back();
        row.neighbours.pop_back();
        row.weights.pop_back();
        const auto at = std::lower_bound(row.neighbours.begin(), row.neighbours.end(), node);
        row.weights.insert(row.weights.begin() + (at - row.neighbours.begin()), weight);
        row.neighbours.insert(at, node);
      }
      edits.row_of[node] = edits.row_of[last];
    }
    edits.row_of.pop_back();
  }
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
  total += sizeof(Edits) + edits_->row_of.capacity() * sizeof(std::uint32_t) + edits_->rows.capacity() * sizeof(Row) +
           edits_->unused_rows.capacity() * sizeof(std::uint32_t);
  for (const Row& row : edits_->rows) {
    total += row.neighbours.capacity() * sizeof(NodeId) + row.weights.capacity() * sizeof(double);
  }
  return total;
}

}  // namespace goblin
